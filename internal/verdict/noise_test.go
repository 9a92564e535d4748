package verdict

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What is simulated is found again: the parts of the noise, and what a run finds.
func TestVariations(t *testing.T) {
	n := noise{between: all(0.02), within: 0.005, drift: 0.3}
	d := design{benchmarks: 8, targets: 2, instances: 40, blocks: 4, effect: all(0)}
	list := Variations(d.plan(), n.trials(d, rand.New(rand.NewPCG(5, 5))))
	if len(list) != 8 {
		t.Fatalf("%d variations", len(list))
	}
	for _, v := range list {
		// A slice has its own noise and the drift that it shares with its block.
		for what, got := range map[string][2]float64{
			"slice": {v.Slice, math.Hypot(0.005, 0.3)}, "block": {v.Block, 0.005 * math.Sqrt2}, "instance": {v.Instance, 0.02},
		} {
			if got[0] < 0.75*got[1] || got[0] > 1.35*got[1] {
				t.Errorf("%s: %s varies by %.4f, simulated %.4f", v.Comparison.Benchmark, what, got[0], got[1])
			}
		}
		if five, twenty := v.Detectable(5, 8, 0.02), v.Detectable(20, 8, 0.02); !(five > twenty) || twenty < 0.02 {
			t.Errorf("%s: 5 instances find %.3f, 20 find %.3f", v.Comparison.Benchmark, five, twenty)
		}
		if same := v.Detectable(v.Comparison.Instances, 8, 0.02); math.Abs(same-v.Comparison.MinDetectable) > 1e-9 {
			t.Errorf("%s: %.4f beside the comparison's %.4f", v.Comparison.Benchmark, same, v.Comparison.MinDetectable)
		}
	}
}

// The smallest change that is told is found in about four of five runs.
func TestDetectable(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	n := noise{between: all(0.02), within: 0.005}
	d := design{benchmarks: 10, targets: 2, instances: 10, blocks: 3, effect: all(0)}
	told := 0.0
	for _, v := range Variations(d.plan(), n.trials(d, random)) {
		told += v.Detectable(10, 10, 0.02) / 10
	}
	d.effect = all(math.Log1p(-told))
	found, runs := 0, 40
	for range runs {
		_, verdicts := judged(n.centers(d, random), DefaultLevel)
		for _, v := range verdicts {
			if v == "slower" {
				found++
			}
		}
	}
	if share := float64(found) / float64(10*runs); share < 0.7 || share > 0.99 {
		t.Errorf("a change of %.1f %% is found in %.2f of cases", 100*told, share)
	}
}

func TestVariations_Little(t *testing.T) {
	d := design{benchmarks: 2, targets: 2, instances: 1, blocks: 1, effect: all(0)}
	for _, v := range Variations(d.plan(), (noise{between: all(0.02)}).trials(d, rand.New(rand.NewPCG(1, 1)))) {
		for what, got := range map[string]float64{"slice": v.Slice, "block": v.Block, "instance": v.Instance, "detectable": v.Detectable(10, 2, 0.02)} {
			if !math.IsNaN(got) {
				t.Errorf("%s: %v from one slice", what, got)
			}
		}
	}
	if Variations(design{targets: 1, benchmarks: 1}.plan(), nil) != nil {
		t.Error("one target has no comparisons")
	}
}
