package exchange

import (
	"fmt"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/profile"
)

// sampledStacks are stacks of one sampler.
type sampledStacks struct {
	sampler string
	stacks  []Stack
}

// profile gives the stacks that were sampled beside a measurement, false if there are none.
func (m *Measurement) profile(trial dbcanary.Trial) (dbcanary.Profile, bool, error) {
	p := dbcanary.Profile{
		Benchmark: trial.Benchmark, Target: trial.Target, Instance: trial.Instance, Started: trial.Started, ElapsedNs: m.ElapsedNs, Operations: m.Operations,
	}
	for _, s := range m.stacks {
		encoded, err := profile.Encode(s.profile())
		if err != nil {
			return p, false, fmt.Errorf("stacks of %s on %s: %w", trial.Benchmark, trial.Target, err)
		}
		p.Stacks = append(p.Stacks, dbcanary.Stacks{Sampler: s.sampler, Pprof: encoded})
	}
	return p, len(p.Stacks) > 0, nil
}

// profile gives the stacks with frames that are functions.
func (s sampledStacks) profile() []profile.Stack {
	stacks := make([]profile.Stack, len(s.stacks))
	for i, stack := range s.stacks {
		frames := make([]profile.Frame, len(stack.Frames))
		for k, name := range stack.Frames {
			frames[k].Function = name
		}
		stacks[i] = profile.Stack{Frames: frames, Count: stack.Count}
	}
	return stacks
}
