package lab

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/load"
	"github.com/dbcanary/dbcanary/internal/plan"
	"github.com/dbcanary/dbcanary/internal/probe"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// overrunLimit is how long a statement may run past the end of its slice.
const overrunLimit = 30 * time.Second

// classicOverrunLimit is that in the classic mode: a scan of a large table by many
// connections takes its time.
const classicOverrunLimit = time.Hour

// runSlice measures one slice, records its trial, and tells whether other work on
// the host disturbed it. An error is returned only for what ends the run.
func (s *state) runSlice(ctx context.Context, c *cell, number, block, position int) (disturbed bool, err error) {
	s.emit(Event{Kind: EventSlice, Target: c.target.Name, Benchmark: c.benchmark.Label, Instance: number, Block: block})
	for worker, work := range c.works {
		work.Reseed(plan.KeySeed(s.run.Plan.Seed, c.benchmark.Label, number, block, worker))
	}
	options := load.Options{CPUs: s.clientCPUs, OverrunLimit: overrunLimit}
	if c.benchmark.Single {
		options = c.benchmark.SingleOptions()
		options.CPUs = s.clientCPUs
	} else if c.length > 0 {
		options.Warmup, options.Time, options.OverrunLimit = time.Duration(s.run.Plan.WarmupNs), c.length, classicOverrunLimit
	} else if c.benchmark.Writes {
		options.Events = s.events[c.benchmark.Label]
		err = warmByEvents(ctx, c, options)
	} else {
		options.Warmup, options.Time = time.Duration(s.run.Plan.WarmupNs), time.Duration(s.run.Plan.SliceNs)
	}
	var before, after probe.Snapshot
	options.Begin = func() { before = c.sampler.Begin() }
	options.End = func() { after = c.sampler.End() }
	var recording *load.Recording
	var counted *observed
	if err == nil {
		recording, counted, err = c.counting.observe(ctx, c.workers, options)
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	exhausted := errors.Is(err, workload.ErrExhausted)
	if err != nil {
		// A cell whose connection is lost or whose rows are used up has no further slice.
		c.ended = true
	}
	if err != nil && !exhausted || recording == nil {
		return false, s.failed(ctx, c.instance, c.benchmark, number, block, err)
	}
	trial := &dbcanary.Trial{
		Benchmark: c.benchmark.Label, Target: c.target.Name, Instance: number, Block: block, Position: position,
	}
	cost := probe.Between(before, after)
	if err := errors.Join(fill(trial, recording, cost), s.addMetrics(ctx, c, trial, recording, cost, counted)); err != nil {
		return false, err
	}
	c.settledMetric(trial)
	c.finish(ctx, trial)
	if exhausted {
		// The targets that run the block after it do the same, but it is cut short.
		trial.Void = err.Error()
	}
	share := otherCPUs(trial)
	label := c.benchmark.Label
	if reason := disturbance(share, s.others[label]); reason != "" && trial.Void == "" && c.length == 0 {
		trial.Void, disturbed = reason, true
	}
	if share >= 0 {
		s.others[label] = append(s.others[label], share)
		s.shares = append(s.shares, share)
	}
	return disturbed, s.record(ctx, trial)
}

// A slice of a benchmark that writes is so many events, equal for all targets:
// by time, a faster target would write more and end with other data.
const (
	calibrationEvents = 200
	warmupShare       = 5 // a fifth of the events again, before those that are measured
)

// boundWrites decides how many events of a benchmark that writes make a slice of
// about the planned length on the slowest target. It runs a few on each target,
// equally many, once in an execution.
func (s *state) boundWrites(ctx context.Context, cells []*cell, benchmark workload.Benchmark, number int) {
	if !benchmark.Writes || benchmark.Single || s.events[benchmark.Label] > 0 {
		return
	}
	events := math.Inf(1)
	for _, c := range cells {
		for worker, work := range c.works {
			work.Reseed(plan.KeySeed(s.run.Plan.Seed, benchmark.Label+" calibration", number, 0, worker))
		}
		recording, err := load.Run(ctx, c.workers, load.Options{Events: calibrationEvents, CPUs: s.clientCPUs, OverrunLimit: overrunLimit})
		if err != nil || recording.Elapsed <= 0 {
			continue // the slice that follows meets the same error and records it
		}
		rate := float64(recording.Events) / recording.Elapsed.Seconds()
		events = min(events, rate*time.Duration(s.run.Plan.SliceNs).Seconds())
	}
	if math.IsInf(events, 1) {
		events = calibrationEvents
	}
	s.events[benchmark.Label] = max(int64(events), int64(s.run.Plan.Threads), calibrationEvents/10)
}

// warmByEvents does the events before a slice that are not measured.
func warmByEvents(ctx context.Context, c *cell, options load.Options) error {
	options.Events = max(options.Events/warmupShare, int64(len(c.workers)))
	_, err := load.Run(ctx, c.workers, options)
	return err
}

// finish lets what was run look at its slice. What it finds wrong makes it void.
func (c *cell) finish(ctx context.Context, trial *dbcanary.Trial) {
	for _, work := range c.works {
		finisher, ok := work.(workload.Finisher)
		if !ok {
			continue
		}
		if err := finisher.Finish(ctx, trial); err != nil && trial.Void == "" {
			trial.Void = err.Error()
		}
	}
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
	trial.ForeignCPUNs = recording.Scale(foreign(cost))
	trial.StealNs = recording.Scale(cost.StealNs)
	trial.ServerContextSwitches = recording.Scale(cost.ServerContextSwitches)
	trial.Void = recording.Void()
	var err error
	trial.Histogram, err = recording.Response.Encode()
	return err
}

// foreign is the CPU time of everything but the measured server and the client;
// what the other targets' servers do in the background is foreign too.
func foreign(cost probe.Delta) int64 {
	if cost.ForeignCPUNs < 0 || cost.IdleServerCPUNs < 0 {
		return -1
	}
	return cost.ForeignCPUNs + cost.IdleServerCPUNs
}
