package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dbcanary/dbcanary/internal/verdict"
	"github.com/dbcanary/dbcanary/stat"
)

const (
	suiteSize = 32 // benchmarks of a simulated suite
	enough    = 15 // recorded instances from which noise is drawn as it is
)

// recorded is the noise of a target against itself: what pairs of starts came to.
type recorded struct {
	target    string
	instances [][]float64 // instances[i][benchmark]: log ratio, NaN where it was left out
	values    [][]float64 // values[benchmark]: all of them
	load      float64     // seconds before the first slice; medians, as the next two
	start     float64     // seconds between the slices of two instances
	benchmark float64     // seconds that a benchmark takes in an instance
}

// isEnough tells whether instances are drawn as they were recorded, or from normal
// distributions as wide as what was recorded.
func (p recorded) isEnough() bool {
	return !slices.ContainsFunc(p.values, func(values []float64) bool { return len(values) < enough })
}

// recordedNoise gathers the instances of all A/A runs of each target.
func recordedNoise(results []result) []recorded {
	var pools []recorded
	loads, starts, benchmarks := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for _, r := range of(partAA, results) {
		target := r.run.Plan.Targets[0]
		at := slices.IndexFunc(pools, func(p recorded) bool { return p.target == target })
		if at < 0 {
			at = len(pools)
			pools = append(pools, recorded{target: target, values: make([][]float64, len(r.run.Plan.Benchmarks))})
		}
		pools[at].add(verdict.Variations(r.run.Plan, r.trials))
		load, between, each := timing(r)
		loads[target] = append(loads[target], load)
		starts[target], benchmarks[target] = append(starts[target], between...), append(benchmarks[target], each...)
	}
	for i := range pools {
		p := &pools[i]
		p.load, p.start, p.benchmark = stat.Median(loads[p.target]), stat.Median(starts[p.target]), stat.Median(benchmarks[p.target])
	}
	return pools
}

func (p *recorded) add(variations []verdict.Variation) {
	if len(variations) != len(p.values) {
		return // another suite than the first run's
	}
	for i := range variations[0].Ratios {
		instance := make([]float64, len(variations))
		for b, v := range variations {
			instance[b] = stat.Median(v.Ratios[i])
			if !math.IsNaN(instance[b]) {
				p.values[b] = append(p.values[b], instance[b])
			}
		}
		p.instances = append(p.instances, instance)
	}
}

// timing tells in seconds what came before the first slice, what passed between the
// slices of two instances, and what a benchmark took in each instance.
func timing(r result) (load float64, between, each []float64) {
	type span struct {
		first, last time.Time
		benchmarks  map[string]bool
	}
	var spans []span
	for i := range r.trials {
		t := &r.trials[i]
		for len(spans) <= t.Instance {
			spans = append(spans, span{first: t.Started, benchmarks: map[string]bool{}})
		}
		s := &spans[t.Instance]
		s.last = t.Started.Add(time.Duration(t.ElapsedNs))
		s.benchmarks[t.Benchmark] = true
	}
	if len(spans) == 0 {
		return math.NaN(), nil, nil
	}
	for i, s := range spans {
		each = append(each, s.last.Sub(s.first).Seconds()/float64(max(1, len(s.benchmarks))))
		if i > 0 {
			between = append(between, s.first.Sub(spans[i-1].last).Seconds())
		}
	}
	return spans[0].first.Sub(r.run.Started).Seconds(), between, each
}

// centers draws a suite of 32: for each start and each group of as many benchmarks as
// were recorded one whole instance, so that what a start does to several benchmarks
// stays together. Both sides are equal, so each is as often the base. A benchmark
// that the instance left out comes from another one.
func (p recorded) centers(instances int, effect verdict.Effect, random *rand.Rand) [][]float64 {
	full := make([][]float64, suiteSize)
	for b := range full {
		full[b] = make([]float64, instances)
	}
	kinds, asRecorded := len(p.values), p.isEnough()
	sign := func() float64 { return float64(2*random.IntN(2) - 1) }
	for i := range instances {
		for first := 0; first < suiteSize; first += kinds {
			drawn, side := p.instances[random.IntN(len(p.instances))], sign()
			for b := first; b < min(first+kinds, suiteSize); b++ {
				values, value := p.values[b-first], side*drawn[b-first]
				switch {
				case !asRecorded:
					value = rootMeanSquare(values) * random.NormFloat64()
				case math.IsNaN(value):
					value = sign() * values[random.IntN(len(values))]
				}
				full[b][i] = value + effect(b)
			}
		}
	}
	return full
}

func rootMeanSquare(values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += value * value
	}
	return math.Sqrt(sum / float64(max(1, len(values))))
}

// simulated is what suites with the noise of a target came to, for a run with the
// time of so many instances of everything.
type simulated struct {
	target    string
	instances int
	minutes   float64 // load included
	unchanged verdict.Outcome
	slower    map[float64]float64 // share found, by how much every fourth benchmark is slower
}

func slowdowns() []float64 { return []float64{0.03, 0.05} }

// simulateRecorded runs suites with the looks that the lab has for such a run.
func simulateRecorded(p recorded, runs int) []simulated {
	var list []simulated
	for _, instances := range []int{3, 5, 8, 12, 20} {
		s := simulated{target: p.target, instances: instances, slower: map[float64]float64{}}
		s.minutes = (p.load + float64(instances)*(p.start+suiteSize*p.benchmark)) / 60
		random := rand.New(rand.NewPCG(uint64(instances), uint64(len(p.instances))))
		looks, start := verdict.Looks(instances), p.start/p.benchmark
		if math.IsNaN(start) {
			start = 0 // no run had a second instance
		}
		most := 3 * instances // what is in doubt gets the time of the others
		none := func(int) float64 { return 0 }
		for range runs {
			s.unchanged.Add(verdict.Sequential(p.centers(most, none, random), looks, instances, start, none), 1/float64(runs))
		}
		for _, slowdown := range slowdowns() {
			tries := max(1, runs/5)
			for run := range tries {
				effect := everyFourth(slowdown, run)
				one := verdict.Sequential(p.centers(most, effect, random), looks, instances, start, effect)
				s.slower[slowdown] += one.Slower / float64(tries)
			}
		}
		list = append(list, s)
	}
	return list
}

// everyFourth slows every fourth benchmark; which ones shifts from run to run, so
// that each kind has its turn.
func everyFourth(slowdown float64, run int) verdict.Effect {
	return func(b int) float64 {
		if (b+run+b/4)%4 == 0 {
			return math.Log1p(-slowdown)
		}
		return 0
	}
}

// gridCell is what suites of a machine of the grid came to.
type gridCell struct {
	machine   verdict.Machine
	instances int
	outcome   verdict.Outcome
}

// simulateGrid judges suites without a change on every machine of the grid, once.
func simulateGrid(runs int) []gridCell {
	var list []gridCell
	none := func(int) float64 { return 0 }
	for index, m := range verdict.Machines() {
		for _, instances := range []int{3, 5, 10} {
			cell := gridCell{machine: m, instances: instances}
			random := rand.New(rand.NewPCG(uint64(index), uint64(instances)))
			for range runs {
				cell.outcome.Add(verdict.Once(m.Centers(suiteSize, instances, 3, random), none), 1/float64(runs))
			}
			list = append(list, cell)
		}
	}
	return list
}
