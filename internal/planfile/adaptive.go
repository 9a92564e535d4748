package planfile

import (
	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/plan"
	"github.com/dbcanary/dbcanary/internal/verdict"
)

// looks says when a fitted plan is judged while it goes on, to measure no further what
// is clear. There are none where they would make no sense: with too few instances, a
// server that is not restarted, several bases, or benchmarks of one slice, which build
// on each other.
func looks(p dbcanary.Plan, specs []dbcanary.TargetSpec, cost plan.Cost) []int {
	for _, spec := range specs {
		if spec.DSN != "" {
			return nil
		}
	}
	if cost.Singles > 0 || len(p.Bases) > 1 || len(p.Targets) < 2 {
		return nil
	}
	return verdict.Looks(plan.Expected(p, cost))
}
