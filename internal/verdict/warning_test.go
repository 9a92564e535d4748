package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
)

// TestWarnings changes a quiet run in one way and looks for the one warning that
// this must give.
func TestWarnings(t *testing.T) {
	unchanged := func(*dbcanary.Trial) {}
	for _, test := range []struct {
		name      string
		instances int
		effect    float64
		change    func(*dbcanary.Trial)
		want      string // "" for no warning at all
	}{
		{"nothing", 6, 0, unchanged, ""},
		{"few instances", 3, 0, unchanged, "only 3 instances"},
		{"void slices", 6, 0, func(trial *dbcanary.Trial) {
			if trial.Target == "t0" && trial.Block == 1 {
				trial.Void = "foreign load"
			}
		}, "6 of 36 slices were void"},
		{"idle slices", 6, 0, func(trial *dbcanary.Trial) {
			if trial.Instance == 2 && trial.Block == 1 && trial.Target == "t1" {
				trial.Operations = 0
			}
		}, "1 blocks dropped out"},
		{"errors", 6, 0, func(trial *dbcanary.Trial) {
			if trial.Instance == 2 && trial.Target == "t1" {
				trial.Errors = map[string]int64{"1213": 2}
			}
		}, "statements failed in slices that count: 6 on t1, 0 on t0"},
		{"drift", 6, 0, func(trial *dbcanary.Trial) {
			trial.Operations = int64(float64(trial.Operations) * math.Exp(-0.1*float64(trial.Block)))
		}, "throughput of t1 falls by 18 % from the first to the last block"},
		{"drift of the ratio", 6, 0, func(trial *dbcanary.Trial) {
			if trial.Target == "t1" {
				trial.Operations = int64(float64(trial.Operations) * math.Exp(0.1*float64(trial.Block)))
			}
		}, "the ratio to the base rises by 22 %"},
		{"unequal writes", 6, 0.3, func(trial *dbcanary.Trial) { trial.Benchmark = "b" + trial.Benchmark[1:] }, "times the writes of t0, so their data differ"},
		{"same CPU", 6, -0.1, func(trial *dbcanary.Trial) {
			if trial.ServerCPUNs = trial.Operations * 20e3; trial.Target == "t1" {
				trial.ServerCPUNs += trial.Operations * int64(trial.Instance%3*20) // no two starts cost the same
			}
		}, "QPS is lower but the server spends the same CPU per statement"},
		{"more CPU for the same", 6, 0, func(trial *dbcanary.Trial) {
			if trial.Target == "t1" {
				trial.ServerCPUNs = trial.Operations * 24e3
			}
		}, "QPS is the same but the server spends 20 % more CPU per statement"},
		{"unknown CPU", 6, -0.1, func(trial *dbcanary.Trial) { trial.ServerCPUNs = -1 }, ""},
	} {
		d := design{benchmarks: 4, targets: 2, instances: test.instances, blocks: 3, effect: all(test.effect)}
		trials := quiet.trials(d, rand.New(rand.NewPCG(1, 2)))
		for i := range trials {
			test.change(&trials[i])
		}
		plan := d.plan()
		if test.name == "unequal writes" {
			for i := range plan.Benchmarks {
				plan.Benchmarks[i].Group = "writes"
			}
		}
		for _, c := range Compare(plan, trials, Options{}) {
			found := slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, test.want) })
			if found != (test.want != "") && !(test.name == "void slices" && c.VoidSlices == 6) {
				t.Errorf("%s: %s warns %q, want %q", test.name, c.Benchmark, c.Warnings, test.want)
			}
		}
	}
}

func TestVaryingBenchmarkIsNamed(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	d := design{benchmarks: 16, targets: 2, instances: 10, blocks: 3, effect: all(0)}
	n := noise{between: func(b int) float64 { return map[bool]float64{true: 0.3, false: 0.005}[b == 5] }, within: 0.002}
	for i, c := range Compare(d.plan(), n.trials(d, random), Options{}) {
		found := slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, "varies far more") })
		if i == 5 && (!found || c.Verdict != dbcanary.Inconclusive) {
			t.Errorf("%s: %s, %q", c.Benchmark, c.Verdict, c.Warnings)
		}
	}
}

func TestReasons(t *testing.T) {
	for _, test := range []struct {
		effect, sd float64
		want       []string
	}{
		{-0.04, 0.04, []string{"looks", "slower", "more instance", "settle it"}},
		{0, 0.02, []string{"could be the same or not", "more instance", "settle it"}},
		{0.0198, 0.002, []string{"too near 2 %"}},
	} {
		d := design{benchmarks: 8, targets: 2, instances: 5, blocks: 3, effect: all(test.effect)}
		comparisons := Compare(d.plan(), noise{between: all(test.sd), within: 0.002}.trials(d, rand.New(rand.NewPCG(8, 1))), Options{})
		if !slices.ContainsFunc(comparisons, func(c dbcanary.Comparison) bool {
			for _, want := range test.want {
				if !strings.Contains(c.Reason, want) {
					return false
				}
			}
			return c.Verdict == dbcanary.Inconclusive
		}) {
			for _, c := range comparisons {
				t.Errorf("effect %v: %s: %s, none says %q", test.effect, c.Verdict, c.Reason, test.want)
			}
		}
	}
}

func TestSmallestChangeThatMatters(t *testing.T) {
	d := design{benchmarks: 3, targets: 2, instances: 5, blocks: 3, effect: all(math.Log1p(-0.05))}
	trials := quiet.trials(d, rand.New(rand.NewPCG(1, 2)))
	got := Compare(d.plan(), trials, Options{MinEffect: 0.10, PerBenchmark: map[string]float64{"b1": 0.03}})
	if got[0].Verdict != dbcanary.Same || got[1].Verdict != dbcanary.Slower || got[0].MinEffect != 0.10 || got[1].MinEffect != 0.03 {
		t.Errorf("%+v", got)
	}
	if got := Compare(d.plan(), trials, Options{MinEffect: -1, Level: 7}); got[0].MinEffect != 0.02 || got[0].Level != 0.95 {
		t.Errorf("nonsense must not become a threshold: %+v", got[0])
	}
}

func TestGroups(t *testing.T) {
	c := func(target, group string, ratio float64, v dbcanary.Verdict) dbcanary.Comparison {
		return dbcanary.Comparison{Target: target, Base: "base", Group: group, QPSRatio: dbcanary.Estimate{Ratio: ratio}, Verdict: v}
	}
	groups := Groups([]dbcanary.Comparison{
		c("a", "point", 0.9, dbcanary.Slower), c("b", "point", 1.0, dbcanary.Same),
		c("a", "point", 1.2, dbcanary.Faster), c("b", "point", 1.5, dbcanary.Faster),
		c("a", "writes", math.NaN(), dbcanary.Inconclusive), c("b", "writes", 1.0, dbcanary.Same),
		c("a", "", 1.0, dbcanary.Same),
	})
	want := []struct {
		name, target string
		verdict      dbcanary.Verdict
		min, max     float64
		reason       string
	}{
		{"point", "a", dbcanary.Slower, 0.9, 1.2, "1 slower, 1 faster"},
		{"writes", "a", dbcanary.Inconclusive, math.NaN(), math.NaN(), "1 inconclusive"},
		{"", "a", dbcanary.Slower, 0.9, 1.2, "1 slower, 1 faster, 1 same, 1 inconclusive"},
		{"point", "b", dbcanary.Faster, 1, 1.5, "1 faster, 1 same"},
		{"writes", "b", dbcanary.Same, 1, 1, "1 same"},
		{"", "b", dbcanary.Faster, 1, 1.5, "1 faster, 2 same"},
	}
	if len(groups) != len(want) {
		t.Fatalf("%d groups, want %d", len(groups), len(want))
	}
	same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	for i, w := range want {
		g := groups[i]
		if g.Name != w.name || g.Target != w.target || g.Base != "base" || g.Verdict != w.verdict || g.Reason != w.reason || !same(g.Min, w.min) || !same(g.Max, w.max) {
			t.Errorf("group %d is %+v, want %+v", i, g, w)
		}
	}
	if g := groups[0]; math.Abs(g.Avg-1.05) > 1e-12 || math.Abs(g.Median-1.05) > 1e-12 {
		t.Errorf("average %v, median %v", g.Avg, g.Median)
	}
	if Groups(nil) != nil {
		t.Error("nothing has no groups")
	}
}

func TestLooks(t *testing.T) {
	for expected, want := range map[int][]int{0: nil, 3: nil, 4: {3}, 12: {3, 5, 8}, 20: {3, 5, 8, 12, 19}} {
		if got := Looks(expected); !slices.Equal(got, want) {
			t.Errorf("looks of %d instances: %v, want %v", expected, got, want)
		}
	}
}

// The shares of the error add up to it, and the last look has most of it.
func TestLooksShareTheError(t *testing.T) {
	for _, looks := range [][]int{nil, {3}, {3, 5, 8}} {
		plan := dbcanary.Plan{Looks: looks}
		early, last := 1-Options{early: true}.verdictLevel(plan), 1-Options{}.verdictLevel(plan)
		if sum := float64(len(looks))*early + last; math.Abs(sum-0.05) > 1e-12 || len(looks) > 0 && early >= last {
			t.Errorf("looks %v: %v each and %v at the end", looks, early, last)
		}
	}
}

// What is clear for all targets at the last look is measured no further, whatever
// came after that look; a plan without looks goes on with everything.
func TestClear(t *testing.T) {
	d := design{benchmarks: 3, targets: 3, instances: 6, blocks: 2, effect: func(b int) float64 { return []float64{-0.2, 0, 0.01}[b] }}
	plan := d.plan()
	var trials []dbcanary.Trial
	for _, trial := range (noise{between: all(0.001), within: 0.001}).trials(d, rand.New(rand.NewPCG(1, 1))) {
		if trial.Benchmark == "b2" && trial.Target == "t2" {
			// One target swings between its starts, so that benchmark is in doubt.
			trial.Operations += trial.Operations / 4 * int64(trial.Instance%2)
		}
		trials = append(trials, trial)
	}
	if got := Clear(plan, trials, 6, nil); got != nil {
		t.Errorf("without looks %v is clear", got)
	}
	plan.Looks = []int{4, 7}
	for instances, want := range map[int][]string{3: nil, 4: {"b0", "b1"}, 6: {"b0", "b1"}} {
		if got := Clear(plan, trials, instances, nil); !slices.Equal(got, want) {
			t.Errorf("after %d instances %v is clear, want %v", instances, got, want)
		}
	}
	if got := Clear(plan, trials, 6, []string{"t2"}); len(got) != 3 {
		t.Errorf("without the target in doubt %v is clear", got)
	}
}
