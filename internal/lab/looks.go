package lab

import (
	"slices"

	"github.com/dbcanary/dbcanary/internal/verdict"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// leftOut gives the benchmarks that an instance has not, so that time goes where
// doubt is: their verdict is clear, and nothing after them needs the writes that
// they do. A target that was dropped leaves no doubt.
func (s *state) leftOut(instance int) []string {
	var dropped []string
	for _, target := range s.run.Targets {
		if target.Dropped != "" {
			dropped = append(dropped, target.Name)
		}
	}
	return withoutNeeded(s.benchmarks, verdict.Clear(s.run.Plan, s.trials, instance, dropped))
}

// withoutNeeded takes from what is clear the benchmarks that write before one that is
// in doubt: reads are compared on data that has been written to alike in every
// instance.
func withoutNeeded(benchmarks []workload.Benchmark, clear []string) []string {
	var out []string
	doubt := false
	for _, benchmark := range slices.Backward(benchmarks) {
		if !slices.Contains(clear, benchmark.Label) {
			doubt = true
		} else if !benchmark.Writes || !doubt {
			out = append(out, benchmark.Label)
		}
	}
	slices.Reverse(out)
	return out
}
