package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
)

// quiet is a machine without noise to speak of.
var quiet = noise{between: all(0.001), within: 0.001}

func TestClearVerdicts(t *testing.T) {
	for _, test := range []struct {
		effect float64
		want   dbcanary.Verdict
		reason string
	}{
		{0.10, dbcanary.Faster, "% faster"},
		{-0.10, dbcanary.Slower, "% slower"},
		{0, dbcanary.Same, "within the 2 % that matters"},
	} {
		d := design{benchmarks: 4, targets: 2, instances: 3, blocks: 3, effect: all(test.effect)}
		for _, c := range Compare(d.plan(), quiet.trials(d, rand.New(rand.NewPCG(1, 2))), Options{}) {
			if c.Verdict != test.want || !strings.Contains(c.Reason, test.reason) {
				t.Errorf("effect %v: %s is %s (%s), want %s", test.effect, c.Benchmark, c.Verdict, c.Reason, test.want)
			}
			if math.Abs(math.Log(c.QPSRatio.Ratio)-test.effect) > 0.005 || c.QPSRatio.Low > c.QPSRatio.Ratio || c.QPSRatio.High < c.QPSRatio.Ratio {
				t.Errorf("effect %v: %s has ratio %+v", test.effect, c.Benchmark, c.QPSRatio)
			}
			if c.Instances != 3 || c.Blocks != 9 || c.VoidSlices != 0 || c.Level != 0.95 || c.MinEffect != 0.02 {
				t.Errorf("counts of %s: %+v", c.Benchmark, c)
			}
		}
	}
}

func TestOneInstanceIsProvisional(t *testing.T) {
	d := design{benchmarks: 4, targets: 2, instances: 1, blocks: 10, effect: all(-0.5)}
	for _, c := range Compare(d.plan(), quiet.trials(d, rand.New(rand.NewPCG(1, 2))), Options{}) {
		if c.Verdict != dbcanary.Inconclusive || !strings.HasPrefix(c.Reason, "one instance") {
			t.Errorf("%s: %s (%s)", c.Benchmark, c.Verdict, c.Reason)
		}
		if c.QPSRatio.Low != 0 || !math.IsInf(c.QPSRatio.High, 1) || math.IsNaN(c.QPSRatio.Ratio) || !math.IsNaN(c.MinDetectable) {
			t.Errorf("%s: %+v, min detectable %v", c.Benchmark, c.QPSRatio, c.MinDetectable)
		}
	}
}

func TestNothingMeasuredIsInconclusive(t *testing.T) {
	d := design{benchmarks: 3, targets: 3}
	void := []dbcanary.Trial{
		{Benchmark: "b0", Target: "t1", Void: "server died"},
		{Benchmark: "b0", Target: "t0", ElapsedNs: 1e9, Operations: 5},
		{Benchmark: "other", Target: "t0", ElapsedNs: 1e9, Operations: 5},
		{Benchmark: "b1", Target: "t0", ElapsedNs: 1e9, Operations: 5},
		{Benchmark: "b1", Target: "t2", ElapsedNs: 1e9},
	}
	got := Compare(d.plan(), void, Options{})
	if len(got) != 6 {
		t.Fatalf("%d comparisons, want 6", len(got))
	}
	for i, want := range []string{
		"t1 has no valid slice: server died", "t2 has no valid slice",
		"t1 has no valid slice", "no slice of target and base finished an operation in the same block",
		"nothing was measured", "nothing was measured",
	} {
		c := got[i]
		if c.Verdict != dbcanary.Inconclusive || c.Reason != want || !math.IsNaN(c.QPSRatio.Ratio) || !math.IsNaN(c.QPS) || c.Instances != 0 {
			t.Errorf("%s %s: %s (%s), want %q", c.Benchmark, c.Target, c.Verdict, c.Reason, want)
		}
	}
	if got[0].VoidSlices != 1 {
		t.Errorf("void slices %d, want 1", got[0].VoidSlices)
	}
	if Compare(dbcanary.Plan{Targets: []string{"a"}}, nil, Options{}) != nil {
		t.Error("one target compares to nothing")
	}
}

func TestVoidAndUnpairedSlicesDropOut(t *testing.T) {
	d := design{benchmarks: 1, targets: 2, instances: 4, blocks: 3, effect: all(0)}
	trials := quiet.trials(d, rand.New(rand.NewPCG(1, 2)))
	for i := range trials {
		if trials[i].Instance == 0 && trials[i].Block < 2 && trials[i].Target == "t1" {
			trials[i].Void, trials[i].Operations = "foreign load", 1 // would be a slowdown of a million
		}
	}
	c := Compare(d.plan(), trials, Options{})[0]
	if c.Blocks != 10 || c.VoidSlices != 2 || math.Abs(c.QPSRatio.Ratio-1) > 0.01 {
		t.Errorf("%+v", c)
	}
}

func TestOrderOfTrialsDoesNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	d := design{benchmarks: 5, targets: 3, instances: 5, blocks: 3, effect: all(0.03)}
	trials := noise{between: all(0.02), within: 0.02, bursts: 0.1}.trials(d, random)
	want := Compare(d.plan(), trials, Options{})
	random.Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
	for i, c := range Compare(d.plan(), trials, Options{}) {
		if c.QPSRatio != want[i].QPSRatio || c.Reason != want[i].Reason || !slices.Equal(c.Warnings, want[i].Warnings) {
			t.Errorf("%s %s: %+v, want %+v", c.Benchmark, c.Target, c, want[i])
		}
	}
}

func TestNumbersOfInstancesDoNotMatter(t *testing.T) {
	d := design{benchmarks: 3, targets: 2, instances: 4, blocks: 3, effect: all(0.03)}
	trials := noise{between: all(0.02), within: 0.02}.trials(d, rand.New(rand.NewPCG(5, 6)))
	want := Compare(d.plan(), trials, Options{})
	for i := range trials {
		trials[i].Instance = trials[i].Instance*1_000_000_007 - 5
	}
	for i, c := range Compare(d.plan(), trials, Options{}) {
		if c.QPSRatio != want[i].QPSRatio || c.Verdict != want[i].Verdict {
			t.Errorf("%+v, want %+v", c, want[i])
		}
	}
}

// TestCPUVerdict: the CPU of the simulated trials falls as the server gets faster.
func TestCPUVerdict(t *testing.T) {
	d := design{benchmarks: 4, targets: 2, instances: 6, blocks: 3, effect: all(0)}
	trials := quiet.trials(d, rand.New(rand.NewPCG(1, 2)))
	for _, test := range []struct {
		factor float64
		want   dbcanary.Verdict
	}{{1.1, dbcanary.Slower}, {1, dbcanary.Same}, {0.9, dbcanary.Faster}, {-1, ""}} {
		for i := range trials {
			if trials[i].ServerCPUNs = trials[i].Operations * 20e3; trials[i].Target == "t1" {
				starts := 1 + 0.001*float64(trials[i].Instance%3) // that no two starts cost the same
				trials[i].ServerCPUNs = int64(float64(trials[i].ServerCPUNs) * test.factor * starts)
			}
		}
		for _, c := range Compare(d.plan(), trials, Options{}) {
			if c.CPUVerdict != test.want || c.Verdict != dbcanary.Same {
				t.Errorf("factor %v: CPU %s (%v), QPS %s", test.factor, c.CPUVerdict, c.CPURatio, c.Verdict)
			}
		}
	}
}

// TestCompare_Resolution holds that no verdict is finer than twice the step in which
// imported rates move, whatever the user asks for.
func TestCompare_Resolution(t *testing.T) {
	plan := dbcanary.Plan{Targets: []string{"a", "b"}, Benchmarks: []dbcanary.PlannedBenchmark{{Label: "coarse", Resolution: 0.05}, {Label: "fine"}}}
	var trials []dbcanary.Trial
	for instance := range 10 {
		for _, benchmark := range []string{"coarse", "fine"} {
			for target, rate := range map[string]int64{"a": 1000, "b": 930 + int64(instance%3)} {
				trials = append(trials, dbcanary.Trial{
					Benchmark: benchmark, Target: target, Instance: instance, Operations: rate, ElapsedNs: 1e9, ServerCPUNs: -1,
				})
			}
		}
	}
	for _, options := range []Options{{}, {MinEffect: 0.01}, {PerBenchmark: map[string]float64{"coarse": 0.02, "fine": 0.02}}} {
		for _, c := range Compare(plan, trials, options) {
			want, effect := dbcanary.Slower, max(options.MinEffect, options.PerBenchmark["fine"])
			if effect == 0 {
				effect = DefaultMinEffect
			}
			if c.Benchmark == "coarse" {
				want, effect = dbcanary.Same, 0.1
			}
			if c.Verdict != want || c.MinEffect != effect {
				t.Errorf("%s of %+v: %s beyond %g, want %s beyond %g (%s)", c.Benchmark, options, c.Verdict, c.MinEffect, want, effect, c.Reason)
			}
		}
	}
}
