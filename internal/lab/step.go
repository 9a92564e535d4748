package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload"
	"github.com/dbcanary/dbcanary/internal/workload/own"
)

// step is what an instance does: a benchmark, or maintenance.
type step struct {
	benchmark workload.Benchmark
	settle    bool          // the debt of writes is paid
	length    time.Duration // of the slice, in the classic mode
}

// readSteps finds the benchmarks of the plan. In the classic mode they have the quirks
// of the published ones.
func (s *state) readSteps(finder *own.Finder) error {
	p := s.run.Plan
	find := func(label string) (workload.Benchmark, error) {
		benchmark, err := finder.Find(label)
		if err == nil && p.Classic() {
			benchmark = benchmark.AsPublished()
		}
		return benchmark, err
	}
	for _, planned := range p.Benchmarks {
		benchmark, err := find(planned.Label)
		if err != nil {
			return err
		}
		s.benchmarks = append(s.benchmarks, benchmark)
	}
	slices.SortStableFunc(s.benchmarks, func(a, b workload.Benchmark) int { return coldFirst(a) - coldFirst(b) })
	if len(p.Steps) == 0 {
		for _, benchmark := range s.benchmarks {
			s.steps = append(s.steps, step{benchmark: benchmark})
		}
	}
	for _, planned := range p.Steps {
		next := step{settle: planned.Label == "", length: time.Duration(planned.Slices * float64(p.SliceNs))}
		if !next.settle {
			var err error
			if next.benchmark, err = find(planned.Label); err != nil {
				return err
			}
		}
		s.steps = append(s.steps, next)
	}
	return nil
}

// runSteps has instances of one start do all steps. An error is returned only for what
// ends the run.
func (s *state) runSteps(ctx context.Context, number int, instances []*instance) error {
	// In the classic mode an instance has just been loaded, and warms itself.
	warm, wrote, due := s.run.Plan.Classic(), s.run.Plan.Classic(), false
	for _, next := range s.steps {
		if next.settle {
			due = due || wrote
			continue
		}
		if slices.Contains(s.skipped, next.benchmark.Label) {
			continue
		}
		if !next.benchmark.Cold && !warm {
			warm = true
			if err := s.warm(ctx, instances, number); err != nil {
				return err
			}
		}
		if due { // just before what must not be charged for it
			if err := s.settle(ctx, instances); err != nil {
				return err
			}
			due, wrote = false, false
		}
		if err := s.runBenchmark(ctx, number, instances, next); err != nil {
			return err
		}
		wrote = wrote || next.benchmark.Writes
		s.compare()
	}
	return s.profile(ctx, number, instances)
}

// settle has all instances pay the debt of their writes, at the same time and outside
// of everything that is measured; how long it took stands with the next trial of each.
func (s *state) settle(ctx context.Context, instances []*instance) error {
	var group sync.WaitGroup
	unsettled := make([]error, len(instances))
	for n, i := range instances {
		if i.target.Dropped != "" {
			continue
		}
		s.emit(Event{Kind: EventPrepare, Target: i.target.Name, Phase: "settle"})
		group.Go(func() {
			began := s.Now()
			err := workload.Settle(ctx, i.server.Admin(), i.Driver.Family())
			i.settled += s.Now().Sub(began)
			if errors.Is(err, workload.ErrUnsettled) {
				unsettled[n] = err
			} else if err != nil {
				i.err = withLog(fmt.Errorf("settle after the writes: %w", err), i.server)
			}
		})
	}
	group.Wait()
	for n, err := range unsettled {
		if err != nil {
			s.warn(fmt.Sprintf("%s: %s; what is measured after it pays the rest", instances[n].target.Name, err))
		}
	}
	return s.dropFailed(ctx, instances)
}

// settledMetric tells how long the debt of writes was paid just before the slice; it
// is absent where none was.
func (i *instance) settledMetric(trial *dbcanary.Trial) {
	if i.settled > 0 {
		trial.Metrics = append(trial.Metrics, dbcanary.Metric{Name: "work.settled_before_ns", Value: float64(i.settled.Nanoseconds())})
		i.settled = 0
	}
}
