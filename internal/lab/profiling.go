package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/load"
	"github.com/dbcanary/dbcanary/internal/plan"
	"github.com/dbcanary/dbcanary/internal/probe"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// defaultProfileTime is the length of a profiling slice: at 199 samples a second a
// function that takes a hundredth of the time is seen ten times.
const defaultProfileTime = 5 * time.Second

// profileKey is a profiling slice, of which a run needs one.
type profileKey struct{ benchmark, target, name string }

// profile runs the profiling slices that the run has not had. They come when the
// instance has measured everything: what they do to data and caches goes with the
// instance, and touches no trial. Each shows one thing, since one disturbs the other;
// all targets get the same work. The time that they take is no part of the budget.
func (s *state) profile(ctx context.Context, number int, instances []*instance) error {
	if len(s.run.Plan.Profile) == 0 {
		return nil
	}
	if err := s.readProfiled(ctx); err != nil {
		return err
	}
	began := s.Now()
	defer func() {
		took := s.Now().Sub(began)
		s.profiling += took
		if !s.deadline.IsZero() {
			s.deadline = s.deadline.Add(took)
		}
	}()
	for _, benchmark := range s.benchmarks {
		for _, name := range s.run.Plan.Profile {
			for _, i := range instances {
				key := profileKey{benchmark.Label, i.target.Name, name}
				if s.profiled[key] || i.target.Dropped != "" || s.notApplicable(benchmark, i.subject) != "" {
					continue
				}
				if err := s.stopped(ctx); err != nil {
					return err
				}
				s.profiled[key] = true
				if err := s.profileOne(ctx, i, benchmark, name, number); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// readProfiled finds out what was done before a resumed run was interrupted.
func (s *state) readProfiled(ctx context.Context) error {
	if s.profiled != nil {
		return nil
	}
	profiles, err := s.Store.Profiles(ctx, s.run.ID)
	if err != nil {
		return err
	}
	s.profiled = map[profileKey]bool{}
	for _, p := range profiles {
		if p.Void == "" { // else it is tried again
			s.profiled[profileKey{p.Benchmark, p.Target, s.kindOf(p)}] = true
		}
	}
	return nil
}

// kindOf tells what a profile was to show. Pauses of the server may have been in the
// place of perf.
func (s *state) kindOf(p dbcanary.Profile) string {
	switch {
	case len(p.Stacks) == 0:
		return dbcanary.ProfileWaits
	case isPaused(p.Stacks[0].Sampler) && slices.Contains(s.run.Plan.Profile, dbcanary.ProfileStacks):
		return dbcanary.ProfileStacks
	default:
		return dbcanary.ProfilePerf
	}
}

// isPaused tells a sampler that pauses the server.
func isPaused(sampler string) bool { return sampler == "gdb" || sampler == "eu-stack" }

// profileOne runs one profiling slice. What can't be shown is told in the report;
// an error is returned only for what ends the run.
func (s *state) profileOne(ctx context.Context, i *instance, benchmark workload.Benchmark, name string, number int) error {
	s.emit(Event{Kind: EventProfile, Target: i.target.Name, Benchmark: benchmark.Label, Instance: number, Phase: name})
	if benchmark.Single || benchmark.Cold {
		return s.miss(ctx, dbcanary.MissingProbe{Probe: "profile of " + benchmark.Label, Reason: "it can't be run again on the data and caches of an instance"})
	}
	cell, err := s.newCell(ctx, i, benchmark)
	if err != nil {
		return s.addProfile(ctx, &dbcanary.Profile{Benchmark: benchmark.Label, Target: i.target.Name, Instance: number, Started: s.Now(), Void: err.Error()})
	}
	defer cell.close()
	instrument, err := s.prepareInstrument(ctx, i, name)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return s.miss(ctx, dbcanary.MissingProbe{Target: i.target.Name, Probe: name, Reason: err.Error()})
	}
	if instrument == nil {
		return nil // shown by another one
	}
	for worker, work := range cell.works {
		work.Reseed(plan.KeySeed(s.run.Plan.Seed, benchmark.Label+" profile "+name, number, 0, worker))
	}
	profile, err := s.profileSlice(ctx, cell, instrument, benchmark)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		profile.Void = withLog(err, i.server).Error()
	}
	profile.Benchmark, profile.Target, profile.Instance = benchmark.Label, i.target.Name, number
	return s.addProfile(ctx, profile)
}

// prepareInstrument makes an instrument ready. Where perf is not permitted, stacks
// are sampled by pauses, unless those are asked for anyhow.
func (s *state) prepareInstrument(ctx context.Context, i *instance, name string) (probe.Instrument, error) {
	pid := i.server.PID()
	switch {
	case name == dbcanary.ProfileWaits:
		waits := probe.NewWaits(i.Driver.Family(), i.server.Admin(), s.run.Plan.Waits)
		return waits, waits.Prepare(ctx)
	case i.DSN != "":
		return nil, errors.New("somebody else runs the server: only waits can be seen of it")
	case pid == 0:
		return nil, fmt.Errorf("%s runs within dbcanary: there is no server to look at", i.Driver.Family())
	case name == dbcanary.ProfileStacks:
		pauses := probe.NewPauses(pid)
		return pauses, pauses.Prepare(ctx)
	}
	perf := probe.NewPerf(pid, i.dir)
	err := perf.Prepare(ctx)
	if err == nil || ctx.Err() != nil {
		return perf, err
	}
	if err := s.miss(ctx, dbcanary.MissingProbe{Target: i.target.Name, Probe: dbcanary.ProfilePerf, Reason: err.Error()}); err != nil {
		return nil, err
	}
	if slices.Contains(s.run.Plan.Profile, dbcanary.ProfileStacks) {
		return nil, nil
	}
	return s.prepareInstrument(ctx, i, dbcanary.ProfileStacks)
}

// profileSlice runs the load of a profiling slice under an instrument.
func (s *state) profileSlice(ctx context.Context, c *cell, instrument probe.Instrument, benchmark workload.Benchmark) (*dbcanary.Profile, error) {
	options := load.Options{CPUs: s.clientCPUs, OverrunLimit: overrunLimit}
	profileTime := cmp.Or(s.ProfileTime, defaultProfileTime)
	if benchmark.Writes {
		// By events as in a measured slice: all targets do the same to their data.
		events := max(s.events[benchmark.Label], calibrationEvents)
		options.Events = max(1, int64(float64(events)*float64(profileTime)/float64(max(1, s.run.Plan.SliceNs))))
	} else {
		options.Warmup, options.Time = time.Duration(s.run.Plan.WarmupNs), profileTime
	}
	options.Begin = func() { instrument.Begin(ctx) }
	options.End = func() { instrument.End(ctx) }
	profile := &dbcanary.Profile{Started: s.Now()}
	recording, err := load.Run(ctx, c.workers, options)
	seen, failure := instrument.Finish(ctx)
	if recording != nil {
		profile.Started, profile.ElapsedNs, profile.Operations = recording.Started, recording.Elapsed.Nanoseconds(), recording.Operations
		profile.Void = recording.Void()
	}
	if err := errors.Join(err, failure); err != nil {
		return profile, err
	}
	profile.Waits, profile.Stacks = seen.Waits, seen.Stacks
	return profile, nil
}

// addProfile stores a profile, and tells of one that shows nothing.
func (s *state) addProfile(ctx context.Context, profile *dbcanary.Profile) error {
	if profile.Void != "" {
		s.emit(Event{Kind: EventProblem, Target: profile.Target, Benchmark: profile.Benchmark, Instance: profile.Instance, Problem: "profile void: " + profile.Void})
	}
	return s.Store.AddProfile(context.WithoutCancel(ctx), s.run.ID, profile)
}
