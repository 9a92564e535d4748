package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dbcanary/dbcanary"
)

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
