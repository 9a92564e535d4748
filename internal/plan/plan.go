// Package plan designs an experiment: how long a slice is, how many blocks an
// instance holds, in which order targets run, and which keys a slice draws. It
// is pure: the same plan and seed give the same design.
//
// It does not decide when to stop; the lab does, by the clock.
package plan

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// Limits of what Fit chooses. A slice under 150 ms measures start-up effects;
// after a second, more time in the same instance buys nothing (docs/METHOD.md).
const (
	minSlice      = 150 * time.Millisecond
	maxSlice      = time.Second
	maxBlocks     = 3
	wantInstances = 10
	minInstances  = 3
)

// Cost is what the phases of a run are expected to take, measured or guessed.
type Cost struct {
	LoadRowsPerSecond float64       // rows of one target
	Prepare           time.Duration // initialise, start and stop of one target
	Start             time.Duration // copy, start and stop of one target for an instance
	CopyRowsPerSecond float64       // rows of one target that are copied and read into its caches, beside Start; 0 for no time
	Settle            time.Duration // in which the debt of writes is paid, beside reading all rows

	Singles int           // benchmarks of the plan that have one slice in an instance, as long as their work takes
	Single  time.Duration // of all of them on one target, as far as it is known
	Unknown int           // those of them whose length nobody knows before the first instance
}

// DefaultCost is a guess for a small machine: between PostgreSQL, which starts on a
// copy and stops within a second, and MySQL, which takes four.
func DefaultCost() Cost {
	return Cost{LoadRowsPerSecond: 50_000, Prepare: 6 * time.Second, Start: 1500 * time.Millisecond, CopyRowsPerSecond: 2e6, Settle: time.Second}
}

// Fit fills the zero fields of SliceNs, WarmupNs, Blocks and Instances so that
// about ten instances of every target fit into the budget; less time makes
// slices shorter, then blocks fewer, then instances fewer. Warnings say what was
// given up. A budget of 0 leaves the number of instances at ten.
//
// In the classic mode it fills in the published times, or as much of them as fits into
// the budget, one block and one instance.
func Fit(p dbcanary.Plan, cost Cost) (fitted dbcanary.Plan, warnings []string) {
	if p.Classic() {
		return fitClassic(p, cost)
	}
	fixedSlice, fixedBlocks, fixedInstances := p.SliceNs > 0, p.Blocks > 0, p.Instances > 0
	needed := minSlice
	if fixedSlice {
		needed = time.Duration(p.SliceNs)
	} else {
		p.SliceNs = int64(maxSlice / 2)
	}
	if !fixedBlocks {
		p.Blocks = maxBlocks
	}
	instances := wantInstances
	if fixedInstances {
		instances = p.Instances
	}
	for p.BudgetNs > 0 {
		left := time.Duration(p.BudgetNs) - loadTime(p, cost)
		round := left/time.Duration(instances) - cost.starts(p) - cost.settles(p)
		slice := sliceIn(p, round/time.Duration(max(1, cost.slices(p))), fixedSlice)
		if !fixedSlice {
			p.SliceNs = int64(min(max(slice.Truncate(time.Millisecond), minSlice), maxSlice))
		}
		if slice >= needed || cost.slices(p) == 0 && round >= 0 {
			break
		}
		if !fixedBlocks && p.Blocks > 1 {
			p.Blocks--
			continue
		}
		if !fixedInstances && instances > minInstances {
			instances--
			continue
		}
		warnings = append(warnings, fmt.Sprintf("a budget of %s is little: %d targets with %d instances each of every benchmark (%d) take about %s; expect verdicts that stay inconclusive",
			time.Duration(p.BudgetNs), len(p.Targets), instances, len(p.Benchmarks), Duration(p, cost, instances).Round(10*time.Second)))
		break
	}
	if cost.Unknown > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d benchmarks run once in an instance and take as long as their work does: how many instances fit into the time shows after the first",
			cost.Unknown, len(p.Benchmarks)))
	}
	if p.WarmupNs == 0 {
		p.WarmupNs = int64(warmup(p).Truncate(time.Millisecond))
	}
	if p.BudgetNs == 0 {
		p.Instances = instances
	}
	return p, warnings
}

// warmup is the time before a slice that fills caches of connection and CPU: a
// fifth of a slice, at least 50 ms.
func warmup(p dbcanary.Plan) time.Duration {
	if p.WarmupNs > 0 {
		return time.Duration(p.WarmupNs)
	}
	return max(50*time.Millisecond, time.Duration(p.SliceNs)/5)
}

// sliceIn is the slice that fills a time together with its warm-up.
func sliceIn(p dbcanary.Plan, whole time.Duration, fixed bool) time.Duration {
	if !fixed && p.WarmupNs == 0 {
		p.SliceNs = int64(max(0, whole*5/6))
	}
	return whole - warmup(p)
}

// slices is the number of slices of an instance of every target whose length a plan decides.
func (c Cost) slices(p dbcanary.Plan) int {
	return (len(p.Benchmarks) - c.Singles) * len(p.Targets) * p.Blocks
}

// start is the time before the slices of an instance of one target.
func (c Cost) start(p dbcanary.Plan) time.Duration {
	if c.CopyRowsPerSecond <= 0 {
		return c.Start
	}
	return span(c.Start.Seconds() + rows(p)/c.CopyRowsPerSecond)
}

// starts is that of all targets, with the slices that take as long as their work does.
func (c Cost) starts(p dbcanary.Plan) time.Duration {
	return span((c.start(p).Seconds() + c.Single.Seconds()) * float64(len(p.Targets)))
}

// span is a time of so many seconds, cut where sums of a few could overflow: sizes that
// fit nowhere are asked for, too.
func span(seconds float64) time.Duration {
	return time.Duration(min(seconds*float64(time.Second), math.MaxInt64/8))
}

func rows(p dbcanary.Plan) float64 { return float64(p.Tables) * float64(p.TableSize) }

func loadTime(p dbcanary.Plan, cost Cost) time.Duration {
	return span((cost.Prepare.Seconds() + rows(p)/cost.LoadRowsPerSecond) * float64(len(p.Targets)))
}

// RoundDuration is the expected time of one instance of every target.
func RoundDuration(p dbcanary.Plan, cost Cost) time.Duration {
	slice := time.Duration(p.SliceNs).Seconds() + warmup(p).Seconds()
	return span(cost.starts(p).Seconds() + cost.settles(p).Seconds() + float64(cost.slices(p))*slice)
}

// Duration is the expected time of a fitted plan with the given number of instances; in
// the classic mode with the plan's.
func Duration(p dbcanary.Plan, cost Cost, instances int) time.Duration {
	if p.Classic() {
		return classicDuration(p, cost)
	}
	return span(loadTime(p, cost).Seconds() + float64(instances)*RoundDuration(p, cost).Seconds())
}

// Expected is the number of instances that a fitted plan is expected to reach: as
// many as fit into its budget, at least one.
func Expected(p dbcanary.Plan, cost Cost) int {
	if p.BudgetNs <= 0 || p.Classic() {
		return p.Instances
	}
	fit := int((time.Duration(p.BudgetNs) - loadTime(p, cost)) / max(1, RoundDuration(p, cost)))
	if p.Instances > 0 {
		fit = min(fit, p.Instances)
	}
	return max(1, fit)
}

// Order gives the order in which n targets run in a block. It is random for each
// two instances and each two blocks in them, and reversed from one to the next: a
// slice may be slower for its place in the block alone (docs/METHOD.md), and over
// pairs of instances that falls on all targets alike.
func Order(seed uint64, benchmark string, instance, block, n int) []int {
	order := source(seed, "order", benchmark, instance/2, block/2).Perm(n)
	if (instance+block)%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

// KeySeed seeds the keys that a worker draws in a block. It does not depend on
// the target: all targets of a block draw the same keys.
func KeySeed(seed uint64, benchmark string, instance, block, worker int) uint64 {
	return source(seed, "keys", benchmark, instance, block, worker).Uint64()
}

// source is a generator for one purpose and place in the design. FNV-1a mixes
// the place into the seed, so that neighbouring places have unrelated streams.
func source(seed uint64, purpose, benchmark string, place ...int) *rand.Rand {
	hash := fnv.New64a()
	fmt.Fprint(hash, seed, purpose, strings.Join([]string{"", benchmark, ""}, "\x00"), place)
	return rand.New(rand.NewPCG(seed, hash.Sum64()))
}
