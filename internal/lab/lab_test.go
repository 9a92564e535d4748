package lab_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
	"github.com/dbcanary/dbcanary/internal/lab"
	"github.com/dbcanary/dbcanary/internal/plan"
	"github.com/dbcanary/dbcanary/internal/store"
	"github.com/dbcanary/dbcanary/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a lab on SQLite, which is real and starts in milliseconds.
type bench struct {
	t        *testing.T
	store    *store.Store
	work     string
	events   []lab.Event
	watch    func(lab.Event)
	subjects []lab.Subject
	run      *dbcanary.Run
}

func newBench(t *testing.T, targets ...string) *bench {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "dbcanary.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	b := &bench{t: t, store: st, work: filepath.Join(t.TempDir(), "work"), watch: func(lab.Event) {}}
	b.run = &dbcanary.Run{State: dbcanary.RunRunning, Started: time.Now(), Plan: dbcanary.Plan{
		Targets: targets, Tables: 1, TableSize: 2000, Threads: 1, PSMode: "prepared", Seed: 1,
		Benchmarks: []dbcanary.PlannedBenchmark{{Label: "point-query", Group: "point"}, {Label: "update-index", Group: "writes"}},
		SliceNs:    int64(10 * time.Millisecond), WarmupNs: int64(time.Millisecond),
		Blocks: 2, Instances: 2, MinEffect: 0.02, Placement: dbcanary.PlacementFree,
	}}
	for _, name := range targets {
		b.subjects = append(b.subjects, lab.Subject{Driver: drivers.For(dbcanary.SQLite)})
		b.run.Targets = append(b.run.Targets, dbcanary.Target{Name: name, Build: dbcanary.Build{Family: dbcanary.SQLite, Provider: "builtin"}})
	}
	if err := st.CreateRun(t.Context(), b.run); err != nil {
		t.Fatal(err)
	}
	return b
}

// execute runs the lab and checks what holds after every run.
func (b *bench) execute(ctx context.Context, stop <-chan struct{}) error {
	b.t.Helper()
	laboratory := &lab.Lab{Store: b.store, WorkDir: b.work, Now: time.Now, Emit: func(event lab.Event) {
		b.events = append(b.events, event)
		b.watch(event)
	}}
	err := laboratory.Run(ctx, b.run, b.subjects, stop)
	entries, dirErr := os.ReadDir(b.work)
	if dirErr != nil || len(entries) > 0 {
		b.t.Errorf("data directories are left: %v, %v", entries, dirErr)
	}
	saved, loadErr := b.store.Run(context.Background(), "last")
	if loadErr != nil || saved.State != b.run.State || saved.Ended.IsZero() {
		b.t.Errorf("saved state %q, ended %s: %v", saved.State, saved.Ended, loadErr)
	}
	return err
}

func (b *bench) trials() []dbcanary.Trial {
	b.t.Helper()
	trials, err := b.store.Trials(context.Background(), b.run.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return trials
}

type place struct {
	Benchmark, Target         string
	Instance, Block, Position int
}

func TestRun_MeasuresBlocksInTheOrderOfThePlan(t *testing.T) {
	b := newBench(t, "a", "b", "c")
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var want, got []place
	for instance := range 2 {
		for _, benchmark := range b.run.Plan.Benchmarks {
			for block := range 2 {
				for position, target := range plan.Order(1, benchmark.Label, instance, block, 3) {
					want = append(want, place{benchmark.Label, b.run.Plan.Targets[target], instance, block, position})
				}
			}
		}
	}
	for _, trial := range b.trials() {
		got = append(got, place{trial.Benchmark, trial.Target, trial.Instance, trial.Block, trial.Position})
		if trial.Void != "" || trial.Operations <= 0 || trial.ElapsedNs <= 0 || trial.LatencyNs.P50 <= 0 || len(trial.Histogram) == 0 {
			t.Errorf("a trial without a measurement: %+v", trial)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if b.run.State != dbcanary.RunDone || len(b.run.Targets[0].Settings) == 0 || b.run.Targets[0].Build.Version == "" || b.run.Host.CPUs == 0 {
		t.Errorf("run %+v", b.run)
	}
}

func TestRun_StopsAtTheEndOfASliceAndGoesOn(t *testing.T) {
	b := newBench(t, "a", "b")
	stop := make(chan struct{})
	b.watch = func(event lab.Event) {
		if event.Kind == lab.EventTrial && event.Trial.Instance == 0 && event.Trial.Block == 1 && event.Trial.Position == 0 && event.Benchmark == "point-query" {
			close(stop)
		}
	}
	err := b.execute(t.Context(), stop)
	if dbcanary.ErrorCode(err) != dbcanary.CodeInterrupted || !strings.Contains(err.Error(), "dbcanary resume 1") {
		t.Errorf("error %v", err)
	}
	if b.run.State != dbcanary.RunInterrupted || len(b.trials()) != 3 {
		t.Fatalf("state %s, %d trials", b.run.State, len(b.trials()))
	}
	b.watch = func(lab.Event) {}
	b.run.State = dbcanary.RunRunning
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	// The instance that was cut off keeps its trials; a whole one follows it.
	instances := map[int]int{}
	for _, trial := range b.trials() {
		instances[trial.Instance]++
	}
	if diff := cmp.Diff(map[int]int{0: 3, 1: 8}, instances); diff != "" {
		t.Error(diff)
	}
}

func TestRun_CancelledAtOnce(t *testing.T) {
	b := newBench(t, "a", "b")
	b.run.Plan.SliceNs = int64(time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	b.watch = func(event lab.Event) {
		if event.Kind == lab.EventSlice {
			cancel()
		}
	}
	err := b.execute(ctx, nil)
	if dbcanary.ErrorCode(err) != dbcanary.CodeInterrupted || len(b.trials()) != 0 {
		t.Errorf("error %v, %d trials", err, len(b.trials()))
	}
}

// faulty is a driver whose servers fail as told.
type faulty struct {
	dbms.Driver
	starts  atomic.Int64
	failAt  int64                // the start that fails, from 1; 0 for none
	connect func() (bool, error) // true to break a connection at its first statement
}

func (f *faulty) Start(ctx context.Context, options dbms.StartOptions) (dbms.Server, error) {
	if f.starts.Add(1) == f.failAt {
		return nil, errors.New("out of luck")
	}
	server, err := f.Driver.Start(ctx, options)
	if err != nil || f.connect == nil {
		return server, err
	}
	return &faultyServer{Server: server, connect: f.connect}, nil
}

type faultyServer struct {
	dbms.Server
	connect func() (bool, error)
}

func (s *faultyServer) Connect(ctx context.Context) (wire.Conn, error) {
	broken, err := s.connect()
	if err != nil {
		return nil, err
	}
	conn, err := s.Server.Connect(ctx)
	if err == nil && broken {
		conn.Abort()
	}
	return conn, err
}

func TestRun_DropsATargetThatCannotStart(t *testing.T) {
	for name, failAt := range map[string]int64{"to load": 1, "the first instance": 2, "the second instance": 3} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "a", "b", "c")
			b.subjects[1].Driver = &faulty{Driver: b.subjects[1].Driver, failAt: failAt}
			if err := b.execute(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			counts := map[string]int{}
			for _, trial := range b.trials() {
				counts[trial.Target]++
			}
			want := map[string]int{"a": 8, "c": 8}
			if failAt == 3 {
				want["b"] = 4
			}
			if diff := cmp.Diff(want, counts); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(b.run.Targets[1].Dropped, "out of luck") {
				t.Errorf("dropped %q", b.run.Targets[1].Dropped)
			}
		})
	}
}

func TestRun_FailsWhenTooFewTargetsAreLeft(t *testing.T) {
	b := newBench(t, "a", "b")
	b.subjects[1].Driver = &faulty{Driver: b.subjects[1].Driver, failAt: 1}
	err := b.execute(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "too few targets are left to compare; b: out of luck") {
		t.Errorf("error %v", err)
	}
	if b.run.State != dbcanary.RunFailed {
		t.Errorf("state %s", b.run.State)
	}
}

// A lost connection makes void what it was to measure and nothing else.
func TestRun_VoidsWhatALostConnectionWasToMeasure(t *testing.T) {
	b := newBench(t, "a", "b")
	connections := 0
	b.subjects[1].Driver = &faulty{Driver: b.subjects[1].Driver, connect: func() (bool, error) {
		connections++
		// The first connections load the data; then each benchmark has one.
		if b.phase() == lab.EventInstance || b.phase() == lab.EventComparisons || b.phase() == lab.EventTrial {
			return connections%2 == 0, nil
		}
		return false, nil
	}}
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	void, good := 0, 0
	for _, trial := range b.trials() {
		switch {
		case trial.Void != "":
			void++
			if trial.Target != "b" {
				t.Errorf("void on the wrong target: %+v", trial)
			}
		case trial.Target == "b":
			good++
		}
	}
	if void == 0 || good == 0 || b.run.State != dbcanary.RunDone || b.run.Targets[1].Dropped != "" {
		t.Errorf("%d void and %d good slices of b, state %s, dropped %q", void, good, b.run.State, b.run.Targets[1].Dropped)
	}
	problem := func(e lab.Event) bool { return e.Kind == lab.EventProblem && strings.Contains(e.Problem, "slice void") }
	if !slices.ContainsFunc(b.events, problem) {
		t.Error("nobody was told of the void slices")
	}
}

func (b *bench) phase() lab.EventKind {
	if len(b.events) == 0 {
		return ""
	}
	return b.events[len(b.events)-1].Kind
}

func TestRun_RefusesWhatDoesNotFit(t *testing.T) {
	b := newBench(t, "a", "b")
	b.run.Plan.TableSize = 1 << 40
	err := b.execute(t.Context(), nil)
	if dbcanary.ErrorCode(err) != dbcanary.CodeUnavailable || !strings.Contains(err.Error(), "no room in") {
		t.Errorf("error %v", err)
	}
}
