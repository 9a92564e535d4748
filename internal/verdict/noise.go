package verdict

import (
	"math"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/stat"
)

// Variation tells where the noise of a comparison comes from, as standard deviations
// of logarithms: 0.02 is about 2 %. NaN if there is too little to tell.
type Variation struct {
	Comparison dbcanary.Comparison

	Slice    float64 // of the rate of slices of one server start, target and base pooled
	Block    float64 // of the ratio in blocks of one pair of starts: what target and base have in common in a block is gone
	Instance float64 // of the ratio between pairs of starts, as verdicts go by it

	Ratios [][]float64 // log ratios of the blocks of each pair of starts; none where the benchmark was left out

	degrees float64 // of freedom of the variance between pairs of starts, with what other benchmarks lend
}

// Variations gives the noise of each comparison of a run, in the order of Compare.
func Variations(plan dbcanary.Plan, trials []dbcanary.Trial) []Variation {
	if len(plan.Targets) < 2 {
		return nil
	}
	subjects := judge(plan, trials, Options{})
	list := make([]Variation, len(subjects))
	for i, s := range subjects {
		s.conclude(Options{}.verdictLevel(plan), len(subjects))
		v := Variation{Comparison: s.Comparison, degrees: s.qps.interval.DF, Instance: math.NaN(), Ratios: make([][]float64, len(s.pairs.column))}
		if !math.IsNaN(s.qps.p) {
			v.Instance = s.qps.se * math.Sqrt(float64(s.Instances))
		}
		var rates [][]float64
		for _, blocks := range s.pairs.byInstance() {
			var target, base, ratio []float64
			for _, b := range blocks {
				target, base, ratio = append(target, math.Log(b.targetQPS)), append(base, math.Log(b.baseQPS)), append(ratio, b.qps)
			}
			rates = append(rates, target, base)
			v.Ratios[s.pairs.column[blocks[0].instance]] = ratio
		}
		v.Slice, v.Block = within(rates), within(v.Ratios)
		list[i] = v
	}
	return list
}

// within is the pooled standard deviation of values within their lists.
func within(lists [][]float64) float64 {
	squares, degrees := 0.0, 0.0
	for _, values := range lists {
		if len(values) > 1 {
			squares += stat.Variance(values) * float64(len(values)-1)
			degrees += float64(len(values) - 1)
		}
	}
	if degrees == 0 {
		return math.NaN()
	}
	return math.Sqrt(squares / degrees)
}

// Detectable gives the smallest change that a run like this with so many instances
// and comparisons would find in four of five cases; NaN if the noise is not known.
func (v Variation) Detectable(instances, comparisons int, minEffect float64) float64 {
	if !(v.Instance > 0) || instances < 2 {
		return math.NaN()
	}
	have := float64(max(1, v.Comparison.Instances-1))
	design := stat.Design{
		SD: v.Instance, Alpha: (1 - DefaultLevel) / float64(max(1, comparisons)),
		PooledDF: func(n int) float64 { return v.degrees * float64(n-1) / have },
	}
	return detectable(design, instances, minEffect)
}

// detectable is what gets a verdict in four runs of five: seen, and past the
// smallest change that matters.
func detectable(design stat.Design, instances int, minEffect float64) float64 {
	const power, normal80 = 0.8, 0.8416212335729143
	shown := design.MinDetectable(instances, power)
	passed := math.Log1p(minEffect) + normal80*design.SD/math.Sqrt(float64(instances))
	return math.Expm1(max(shown, passed))
}
