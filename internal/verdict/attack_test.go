package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
)

// TestNoVerdictWithoutGround makes runs in which what is left looks clear and carries no
// verdict, and looks for the reason that says so.
func TestNoVerdictWithoutGround(t *testing.T) {
	ofTarget := func(change func(*dbcanary.Trial)) func(*dbcanary.Trial) {
		return func(trial *dbcanary.Trial) {
			if trial.Target == "t1" {
				change(trial)
			}
		}
	}
	for _, test := range []struct {
		name   string
		effect float64
		change func(*dbcanary.Trial)
		want   string // part of the reason
	}{
		{"most slices of the target failed", 0, ofTarget(func(trial *dbcanary.Trial) {
			if trial.Block != 1 {
				trial.Void = "server error 1205: lock wait timeout"
			}
		}), "more slices dropped out than count: server error 1205"},
		{"most slices of the base failed", -0.2, func(trial *dbcanary.Trial) {
			if trial.Target == "t0" && trial.Block != 1 {
				trial.Void = "server error 1205: lock wait timeout"
			}
		}, "more slices dropped out than count: server error 1205"},
		{"most slices finished nothing", 0, ofTarget(func(trial *dbcanary.Trial) {
			if trial.Block != 1 {
				trial.Operations = 0
			}
		}), "more slices dropped out than count"},
		{"every slice is void", 0, func(trial *dbcanary.Trial) { trial.Void = "foreign load" }, "every slice was void: foreign load"},
		{"nothing was finished", 0, ofTarget(func(trial *dbcanary.Trial) { trial.Operations = 0 }), "finished an operation in the same block"},
		{"equal values, slower", 0, func(trial *dbcanary.Trial) {
			if trial.Operations = 1000; trial.Target == "t1" {
				trial.Operations = 900
			}
		}, "every start gave the same ratio (10 % slower)"},
		{"equal values, same", 0, func(trial *dbcanary.Trial) { trial.Operations = 1000 }, "every start gave the same ratio (0 % faster)"},
		{"copied numbers that drift alike", 0, func(trial *dbcanary.Trial) {
			if trial.Operations = int64(1000 * (trial.Instance + 1)); trial.Target == "t1" {
				trial.Operations = trial.Operations / 10 * 9
			}
		}, "every start gave the same ratio (10 % slower)"},
		{"one start is a thousand times slower", 0, ofTarget(func(trial *dbcanary.Trial) {
			if trial.Instance == 2 {
				trial.Operations /= 1000
			}
		}), "looks "},
		{"starts differ by a third", 0, ofTarget(func(trial *dbcanary.Trial) {
			trial.Operations = int64(float64(trial.Operations) * math.Exp(0.3*float64(trial.Instance%2*2-1)))
		}), "it varies too much from start to start to be settled by 100 instances"},
		{"target and base never in one block", 0, ofTarget(func(trial *dbcanary.Trial) { trial.Block += 100 }), "no block has a valid slice of both"},
		{"the base is missing", 0, func(trial *dbcanary.Trial) {
			if trial.Target == "t0" {
				trial.Benchmark = "gone"
			}
		}, "the base t0 has no valid slice"},
	} {
		d := design{benchmarks: 4, targets: 2, instances: 6, blocks: 3, effect: all(test.effect)}
		trials := quiet.trials(d, rand.New(rand.NewPCG(1, 2)))
		for i := range trials {
			test.change(&trials[i])
		}
		for _, c := range Compare(d.plan(), trials, Options{}) {
			if c.Verdict != dbcanary.Inconclusive || !strings.Contains(c.Reason, test.want) {
				t.Errorf("%s: %s is %s (%s), want %q", test.name, c.Benchmark, c.Verdict, c.Reason, test.want)
			}
			if strings.Contains(test.want, "dropped out") && c.CPUVerdict != dbcanary.Inconclusive {
				t.Errorf("%s: CPU of %s is %s", test.name, c.Benchmark, c.CPUVerdict)
			}
			for _, text := range append(slices.Clone(c.Warnings), c.Reason) {
				if strings.Contains(text, "Inf") || strings.Contains(text, "NaN") || strings.Contains(text, "100 % slower") {
					t.Errorf("%s: %s", test.name, text)
				}
			}
			if c.QPSRatio.Low == c.QPSRatio.High {
				t.Errorf("%s: an interval of no width: %+v", test.name, c.QPSRatio)
			}
		}
	}
}

// TestMissingInstancesKeepTheVerdict: what is left of a benchmark that half of the
// instances lack is judged as a run of that half.
func TestMissingInstancesKeepTheVerdict(t *testing.T) {
	d := design{benchmarks: 4, targets: 3, instances: 10, blocks: 3, effect: all(-0.1)}
	trials := slices.DeleteFunc(quiet.trials(d, rand.New(rand.NewPCG(1, 2))), func(trial dbcanary.Trial) bool {
		return trial.Benchmark == "b1" && trial.Target == "t1" && trial.Instance%2 == 1
	})
	for _, c := range Compare(d.plan(), trials, Options{}) {
		want := 10
		if c.Benchmark == "b1" && c.Target == "t1" {
			want = 5
		}
		if c.Instances != want || c.Verdict != dbcanary.Slower {
			t.Errorf("%s of %s: %d instances, %s (%s)", c.Benchmark, c.Target, c.Instances, c.Verdict, c.Reason)
		}
	}
}

// TestAlone: a side that has nothing to be compared with still has a rate, and no ratio.
func TestAlone(t *testing.T) {
	plan := dbcanary.Plan{Targets: []string{"t0", "t1"}, Benchmarks: []dbcanary.PlannedBenchmark{{Label: "x"}, {Label: "y"}}}
	trial := func(target, benchmark string, instance int, operations int64) dbcanary.Trial {
		return dbcanary.Trial{Target: target, Benchmark: benchmark, Instance: instance, Operations: operations, ElapsedNs: 1e9, ServerCPUNs: operations * 2000}
	}
	got := Compare(plan, []dbcanary.Trial{
		trial("t1", "x", 0, 100), trial("t1", "x", 1, 120), trial("t1", "x", 2, 500), trial("t0", "y", 0, 70),
	}, Options{})
	if x := got[0]; x.QPS != 120 || x.CPUUs != 2 || !math.IsNaN(x.BaseQPS) || !math.IsNaN(x.BaseCPU) || !math.IsNaN(x.QPSRatio.Ratio) || x.Instances != 0 {
		t.Errorf("without its base: %+v", x)
	}
	if y := got[1]; y.BaseQPS != 70 || !math.IsNaN(y.QPS) || !math.IsNaN(y.QPSRatio.Ratio) || !math.IsNaN(y.CPURatio.Ratio) {
		t.Errorf("without its target: %+v", y)
	}
}

// TestWitness: each pair of QPS and CPU that contradict each other is said, and no other.
func TestWitness(t *testing.T) {
	for _, test := range []struct {
		qps, cpu float64 // true log ratios
		noise    float64 // of QPS alone: what can't be told
		want     string  // part of the one warning; "" for none
	}{
		{-0.1, 0.1, 0, ""},
		{-0.1, 0, 0, "QPS is lower but the server spends the same CPU"},
		{-0.1, -0.1, 0, "QPS is lower although the server spends 9.5 % less CPU"},
		{0, 0.1, 0, "QPS is the same but the server spends 11 % more CPU"},
		{0, 0, 0, ""},
		{0, -0.1, 0, "QPS is the same although the server spends 9.5 % less CPU"},
		{0.1, 0.1, 0, "QPS is higher although the server spends 11 % more CPU"},
		{0.1, 0, 0, "QPS is higher but the server spends the same CPU"},
		{0.1, -0.1, 0, ""},
		{0, 0.1, 0.3, "QPS can't tell, but the server clearly spends 11 % more CPU"},
		{0, -0.1, 0.3, "QPS can't tell, but the server clearly spends 9.5 % less CPU"},
		{0, 0, 0.3, ""},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		d := design{benchmarks: 4, targets: 2, instances: 6, blocks: 3, effect: all(test.qps)}
		trials := quiet.trials(d, random)
		for i := range trials {
			trial := &trials[i]
			trial.ServerCPUNs = int64(20e3 * float64(trial.Operations) * math.Exp(0.001*random.NormFloat64()))
			if trial.Target == "t1" {
				trial.ServerCPUNs = int64(float64(trial.ServerCPUNs) * math.Exp(test.cpu))
				swing := math.Exp(test.noise * float64(trial.Instance%2*2-1))
				trial.Operations, trial.ServerCPUNs = int64(float64(trial.Operations)*swing), int64(float64(trial.ServerCPUNs)*swing)
			}
		}
		for _, c := range Compare(d.plan(), trials, Options{}) {
			warnings := slices.DeleteFunc(c.Warnings, func(w string) bool { return !strings.HasPrefix(w, "QPS ") })
			if len(warnings) != min(1, len(test.want)) || test.want != "" && !strings.Contains(warnings[0], test.want) {
				t.Errorf("%+v: %s is %s, CPU %s, warned %q", test, c.Benchmark, c.Verdict, c.CPUVerdict, c.Warnings)
			}
		}
	}
}

// TestChange: no ratio is said in a way that means another one.
func TestChange(t *testing.T) {
	for ratio, want := range map[float64]string{
		0: "less than 1/1000 as fast", 0.0001: "less than 1/1000 as fast", 0.004: "0.004 times as fast", 0.0999: "0.1 times as fast",
		0.1: "90 % slower", 0.97: "3 % slower", 1: "0 % faster", 1.5: "50 % faster", 2.345: "2.35 times as fast",
		1e4: "more than 1000 times as fast", math.Inf(1): "more than 1000 times as fast",
	} {
		if got := change(ratio); got != want {
			t.Errorf("%v: %q, want %q", ratio, got, want)
		}
	}
}

func TestLooksText(t *testing.T) {
	for want, looks := range map[string][]int{"": nil, "3": {3}, "3 or 5": {3, 5}, "3, 5 or 8": {3, 5, 8}} {
		if got := LooksText(looks, "or"); got != want {
			t.Errorf("%v: %q, want %q", looks, got, want)
		}
	}
}
