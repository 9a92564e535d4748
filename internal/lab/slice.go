package lab

import (
	"context"
	"errors"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/load"
	"github.com/dbcanary/dbcanary/internal/plan"
	"github.com/dbcanary/dbcanary/internal/probe"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// overrunLimit is how long a statement may run past the end of its slice.
const overrunLimit = 30 * time.Second

// runSlice measures one slice and records its trial. An error is returned only
// for what ends the run.
func (s *state) runSlice(ctx context.Context, c *cell, number, block, position int) error {
	s.emit(Event{Kind: EventSlice, Target: c.target.Name, Benchmark: c.benchmark.Label, Instance: number, Block: block})
	for worker, session := range c.sessions {
		session.Reseed(plan.KeySeed(s.run.Plan.Seed, c.benchmark.Label, number, block, worker))
	}
	var before, after probe.Snapshot
	recording, err := load.Run(ctx, c.workers, load.Options{
		Warmup:       time.Duration(s.run.Plan.WarmupNs),
		Time:         time.Duration(s.run.Plan.SliceNs),
		CPUs:         s.clientCPUs,
		OverrunLimit: overrunLimit,
		Begin:        func() { before = c.sampler.Begin() },
		End:          func() { after = c.sampler.End() },
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	exhausted := errors.Is(err, workload.ErrExhausted)
	if err != nil {
		// A cell whose connection is lost or whose rows are used up has no further slice.
		c.ended = true
	}
	if err != nil && !exhausted || recording == nil {
		return s.failed(ctx, c.instance, c.benchmark, number, block, err)
	}
	trial := &dbcanary.Trial{
		Benchmark: c.benchmark.Label, Target: c.target.Name, Instance: number, Block: block, Position: position,
	}
	if err := fill(trial, recording, probe.Between(before, after)); err != nil {
		return err
	}
	if exhausted && recording.Elapsed < time.Duration(s.run.Plan.SliceNs)/2 {
		trial.Void = err.Error()
	}
	return s.record(ctx, trial)
}

// fill takes what was recorded and probed into the trial.
func fill(trial *dbcanary.Trial, recording *load.Recording, cost probe.Delta) error {
	trial.Started = recording.Started
	trial.ElapsedNs = recording.Elapsed.Nanoseconds()
	trial.OverrunNs = recording.Overrun.Nanoseconds()
	trial.Operations = recording.Operations
	trial.Events = recording.Events
	trial.Retries = recording.Retries
	trial.Errors = recording.Errors
	trial.PerSecond = recording.PerSecond
	trial.LatencyNs = recording.Response.Summary()
	// The probes' window differs from the measured time where events are long.
	trial.ServerCPUNs = recording.Scale(cost.ServerCPUNs)
	trial.ClientCPUNs = recording.Scale(cost.ClientCPUNs)
	trial.ForeignCPUNs = recording.Scale(cost.ForeignCPUNs)
	trial.StealNs = recording.Scale(cost.StealNs)
	trial.ServerContextSwitches = recording.Scale(cost.ServerContextSwitches)
	trial.Void = recording.Void()
	var err error
	trial.Histogram, err = recording.Response.Encode()
	return err
}
