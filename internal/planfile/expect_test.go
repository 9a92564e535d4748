package planfile_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/plan"
	"github.com/dbcanary/dbcanary/internal/planfile"
)

// noiseRun is an A/A run whose pairs of starts differ by a given factor, back and forth.
func noiseRun(swing float64) (dbcanary.Run, []dbcanary.Trial) {
	run := dbcanary.Run{ID: 7, State: dbcanary.RunDone, Plan: dbcanary.Plan{
		Targets: []string{"sqlite", "sqlite#2"}, Benchmarks: []dbcanary.PlannedBenchmark{{Label: "scan"}, {Label: "point-query"}},
		Threads: 1, Placement: dbcanary.PlacementFree, MinEffect: 0.02,
	}}
	for _, name := range run.Plan.Targets {
		run.Targets = append(run.Targets, dbcanary.Target{Name: name, Build: dbcanary.Build{Family: dbcanary.SQLite}})
	}
	var trials []dbcanary.Trial
	for _, benchmark := range run.Plan.Benchmarks {
		for instance := range 8 {
			for i, target := range run.Plan.Targets {
				rate := 1e6 * math.Pow(swing, float64(i*(instance%2*2-1)))
				trials = append(trials, dbcanary.Trial{Benchmark: benchmark.Label, Target: target, Instance: instance, ElapsedNs: 1e9, Operations: int64(rate)})
			}
		}
	}
	return run, trials
}

// A noisier host finds less, and runs that say nothing of the plan are not asked.
func TestExpect(t *testing.T) {
	file := planfile.Default()
	file.Placement, file.Targets = "free", []planfile.Targets{{Name: "sqlite"}, {Name: "sqlite+cache_size=100"}}
	p, specs, problems := file.Plan()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	text := func(swing float64) string {
		outline, err := planfile.NewOutline(p, specs, true, plan.Room{MemoryBytes: 1 << 40, DiskBytes: 1 << 40})
		if err != nil {
			t.Fatal(err)
		}
		outline.Builds = []string{"here", "here"}
		run, trials := noiseRun(swing)
		if !outline.LikeNoise(run) {
			t.Error("an A/A run of the same kind is not asked")
		}
		for what, change := range map[string]func(*dbcanary.Run){
			"interrupted": func(r *dbcanary.Run) { r.State = dbcanary.RunInterrupted },
			"threads":     func(r *dbcanary.Run) { r.Plan.Threads = 4 },
			"placement":   func(r *dbcanary.Run) { r.Plan.Placement = dbcanary.PlacementSame },
			"no A/A":      func(r *dbcanary.Run) { r.Plan.Targets = []string{"sqlite", "sqlite+cache_size=1"} },
			"family": func(r *dbcanary.Run) {
				r.Targets = []dbcanary.Target{{Build: dbcanary.Build{Family: dbcanary.Postgres}}}
			},
		} {
			other := run
			if change(&other); outline.LikeNoise(other) {
				t.Errorf("a run of another kind is asked: %s", what)
			}
		}
		outline.Expect(run, trials)
		var out bytes.Buffer
		if err := outline.Write(&out, ""); err != nil {
			t.Fatal(err)
		}
		_, found, ok := strings.Cut(out.String(), "Smallest change that would be found, by the noise of run 7 (sqlite): ")
		if !ok {
			t.Fatalf("nothing is expected:\n%s", out.String())
		}
		return found
	}
	quiet, noisy := text(1.002), text(1.05)
	if !strings.HasPrefix(quiet, "2.") || !strings.Contains(quiet, "in the median of 2 benchmarks") {
		t.Errorf("quiet: %s", quiet)
	}
	if strings.HasPrefix(noisy, "2.") {
		t.Errorf("noisy: %s", noisy)
	}
}
