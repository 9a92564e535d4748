package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/dbcanary/dbcanary"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("DBCANARY_STORE_TEST_ROLE"); role != "" {
		os.Exit(playRole(role))
	}
	goleak.VerifyTestMain(m)
}

// A child process of a test: see TestKill and TestReadOnly.
func playRole(role string) int {
	path := os.Getenv("DBCANARY_STORE_TEST_PATH")
	var err error
	switch role {
	case "writer":
		err = writeForEver(path)
	case "opener":
		_, err = Open(context.Background(), path)
	default:
		err = fmt.Errorf("unknown role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func openStore(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newStore(t testing.TB) *Store {
	t.Helper()
	return openStore(t, filepath.Join(t.TempDir(), "dbcanary.db"))
}

func newRun() *dbcanary.Run {
	return &dbcanary.Run{
		Started: time.Date(2026, 11, 30, 22, 0, 0, 123456789, time.UTC),
		Program: "v0.1.0",
		Plan: dbcanary.Plan{
			Targets:    []string{"mariadb@10.5", "mariadb@11.8+noahi"},
			Benchmarks: []dbcanary.PlannedBenchmark{{Label: "read-only range=100", Group: "range-2"}},
			MinEffect:  0.02, Placement: dbcanary.PlacementSame, Seed: math.MaxUint64,
		},
		Host: dbcanary.Host{Name: "host", CPUs: 2, Notes: []string{"governor: no such file"}},
		Targets: []dbcanary.Target{
			{Name: "mariadb@10.5", Build: dbcanary.Build{
				Family: dbcanary.MariaDB, Version: "10.5.29", Provider: "debian",
				Origin: "mariadb-server-core-10.5 bullseye", Checksum: "sha256:abc", Dir: "/cache/1",
			}, Made: []dbcanary.Setting{{Name: "compiler", Value: "GCC: (GNU) 10.2"}, {Name: "libc", Value: "2.31"}}},
			{
				Name: "mariadb@11.8+noahi", Build: dbcanary.Build{Family: dbcanary.MariaDB, Version: "11.8.3"},
				Config: dbcanary.Config{Name: "+noahi", Settings: []dbcanary.Setting{
					{Name: "innodb_adaptive_hash_index", Value: "1"}, {Name: "innodb_adaptive_hash_index", Value: "0"},
				}},
				Settings: []dbcanary.Setting{{Name: "a", Value: ""}, {Name: "b", Value: "x y"}},
				Dropped:  "no memory",
			},
		},
		Problems: []string{"could not pin"},
		Missing:  []dbcanary.MissingProbe{{Target: "mariadb@10.5", Probe: "waits", Reason: "performance_schema is off"}, {Probe: "disks", Reason: "no /sys/block"}},
	}
}

func createRun(t testing.TB, s *Store) *dbcanary.Run {
	t.Helper()
	run := newRun()
	if err := s.CreateRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	return run
}

func newTrial(i int) *dbcanary.Trial {
	return &dbcanary.Trial{
		Benchmark: "scan", Target: "mariadb@10.5", Block: i, Started: time.Unix(1e9+int64(i), 5).UTC(),
		ElapsedNs: 1e9, Operations: 1000 + int64(i), Histogram: []byte{0, 1, 2}, PerSecond: []int64{7, 0},
		Metrics: []dbcanary.Metric{
			{Name: "dbms.Innodb_buffer_pool_reads", Value: 2000},
			{Name: "server.rss_bytes", Gauge: true, Value: 0, First: 1.5, Max: 3e9},
		},
	}
}

func TestRunRoundTrip(t *testing.T) {
	s := newStore(t)
	run := createRun(t, s)
	if run.ID != 1 || run.State != dbcanary.RunRunning || len(run.UID) < 16 {
		t.Errorf("a new run has ID %d, state %q and UID %q", run.ID, run.State, run.UID)
	}
	got, err := s.Run(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*run, got); diff != "" {
		t.Errorf("created and read (-want +got):\n%s", diff)
	}

	run.State, run.Ended = dbcanary.RunDone, run.Started.Add(time.Minute)
	run.Targets = run.Targets[:1]
	run.Problems, run.Missing = nil, nil
	run.Host.Notes = nil
	if err := s.SaveRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Run(t.Context(), "last"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*run, got); diff != "" {
		t.Errorf("saved and read (-want +got):\n%s", diff)
	}
}

func TestRunsNewestFirst(t *testing.T) {
	s := newStore(t)
	first, second := createRun(t, s), createRun(t, s)
	if first.UID == second.UID {
		t.Error("two runs with one UID")
	}
	runs, err := s.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []*dbcanary.Run{first, second} {
		run.Targets[1].Settings = nil // a list goes without them
	}
	if diff := cmp.Diff([]dbcanary.Run{*second, *first}, runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestRunReferences(t *testing.T) {
	s := newStore(t)
	if _, err := s.Run(t.Context(), "last"); err == nil || !strings.Contains(err.Error(), "no runs yet") {
		t.Errorf("a run of an empty store: %v", err)
	}
	for range 12 {
		createRun(t, s)
	}
	// No two of the store's UIDs are alike, so a third one is made that is.
	if _, err := s.db.ExecContext(t.Context(), "UPDATE runs SET uid = 'zzz' || id WHERE id < 3"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ref, want string
		id        int64
	}{
		{ref: "7", id: 7},
		{ref: "last", id: 12},
		{ref: "ZZZ2", id: 2},
		{ref: "99", want: `there is no run "99"; there are 12, 11, 10, 9, 8, 7, 6, 5, … 1, and last`},
		{ref: "", want: `there is no run ""; there are`},
		{ref: "zzz", want: `"zzz" is the start of 2 runs: [2 1]`},
	} {
		run, err := s.Run(t.Context(), c.ref)
		switch {
		case c.want == "" && (err != nil || run.ID != c.id):
			t.Errorf("run %q: ID %d, error %v, want ID %d", c.ref, run.ID, err, c.id)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("run %q: error %v, want %s", c.ref, err, c.want)
		case c.want != "" && dbcanary.ErrorCode(err) != dbcanary.CodeUsage:
			t.Errorf("run %q: code %s", c.ref, dbcanary.ErrorCode(err))
		}
	}
}

func trialGenerator() *rapid.Generator[dbcanary.Trial] {
	return rapid.Custom(func(t *rapid.T) dbcanary.Trial {
		count := func(name string) int64 { return rapid.Int64Min(0).Draw(t, name) }
		counter := func(name string) int64 { return rapid.Int64Min(-1).Draw(t, name) }
		trial := dbcanary.Trial{
			Benchmark: rapid.String().Draw(t, "benchmark"),
			Target:    rapid.String().Draw(t, "target"),
			Instance:  rapid.IntMin(0).Draw(t, "instance"),
			Block:     rapid.IntMin(0).Draw(t, "block"),
			Position:  rapid.IntMin(0).Draw(t, "position"),
			Started:   time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
			ElapsedNs: count("elapsed"), OverrunNs: count("overrun"), Operations: count("operations"),
			Events: count("events"), Retries: count("retries"),
			LatencyNs: dbcanary.Latency{
				Min: count("min"), Mean: rapid.Float64().Draw(t, "mean"), P50: count("p50"),
				P95: count("p95"), P99: count("p99"), Max: count("max"),
			},
			ServerCPUNs: counter("server"), ClientCPUNs: counter("client"),
			ForeignCPUNs: rapid.Int64().Draw(t, "foreign"), StealNs: count("steal"),
			ServerContextSwitches: counter("switches"),
			Void:                  rapid.String().Draw(t, "void"),
		}
		if rapid.Bool().Draw(t, "has errors") {
			trial.Errors = rapid.MapOfN(rapid.StringMatching(`[0-9A-Z]{4,5}`), rapid.Int64(), 1, 3).Draw(t, "errors")
		}
		if rapid.Bool().Draw(t, "has series") {
			trial.PerSecond = rapid.SliceOfN(rapid.Int64(), 1, 70).Draw(t, "series")
			trial.Histogram = rapid.SliceOfN(rapid.Byte(), 1, 2000).Draw(t, "histogram")
		}
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`(dbms|host)\.[a-zA-Z_]{1,8}`), 0, 4, rapid.ID).Draw(t, "metrics")
		slices.Sort(names)
		for _, name := range names {
			m := dbcanary.Metric{Name: name, Value: rapid.Float64().Draw(t, "value")}
			if m.Gauge = rapid.Bool().Draw(t, "gauge"); m.Gauge {
				m.First, m.Max = rapid.Float64().Draw(t, "first"), rapid.Float64().Draw(t, "max")
			}
			if rapid.Bool().Draw(t, "by second") {
				m.PerSecond = rapid.SliceOfN(rapid.Float64(), 1, 5).Draw(t, "seconds")
			}
			trial.Metrics = append(trial.Metrics, m)
		}
		if rapid.IntRange(0, 9).Draw(t, "no mean") == 0 {
			trial.LatencyNs.Mean = math.NaN()
		}
		return trial
	})
}

func TestTrialRoundTrip(t *testing.T) {
	s := newStore(t)
	rapid.Check(t, func(rt *rapid.T) {
		run := newRun()
		if err := s.CreateRun(t.Context(), run); err != nil {
			rt.Fatal(err)
		}
		want := rapid.SliceOfN(trialGenerator(), 0, 3).Draw(rt, "trials")
		for i := range want {
			if err := s.AddTrial(t.Context(), run.ID, &want[i]); err != nil {
				rt.Fatal(err)
			}
		}
		got, err := s.Trials(t.Context(), run.ID)
		if err != nil {
			rt.Fatal(err)
		}
		sameNaN := cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
		if len(want) == 0 {
			want = nil
		}
		if diff := cmp.Diff(want, got, sameNaN); diff != "" {
			rt.Errorf("trials (-want +got):\n%s", diff)
		}
		counts, err := s.TrialCounts(t.Context())
		if err != nil || counts[run.ID] != len(want) {
			rt.Errorf("count %d, error %v, want %d", counts[run.ID], err, len(want))
		}
	})
}

// A metric that is no number is unknown, so it is absent; which of two of one name is meant can't be told.
func TestOddMetrics(t *testing.T) {
	s := newStore(t)
	run := createRun(t, s)
	trial := newTrial(0)
	trial.Metrics = []dbcanary.Metric{
		{Name: "b", Value: 1},
		{Name: "nan", Value: math.NaN()},
		{Name: "inf", Value: math.Inf(1)},
		{Name: "max", Gauge: true, Max: math.Inf(-1)},
		{Name: "a", Value: 2, First: 5}, // of a count there is no first
	}
	if err := s.AddTrial(t.Context(), run.ID, trial); err != nil {
		t.Fatal(err)
	}
	trials, err := s.Trials(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := []dbcanary.Metric{{Name: "a", Value: 2}, {Name: "b", Value: 1}}
	if diff := cmp.Diff(want, trials[0].Metrics); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	trial.Metrics = []dbcanary.Metric{{Name: "a"}, {Name: "a"}}
	if err := s.AddTrial(t.Context(), run.ID, trial); err == nil || !strings.Contains(err.Error(), "two metrics of the name a") {
		t.Errorf("two metrics of one name: %v", err)
	}
	if trials, err = s.Trials(t.Context(), run.ID); err != nil || len(trials) != 1 {
		t.Errorf("%d trials, error %v, want the one that was added", len(trials), err)
	}
}

// What the view says of a slice of 2 s with 1000 operations.
func TestTrialMetrics(t *testing.T) {
	s := newStore(t)
	run := createRun(t, s)
	trial, void := newTrial(0), newTrial(1)
	trial.ElapsedNs, void.Void = 2e9, "steal"
	for _, one := range []*dbcanary.Trial{trial, void} {
		if err := s.AddTrial(t.Context(), run.ID, one); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := s.db.QueryContext(t.Context(),
		"SELECT name, gauge, value, ifnull(per_operation, -1), ifnull(per_second, -1) FROM trial_metrics ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		Name         string
		Gauge        bool
		Value        float64
		PerOperation float64
		PerSecond    float64
	}
	got, err := collect(rows, func(row scanner) (line, error) {
		var l line
		return l, row.Scan(&l.Name, &l.Gauge, &l.Value, &l.PerOperation, &l.PerSecond)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []line{{"dbms.Innodb_buffer_pool_reads", false, 2000, 2, 1000}, {"server.rss_bytes", true, 0, -1, -1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trial_metrics (-want +got):\n%s", diff)
	}
}

func TestAddTrialWithoutRun(t *testing.T) {
	s := newStore(t)
	if err := s.AddTrial(t.Context(), 3, newTrial(0)); err == nil || !strings.Contains(err.Error(), "no run 3") {
		t.Errorf("a trial of no run: %v", err)
	}
}

func TestRates(t *testing.T) {
	s := newStore(t)
	run := createRun(t, s)
	trials := []*dbcanary.Trial{newTrial(0), newTrial(1), newTrial(2)}
	trials[0].ServerCPUNs = 5e8
	trials[1].ServerCPUNs = -1
	trials[2].Void = "steal"
	for _, trial := range trials {
		if err := s.AddTrial(t.Context(), run.ID, trial); err != nil {
			t.Fatal(err)
		}
	}
	var rows int
	var qps, cpu float64
	err := s.db.QueryRowContext(t.Context(), "SELECT count(*), avg(qps), avg(server_cpu_us) FROM rates").Scan(&rows, &qps, &cpu)
	if err != nil || rows != 2 || qps != 1000.5 || cpu != 500 {
		t.Errorf("%d rows, %v QPS, %v us, error %v; want 2, 1000.5, 500", rows, qps, cpu, err)
	}
}

func TestConcurrentReader(t *testing.T) {
	writer := newStore(t)
	run := createRun(t, writer)
	reader := openStore(t, writer.path)
	const trials = 50
	done := make(chan error, 1)
	go func() {
		for i := range trials {
			if err := writer.AddTrial(t.Context(), run.ID, newTrial(i)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for seen := 0; seen < trials; {
		got, err := reader.Trials(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) < seen {
			t.Fatalf("%d trials after %d", len(got), seen)
		}
		seen = len(got)
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			done <- nil
		default:
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func rawDB(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+url.PathEscape(path))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		code dbcanary.Code
		want string
	}{
		{"text", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, dbcanary.CodeUsage, "no dbcanary store"},
		{"another program's", func(t *testing.T, path string) {
			if _, err := rawDB(t, path).Exec("CREATE TABLE runs (id)"); err != nil {
				t.Fatal(err)
			}
		}, dbcanary.CodeUsage, "SQLite database of another program"},
		{"newer", func(t *testing.T, path string) {
			openStore(t, path)
			if _, err := rawDB(t, path).Exec("PRAGMA user_version = 99"); err != nil {
				t.Fatal(err)
			}
		}, dbcanary.CodeUsage, "its schema is version 99, this dbcanary knows up to 4 (use a newer dbcanary)"},
		{"folder", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, dbcanary.CodeUnavailable, "its folder must exist and be writable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a?b%20#1.db") // no part of it is a parameter
			c.make(t, path)
			before, _ := os.ReadFile(path)
			_, err := Open(t.Context(), path)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want %q and the path", err, c.want)
			}
			if code := dbcanary.ErrorCode(err); code != c.code {
				t.Errorf("code %s, want %s", code, c.code)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file changed")
			}
		})
	}
}

func TestOpenExisting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.db")
	_, err := OpenExisting(t.Context(), path)
	if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
	openStore(t, path)
	s, err := OpenExisting(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locked.db")
	s, err := open(t.Context(), path, 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := createRun(t, s)
	other := rawDB(t, path)
	if _, err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	err = s.AddTrial(t.Context(), run.ID, newTrial(0))
	if dbcanary.ErrorCode(err) != dbcanary.CodeUnavailable || !strings.Contains(err.Error(), "another program holds a write lock") {
		t.Errorf("a locked store: %v", err)
	}
	if _, err := s.Run(t.Context(), "last"); err != nil {
		t.Errorf("reading a locked store: %v", err)
	}
	if _, err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := s.AddTrial(t.Context(), run.ID, newTrial(0)); err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

func TestFull(t *testing.T) {
	s := newStore(t)
	run := createRun(t, s)
	s.db.SetMaxOpenConns(1) // the limit belongs to a connection
	if _, err := s.db.ExecContext(t.Context(), "PRAGMA max_page_count = 20"); err != nil {
		t.Fatal(err)
	}
	var err error
	added := 0
	for ; added < 1000 && err == nil; added++ {
		err = s.AddTrial(t.Context(), run.ID, newTrial(added))
	}
	if dbcanary.ErrorCode(err) != dbcanary.CodeUnavailable || !strings.Contains(err.Error(), "room left on the disk") {
		t.Errorf("a full store: %v", err)
	}
	trials, err := s.Trials(t.Context(), run.ID)
	if err != nil || len(trials) != added-1 {
		t.Errorf("%d trials, error %v, want the %d that were added", len(trials), err, added-1)
	}
}

func TestCancelled(t *testing.T) {
	s := newStore(t)
	run := createRun(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.AddTrial(ctx, run.ID, newTrial(0)); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
}

// benchTrial has a histogram and as many metrics as a slice on MySQL moves.
func benchTrial() *dbcanary.Trial {
	trial := newTrial(0)
	trial.Histogram = make([]byte, 2000)
	trial.Metrics = nil
	for i := range 150 {
		trial.Metrics = append(trial.Metrics, dbcanary.Metric{Name: fmt.Sprintf("dbms.Innodb_counter_%03d", i), Value: float64(i * i * 100)})
	}
	return trial
}

// BenchmarkAddTrial is the time between two slices that the store takes.
func BenchmarkAddTrial(b *testing.B) {
	s := newStore(b)
	run := newRun()
	if err := s.CreateRun(b.Context(), run); err != nil {
		b.Fatal(err)
	}
	trial := benchTrial()
	for b.Loop() {
		if err := s.AddTrial(b.Context(), run.ID, trial); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTrials reads a run of the usual size: 10 benchmarks, 4 targets, 10 instances of 3 blocks.
func BenchmarkTrials(b *testing.B) {
	s := newStore(b)
	run := newRun()
	if err := s.CreateRun(b.Context(), run); err != nil {
		b.Fatal(err)
	}
	trial := benchTrial()
	for range 1200 {
		if err := s.AddTrial(b.Context(), run.ID, trial); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := s.Trials(b.Context(), run.ID); err != nil {
			b.Fatal(err)
		}
	}
}

// Several commands may meet a store that is not there yet.
func TestConcurrentOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dbcanary.db")
	const openers = 8
	results := make(chan error, openers)
	for range openers {
		go func() {
			s, err := Open(t.Context(), path)
			if err == nil {
				run := newRun()
				err = errors.Join(s.CreateRun(t.Context(), run), s.Close())
			}
			results <- err
		}()
	}
	for range openers {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	runs, err := openStore(t, path).Runs(t.Context())
	if err != nil || len(runs) != openers {
		t.Errorf("%d runs, error %v, want %d", len(runs), err, openers)
	}
}
