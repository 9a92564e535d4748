package plan_test

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/plan"
)

func rowsOf200(tables int) func(int) int64 {
	return func(tableSize int) int64 { return int64(tables) * int64(tableSize) * 200 }
}

func TestCheckRoom(t *testing.T) {
	p := newPlan(4, 10, 10*time.Minute)
	p.Tables, p.TableSize = 1, 10_000_000
	for name, test := range map[string]struct {
		room  plan.Room
		wants []string
	}{
		"fits":   {plan.Room{MemoryBytes: 8 << 30, DiskBytes: 100 << 30}, nil},
		"memory": {plan.Room{MemoryBytes: 1 << 30, DiskBytes: 100 << 30}, []string{"1024 MiB available / (4 servers + 1", "= 204 MiB each", "3 targets would fit: "}},
		"disk":   {plan.Room{MemoryBytes: 8 << 30, DiskBytes: 10 << 30, Dir: "/data"}, []string{"/data", "4 x 2 data directories x (400 MiB + 1907 MiB of data) = 18.0 GiB, and 10.0 GiB are free", "table-size of 4600000 would fit"}},
		"little": {plan.Room{MemoryBytes: 8 << 30, DiskBytes: 1 << 30}, []string{"no plan fits on this host: 2 targets with a table-size of 1000 take 768 MiB of memory and 1600 MiB of disk"}},
		"none":   {plan.Room{MemoryBytes: 100 << 20, DiskBytes: 100 << 30}, []string{"no plan fits on this host"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := plan.CheckRoom(p, test.room, rowsOf200(1))
			if test.wants == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if dbcanary.ErrorCode(err) != dbcanary.CodeUnavailable {
				t.Fatalf("code %q of %v", dbcanary.ErrorCode(err), err)
			}
			for _, want := range test.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
		})
	}
}

// What is offered is accepted, whatever the host and the plan, and a refusal without an
// offer is one of everything.
func TestCheck_OfferIsAccepted(t *testing.T) {
	offers, none := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := newPlan(rapid.IntRange(2, 20).Draw(t, "targets"), rapid.IntRange(1, 40).Draw(t, "benchmarks"), 0)
		p.Tables = rapid.SampledFrom([]int{1, 1, 8, 10_000}).Draw(t, "tables")
		p.TableSize = rapid.SampledFrom([]int{1000, 1001, 200_000, 99_999_999, 1 << 30}).Draw(t, "rows")
		p.BudgetNs = rapid.SampledFrom([]int64{1, 1e9, 60e9, 600e9, 3600e9, math.MaxInt64}).Draw(t, "time")
		p.SliceNs = rapid.SampledFrom([]int64{0, 0, 0, 1, 1e9, 3600e9, math.MaxInt64}).Draw(t, "slice")
		p.WarmupNs = rapid.SampledFrom([]int64{0, 0, 0, 1e9, math.MaxInt64}).Draw(t, "warmup")
		p.Blocks = rapid.SampledFrom([]int{0, 0, 0, 1, 1000}).Draw(t, "blocks")
		p.Instances = rapid.SampledFrom([]int{0, 0, 0, 1, 10, 10_000}).Draw(t, "instances")
		for i := range rapid.IntRange(0, 3).Draw(t, "servers of others") {
			if i < len(p.Targets) {
				p.Targets[i] = fmt.Sprintf("mysql://host%d/", i)
			}
		}
		if rapid.Bool().Draw(t, "second base") {
			p.Bases = []string{p.Targets[0], p.Targets[len(p.Targets)-1]}
		}
		room := plan.Room{
			MemoryBytes: rapid.SampledFrom([]int64{0, 300 << 20, 768 << 20, 1 << 30, 3 << 30, 64 << 30}).Draw(t, "memory"),
			DiskBytes:   rapid.SampledFrom([]int64{0, 1 << 30, 2 << 30, 20 << 30, 1 << 40, 1 << 55}).Draw(t, "disk"),
		}
		cost, size := plan.DefaultCost(), rowsOf200(p.Tables)
		err := plan.Check(p, cost, room, size)
		if err == nil {
			fitted, _ := plan.Fit(p, cost)
			if need := plan.Needs(p, room, size); need.DiskBytes > room.DiskBytes || plan.RoundDuration(fitted, cost) < 0 || plan.Duration(fitted, cost, 1) < 0 {
				t.Fatalf("accepted: %+v on %+v", p, room)
			}
			return
		}
		var refusal *dbcanary.Error
		if !errors.As(err, &refusal) || refusal.Code != dbcanary.CodeUsage && refusal.Code != dbcanary.CodeUnavailable {
			t.Fatalf("refused with %v", err)
		}
		if strings.Contains(err.Error(), "no plan fits on this host: ") {
			none++
			least := p
			if least.Targets = p.Bases; len(p.Bases) == 0 {
				least.Targets = p.Targets[:2]
			}
			least.TableSize, least.BudgetNs, least.SliceNs, least.WarmupNs, least.Blocks = 1000, math.MaxInt64, 0, 0, 0
			if again := plan.Check(least, cost, room, size); again == nil {
				t.Fatalf("%v\nbut this fits: %+v", err, least)
			}
			return
		}
		for _, offered := range offered(t, p, refusal.Hint) {
			offers++
			if again := plan.Check(offered, cost, room, size); again != nil {
				t.Fatalf("offered by %v\nbut %v", err, again)
			}
		}
	})
	// A short test draws a fifth of the plans.
	if offers+none == 0 || !testing.Short() && (offers < 20 || none < 2) {
		t.Errorf("%d offers, %d times none: too few to tell", offers, none)
	}
}

var (
	offerOfTime    = regexp.MustCompile(`a time of ([0-9hms.]+)`)
	offerOfSize    = regexp.MustCompile(`a table-size of ([0-9]+)`)
	offerOfTargets = regexp.MustCompile(`([0-9]+) targets[^:;(]* would fit: ([^,)]+)`)
)

// offered makes the plans that a refusal offers, as a user would.
func offered(t *rapid.T, p dbcanary.Plan, hint string) []dbcanary.Plan {
	if match := offerOfTargets.FindStringSubmatch(hint); match != nil {
		q := p
		q.Targets = strings.Fields(match[2])
		if len(q.Targets) != atoi(t, match[1]) || !slices.Contains(q.Targets, p.Targets[0]) {
			t.Fatalf("the targets of %s", hint)
		}
		return []dbcanary.Plan{changed(t, q, hint)}
	}
	var plans []dbcanary.Plan
	for _, part := range strings.Split(hint, ", as would ") {
		if !strings.Contains(part, "another data-dir") {
			plans = append(plans, changed(t, p, part))
		}
	}
	if len(plans) == 0 {
		t.Fatalf("nothing is offered: %s", hint)
	}
	return plans
}

// changed does to a plan what an offer says.
func changed(t *rapid.T, p dbcanary.Plan, offer string) dbcanary.Plan {
	known := false
	if match := offerOfTime.FindStringSubmatch(offer); match != nil {
		d, err := time.ParseDuration(match[1])
		if err != nil {
			t.Fatal(err)
		}
		p.BudgetNs, known = int64(d), true
	}
	if match := offerOfSize.FindStringSubmatch(offer); match != nil {
		p.TableSize, known = atoi(t, match[1]), true
	}
	if strings.Contains(offer, "without ") {
		p.SliceNs, p.WarmupNs, p.Blocks, known = 0, 0, 0, true
	}
	if !known && !strings.Contains(offer, "targets would fit") {
		t.Fatalf("an offer that nobody can take: %s", offer)
	}
	return p
}

func TestCheck_Budget(t *testing.T) {
	cost := plan.DefaultCost()
	p := newPlan(4, 32, 10*time.Minute)
	p.Tables, p.TableSize = 8, 10_000_000
	much := plan.Room{MemoryBytes: 1 << 40, DiskBytes: 1 << 60}
	check := func(p dbcanary.Plan) error { return plan.Check(p, cost, much, rowsOf200(p.Tables)) }
	err := check(p)
	if dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
		t.Fatalf("a plan that loads 320 million rows in 10 minutes passes: %v", err)
	}
	for _, want := range []string{"budget of 10m has no room", "4 targets x 80000000 rows at 500000 a second at most = 10m42s", "a time of ", "a table-size of "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	_, offer, _ := strings.Cut(err.Error(), "a time of ")
	text, _, _ := strings.Cut(offer, " ")
	enough, parseErr := time.ParseDuration(text)
	if parseErr != nil {
		t.Fatal(parseErr)
	}
	p.BudgetNs = int64(enough)
	_, warnings := plan.Fit(p, cost)
	if err := check(p); err != nil || len(warnings) > 0 {
		t.Errorf("the offered time of %s does not do: %v %q", text, err, warnings)
	}
	if err := check(newPlan(2, 10, time.Minute)); err != nil {
		t.Error(err)
	}
}

func atoi(t *rapid.T, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
