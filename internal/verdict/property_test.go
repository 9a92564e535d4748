package verdict

import (
	"math"
	"testing"

	"github.com/dbcanary/dbcanary"
	"pgregory.net/rapid"
)

// TestVerdictsFollowTheirRules throws any trials at Compare: every comparison of
// the plan is there, in order, and no verdict contradicts its numbers.
func TestVerdictsFollowTheirRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := design{benchmarks: rapid.IntRange(1, 5).Draw(t, "benchmarks"), targets: rapid.IntRange(2, 4).Draw(t, "targets")}
		plan := d.plan()
		plan.MinEffect = rapid.SampledFrom([]float64{0, 0.01, 0.02, 0.2, 5, math.NaN()}).Draw(t, "min effect")
		trials := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) dbcanary.Trial {
			return dbcanary.Trial{
				Benchmark:   rapid.SampledFrom([]string{"b0", "b1", "b4", "other"}).Draw(t, "benchmark"),
				Target:      rapid.SampledFrom([]string{"t0", "t1", "t2", "other"}).Draw(t, "target"),
				Instance:    rapid.IntRange(-1, 6).Draw(t, "instance"),
				Block:       rapid.IntRange(-1, 3).Draw(t, "block"),
				ElapsedNs:   rapid.SampledFrom([]int64{-1, 0, 1, 1e9, 1e9, 1e9, 1e9, math.MaxInt64}).Draw(t, "elapsed"),
				Operations:  rapid.SampledFrom([]int64{-5, 0, 1, 1000, 1010, 1020, 900, 500, math.MaxInt64}).Draw(t, "operations"),
				ServerCPUNs: rapid.SampledFrom([]int64{-1, 0, 1e6, 1.1e6, 2e6}).Draw(t, "cpu"),
				Void:        rapid.SampledFrom([]string{"", "", "", "", "foreign load"}).Draw(t, "void"),
			}
		}), 0, 150).Draw(t, "trials")
		options := Options{Bases: rapid.IntRange(-1, 5).Draw(t, "bases")}
		comparisons := Compare(plan, trials, options)
		if len(comparisons) != d.benchmarks*(d.targets-1) {
			t.Fatalf("%d comparisons", len(comparisons))
		}
		for i, c := range comparisons {
			if c.Benchmark != plan.Benchmarks[i/(d.targets-1)].Label || c.Target != plan.Targets[1+i%(d.targets-1)] {
				t.Fatalf("%s on %s at place %d", c.Benchmark, c.Target, i)
			}
			checkVerdict(t, c)
		}
		total := 0
		for _, g := range Groups(comparisons) {
			if g.Faster+g.Slower+g.Same+g.Inconclusive != g.Benchmarks {
				t.Fatalf("%+v", g)
			}
			if g.Name == "" {
				total += g.Benchmarks
			}
		}
		if total != len(comparisons) {
			t.Fatalf("suites hold %d of %d comparisons", total, len(comparisons))
		}
	})
}

func checkVerdict(t *rapid.T, c dbcanary.Comparison) {
	e, wrong := c.QPSRatio, false
	switch c.Verdict {
	case dbcanary.Faster:
		wrong = e.Ratio < 1+c.MinEffect-1e-9 || e.Low <= 1 && e.Low < e.High
	case dbcanary.Slower:
		wrong = e.Ratio > 1-c.MinEffect+1e-9 || e.High >= 1 && e.Low < e.High
	case dbcanary.Same:
		wrong = e.Low < 1-c.MinEffect-1e-9 || e.High > 1+c.MinEffect+1e-9
	case dbcanary.Inconclusive:
	default:
		wrong = true
	}
	if c.Instances < 2 && c.Verdict != dbcanary.Inconclusive {
		wrong = true
	}
	if c.Instances > 0 && !(e.Low <= e.Ratio && e.Ratio <= e.High) {
		wrong = true
	}
	if wrong || c.Reason == "" || !(c.MinEffect > 0 && c.MinEffect < 1) {
		t.Fatalf("%+v", c)
	}
}
