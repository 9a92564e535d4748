package probe_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/probe"
	"github.com/dbcanary/dbcanary/internal/profile"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest/servertest"
)

// held has one session hold a lock for so long while a second one waits for it, and
// gives how long that waited.
func held(t *testing.T, db *sql.DB, lock, unlock string, length time.Duration) time.Duration {
	t.Helper()
	holder, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	run := func(conn *sql.Conn, query string) error {
		rows, err := conn.QueryContext(t.Context(), query)
		if err != nil {
			return err
		}
		return rows.Close()
	}
	if err := run(holder, lock); err != nil {
		t.Fatal(err)
	}
	waited := make(chan time.Duration)
	go func() {
		began := time.Now()
		waiter, err := db.Conn(t.Context())
		if err == nil {
			err = run(waiter, lock)
		}
		if err == nil {
			err = run(waiter, unlock)
		}
		if err != nil {
			t.Error(err)
		} else {
			_ = waiter.Close() // back to the pool
		}
		waited <- time.Since(began)
	}()
	<-time.After(length)
	if err := run(holder, unlock); err != nil {
		t.Error(err)
	}
	return <-waited
}

// contend looks at the waits of a server while a session waits for a lock.
func contend(t *testing.T, instrument probe.Instrument, db *sql.DB, lock, unlock string) (seen probe.Seen, waited time.Duration) {
	t.Helper()
	if err := instrument.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	instrument.Begin(t.Context())
	waited = held(t, db, lock, unlock, 2*time.Second)
	instrument.End(t.Context())
	seen, err := instrument.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return seen, waited
}

// checkLock holds that the lock is named as what was waited for, and for as long as it was.
func checkLock(t *testing.T, waits []dbcanary.Wait, event string, waited time.Duration, sampled bool) {
	t.Helper()
	for i, wait := range waits {
		if wait.Event != event {
			continue
		}
		t.Logf("%s is wait %d: %d times, %.3f s of %.3f s", event, i+1, wait.Count, float64(wait.TotalNs)/1e9, waited.Seconds())
		if share := float64(wait.TotalNs) / float64(waited); share < 0.85 || share > 1.1 || wait.Sampled != sampled || wait.Count < 1 {
			t.Errorf("%+v of %v", wait, waited)
		}
		return
	}
	t.Errorf("%s is no wait of %+v", event, waits)
}

// The Performance Schema names the contended lock, and its tables are as they were.
func TestWaits_PerformanceSchema(t *testing.T) {
	for _, target := range []string{"mysql@9.7", "mariadb@10.11"} {
		t.Run(target, func(t *testing.T) {
			server := servertest.Start(t, target, dbcanary.Setting{Name: "performance_schema", Value: "ON"})
			family := dbcanary.MySQL
			if strings.HasPrefix(target, "mariadb") {
				family = dbcanary.MariaDB
			}
			before := setup(t, server.Admin())
			const lock, unlock = "SELECT GET_LOCK('contended', 60)", "SELECT RELEASE_LOCK('contended')"
			seen, waited := contend(t, probe.NewWaits(family, server.Admin(), "wait/lock/*,wait/synch/mutex/sql/*"), server.Admin(), lock, unlock)
			checkLock(t, seen.Waits, "wait/lock/metadata/sql/mdl", waited, false)
			if diff := cmp.Diff(before, setup(t, server.Admin())); diff != "" {
				t.Errorf("instruments and consumers are not as they were (-want +got):\n%s", diff)
			}
			// The usual events hold the condition on which it waits.
			seen, waited = contend(t, probe.NewWaits(family, server.Admin(), ""), server.Admin(), lock, unlock)
			checkLock(t, seen.Waits, "wait/synch/cond/sql/MDL_context::COND_wait_status", waited, false)

			unknown := probe.NewWaits(family, server.Admin(), "wait/nothing/*")
			if err := unknown.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "no instrument") {
				t.Errorf("an unknown pattern: %v", err)
			}
			checkCancelled(t, probe.NewWaits(family, server.Admin(), ""))
			if diff := cmp.Diff(before, setup(t, server.Admin())); diff != "" {
				t.Errorf("after a cancelled look instruments and consumers are not as they were (-want +got):\n%s", diff)
			}
		})
	}
}

// checkCancelled looks with a context that ends in the middle.
func checkCancelled(t *testing.T, instrument probe.Instrument) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	if err := instrument.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	instrument.Begin(ctx)
	cancel()
	instrument.End(ctx)
	if seen, err := instrument.Finish(ctx); err == nil {
		t.Errorf("after the context has ended %d waits were seen", len(seen.Waits))
	}
}

// setup is which instruments and consumers are switched on.
func setup(t *testing.T, db *sql.DB) []string {
	t.Helper()
	var list []string
	for _, query := range []string{
		"SELECT NAME, CONCAT(ENABLED, COALESCE(TIMED, '')) FROM performance_schema.setup_instruments ORDER BY NAME",
		"SELECT NAME, ENABLED FROM performance_schema.setup_consumers ORDER BY NAME",
	} {
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var name, state string
			if err := rows.Scan(&name, &state); err != nil {
				t.Fatal(err)
			}
			list = append(list, name+" "+state)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func TestWaits_Off(t *testing.T) {
	server := servertest.Start(t, "mariadb@10.11")
	err := probe.NewWaits(dbcanary.MariaDB, server.Admin(), "").Prepare(t.Context())
	if err == nil || !strings.Contains(err.Error(), "performance_schema is off") || !strings.Contains(err.Error(), "overlay ps") {
		t.Errorf("without a Performance Schema: %v", err)
	}
	err = probe.NewWaits(dbcanary.SQLite, nil, "").Prepare(t.Context())
	if err == nil || err.Error() != "sqlite tells no waits" {
		t.Errorf("of SQLite: %v", err)
	}
}

// PostgreSQL's sampled waits name the contended lock, and perf its functions.
func TestWaits_Postgres(t *testing.T) {
	server := servertest.Start(t, "postgres@18")
	const lock, unlock = "SELECT pg_advisory_lock(7)", "SELECT pg_advisory_unlock(7)"
	seen, waited := contend(t, probe.NewWaits(dbcanary.Postgres, server.Admin(), ""), server.Admin(), lock, unlock)
	checkLock(t, seen.Waits, "Lock:advisory", waited, true)
	if seen.Waits[0].Event != "Lock:advisory" {
		t.Errorf("the most is waited for %s", seen.Waits[0].Event)
	}
	checkCancelled(t, probe.NewWaits(dbcanary.Postgres, server.Admin(), ""))

	// A backend that starts after perf was attached is seen too.
	perf := probe.NewPerf(server.PID(), t.TempDir())
	if err := perf.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	perf.Begin(t.Context())
	late, err := server.Admin().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	for began := time.Now(); time.Since(began) < 2*time.Second; {
		var sum float64
		if err := late.QueryRowContext(t.Context(), "SELECT sum(n) FROM generate_series(1, 200000) n").Scan(&sum); err != nil {
			t.Fatal(err)
		}
	}
	perf.End(t.Context())
	stacks, err := perf.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkPostgresFunctions(t, stacks)
}

func checkPostgresFunctions(t *testing.T, seen probe.Seen) {
	t.Helper()
	all := fmt.Sprint(functionsOf(t, seen))
	for _, function := range []string{"PostmasterMain", "PostgresMain", "ExecInterpExpr", "ExecAgg"} {
		if !strings.Contains(all, function) {
			t.Errorf("perf shows no %s in %s", function, all)
		}
	}
}

func functionsOf(t *testing.T, seen probe.Seen) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	for _, one := range seen.Stacks {
		stacks, err := profile.Decode(one.Pprof)
		if err != nil {
			t.Fatal(err)
		}
		for _, stack := range stacks {
			for _, name := range stack.Names() {
				counts[name] += stack.Count
			}
		}
	}
	return counts
}
