package lab_test

import (
	"context"
	"errors"
	"net"
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

	profileTime time.Duration
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
	laboratory := &lab.Lab{Store: b.store, WorkDir: b.work, Now: time.Now, ProfileTime: b.profileTime, Emit: func(event lab.Event) {
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

// A block that other work on the host disturbed is measured again, so how many
// blocks there are depends on the host; what holds of each does not.
func TestRun_MeasuresBlocksInTheOrderOfThePlan(t *testing.T) {
	b := newBench(t, "a", "b", "c")
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	type block struct {
		benchmark       string
		instance, block int
	}
	order, disturbed := map[block][]string{}, map[block]bool{}
	for _, trial := range b.trials() {
		at := block{trial.Benchmark, trial.Instance, trial.Block}
		if trial.Position != len(order[at]) {
			t.Errorf("%+v: position %d after %d slices", at, trial.Position, len(order[at]))
		}
		order[at] = append(order[at], trial.Target)
		disturbed[at] = disturbed[at] || trial.Void != ""
		if trial.Operations <= 0 || trial.ElapsedNs <= 0 || trial.LatencyNs.P50 <= 0 || len(trial.Histogram) == 0 {
			t.Errorf("a trial without a measurement: %+v", trial)
		}
	}
	for _, benchmark := range b.run.Plan.Benchmarks {
		for instance := range 2 {
			good, all := 0, 0
			for at, targets := range order {
				if at.benchmark != benchmark.Label || at.instance != instance {
					continue
				}
				all++
				if !disturbed[at] {
					good++
				}
				var want []string
				for _, target := range plan.Order(1, at.benchmark, at.instance, at.block, 3) {
					want = append(want, b.run.Plan.Targets[target])
				}
				if diff := cmp.Diff(want, targets); diff != "" {
					t.Errorf("%+v: %s", at, diff)
				}
			}
			if good != 2 && all != 4 {
				t.Errorf("%s, instance %d: %d good blocks of %d", benchmark.Label, instance, good, all)
			}
		}
	}
	if b.run.State != dbcanary.RunDone || len(b.run.Targets[0].Settings) == 0 || b.run.Targets[0].Build.Version == "" || b.run.Host.CPUs == 0 {
		t.Errorf("run %+v", b.run)
	}
}

// Targets write equally much, however fast they are.
func TestRun_BoundsWritesByEvents(t *testing.T) {
	b := newBench(t, "a", "b")
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	events := map[int64]bool{}
	for _, trial := range b.trials() {
		if trial.Benchmark == "update-index" {
			events[trial.Events] = true
		}
	}
	if len(events) != 1 {
		t.Errorf("slices of update-index have %v events", events)
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
	if len(instances) != 2 || instances[0] != 3 || instances[1] < 8 {
		t.Errorf("trials by instance: %v", instances)
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
			instances := map[string][]int{}
			for _, trial := range b.trials() {
				if !slices.Contains(instances[trial.Target], trial.Instance) {
					instances[trial.Target] = append(instances[trial.Target], trial.Instance)
				}
			}
			want := map[string][]int{"a": {0, 1}, "c": {0, 1}}
			if failAt == 3 {
				want["b"] = []int{0}
			}
			if diff := cmp.Diff(want, instances); diff != "" {
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

// Without its base the others can still be compared with each other, as long as there
// are two of them.
func TestRun_GoesOnWithoutItsBase(t *testing.T) {
	for name, failAt := range map[string]int64{"to load": 1, "the first instance": 2, "the second instance": 3} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "a", "b", "c")
			b.subjects[0].Driver = &faulty{Driver: b.subjects[0].Driver, failAt: failAt}
			if err := b.execute(t.Context(), nil); err != nil || b.run.State != dbcanary.RunDone {
				t.Fatalf("state %s, error %v", b.run.State, err)
			}
			instances := map[string][]int{}
			for _, trial := range b.trials() {
				if !slices.Contains(instances[trial.Target], trial.Instance) {
					instances[trial.Target] = append(instances[trial.Target], trial.Instance)
				}
			}
			want := map[string][]int{"b": {0, 1}, "c": {0, 1}}
			if failAt == 3 {
				want["a"] = []int{0}
			}
			if diff := cmp.Diff(want, instances); diff != "" {
				t.Error(diff)
			}
			told := func(e lab.Event) bool {
				return e.Kind == lab.EventProblem && e.Target == "a" && strings.Contains(e.Problem, "out of luck") &&
					strings.Contains(e.Problem, "dbcanary report 1 --base b compares the others")
			}
			if !slices.ContainsFunc(b.events, told) || !strings.Contains(b.run.Targets[0].Dropped, "out of luck") {
				t.Errorf("nobody was told what became of the base: %q", b.run.Targets[0].Dropped)
			}
		})
	}
}

func TestRun_FailsWhenTheBaseAndOneMoreAreGone(t *testing.T) {
	b := newBench(t, "a", "b", "c")
	for i := range 2 {
		b.subjects[i].Driver = &faulty{Driver: b.subjects[i].Driver, failAt: 1}
	}
	err := b.execute(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "too few targets are left to compare; a: out of luck; b: out of luck") {
		t.Errorf("error %v", err)
	}
	if n := len(b.trials()); n != 0 || b.run.State != dbcanary.RunFailed {
		t.Errorf("%d trials, state %s", n, b.run.State)
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

// Two runs at once disturb each other, and both would be believed.
func TestRun_TellsOfAnotherRunOnTheHost(t *testing.T) {
	// Where it can't be had, another test holds it, which is as good.
	if other, err := net.Listen("unix", "@dbcanary-run"); err == nil {
		defer other.Close()
	}
	b := newBench(t, "a", "b")
	b.run.Plan.Instances = 1
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(b.run.Problems, func(p string) bool { return strings.Contains(p, "another run of dbcanary") }) {
		t.Errorf("problems: %q", b.run.Problems)
	}
}

func TestRun_RefusesWhatDoesNotFit(t *testing.T) {
	b := newBench(t, "a", "b")
	b.run.Plan.TableSize = 1 << 40
	err := b.execute(t.Context(), nil)
	if dbcanary.ErrorCode(err) != dbcanary.CodeUnavailable || !strings.Contains(err.Error(), "no room in") {
		t.Errorf("error %v", err)
	}
}
