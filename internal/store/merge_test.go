package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dbcanary/dbcanary"
)

// addRun stores a run with trials whose metrics have the given names.
func addRun(t *testing.T, s *Store, host string, trials int, metrics ...string) *dbcanary.Run {
	t.Helper()
	run := newRun()
	run.Host.Name = host
	if err := s.CreateRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	addMore(t, s, run.ID, trials, metrics...)
	return run
}

func addMore(t *testing.T, s *Store, runID int64, trials int, metrics ...string) {
	t.Helper()
	for i := range trials {
		trial := mergeTrial(i)
		trial.Metrics = nil
		for j, name := range metrics {
			trial.Metrics = append(trial.Metrics, dbcanary.Metric{Name: name, Value: float64(i + j), Gauge: j == 0, Max: 7})
		}
		if err := s.AddTrial(t.Context(), runID, &trial); err != nil {
			t.Fatal(err)
		}
	}
}

func mergeTrial(i int) dbcanary.Trial {
	return dbcanary.Trial{
		Benchmark: "read-only range=100", Target: "mariadb@10.5", Instance: i / 2, Block: i % 2, Started: newRun().Started,
		ElapsedNs: 5e8, Operations: int64(10_000 + i), ServerCPUNs: -1, Histogram: []byte{1, 2, byte(i)},
		Errors: map[string]int64{"1213": int64(i + 1)}, PerSecond: []int64{int64(i)},
	}
}

func merge(t *testing.T, into, from *Store) []MergedRun {
	t.Helper()
	merged, err := into.Merge(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	return merged
}

func outcomes(merged []MergedRun) string {
	var texts []string
	for _, one := range merged {
		texts = append(texts, fmt.Sprintf("%d->%d %s %d", one.Run.ID, one.ID, one.Outcome, one.Trials))
	}
	return strings.Join(texts, ", ")
}

// whole gives everything of a store's runs by UID, as a reader sees it.
func whole(t *testing.T, s *Store) map[string]any {
	t.Helper()
	all := map[string]any{}
	runs, err := s.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, listed := range runs {
		run, err := s.Run(t.Context(), fmt.Sprint(listed.ID))
		if err != nil {
			t.Fatal(err)
		}
		trials, err := s.Trials(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		run.ID = 0
		all[run.UID] = []any{run, trials}
	}
	return all
}

// TestMerge: all of every store is in the result, whatever numbers metrics and runs
// had, and merging again changes nothing.
func TestMerge(t *testing.T) {
	into, small, large := newStore(t), newStore(t), newStore(t)
	addRun(t, into, "own", 2, "server.read_bytes")
	addRun(t, small, "small", 3, "dbms.Questions", "server.read_bytes")
	addRun(t, small, "small", 0)
	addRun(t, large, "large", 4, "server.read_bytes", "host.user_ns", "dbms.Questions")
	want := whole(t, into)
	for _, from := range []*Store{small, large} {
		for uid, run := range whole(t, from) {
			want[uid] = run
		}
	}
	if got := outcomes(merge(t, into, small)); got != "1->2 added 3, 2->3 added 0" {
		t.Error(got)
	}
	if got := outcomes(merge(t, into, large)); got != "1->4 added 4" {
		t.Error(got)
	}
	for range 2 {
		if diff := cmp.Diff(want, whole(t, into), cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if got := outcomes(merge(t, into, small)); got != "1->2 already there 3, 2->3 already there 0" {
			t.Error(got)
		}
	}
	// The other way round: the stores know each other's runs.
	if got := outcomes(merge(t, small, into)); got != "1->3 added 2, 2->1 already there 3, 3->2 already there 0, 4->4 added 4" {
		t.Error(got)
	}
}

// TestMerge_GoesOn: a run that was merged while it went on is brought up to date,
// and an older copy of it changes nothing.
func TestMerge_GoesOn(t *testing.T) {
	into, from, old := newStore(t), newStore(t), newStore(t)
	run := addRun(t, from, "host", 2, "server.read_bytes")
	addRun(t, into, "other", 1, "host.user_ns")
	merge(t, into, from)
	merge(t, old, from)
	addMore(t, from, run.ID, 3, "server.read_bytes", "new.metric")
	if got := outcomes(merge(t, into, from)); got != "1->2 updated 5" {
		t.Error(got)
	}
	run.State, run.Ended = dbcanary.RunDone, run.Started.Add(1e9)
	if err := from.SaveRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1->2 updated 5", "1->2 already there 5"} {
		if got := outcomes(merge(t, into, from)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := outcomes(merge(t, into, old)); got != "1->2 already there 2" {
		t.Error(got)
	}
	got, want := whole(t, into), whole(t, from)
	if diff := cmp.Diff(want[run.UID], got[run.UID], cmpopts.EquateNaNs()); diff != "" || len(got) != 2 {
		t.Errorf("%d runs (-want +got):\n%s", len(got), diff)
	}
}

// TestMerge_Refuses a run that has different trials under one UID, and merges the others.
func TestMerge_Refuses(t *testing.T) {
	into, from := newStore(t), newStore(t)
	run := addRun(t, from, "host", 2)
	merge(t, into, from)
	if _, err := into.db.ExecContext(t.Context(), "UPDATE trials SET operations = 1"); err != nil {
		t.Fatal(err)
	}
	before := whole(t, into)[run.UID]
	addRun(t, from, "host", 1)
	merged := merge(t, into, from)
	if got := outcomes(merged); got != "1->1 refused 2, 2->2 added 1" || !strings.Contains(merged[0].Reason, "other trials") {
		t.Errorf("%s: %s", got, merged[0].Reason)
	}
	if diff := cmp.Diff(before, whole(t, into)[run.UID], cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("the refused run changed:\n%s", diff)
	}
}

// TestMerge_AllOrNothing: a store that breaks off leaves nothing behind.
func TestMerge_AllOrNothing(t *testing.T) {
	into, from := newStore(t), newStore(t)
	addRun(t, from, "host", 1)
	addRun(t, from, "host", 1, "server.read_bytes")
	if _, err := from.db.ExecContext(t.Context(), "DELETE FROM metric_names"); err != nil {
		t.Fatal(err)
	}
	if _, err := into.Merge(t.Context(), from); err == nil || !strings.Contains(err.Error(), from.Path()) {
		t.Errorf("error %v", err)
	}
	if runs := whole(t, into); len(runs) != 0 {
		t.Errorf("%d runs are left", len(runs))
	}
}

// TestMerge_EveryTable: each table of the schema is merged or known to need none,
// so that a table that is added cannot be forgotten.
func TestMerge_EveryTable(t *testing.T) {
	s := newStore(t)
	err := s.read(t.Context(), "look at", func(tx *sql.Tx) error {
		tables, err := tablesOfRuns(t.Context(), tx)
		if err != nil {
			return err
		}
		var names []string
		for _, table := range tables {
			names = append(names, table.name)
		}
		rows, err := tx.QueryContext(t.Context(), "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
		if err != nil {
			return err
		}
		all, err := collect(rows, func(row scanner) (string, error) {
			var name string
			return name, row.Scan(&name)
		})
		for _, name := range all {
			if name != "metric_names" && !slices.Contains(names, name) {
				t.Errorf("table %s is not merged: it does not refer to runs", name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOfRuns: tables that refer to runs through others come after them.
func TestOfRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tables.db")
	db, err := sql.Open("sqlite", dsn(path, busyTimeout))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const schema = `CREATE TABLE runs (id INTEGER PRIMARY KEY);
		CREATE TABLE leaves (profile INTEGER REFERENCES profiles (id), n TEXT);
		CREATE TABLE profiles (id INTEGER PRIMARY KEY, run INTEGER REFERENCES runs (id));
		CREATE TABLE other (id INTEGER PRIMARY KEY)`
	if _, err := db.ExecContext(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	tables, err := tablesOfRuns(t.Context(), tx)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, table := range tables {
		got = append(got, table.name+": "+table.path)
	}
	want := []string{
		"runs: id = ?", "profiles: run IN (SELECT id FROM runs WHERE id = ?)",
		"leaves: profile IN (SELECT id FROM profiles WHERE run IN (SELECT id FROM runs WHERE id = ?))",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
