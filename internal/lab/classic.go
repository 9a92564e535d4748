package lab

import (
	"context"
	"time"

	"github.com/dbcanary/dbcanary/internal/plan"
)

// classic measures one target after the other, as in the published reports: each
// instance is initialised, loaded and measured without a restart in between.
func (s *state) classic(ctx context.Context) error {
	for _, subject := range s.subjects {
		for number := range max(1, s.run.Plan.Instances) {
			if subject.target.Dropped != "" || s.complete(subject, number) {
				continue
			}
			if number > 0 && subject.DSN != "" {
				break // a server that somebody else runs has one instance
			}
			if err := s.stopped(ctx); err != nil {
				return err
			}
			if err := s.classicInstance(ctx, subject, number); err != nil {
				return err
			}
			if err := s.enough(); err != nil {
				return err
			}
		}
	}
	return nil
}

// complete tells whether an instance was measured to its end before the run was
// interrupted. One that was not is measured again: what its last steps found depends
// on the steps before them.
func (s *state) complete(subject *subject, number int) bool {
	last := ""
	for _, benchmark := range s.benchmarks {
		if s.run.Plan.Applies(benchmark.Label, subject.target.Name) {
			last = benchmark.Label
		}
	}
	for i := range s.trials {
		t := &s.trials[i]
		if t.Benchmark == last && t.Target == subject.target.Name && t.Instance == number {
			return true
		}
	}
	return false
}

// classicInstance initialises, loads, measures and stops one target. A target that
// fails is dropped; an error is returned only for what ends the run.
func (s *state) classicInstance(ctx context.Context, subject *subject, number int) error {
	s.emit(Event{Kind: EventInstance, Target: subject.target.Name, Instance: number})
	server, err := s.open(ctx, subject)
	if err != nil {
		err = s.unknownSetting(ctx, subject, err)
	} else {
		if subject.DSN != "" {
			subject.attached = server
		}
		err = s.fill(ctx, subject, server)
	}
	i := &instance{subject: subject, number: number, server: server, dir: subject.golden}
	subject.golden = ""
	defer s.stopInstances(ctx, []*instance{i})
	if err := s.loaded(ctx, subject, err); err != nil || subject.target.Dropped != "" {
		return err
	}
	if err := s.Store.SaveRun(ctx, s.run); err != nil {
		return err
	}
	return s.runSteps(ctx, number, []*instance{i})
}

// classicEnd is when a run in the classic mode is expected to end; its budget does not
// end it.
func (s *state) classicEnd() time.Time {
	whole := plan.Duration(s.run.Plan, plan.DefaultCost(), s.run.Plan.Instances)
	return s.Now().Add(whole - s.used())
}

// loadCPUs are those of a server that is loaded. Where it is not measured it may use
// every one.
func (s *state) loadCPUs() []int {
	if s.run.Plan.Classic() {
		return s.serverCPUs
	}
	return nil
}
