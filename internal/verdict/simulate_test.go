package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"

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

func (d design) plan() dbcanary.Plan {
	plan := dbcanary.Plan{MinEffect: 0.02}
	for t := range d.targets {
		plan.Targets = append(plan.Targets, fmt.Sprintf("t%d", t))
	}
	for b := range d.benchmarks {
		plan.Benchmarks = append(plan.Benchmarks, dbcanary.PlannedBenchmark{Label: fmt.Sprintf("b%d", b), Group: fmt.Sprintf("g%d", b/8)})
	}
	return plan
}

// trials simulates a run: every server start has an effect that lasts as long as
// it lives, so that the effect of a pair has the sd asked for.
func (n noise) trials(d design, random *rand.Rand) []dbcanary.Trial {
	var trials []dbcanary.Trial
	plan := d.plan()
	for instance := range d.instances {
		common := make([]float64, d.targets)
		for t := range common {
			common[t] = random.NormFloat64()
		}
		for b := range d.benchmarks {
			sd := n.between(b) / math.Sqrt2
			start := make([]float64, d.targets)
			for t := range start {
				start[t] = sd * (math.Sqrt(n.shared)*common[t] + math.Sqrt(1-n.shared)*random.NormFloat64())
				if n.kinds > 0 {
					start[t] = sd * kind(n.kinds, random)
				}
			}
			for block := range d.blocks {
				level := n.drift * random.NormFloat64()
				for t := range d.targets {
					rate := level + start[t] + n.within*random.NormFloat64()
					if t > 0 {
						rate += d.effect(b)
					}
					if random.Float64() < n.bursts {
						rate -= math.Ln2
					}
					operations := 1e6 * math.Exp(rate)
					trials = append(trials, dbcanary.Trial{
						Benchmark: plan.Benchmarks[b].Label, Target: plan.Targets[t], Instance: instance, Block: block,
						ElapsedNs: 1e9, Operations: int64(operations), ServerCPUNs: int64(operations * 20e3 * math.Exp(-start[t])),
					})
				}
			}
		}
	}
	return trials
}

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

// machine is a named noise.
type machine struct {
	name string
	noise
}

// machines is the grid of variances.
func machines() []machine {
	few := func(b int) float64 { return map[bool]float64{true: 0.08, false: 0.015}[b%16 == 0] }
	some := func(b int) float64 { return map[bool]float64{true: 0.04, false: 0.015}[b%8 == 0] }
	mixed := every(0.005, 0.01, 0.02, 0.05)
	return []machine{
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
