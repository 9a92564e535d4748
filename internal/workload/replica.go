package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/workload/bulk"
)

// lag is what a replica has to catch up with.
type lag struct {
	rounds       int // events
	transactions int // of a round
}

// catchUpWriters is how many connections write to the primary.
const catchUpWriters = 4

// replicas measure a replica. What it replays is the published write-only.
func replicas() []Benchmark {
	usual := lag{rounds: 20, transactions: 500}
	return []Benchmark{{
		Name: "replica-catch-up", Group: Replication, Servers: true,
		Doc: fmt.Sprintf("Replays what a primary did while the replay stood still: %d transactions of write-only, written over %d connections. An event is %d of them; the rate is in transactions.",
			usual.rounds*usual.transactions, catchUpWriters, usual.transactions),
		Threads: 1, Single: true, Events: int64(usual.rounds), Program: usual.program,
		Not: map[dbcanary.Family]string{dbcanary.SQLite: "it has no replicas"},
		Shown: func() string {
			return "On the primary, before the measured time:\n" + strings.Join(writeOnly().describeSteps(), "")
		},
	}}
}

// NoServers says why a benchmark that needs Servers does not run on a server that
// somebody else runs.
const NoServers = "it starts two servers on copies of the loaded data, which can't be had of a server that somebody else runs"

// writeOnly is the benchmark of that name.
func writeOnly() Benchmark {
	b := mixedWrites()[0]
	b.Label = b.label()
	return b
}

// Elsewhere is a Work whose server is not the one that Env.Conn is connected to.
type Elsewhere interface {
	// Measured is the server that does what is measured.
	Measured() dbms.Server
}

// catchUp is the work of a replica. Its Run waits, and ctx ends that.
type catchUp struct {
	*dbms.Replication
	ctx       context.Context
	family    dbcanary.Family
	data      Data
	lag       lag
	positions []string // of the primary's log after each round
	next      int
}

var (
	_ Elsewhere = (*catchUp)(nil)
	_ Finisher  = (*catchUp)(nil)
	_ io.Closer = (*catchUp)(nil)
)

// program starts a primary and a replica, stops the replay, and writes. The log
// arrives at the replica meanwhile, so that its replay alone is measured.
func (l lag) program(ctx context.Context, env Env) (_ Work, err error) {
	if env.Replicate == nil {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%s", NoServers)
	}
	replication, err := env.Replicate(ctx)
	if err != nil {
		return nil, err
	}
	c := &catchUp{Replication: replication, ctx: ctx, family: env.Family, data: env.Data, lag: l}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if err := c.Replica.Pause(ctx); err != nil {
		return nil, err
	}
	if err := c.write(env.PSMode); err != nil {
		return nil, fmt.Errorf("write to the primary: %w", err)
	}
	if err := c.Replica.Arrived(ctx, c.positions[l.rounds-1]); err != nil {
		return nil, err
	}
	// Reading all of the replica's rows also has it answer from memory.
	same, err := c.caughtUp(ctx)
	if err == nil && same {
		err = errors.New("the replica replayed what the primary did while its replay was stopped")
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// write runs the transactions on the primary and notes where its log is after each round.
func (c *catchUp) write(mode string) error {
	var sessions []*Session
	state := new(State)
	return c.connected(catchUpWriters, nil, func(conns []wire.Conn) error {
		for n, conn := range conns {
			session, err := writeOnly().Bind(c.ctx, conn, c.family, c.data, BindOptions{PSMode: mode, State: state})
			if err != nil {
				return err
			}
			session.Reseed(c.data.Seed + uint64(n))
			sessions = append(sessions, session)
		}
		for range c.lag.rounds {
			if err := round(sessions, c.lag.transactions); err != nil {
				return err
			}
			position, err := c.Replica.Position(c.ctx)
			if err != nil {
				return err
			}
			c.positions = append(c.positions, position)
		}
		return nil
	})
}

// connected opens so many connections to the primary for work.
func (c *catchUp) connected(n int, conns []wire.Conn, work func([]wire.Conn) error) error {
	if n == 0 {
		return work(conns)
	}
	return bulk.WithConn(c.ctx, c.Primary.Connect, func(conn wire.Conn) error {
		return c.connected(n-1, append(conns, conn), work)
	})
}

// round does so many transactions, shared out over the sessions. One that was rolled
// back for another one is done again.
func round(sessions []*Session, transactions int) error {
	errs := make([]error, len(sessions))
	var failed atomic.Bool
	var group sync.WaitGroup
	for n, session := range sessions {
		group.Go(func() {
			share := transactions*(n+1)/len(sessions) - transactions*n/len(sessions)
			for done := 0; done < share && !failed.Load(); {
				_, err := session.Run()
				var refused *wire.ServerError
				switch {
				case err == nil:
					done++
				case !errors.As(err, &refused) || !refused.Retryable:
					errs[n] = err
					failed.Store(true)
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// caughtUp tells whether the replica's rows are those of its primary.
func (c *catchUp) caughtUp(ctx context.Context) (bool, error) {
	var digests [2]Digest
	for i, server := range []dbms.Server{c.Primary, c.Replica} {
		var err error
		if digests[i], err = readDigest(ctx, server.Admin(), c.family, c.data); err != nil {
			return false, fmt.Errorf("compare the replica with its primary: %w", err)
		}
	}
	return slices.Equal(digests[0].Tables, digests[1].Tables), nil
}

// Measured implements Elsewhere.
func (c *catchUp) Measured() dbms.Server { return c.Replica }

// Reseed implements Work: the primary has done its writes.
func (c *catchUp) Reseed(uint64) {}

// Run implements Work: it waits until a round is replayed, the first time from when
// the replay goes on.
func (c *catchUp) Run() (transactions int, err error) {
	if c.next == len(c.positions) {
		return 0, ErrDone
	}
	if c.next == 0 {
		if err := c.Replica.Resume(c.ctx); err != nil {
			return 0, err
		}
	}
	if err := c.Replica.Replayed(c.ctx, c.positions[c.next]); err != nil {
		return 0, err
	}
	c.next++
	return c.lag.transactions, nil
}

// Finish implements Finisher: the replica must have become what its primary is.
func (c *catchUp) Finish(ctx context.Context, _ *dbcanary.Trial) error {
	same, err := c.caughtUp(ctx)
	if err == nil && !same {
		err = errors.New("the replica has replayed the log, and its rows are not those of its primary")
	}
	return err
}

// Close stops both servers.
func (c *catchUp) Close() error { return c.Stop(context.WithoutCancel(c.ctx)) }
