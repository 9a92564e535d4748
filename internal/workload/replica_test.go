package workload

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build/buildtest"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
	"github.com/dbcanary/dbcanary/internal/load"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest/servertest"
)

// replicaTest makes replications of one loaded instance.
type replicaTest struct {
	build   dbcanary.Build
	driver  dbms.Driver
	options dbms.StartOptions
	loaded  string
	dirs    []string
	log     func(testing.TB) []string // of the last primary
}

func newReplicaTest(t *testing.T, target string) *replicaTest {
	t.Helper()
	build := buildtest.Get(t, target)
	r := &replicaTest{build: build, driver: drivers.For(build.Family), loaded: servertest.Claim(t)}
	r.options = dbms.StartOptions{Build: build, Settings: r.driver.Defaults(build.Version, 256<<20)}
	options := r.options
	options.Dir = r.loaded
	server, err := r.driver.Start(context.WithoutCancel(t.Context()), options)
	if err != nil {
		t.Fatal(err)
	}
	err = Load(t.Context(), server.Connect, build.Family, replicaData(), 2, nil)
	servertest.Stop(t, server)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func replicaData() Data { return Data{Tables: 2, TableSize: 1000, Seed: 5} }

// replicate is what a run gives to a Program; the primary logs its statements.
func (r *replicaTest) replicate(t *testing.T) func(context.Context) (*dbms.Replication, error) {
	return func(ctx context.Context) (*dbms.Replication, error) {
		replication, err := dbms.Replicate(ctx, r.driver, r.options, r.loaded, func(string) (string, error) {
			r.dirs = append(r.dirs, servertest.Claim(t))
			return r.dirs[len(r.dirs)-1], nil
		})
		if err == nil {
			r.log = servertest.Wrap(replication.Primary, r.build, r.dirs[len(r.dirs)-2]).LogStatements(t)
		}
		return replication, err
	}
}

func (r *replicaTest) open(ctx context.Context, t *testing.T, l lag) *catchUp {
	t.Helper()
	work, err := l.program(ctx, Env{Family: r.build.Family, Data: replicaData(), PSMode: Prepared, Replicate: r.replicate(t)})
	if err != nil {
		t.Fatal(err)
	}
	return work.(*catchUp)
}

// TestReplicaCatchUp: of each family, old and new, a replica replays what its primary
// did, and all of that was the documented work.
func TestReplicaCatchUp(t *testing.T) {
	for _, target := range []string{"postgres@18", "postgres@10", "mariadb@10.11", "mysql@9.7"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			r, l := newReplicaTest(t, target), lag{rounds: 4, transactions: 50}
			ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
			defer cancel()
			c := r.open(ctx, t, l)
			recording, err := load.Run(t.Context(), []load.Worker{{Conn: &fakeConn{}, Event: c}}, load.Options{Events: 4, Exact: true})
			if err != nil || recording.Events != 4 || recording.Operations != 200 {
				t.Fatalf("%+v, %v", recording, err)
			}
			if _, err := c.Run(); !errors.Is(err, ErrDone) {
				t.Errorf("after the last event: %v", err)
			}
			if err := c.Finish(t.Context(), nil); err != nil {
				t.Error(err)
			}
			r.checkLog(t, 200)
			r.checkBehind(t, c)
			r.checkStopped(t, c, cancel)
		})
	}
}

// checkLog holds the primary's log to so many transactions of write-only.
func (r *replicaTest) checkLog(t *testing.T, transactions int) {
	t.Helper()
	got := map[string]int{}
	for _, statement := range r.log(t) {
		words := strings.Fields(statement)
		if strings.Contains(statement, "sbtest") && words[0] != "SELECT" {
			got[words[0]]++
		} else if statement == "BEGIN" || statement == "COMMIT" {
			got[statement]++
		}
	}
	// A transaction that met another one's lock may have been begun again.
	if got["COMMIT"] != transactions || got["BEGIN"] < transactions || got["BEGIN"] > 2*transactions {
		t.Errorf("%v for %d transactions", got, transactions)
	}
	for verb, each := range map[string]int{"UPDATE": 2, "DELETE": 1, "INSERT": 1} {
		if got[verb] < each*transactions || got[verb] > each*got["BEGIN"] {
			t.Errorf("%v for %d transactions: %s is not there %d times in each", got, transactions, verb, each)
		}
	}
}

// checkBehind holds that a replica whose replay stands still is told from its primary.
func (r *replicaTest) checkBehind(t *testing.T, c *catchUp) {
	t.Helper()
	if err := c.Replica.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := execAll(t.Context(), c.Primary.Admin(), "UPDATE sbtest2 SET k = k + 1 WHERE id = 7"); err != nil {
		t.Fatal(err)
	}
	position, err := c.Replica.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Replica.Arrived(t.Context(), position); err != nil {
		t.Fatal(err)
	}
	if err := c.Finish(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "not those of its primary") {
		t.Errorf("of a replica that is behind: %v", err)
	}
}

// checkStopped ends the context, as the end of a run does: who waits for the replay
// waits no longer, and nothing is left.
func (r *replicaTest) checkStopped(t *testing.T, c *catchUp, cancel context.CancelFunc) {
	t.Helper()
	waited := make(chan error)
	c.next = len(c.positions) - 1
	c.positions[c.next] = c.beyond()
	go func() {
		_, err := c.Run()
		waited <- err
	}()
	cancel()
	if err := <-waited; err == nil {
		t.Error("what was never written is replayed")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for _, server := range []dbms.Server{c.Primary, c.Replica} {
		<-server.Done()
	}
	for _, dir := range r.dirs {
		if _, err := os.Stat(filepath.Join(dir, "data")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", dir, err)
		}
	}
}

// beyond is a position that the primary's log never gets to.
func (c *catchUp) beyond() string {
	if c.family == dbcanary.Postgres {
		return "FFFF/0"
	}
	file, _, _ := strings.Cut(c.positions[0], ":")
	return file + ":4000000000"
}

// TestReplicaCatchUp_NoServers: where no servers can be had, the reason says so.
func TestReplicaCatchUp_NoServers(t *testing.T) {
	b := replicas()[0]
	b.Label = b.label()
	_, err := b.Open(t.Context(), Env{Family: dbcanary.MySQL, Conn: &fakeConn{}, Data: replicaData()})
	if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), NoServers) {
		t.Error(err)
	}
	if reason := b.NotApplicable(dbcanary.SQLite, replicaData()); reason == "" {
		t.Error("SQLite has replicas")
	}
}
