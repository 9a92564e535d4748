package planfile

import (
	"fmt"
	"math"
	"slices"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/verdict"
	"github.com/dbcanary/dbcanary/stat"
)

// LikeNoise tells whether a run says how noisy a plan will be: a finished A/A run of
// the same family, connections and placement.
func (o *Outline) LikeNoise(run dbcanary.Run) bool {
	p := run.Plan
	if o.Plan.Classic() || p.Classic() || len(p.Targets) < 2 || len(run.Targets) == 0 || len(o.specs) == 0 || run.State != dbcanary.RunDone {
		return false
	}
	for _, target := range p.Targets {
		if BaseName(target) != BaseName(p.Targets[0]) {
			return false
		}
	}
	return p.Threads == o.Plan.Threads && p.Placement == o.Plan.Placement && run.Targets[0].Build.Family == o.specs[0].Family
}

// Expect tells what the plan would find by the noise of another run.
func (o *Outline) Expect(run dbcanary.Run, trials []dbcanary.Trial) {
	instances, comparisons := o.Instances(), len(o.Plan.Benchmarks)*(len(o.Plan.Targets)-1)
	var found []float64
	worst := ""
	for _, v := range verdict.Variations(run.Plan, trials) {
		at := slices.IndexFunc(o.Plan.Benchmarks, func(b dbcanary.PlannedBenchmark) bool { return b.Label == v.Comparison.Benchmark })
		if at < 0 {
			continue
		}
		minEffect := o.Plan.Benchmarks[at].MinEffect
		if minEffect == 0 {
			minEffect = o.Plan.MinEffect
		}
		change := v.Detectable(instances, comparisons, minEffect)
		if math.IsNaN(change) || math.IsInf(change, 1) {
			continue
		}
		if len(found) == 0 || change > slices.Max(found) {
			worst = v.Comparison.Benchmark
		}
		found = append(found, change)
	}
	if len(found) == 0 {
		return
	}
	o.found = fmt.Sprintf("would be found, by the noise of run %d (%s): %.2g %% in the median of %s, %.2g %% in %s",
		run.ID, run.Plan.Targets[0], 100*stat.Median(found), countText(len(found), "benchmark"), 100*slices.Max(found), worst)
}
