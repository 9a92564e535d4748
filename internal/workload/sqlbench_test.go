package workload

import (
	"errors"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
)

// An operation goes on with the tables of the one before, and does what it needs
// of those before on tables of its own where that was not run, or not to its end.
func TestSQLBench_Order(t *testing.T) {
	s := startServer(t, "sqlite", 64<<20)
	state := new(State)
	open := func(label string) *sqlBenchWork {
		t.Helper()
		b, err := Find(label + " scale=0.001")
		if err != nil {
			t.Fatal(err)
		}
		work, err := b.Open(t.Context(), Env{
			Family: s.family, Data: Data{Tables: 1, TableSize: 1, Seed: 9}, State: state, Workers: 1,
			Conn: s.connect(t), Admin: s.server.Admin(), Connect: s.server.Connect,
		})
		if err != nil {
			t.Fatal(err)
		}
		return work.(*sqlBenchWork)
	}
	run := func(w *sqlBenchWork) error {
		for w.Left() > 0 {
			if _, err := w.Run(); err != nil {
				return err
			}
		}
		return w.Finish(t.Context(), new(dbcanary.Trial))
	}
	rows := func(want string) {
		t.Helper()
		got, err := texts(t.Context(), s.server.Admin(), "SELECT COUNT(*) || ' ' || MAX(dummy1) FROM bench1")
		if err != nil || got[0] != want {
			t.Errorf("bench1 holds %v, %v, not %s", got, err, want)
		}
	}

	insert := open("sql-bench.insert.insert")
	if err := run(insert); err != nil {
		t.Fatal(err)
	}
	if _, err := insert.Run(); !errors.Is(err, ErrDone) {
		t.Errorf("run again: %v", err)
	}
	rows("300 ABCDEFGHIJ")
	// A mark tells whether the tables are still the same ones.
	if err := execAll(t.Context(), s.server.Admin(), "UPDATE bench1 SET dummy1 = 'the same' WHERE id = 0"); err != nil {
		t.Fatal(err)
	}
	if err := run(open("sql-bench.insert.insert_duplicates")); err != nil {
		t.Fatal(err)
	}
	rows("300 the same")
	// prepared_select does not run on SQLite and is passed over.
	if err := run(open("sql-bench.insert.once_prepared_select")); err != nil {
		t.Fatal(err)
	}
	rows("300 the same")
	// Far ahead: on new tables, as the updates before it leave them.
	half := open("sql-bench.insert.update_big")
	rows("300 updated again")
	if _, err := half.Run(); err != nil {
		t.Fatal(err)
	}
	if err := half.Finish(t.Context(), new(dbcanary.Trial)); err == nil || !strings.Contains(err.Error(), "9 events were not run") {
		t.Errorf("an operation that was not run to its end: %v", err)
	}
	if err := run(open("sql-bench.insert.outer_join_on_key")); err != nil {
		t.Fatal(err)
	}
	rows("300 updated in pass 9")
	// What is wrong afterwards is told.
	wrong := open("sql-bench.insert.outer_join")
	if err := execAll(t.Context(), s.server.Admin(), "DELETE FROM bench1 WHERE id = 7"); err != nil {
		t.Fatal(err)
	}
	if err := run(wrong); err == nil || !strings.Contains(err.Error(), `gives "299", expected is "300"`) {
		t.Errorf("a row less: %v", err)
	}
}
