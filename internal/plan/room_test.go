package plan_test

import (
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
		"little": {plan.Room{MemoryBytes: 8 << 30, DiskBytes: 1 << 30}, []string{"no two targets fit"}},
		"none":   {plan.Room{MemoryBytes: 100 << 20, DiskBytes: 100 << 30}, []string{"no two targets fit"}},
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

// What is offered does fit, whatever the host and the plan.
func TestCheckRoom_OfferFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPlan(rapid.IntRange(2, 8).Draw(t, "targets"), 3, time.Minute)
		p.Tables, p.TableSize = rapid.IntRange(1, 8).Draw(t, "tables"), rapid.IntRange(1000, 1<<30).Draw(t, "rows")
		room := plan.Room{MemoryBytes: rapid.Int64Range(0, 8<<30).Draw(t, "memory"), DiskBytes: rapid.Int64Range(0, 1<<40).Draw(t, "disk")}
		size := rowsOf200(p.Tables)
		err := plan.CheckRoom(p, room, size)
		if err == nil {
			return
		}
		if _, offer, ok := strings.Cut(err.Error(), "table-size of "); ok {
			number, _, _ := strings.Cut(offer, " ")
			p.TableSize = atoi(t, number)
		} else if before, _, ok := strings.Cut(err.Error(), " targets would fit"); ok {
			p.Targets = p.Targets[:atoi(t, before[strings.LastIndex(before, "(")+1:])]
		} else {
			return
		}
		// A plan with less memory may then lack disk, which is told next.
		again := plan.CheckRoom(p, room, size)
		if again != nil && (strings.HasPrefix(err.Error(), "no room") || !strings.HasPrefix(again.Error(), "no room")) {
			t.Errorf("offered by %v\nbut %v", err, again)
		}
	})
}

func TestCheckBudget(t *testing.T) {
	cost := plan.DefaultCost()
	p := newPlan(4, 32, 10*time.Minute)
	p.Tables, p.TableSize = 8, 10_000_000
	fitted, _ := plan.Fit(p, cost)
	err := plan.CheckBudget(fitted, cost)
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
	fitted, warnings := plan.Fit(p, cost)
	if err := plan.CheckBudget(fitted, cost); err != nil || len(warnings) > 0 {
		t.Errorf("the offered time of %s does not do: %v %q", text, err, warnings)
	}
	small, _ := plan.Fit(newPlan(2, 10, time.Minute), cost)
	if err := plan.CheckBudget(small, cost); err != nil {
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
