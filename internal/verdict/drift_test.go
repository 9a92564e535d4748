package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
)

// series simulates the seconds of a slice: noise with memory, and a change over all of it.
func series(seconds int, memory, change float64, random *rand.Rand) []int64 {
	list := make([]int64, seconds)
	noise := 0.0
	for i := range list {
		noise = memory*noise + math.Sqrt(1-memory*memory)*random.NormFloat64()
		list[i] = int64(1e4 * math.Exp(0.05*noise+change*float64(i)/float64(seconds)))
	}
	return list
}

// slice makes a run of one long slice of each target in each instance.
func slice(instances int, base, target func() []int64) []dbcanary.Trial {
	var trials []dbcanary.Trial
	for instance := range instances {
		for name, series := range map[string]func() []int64{"t0": base, "t1": target} {
			trial := dbcanary.Trial{Benchmark: "b0", Target: name, Instance: instance, PerSecond: series()}
			for _, count := range trial.PerSecond {
				trial.Operations += count
			}
			trial.ElapsedNs = int64(len(trial.PerSecond)) * 1e9
			trial.Metrics = []dbcanary.Metric{
				{Name: "dbms.history", Gauge: true, First: 0, Value: 5000},
				{Name: "server.rss_bytes", Gauge: true, First: 100, Value: 190},
				{Name: "dbms.still", Gauge: true, First: 100, Value: 110},
				{Name: "host.memory", Gauge: true, First: 1, Value: 9},
				{Name: "dbms.counter", Value: 9},
			}
			trials = append(trials, trial)
		}
	}
	return trials
}

func driftOf(trials []dbcanary.Trial) string {
	plan := design{benchmarks: 1, targets: 2}.plan()
	return strings.Join(Compare(plan, trials, Options{})[0].Warnings, "\n")
}

// A long slice whose rate falls is told, with what grew; steady ones are not, nor is a
// slice that is too short to tell.
func TestSeriesDrift(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	steady := func() []int64 { return series(300, 0.5, 0, random) }
	for _, instances := range []int{1, 2, 4} {
		falling := func() []int64 { return series(300, 0.5, -0.3, random) }
		text := driftOf(slice(instances, steady, falling))
		want := "from the beginning to the end of a slice, while dbms.history grows 5000 times, server.rss_bytes grows 1.9 times"
		if !strings.Contains(text, "throughput of t1 falls by 2") || !strings.Contains(text, want) || strings.Contains(text, "throughput of t0") {
			t.Errorf("%d instances: %s", instances, text)
		}
		rising := func() []int64 { return series(300, 0.5, 0.3, random) }
		if text := driftOf(slice(instances, rising, steady)); !strings.Contains(text, "throughput of t0 rises by ") || strings.Contains(text, "while") {
			t.Errorf("%d instances: %s", instances, text)
		}
		short := func() []int64 { return series(50, 0.5, -0.5, random) }
		if text := driftOf(slice(instances, steady, short)); strings.Contains(text, "throughput") {
			t.Errorf("%d instances: %s", instances, text)
		}
	}
	halted := append(make([]int64, 100), series(200, 0, 0, random)...)
	if _, _, long := seriesChange(halted); long {
		t.Error("parts in which nothing finished have no logarithm")
	}
}

// Among steady series with a memory of seconds few are called drifting, and a change
// of 20 % is found.
func TestSeriesDrift_Level(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	const runs = 400
	for _, memory := range []float64{0, 0.8, 0.9} {
		share := func(change float64) float64 {
			told := 0
			for range runs {
				instance := [][]block{{{target: &dbcanary.Trial{PerSecond: series(300, memory, change, random)}}}}
				if _, ok := seriesDrift(instance, func(b block) *dbcanary.Trial { return b.target }); ok {
					told++
				}
			}
			return float64(told) / runs
		}
		steady, falling := share(0), share(-0.2)
		t.Logf("memory %.1f: %.3f of steady series, %.3f of those that fall by 18 %%", memory, steady, falling)
		if steady > 0.02 || falling < 0.85 {
			t.Errorf("memory %.1f: %.3f of steady series, %.3f of those that fall by 18 %% are told", memory, steady, falling)
		}
	}
}

// The statistic's bound is exact: it is counted over all orders of ten values that a
// large sample draws.
func TestSeriesTrend(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	const draws = 200_000
	beyond := 0
	for range draws {
		order := random.Perm(seriesParts)
		score := 0
		for i := range order {
			for _, later := range order[i+1:] {
				if later > order[i] {
					score++
				} else {
					score--
				}
			}
		}
		if max(score, -score) >= seriesTrend {
			beyond++
		}
	}
	if share := float64(beyond) / draws; share > 0.01 || share < 0.007 {
		t.Errorf("%.4f of orders without a trend reach %d", share, seriesTrend)
	}
}

func TestGaugesBeside_EveryInstance(t *testing.T) {
	with := func(value float64) []block {
		return []block{{target: &dbcanary.Trial{Metrics: []dbcanary.Metric{{Name: "dbms.a", Gauge: true, First: 10, Value: value}}}}}
	}
	target := func(b block) *dbcanary.Trial { return b.target }
	if got := gaugesBeside([][]block{with(30), with(20)}, target); got != ", while dbms.a grows 2.0 times" {
		t.Errorf("got %q", got)
	}
	if got := gaugesBeside(slices.Insert([][]block{with(30)}, 1, with(11)), target); got != "" {
		t.Errorf("it did not grow in every instance: %q", got)
	}
}
