package exchange

import (
	"bytes"
	"fmt"

	"github.com/google/pprof/profile"

	"github.com/dbcanary/dbcanary"
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
		encoded, err := encodeStacks(s)
		if err != nil {
			return p, false, fmt.Errorf("stacks of %s on %s: %w", trial.Benchmark, trial.Target, err)
		}
		p.Stacks = append(p.Stacks, dbcanary.Stacks{Sampler: s.sampler, Pprof: encoded})
	}
	return p, len(p.Stacks) > 0, nil
}

// encodeStacks gives a gzipped profile.proto with one value, the samples.
func encodeStacks(s sampledStacks) ([]byte, error) {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}}
	locations := map[string]*profile.Location{}
	for _, stack := range s.stacks {
		sample := &profile.Sample{Value: []int64{stack.Count}}
		for i := len(stack.Frames) - 1; i >= 0; i-- { // the leaf first
			name := stack.Frames[i]
			location := locations[name]
			if location == nil {
				function := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name, SystemName: name}
				location = &profile.Location{ID: function.ID, Line: []profile.Line{{Function: function}}}
				p.Function, p.Location = append(p.Function, function), append(p.Location, location)
				locations[name] = location
			}
			sample.Location = append(sample.Location, location)
		}
		p.Sample = append(p.Sample, sample)
	}
	if err := p.CheckValid(); err != nil {
		return nil, err
	}
	var encoded bytes.Buffer
	if err := p.Write(&encoded); err != nil {
		return nil, err
	}
	return encoded.Bytes(), nil
}
