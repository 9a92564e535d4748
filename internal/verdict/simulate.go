package verdict

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/stat"
)

// noise is a machine to simulate: what METHOD.md measured on real servers.
type noise struct {
	between func(benchmark int) float64 // sd of the log ratio between pairs of instances
	shared  float64                     // share of the between-instance variance that all benchmarks of an instance have in common
	kinds   float64                     // chance that a start is of the slow kind, with the same sd; 0 for normal effects
	within  float64                     // sd of a slice's log rate
	bursts  float64                     // chance that a slice runs at half speed
	drift   float64                     // sd of the log rate that is common to a block
}

// design is a run to simulate.
type design struct {
	benchmarks, targets, instances, blocks int
	effect                                 func(benchmark int) float64 // true log ratio to the base
}

func all(value float64) func(int) float64 { return func(int) float64 { return value } }

// centers simulates only what instances come to, a hundred times faster than trials.
func (n noise) centers(d design, random *rand.Rand) [][]float64 {
	centers, common, blocks := make([][]float64, d.benchmarks), make([]float64, d.instances), make([]float64, d.blocks)
	for i := range common {
		common[i] = random.NormFloat64()
	}
	for b := range centers {
		centers[b] = make([]float64, d.instances)
		for i := range centers[b] {
			for k := range blocks {
				blocks[k] = n.within * math.Sqrt2 * random.NormFloat64()
				for _, direction := range []float64{-1, 1} {
					if random.Float64() < n.bursts {
						blocks[k] += direction * math.Ln2
					}
				}
			}
			start := n.between(b) * (math.Sqrt(n.shared)*common[i] + math.Sqrt(1-n.shared)*random.NormFloat64())
			if n.kinds > 0 {
				start = n.between(b) * (kind(n.kinds, random) - kind(n.kinds, random)) / math.Sqrt2
			}
			centers[b][i] = stat.Median(blocks) + start + d.effect(b)
		}
	}
	return centers
}

// kind gives the effect of a start that is slow with the given chance; variance 1.
func kind(chance float64, random *rand.Rand) float64 {
	if random.Float64() < chance {
		return -1 / math.Sqrt(chance*(1-chance))
	}
	return 0
}

// every gives sds in turn to the benchmarks.
func every(sds ...float64) func(int) float64 {
	return func(b int) float64 { return sds[b%len(sds)] }
}

// Machine is a named noise to simulate.
type Machine struct {
	Name string
	noise
}

// Normal tells whether starts and slices of the machine vary as normal deviates do.
func (m Machine) Normal() bool { return m.bursts == 0 && m.kinds == 0 }

// Centers simulates a suite on the machine, as Once takes it; nothing is changed.
func (m Machine) Centers(benchmarks, instances, blocks int, random *rand.Rand) [][]float64 {
	return m.centers(design{benchmarks: benchmarks, instances: instances, blocks: blocks, effect: all(0)}, random)
}

// Machines is the grid of variances on which the method is held to its promises.
func Machines() []Machine {
	few := func(b int) float64 { return map[bool]float64{true: 0.08, false: 0.015}[b%16 == 0] }
	some := func(b int) float64 { return map[bool]float64{true: 0.04, false: 0.015}[b%8 == 0] }
	mixed := every(0.005, 0.01, 0.02, 0.05)
	return []Machine{
		{"alike: between 2 %, within 0.5 %", noise{between: all(0.02), within: 0.005}},
		{"alike: between 2 %, within 5 %", noise{between: all(0.02), within: 0.05}},
		{"alike: between 0.3 %, within 0.5 % (one layout)", noise{between: all(0.003), within: 0.005}},
		{"half of the start is common to all benchmarks", noise{between: all(0.02), within: 0.005, shared: 0.5}},
		{"the start is common to all benchmarks", noise{between: all(0.02), within: 0.005, shared: 1}},
		{"mixed: between 0.5, 1, 2, 5 %", noise{between: mixed, within: 0.005}},
		{"mixed, half of the start in common", noise{between: mixed, within: 0.005, shared: 0.5}},
		{"2 of 32 vary 5 times more (8 %)", noise{between: few, within: 0.005}},
		{"4 of 32 vary 2.7 times more (4 %)", noise{between: some, within: 0.005}},
		{"one start in five is slow by 3.5 %", noise{between: all(0.02), kinds: 0.2, within: 0.005}},
		{"one start in twenty is slow by 6.5 %", noise{between: all(0.02), kinds: 0.05, within: 0.005}},
		{"bursts: 10 % of slices at half speed", noise{between: all(0.02), within: 0.02, bursts: 0.1}},
	}
}

// judged is one simulated run, as Compare would judge it.
func judged(centers [][]float64, verdictLevel float64) (metrics []metric, verdicts []dbcanary.Verdict) {
	metrics = combine(centers, DefaultLevel)
	p := make([]float64, len(metrics))
	for i, m := range metrics {
		p[i] = m.p
	}
	verdicts = make([]dbcanary.Verdict, len(metrics))
	for i, adjusted := range stat.Holm(p) {
		metrics[i].adjusted = adjusted
		verdicts[i] = metrics[i].judge(DefaultMinEffect, verdictLevel)
	}
	return metrics, verdicts
}

// Outcome is what a simulated run came to, or the mean of several: whether an effect
// was claimed that is not there, and shares of benchmarks.
type Outcome struct {
	Wrong            float64 // a faster or slower that is not true, at any look or at the end
	Covered          float64 // intervals that hold the truth at the end
	Settled          float64 // benchmarks with a verdict
	Slower           float64 // called slower, of those that are
	Longest          float64 // instances of the benchmark with most
	Once, OnceSlower float64 // Settled and Slower, had all been measured alike for the same time
}

// Add adds another outcome with a weight.
func (o *Outcome) Add(one Outcome, weight float64) {
	o.Wrong += one.Wrong * weight
	o.Covered += one.Covered * weight
	o.Settled += one.Settled * weight
	o.Slower += one.Slower * weight
	o.Longest += one.Longest * weight
	o.Once += one.Once * weight
	o.OnceSlower += one.OnceSlower * weight
}

// Effect gives the true log ratio of a benchmark to the base.
type Effect func(benchmark int) float64

// Once judges a simulated suite once, at its end: full[benchmark][instance] are log
// ratios with the effect in them, NaN for a gap.
func Once(full [][]float64, effect Effect) Outcome {
	return shares(full, DefaultLevel, effect, nil)
}

// Sequential measures a simulated suite as the lab does, for as long as alike
// instances of everything take: what is clear at a look is left out until the next
// one, and its time goes to the others, up to the instances of full. A start takes as
// long as so many benchmarks. full is as Once takes it.
func Sequential(full [][]float64, looks []int, alike int, start float64, effect Effect) Outcome {
	var o Outcome
	plan := dbcanary.Plan{Looks: looks}
	budget := float64(alike) * (start + float64(len(full)))
	seen := make([][]float64, len(full))
	doubtful := make([]bool, len(full))
	for b := range doubtful {
		doubtful[b] = true
	}
	for n := 1; n <= len(full[0]); n++ {
		cost := start
		for b := range full {
			value := math.NaN()
			if doubtful[b] {
				value = full[b][n-1]
				cost++
			}
			seen[b] = append(seen[b], value)
		}
		budget -= cost
		if slices.Contains(looks, n) {
			early := shares(seen, Options{early: true}.verdictLevel(plan), effect, doubtful)
			o.Wrong = max(o.Wrong, early.Wrong)
		}
		if !slices.Contains(doubtful, true) || budget < cost {
			break
		}
	}
	last := shares(seen, Options{}.verdictLevel(plan), effect, nil)
	last.Wrong = max(last.Wrong, o.Wrong)
	same := make([][]float64, len(full))
	for b := range seen {
		values, _ := stat.Finite(seen[b])
		last.Longest = max(last.Longest, float64(len(values)))
		same[b] = full[b][:min(alike, len(full[b]))]
	}
	single := shares(same, DefaultLevel, effect, nil)
	last.Once, last.OnceSlower = single.Settled, single.Slower
	return last
}

// shares judges a suite; doubtful takes which benchmarks are.
func shares(centers [][]float64, level float64, effect Effect, doubtful []bool) Outcome {
	var o Outcome
	slow, k := 0.0, float64(len(centers))
	metrics, verdicts := judged(centers, level)
	for i, m := range metrics {
		truth := effect(i)
		if doubtful != nil {
			doubtful[i] = verdicts[i] == dbcanary.Inconclusive
		}
		if truth != 0 {
			slow++
		}
		switch {
		case verdicts[i] == dbcanary.Faster, verdicts[i] == dbcanary.Slower && truth == 0:
			o.Wrong = 1
		case verdicts[i] == dbcanary.Slower:
			o.Slower++
		}
		if m.interval.Contains(truth) {
			o.Covered += 1 / k
		}
		if verdicts[i] != dbcanary.Inconclusive {
			o.Settled += 1 / k
		}
	}
	o.Slower /= max(1, slow)
	return o
}
