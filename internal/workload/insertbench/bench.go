package insertbench

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// Bench is what the steps have done to one copy of the data.
type Bench struct {
	Params Params
	Family dbcanary.Family
	Seed   uint64

	clients []*client
	next    int // step that can go on with the tables as they are; -1 for none
}

// client is the state of one table. The one that inserts and the one that deletes
// each write their own field.
type client struct {
	number   int
	inserted atomic.Int64 // greatest id that is surely there, unless it is deleted
	deleted  atomic.Int64 // greatest id that may be gone
}

// queueDepth is how many commits deletes may lag behind inserts.
const queueDepth = 8

// New is for a copy of the data without the tables.
func New(p Params, family dbcanary.Family, seed uint64) *Bench {
	return &Bench{Params: p, Family: family, Seed: seed, next: -1}
}

// Continues tells whether a step finds the tables as the step before left them.
func (b *Bench) Continues(step int) bool { return step > 0 && b.next == step }

// Reset creates the tables anew and does the steps before the given one, but for
// their queries and what runs beside those.
func (b *Bench) Reset(ctx context.Context, conn wire.Conn, step int) error {
	b.clients = nil
	for number := range b.Params.Clients {
		c := &client{number: number}
		b.clients = append(b.clients, c)
		for _, text := range []string{"drop table if exists " + Table(number), create(b.Family, number)} {
			if _, err := conn.Query([]byte(text)); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
		for _, before := range Steps()[:step] {
			if err := b.replay(ctx, conn, c, before); err != nil {
				return fmt.Errorf("what %s does: %w", before.Name, err)
			}
		}
	}
	return nil
}

func (b *Bench) replay(ctx context.Context, conn wire.Conn, c *client, step Step) error {
	if step.Queries() {
		return nil
	}
	in, out := b.inserter(c, conn, step.Commit), b.deleter(c, conn, step.Commit)
	for range step.rows(b.Params) / step.Commit {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := in.insert(); err != nil {
			return err
		}
		if step.Kind == Churn {
			if err := out.remove(); err != nil {
				return err
			}
		}
	}
	if step.Kind == Index {
		return in.createIndexes()
	}
	return nil
}

// Run is one step under way. Its workers each belong to one goroutine.
type Run struct {
	bench *Bench
	index int
	step  Step

	begin   sync.Once
	base    time.Time // first event
	inserts []*series // of each worker that inserts
	deletes []*series
	queries []*series
	queues  []chan struct{} // by client: a token for each commit that is to be deleted
	lost    []chan struct{} // by client: closed when its deletes have failed
	removes []*deleter      // by client
	feeds   []*feeding      // by client
	indexed atomic.Int64    // ns that creating indexes took, over all clients
}

// Start begins a step. Until Finish, the tables are good for no other one.
func (b *Bench) Start(step int) *Run {
	b.next = -1
	r := &Run{bench: b, index: step, step: Steps()[step]}
	for range b.clients {
		r.queues = append(r.queues, make(chan struct{}, queueDepth))
		r.lost = append(r.lost, make(chan struct{}))
	}
	return r
}

// begun sets the begin of the step to the first event of any worker.
func (r *Run) begun() { r.begin.Do(func() { r.base = time.Now() }) }

// Finish ends a step whose workers have all stopped: it deletes what is left in
// the queues, adds the metrics to the trial, and holds the tables, and the rate of
// inserts beside queries, to what they must be. Its error says why the step does
// not count.
func (r *Run) Finish(ctx context.Context, admin *sql.DB, trial *dbcanary.Trial) error {
	for i, d := range r.removes { // each has one that feeds it
		if err := d.drain(r.queues[i]); err != nil {
			return fmt.Errorf("delete what is left to be deleted: %w", err)
		}
		if r.feeds[i].owed {
			if err := d.remove(); err != nil {
				return fmt.Errorf("delete what is left to be deleted: %w", err)
			}
		}
	}
	if err := r.measure(ctx, admin, trial); err != nil {
		return err
	}
	for _, c := range r.bench.clients {
		if err := r.bench.check(ctx, admin, c); err != nil {
			return err
		}
	}
	if r.step.Queries() {
		// The tables are as good for the next step where the rate was missed.
		r.bench.next = r.index + 1
		return r.sustained(trial)
	}
	if events := int64(r.step.Events(r.bench.Params)); trial.Events < events {
		return fmt.Errorf("%d of %d events were run", trial.Events, events)
	}
	r.bench.next = r.index + 1
	return nil
}

// Sustained is the share of the offered rate of inserts that a step with queries
// must reach: under it the published reports ignore its queries.
const Sustained = 0.95

func (r *Run) sustained(trial *dbcanary.Trial) error {
	seconds := float64(trial.ElapsedNs) / 1e9
	rows, _ := r.rows(r.inserts, trial)
	offered := float64(r.step.Rate * r.bench.Params.Clients)
	if seconds <= 0 || rows < Sustained*offered*seconds {
		return fmt.Errorf("the server did not sustain the inserts beside the queries: %.1f of %.0f rows a second, under %.0f %%",
			rows/max(seconds, 1e-9), offered, 100*Sustained)
	}
	return nil
}

// check compares a table with what was inserted and deleted.
func (b *Bench) check(ctx context.Context, admin *sql.DB, c *client) error {
	var count, least, most int64
	query := "select count(*), coalesce(min(transactionid), 0), coalesce(max(transactionid), 0) from " + Table(c.number)
	if err := admin.QueryRowContext(ctx, query).Scan(&count, &least, &most); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	inserted, deleted := c.inserted.Load(), c.deleted.Load()
	if count != inserted-deleted || least != deleted+1 || most != inserted {
		return fmt.Errorf("wrong answer: %s holds %d rows with ids %d to %d, expected %d with %d to %d",
			Table(c.number), count, least, most, inserted-deleted, deleted+1, inserted)
	}
	return nil
}
