package verdict

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
)

// The tables of docs/STATISTICS.md come from
//
//	go test ./internal/verdict -run TestCalibrate -v -simulations 1500
var simulations = flag.Int("simulations", 60, "simulated runs of each cell of TestCalibrate")

var only = flag.String("machine", "", "simulate only machines with this in their name in TestCalibrate")

// rates is what a cell of the grid came to.
type rates struct {
	falseRuns float64 // share of runs without any change that have a faster or slower
	covered   float64 // share of 95 % intervals that hold the truth
	same      float64 // share of unchanged benchmarks called same
	slower    map[float64]float64
}

// simulate runs d without an effect, and then with each slowdown on every fourth
// benchmark, the others unchanged.
func simulate(n noise, d design, runs int, slowdowns []float64, random *rand.Rand) rates {
	r := rates{slower: map[float64]float64{}}
	total := float64(runs * d.benchmarks)
	d.effect = all(0)
	for range runs {
		metrics, verdicts := judged(n.centers(d, random), DefaultLevel)
		wrong := false
		for i, m := range metrics {
			if m.interval.Contains(0) {
				r.covered += 1 / total
			}
			switch verdicts[i] {
			case dbcanary.Same:
				r.same += 1 / total
			case dbcanary.Faster, dbcanary.Slower:
				wrong = true
			}
		}
		if wrong {
			r.falseRuns += 1 / float64(runs)
		}
	}
	for k, slowdown := range slowdowns {
		// The place of the slow benchmarks shifts, so that each kind has its turn.
		found, tries := 0.0, 0.0
		for run := range max(1, runs/10) {
			d.effect = func(b int) float64 {
				if (b+run+b/4)%4 == k%4 {
					return math.Log1p(-slowdown)
				}
				return 0
			}
			_, verdicts := judged(n.centers(d, random), DefaultLevel)
			for b, v := range verdicts {
				if d.effect(b) != 0 {
					tries++
					if v == dbcanary.Slower {
						found++
					}
				}
			}
		}
		r.slower[slowdown] = found / tries
	}
	return r
}

// TestCalibrate holds the method to its promises on every machine of the grid:
// at most 5 % of suites of 32 unchanged benchmarks with any false verdict, and
// 95 % intervals that cover 93-97 %. With more simulations it prints the tables.
func TestCalibrate(t *testing.T) {
	slowdowns := []float64{0.03, 0.05, 0.10}
	runs, meanFalse := *simulations, map[int]float64{}
	t.Log("\n| machine | instances x blocks | suites with a false verdict | coverage | same | 3 % found | 5 % found | 10 % found |\n|---|---|---|---|---|---|---|---|")
	for index, m := range Machines() {
		if !strings.Contains(m.Name, *only) {
			continue
		}
		for _, instances := range []int{3, 5, 10} {
			d := design{benchmarks: 32, instances: instances, blocks: 3}
			r := simulate(m.noise, d, runs, slowdowns, rand.New(rand.NewPCG(uint64(index), uint64(instances))))
			row := fmt.Sprintf("%s, %d x %d", m.Name, d.instances, d.blocks)
			t.Logf("| %s | %d x %d | %.1f %% | %.1f %% | %.0f %% | %.0f %% | %.0f %% | %.0f %% |", m.Name, d.instances, d.blocks,
				100*r.falseRuns, 100*r.covered, 100*r.same, 100*r.slower[0.03], 100*r.slower[0.05], 100*r.slower[0.10])
			meanFalse[instances] += r.falseRuns / float64(len(Machines()))
			// Three standard errors of the simulation are allowed for.
			if limit := 0.05 + 3*math.Sqrt(0.05*0.95/float64(runs)); r.falseRuns > limit {
				t.Errorf("%s: %.3f of suites have a false verdict", row, r.falseRuns)
			}
			// Benchmarks that share their start are covered or missed together.
			slack := 3 * math.Sqrt(0.05*0.95/float64(runs)) * math.Sqrt(max(m.shared, 1/float64(d.benchmarks)))
			high := 0.97
			if m.bursts > 0 || m.kinds > 0 || instances < 5 {
				high = 0.99 // on the safe side: few instances borrow little; bursts and kinds are no normal noise
			}
			if r.covered < 0.93-slack || r.covered > high+slack {
				t.Errorf("%s: coverage %.3f", row, r.covered)
			}
		}
	}
	for instances, share := range meanFalse {
		if share > 0.05 {
			t.Errorf("%d instances: over all machines %.3f of suites have a false verdict", instances, share)
		}
	}
	power := simulate(Machines()[0].noise, design{benchmarks: 32, instances: 10, blocks: 3}, max(runs, 300), slowdowns, rand.New(rand.NewPCG(1, 1)))
	if power.slower[0.03] < 0.7 || power.slower[0.05] < 0.98 {
		t.Errorf("10 instances find %.2f of slowdowns by 3 %% and %.2f by 5 %%", power.slower[0.03], power.slower[0.05])
	}
}

// TestSuiteSizes holds small suites to the same promises.
func TestSuiteSizes(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	runs := *simulations
	t.Log("\n| benchmarks | instances | machine | runs with a false verdict | coverage | 5 % found | 10 % found |\n|---|---|---|---|---|---|---|")
	for _, benchmarks := range []int{1, 3, 10} {
		for _, instances := range []int{3, 5, 10} {
			for _, m := range []Machine{Machines()[0], Machines()[3], Machines()[5]} {
				d := design{benchmarks: benchmarks, instances: instances, blocks: 3}
				if benchmarks == 1 && m.Name != Machines()[0].Name {
					continue // nothing to share or to mix
				}
				r := simulate(m.noise, d, runs, []float64{0.05, 0.10}, random)
				t.Logf("| %d | %d | %s | %.1f %% | %.1f %% | %.0f %% | %.0f %% |", benchmarks, instances, m.Name,
					100*r.falseRuns, 100*r.covered, 100*r.slower[0.05], 100*r.slower[0.10])
				if limit := 0.05 + 3*math.Sqrt(0.05*0.95/float64(runs)); r.falseRuns > limit {
					t.Errorf("%d benchmarks, %d instances, %s: %.3f have a false verdict", benchmarks, instances, m.Name, r.falseRuns)
				}
			}
		}
	}
}

// TestLooksKeepTheLevel simulates runs that measure no further what has a clear
// verdict, within the time of 12 instances of everything: still at most 5 % of
// suites may hold a false verdict, at any look or at the end, and no power is lost.
func TestLooksKeepTheLevel(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	runs := *simulations
	looks := Looks(12)
	t.Logf("\nlooks after %v instances and at the end\n\n| machine | suites with a false verdict | coverage at the end | decided | once | instances of what is in doubt | 5 %% of every fourth found | once |\n|---|---|---|---|---|---|---|---|", looks)
	for _, m := range Machines() {
		var unchanged, slowed Outcome
		for run := range runs {
			// Half of the runs are for power.
			d := design{benchmarks: 32, instances: 48, blocks: 3, effect: all(0)}
			into, half := &unchanged, float64(runs-runs/2)
			if run%2 == 1 {
				d.effect = func(b int) float64 { return map[bool]float64{true: math.Log(0.95)}[(b+run/2)%4 == 0] }
				into, half = &slowed, float64(runs/2)
			}
			into.Add(Sequential(m.centers(d, random), looks, 12, 4, d.effect), 1/half)
		}
		t.Logf("| %s | %.1f %% | %.1f %% | %.0f %% | %.0f %% | %.1f | %.0f %% | %.0f %% |", m.Name, 100*unchanged.Wrong, 100*unchanged.Covered,
			100*unchanged.Settled, 100*unchanged.Once, unchanged.Longest, 100*slowed.Slower, 100*slowed.OnceSlower)
		if limit := 0.05 + 3*math.Sqrt(0.05*0.95/float64(runs/2)); unchanged.Wrong > limit {
			t.Errorf("%s: %.3f of suites have a false verdict", m.Name, unchanged.Wrong)
		}
		if slack := 3 * math.Sqrt(0.25/float64(runs*4)); slowed.Slower < slowed.OnceSlower-0.05-slack {
			t.Errorf("%s: looks find %.2f of slowdowns, a single look %.2f", m.Name, slowed.Slower, slowed.OnceSlower)
		}
	}
}

// TestLadder simulates whole runs, from trials to verdicts, with three targets
// that share a base.
func TestLadder(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	n := noise{between: all(0.02), shared: 0.3, within: 0.01, drift: 0.3}
	d := design{benchmarks: 32, targets: 4, instances: 6, blocks: 3, effect: all(0)}
	const runs = 25
	wrong := 0
	for range runs {
		for _, c := range Compare(d.plan(), n.trials(d, random), Options{}) {
			if c.Verdict == dbcanary.Faster || c.Verdict == dbcanary.Slower {
				wrong++
				break
			}
		}
	}
	// More than 4 of 25 has a chance of 0.7 % at a rate of 5 %.
	if wrong > 4 {
		t.Errorf("%d of %d ladders have a false verdict", wrong, runs)
	}
	t.Logf("%d of %d ladders have a false verdict", wrong, runs)
}

// TestSameIsShown simulates suites in which everything is slower by a little more
// than matters, or by 3 %: few may be called same.
func TestSameIsShown(t *testing.T) {
	runs := *simulations
	t.Log("\n| machine | instances | slower by 2.01 %, called same | by 3 % |\n|---|---|---|---|")
	for index, m := range Machines() {
		for _, instances := range []int{3, 5, 10} {
			random := rand.New(rand.NewPCG(uint64(index), uint64(instances)))
			share := map[float64]float64{}
			for _, slowdown := range []float64{0.0201, 0.03} {
				d := design{benchmarks: 32, instances: instances, blocks: 3, effect: all(math.Log1p(-slowdown))}
				for range runs {
					_, verdicts := judged(m.centers(d, random), DefaultLevel)
					for _, v := range verdicts {
						if v == dbcanary.Same {
							share[slowdown] += 1 / float64(32*runs)
						}
					}
				}
			}
			t.Logf("| %s | %d | %.2f %% | %.2f %% |", m.Name, instances, 100*share[0.0201], 100*share[0.03])
			// Where benchmarks share their start they are called same together.
			slack := 3 * math.Sqrt(0.025*0.975/float64(runs)) * math.Sqrt(max(m.shared, 1.0/32))
			if share[0.0201] > 0.025+slack || share[0.03] > 0.01+slack {
				t.Errorf("%s, %d instances: %.4f and %.4f called same", m.Name, instances, share[0.0201], share[0.03])
			}
		}
	}
}
