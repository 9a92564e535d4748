// Package lab executes a plan: it prepares a loaded data directory for every
// target, then starts instances on copies of it, runs blocks of slices in
// random order, and stores every trial as soon as it is measured.
//
// The instance is the unit of replication (docs/METHOD.md): rounds of all
// targets at once follow each other until the budget is used up. Whatever goes
// wrong with one target voids a slice or drops the target with the reason; what
// was measured stays.
package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/probe"
	"github.com/dbcanary/dbcanary/internal/verdict"
	"github.com/dbcanary/dbcanary/internal/workload"
	"github.com/dbcanary/dbcanary/internal/workload/own"
)

// stopTimeout is how long a server may take to shut down cleanly: a buffer pool
// full of dirty pages goes to disk in it.
const stopTimeout = 60 * time.Second

// Store keeps what is measured.
type Store interface {
	SaveRun(ctx context.Context, run *dbcanary.Run) error
	AddTrial(ctx context.Context, runID int64, trial *dbcanary.Trial) error
	Trials(ctx context.Context, runID int64) ([]dbcanary.Trial, error)
	AddProfile(ctx context.Context, runID int64, profile *dbcanary.Profile) error
	Profiles(ctx context.Context, runID int64) ([]dbcanary.Profile, error)
}

// Subject is a target of a run with what is needed to start it.
type Subject struct {
	Driver   dbms.Driver
	Settings []dbcanary.Setting // overlays, in order
	DSN      string             // of a server that somebody else runs; may hold a password
}

// Lab executes runs. One Lab executes one run at a time.
type Lab struct {
	Store   Store
	WorkDir string      // data directories lie below it
	Emit    func(Event) // called from one goroutine at a time; must not block for long
	Now     func() time.Time

	ProfileTime time.Duration // of a profiling slice; 0 for the usual one

	emitting sync.Mutex
}

// state is one execution of a run.
type state struct {
	*Lab
	run        *dbcanary.Run
	subjects   []*subject
	benchmarks []workload.Benchmark // that are reported
	steps      []step               // of an instance, in their order
	datasets   []workload.Dataset
	data       workload.Data
	serverCPUs []int
	clientCPUs []int
	disks      *probe.Disks         // behind the data directories; nil if they are unknown
	trials     []dbcanary.Trial     // without their metrics, which only the store keeps
	events     map[string]int64     // of a slice of a benchmark that writes, by its label
	others     map[string][]float64 // CPUs that did other work, of each slice of this execution, by benchmark
	shares     []float64            // the same of all slices in their order
	deadline   time.Time            // zero without a budget
	round      time.Duration        // that an instance of every target takes, without its profiling slices
	profiled   map[profileKey]bool  // profiling slices that were done; nil before the first one
	profiling  time.Duration        // that they took
	stop       <-chan struct{}
	skipped    []string // benchmarks that the instance under way has not
}

// subject is a target with its loaded data.
type subject struct {
	Subject
	target   *dbcanary.Target
	index    int
	settings []dbcanary.Setting
	golden   string // loaded data directory that instances are copies of
	attached dbms.Server
}

// errStopped ends the work at the end of a slice, when the user asked to.
var errStopped = dbcanary.Errorf(dbcanary.CodeInterrupted, "stopped at the end of a slice")

// Run executes run, whose Targets and Plan are set, with one subject for each
// target, and goes on after the trials that the store already holds of it. When
// stop is closed it ends after the slice under way; when ctx is cancelled, at
// once. Either way no server and no data directory is left, the run is saved in
// its final state, and the error has CodeInterrupted.
func (l *Lab) Run(ctx context.Context, run *dbcanary.Run, subjects []Subject, stop <-chan struct{}) error {
	s := &state{Lab: l, run: run, stop: stop, events: map[string]int64{}, others: map[string][]float64{}}
	for i := range run.Targets {
		s.subjects = append(s.subjects, &subject{Subject: subjects[i], target: &run.Targets[i], index: i})
	}
	err := s.execute(ctx)
	run.Ended = l.Now()
	switch {
	case err == nil:
		run.State = dbcanary.RunDone
	case ctx.Err() != nil || errors.Is(err, errStopped):
		run.State = dbcanary.RunInterrupted
		err = dbcanary.Errorf(dbcanary.CodeInterrupted, "run %d interrupted; go on with: dbcanary resume %d", run.ID, run.ID)
	default:
		run.State = dbcanary.RunFailed
		s.run.Problems = append(s.run.Problems, err.Error())
	}
	// The run's context may be cancelled; its end is saved all the same.
	saveErr := l.Store.SaveRun(context.WithoutCancel(ctx), run)
	s.emit(Event{Kind: EventEnd, Run: run})
	return errors.Join(err, saveErr)
}

func (s *state) execute(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, s.cleanup(ctx)) }()
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.soleRun()()
	if s.run.Plan.Classic() {
		return s.classic(ctx)
	}
	for _, subject := range s.subjects {
		if err := s.prepare(ctx, subject); err != nil {
			return err
		}
		if err := s.enough(); err != nil {
			return err
		}
	}
	if err := s.Store.SaveRun(ctx, s.run); err != nil {
		return err
	}
	err = s.rounds(ctx)
	if text := changedLoad(s.shares); text != "" {
		s.warn(text)
	}
	return err
}

// warn tells of a problem of the run as a whole and keeps it for the report.
func (s *state) warn(text string) {
	s.run.Problems = append(s.run.Problems, text)
	s.emit(Event{Kind: EventProblem, Problem: text})
}

// hostLock is an abstract socket: it belongs to the host, needs no file and is
// free again whatever becomes of its owner.
const hostLock = "@dbcanary-run"

// soleRun warns if another run goes on on this host, and makes this one known to
// others until the returned function is called.
func (s *state) soleRun() (release func()) {
	listener, err := net.Listen("unix", hostLock)
	if errors.Is(err, syscall.EADDRINUSE) {
		s.warn("another run of dbcanary goes on on this host: each disturbs the other")
	}
	if err != nil {
		return func() {}
	}
	return func() { _ = listener.Close() }
}

// begin reads what the run needs to know before a server starts.
func (s *state) begin(ctx context.Context) error {
	p := &s.run.Plan
	finder, err := own.NewFinder(p.Workloads)
	if err != nil {
		return err
	}
	if err := s.readSteps(finder); err != nil {
		return err
	}
	if s.datasets, err = workload.DatasetsOf(s.benchmarks); err != nil {
		return err
	}
	s.data = workload.Data{Tables: p.Tables, TableSize: p.TableSize, Seed: p.Seed}
	p.NotApplicable = nil
	for _, benchmark := range s.benchmarks {
		for _, subject := range s.subjects {
			if reason := s.notApplicable(benchmark, subject); reason != "" {
				p.NotApplicable = append(p.NotApplicable, dbcanary.NotApplicable{Benchmark: benchmark.Label, Target: subject.target.Name, Reason: reason})
			}
		}
	}
	s.serverCPUs, s.clientCPUs, err = probe.CPUPlan(p.Placement, p.Threads)
	if err != nil {
		return err
	}
	s.trials, err = s.Store.Trials(ctx, s.run.ID)
	if err != nil {
		return err
	}
	for i := range s.trials {
		s.trials[i].Metrics = nil
	}
	if err := os.MkdirAll(s.WorkDir, 0o755); err != nil {
		return fmt.Errorf("make the directory for data directories: %w", err)
	}
	if _, err := dbms.Sweep(ctx, s.WorkDir); err != nil {
		return err
	}
	s.run.Host = probe.Fingerprint(ctx, s.WorkDir)
	if err := s.findDisks(ctx); err != nil {
		return err
	}
	if p.Classic() {
		s.deadline = s.classicEnd()
	} else if p.BudgetNs > 0 {
		s.deadline = s.Now().Add(time.Duration(p.BudgetNs) - s.used())
	}
	if err := s.checkResources(); err != nil {
		return err
	}
	s.emit(Event{Kind: EventRun, Run: s.run})
	return nil
}

// coldFirst orders benchmarks that run before the caches are warmed before the others.
func coldFirst(b workload.Benchmark) int {
	if b.Cold {
		return 0
	}
	return 1
}

// used is the time that a resumed run has had before.
func (s *state) used() time.Duration {
	if len(s.trials) == 0 {
		return 0
	}
	return s.trials[len(s.trials)-1].Started.Sub(s.run.Started)
}

// rounds starts instances of all targets again and again.
func (s *state) rounds(ctx context.Context) error {
	first := 0
	for i := range s.trials {
		first = max(first, s.trials[i].Instance+1)
	}
	for instance := first; s.another(instance, first); instance++ {
		began, profiling := s.Now(), s.profiling
		if s.skipped = s.leftOut(instance); len(s.skipped) == len(s.benchmarks) {
			return nil
		}
		if err := s.runInstance(ctx, instance); err != nil {
			return err
		}
		s.round = s.Now().Sub(began) - (s.profiling - profiling)
		if err := s.enough(); err != nil {
			return err
		}
	}
	return nil
}

// another says whether one more instance fits. The first one always runs.
func (s *state) another(instance, first int) bool {
	if s.run.Plan.Instances > 0 && instance >= s.run.Plan.Instances {
		return false
	}
	if s.isAttached() && instance > first {
		return false
	}
	return instance == first || s.deadline.IsZero() || s.Now().Add(s.round*9/10).Before(s.deadline)
}

// isAttached tells whether some target is a server that we can't restart. All
// blocks then lie in one instance, and the verdicts say so.
func (s *state) isAttached() bool {
	for _, subject := range s.live() {
		if subject.DSN != "" {
			return true
		}
	}
	return false
}

// live are the subjects that still take part.
func (s *state) live() []*subject {
	var live []*subject
	for _, subject := range s.subjects {
		if subject.target.Dropped == "" {
			live = append(live, subject)
		}
	}
	return live
}

// enough fails when there is nothing left to compare. A base that failed is no reason
// as long as others can be compared with each other.
func (s *state) enough() error {
	if len(s.live()) >= min(2, len(s.subjects)) {
		return nil
	}
	reasons := ""
	for _, subject := range s.subjects {
		if subject.target.Dropped != "" {
			reasons += fmt.Sprintf("; %s: %s", subject.target.Name, subject.target.Dropped)
		}
	}
	return dbcanary.Errorf(dbcanary.CodeFailed, "too few targets are left to compare%s", reasons)
}

// drop takes a target out of the run. The run goes on without its base too: every
// other target may take its place in a report.
func (s *state) drop(ctx context.Context, subject *subject, reason error) error {
	subject.target.Dropped = reason.Error()
	problem := "dropped: " + reason.Error()
	if others := s.live(); subject.index == 0 && len(others) > 1 {
		problem += fmt.Sprintf("; it is the base, so from here on nothing is compared with it: dbcanary report %d --base %s compares the others",
			s.run.ID, others[0].target.Name)
	}
	s.emit(Event{Kind: EventProblem, Target: subject.target.Name, Problem: problem})
	return s.Store.SaveRun(ctx, s.run)
}

// stopped tells whether the user asked to stop, or ctx was cancelled.
func (s *state) stopped(ctx context.Context) error {
	select {
	case <-s.stop:
		return errStopped
	default:
		return ctx.Err()
	}
}

func (s *state) emit(event Event) {
	s.emitting.Lock()
	defer s.emitting.Unlock()
	event.Time = s.Now()
	if !s.deadline.IsZero() {
		event.LeftNs = max(0, int64(s.deadline.Sub(event.Time)))
	}
	s.Emit(event)
}

// compare tells watchers what the trials so far say.
func (s *state) compare() {
	comparisons := verdict.Compare(s.run.Plan, s.trials, verdict.Options{MinEffect: s.run.Plan.MinEffect})
	s.emit(Event{Kind: EventComparisons, Comparisons: comparisons})
}

// claim makes a data directory of this run. They lie side by side, so that each
// is swept by its own marker if this process is killed.
func (s *state) claim(name string) (string, error) {
	dir := filepath.Join(s.WorkDir, s.run.UID+"-"+name)
	return dir, dbms.Claim(dir)
}

// cleanup disconnects from attached servers and removes the loaded data.
func (s *state) cleanup(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	var errs []error
	for _, subject := range s.subjects {
		if subject.attached != nil {
			errs = append(errs, subject.attached.Stop(ctx))
		}
		if subject.golden != "" {
			errs = append(errs, dbms.Remove(subject.golden))
		}
	}
	return errors.Join(errs...)
}
