package plan_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/plan"
)

func newPlan(targets, benchmarks int, budget time.Duration) dbcanary.Plan {
	p := dbcanary.Plan{Tables: 1, TableSize: 200_000, Threads: 1, BudgetNs: int64(budget)}
	for i := range targets {
		p.Targets = append(p.Targets, fmt.Sprint("target", i))
	}
	for i := range benchmarks {
		p.Benchmarks = append(p.Benchmarks, dbcanary.PlannedBenchmark{Label: fmt.Sprint("benchmark", i)})
	}
	return p
}

func TestFit(t *testing.T) {
	cost := plan.DefaultCost()
	tests := []struct {
		name                string
		targets, benchmarks int
		budget              time.Duration
		blocks              int
		warned              bool
	}{
		{"two targets, ten minutes, quick suite", 2, 10, 10 * time.Minute, 3, false},
		{"four targets, ten minutes, quick suite", 4, 10, 10 * time.Minute, 3, false},
		{"two targets, two and a half minutes: fewer blocks", 2, 10, 150 * time.Second, 2, false},
		{"a whole suite in a minute can't be", 4, 32, time.Minute, 1, true},
		{"no budget", 2, 10, 0, 3, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, warnings := plan.Fit(newPlan(test.targets, test.benchmarks, test.budget), cost)
			if p.Blocks != test.blocks || (len(warnings) > 0) != test.warned {
				t.Errorf("blocks %d, slice %s, warnings %q", p.Blocks, time.Duration(p.SliceNs), warnings)
			}
			if p.SliceNs < int64(150*time.Millisecond) || p.SliceNs > int64(time.Second) || p.WarmupNs <= 0 {
				t.Errorf("slice %s, warm-up %s", time.Duration(p.SliceNs), time.Duration(p.WarmupNs))
			}
			if test.budget > 0 && !test.warned {
				if got := plan.Duration(p, cost, 3); got > test.budget {
					t.Errorf("three instances take %s of a budget of %s", got, test.budget)
				}
			}
		})
	}
}

func TestFit_KeepsWhatTheUserSet(t *testing.T) {
	p := newPlan(2, 10, time.Minute)
	p.SliceNs, p.Blocks, p.Instances, p.WarmupNs = int64(2*time.Second), 7, 4, int64(time.Second)
	fitted, warnings := plan.Fit(p, plan.DefaultCost())
	if fitted.SliceNs != p.SliceNs || fitted.Blocks != 7 || fitted.Instances != 4 || fitted.WarmupNs != p.WarmupNs {
		t.Errorf("changed to %+v", fitted)
	}
	if len(warnings) == 0 {
		t.Error("a plan that cannot fit got no warning")
	}
}

func TestOrder_IsAPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		order := plan.Order(rapid.Uint64().Draw(t, "seed"), "scan", rapid.IntRange(0, 99).Draw(t, "instance"), 0, n)
		sorted := slices.Sorted(slices.Values(order))
		for i, v := range sorted {
			if i != v {
				t.Fatalf("order %v is no permutation of 0..%d", order, n-1)
			}
		}
	})
}

// Over each two instances every block has each order of two targets once, and so
// have each two blocks of an instance.
func TestOrder_BalancesPlaces(t *testing.T) {
	baseFirst := func(instance, block int) bool { return plan.Order(7, "scan", instance, block, 2)[0] == 0 }
	pairs := 0
	for instance := 0; instance < 200; instance += 2 {
		for block := range 3 {
			if baseFirst(instance, block) == baseFirst(instance+1, block) {
				t.Fatalf("instances %d and %d have one order in block %d", instance, instance+1, block)
			}
		}
		if baseFirst(instance, 0) == baseFirst(instance, 1) {
			t.Fatalf("blocks 0 and 1 of instance %d have one order", instance)
		}
		if baseFirst(instance, 0) {
			pairs++
		}
	}
	// Binomial(100, 1/2) lies outside 28..72 with probability 1e-5; the seed is fixed.
	if pairs < 28 || pairs > 72 {
		t.Errorf("the base came first in the first of %d of 100 pairs", pairs)
	}
}

func TestSeeds_DifferByPlaceAndNotByTarget(t *testing.T) {
	seen := map[uint64]string{}
	for instance := range 5 {
		for block := range 5 {
			for worker := range 5 {
				for _, benchmark := range []string{"scan", "point-query"} {
					seed := plan.KeySeed(1, benchmark, instance, block, worker)
					place := fmt.Sprint(benchmark, instance, block, worker)
					if other, ok := seen[seed]; ok {
						t.Fatalf("%s and %s share the seed %d", place, other, seed)
					}
					seen[seed] = place
				}
			}
		}
	}
	first := plan.KeySeed(1, "scan", 1, 1, 1)
	if again := plan.KeySeed(1, "scan", 1, 1, 1); again != first {
		t.Error("the same place gave two seeds")
	}
}

// What takes as long as its work does leaves less for the slices of the others,
// and what nobody knows is told.
func TestFit_Singles(t *testing.T) {
	cost := plan.DefaultCost()
	free, _ := plan.Fit(newPlan(2, 6, 5*time.Minute), cost)
	cost.Singles, cost.Single = 2, 5*time.Second
	timed, warnings := plan.Fit(newPlan(2, 8, 5*time.Minute), cost)
	if len(warnings) > 0 || timed.SliceNs*int64(timed.Blocks) >= free.SliceNs*int64(free.Blocks) {
		t.Errorf("slices of %s with and %s without, warnings %q", time.Duration(timed.SliceNs), time.Duration(free.SliceNs), warnings)
	}
	if with, without := plan.RoundDuration(timed, cost), plan.RoundDuration(free, plan.DefaultCost()); with < 10*time.Second || without < time.Second {
		t.Errorf("an instance takes %s with and %s without", with, without)
	}
	cost = plan.Cost{LoadRowsPerSecond: 1e6, Singles: 3, Unknown: 3}
	if only, warnings := plan.Fit(newPlan(2, 3, time.Minute), cost); len(warnings) != 1 || only.Blocks != 3 {
		t.Errorf("blocks %d, warnings %q", only.Blocks, warnings)
	}
}
