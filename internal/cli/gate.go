package cli

import (
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/report"
)

// gate turns the verdicts on QPS into an error: regression before what can't be told,
// which is also what is known of a target that was dropped. Server CPU per statement is
// a witness that warns and decides nothing. Of two bases the later one is judged by the
// earlier one and not the other way round: one of them is always slower.
func gate(result *report.Report) error {
	counts := map[dbcanary.Verdict]int{}
	all := 0
	var bases []string
	for _, view := range append([]*report.Report{result}, result.Further...) {
		for _, c := range view.Comparisons {
			if !slices.Contains(bases, c.Target) {
				counts[c.Verdict]++
				all++
			}
		}
		bases = append(bases, view.Run.Plan.Targets[:min(1, len(view.Run.Plan.Targets))]...)
	}
	var dropped []string
	for _, target := range result.Run.Targets {
		if target.Dropped != "" {
			dropped = append(dropped, target.Name+" was dropped: "+target.Dropped)
		}
	}
	switch {
	case counts[dbcanary.Slower] > 0:
		return dbcanary.Errorf(dbcanary.CodeRegression, "gate: %d of %d comparisons are slower", counts[dbcanary.Slower], all)
	case counts[dbcanary.Inconclusive] > 0 || all == 0:
		text := append([]string{""}, dropped...)
		return dbcanary.Errorf(dbcanary.CodeInconclusive, "gate: %d of %d comparisons are inconclusive%s", counts[dbcanary.Inconclusive], all, strings.Join(text, "; "))
	case len(dropped) > 0:
		return dbcanary.Errorf(dbcanary.CodeInconclusive, "gate: %s", strings.Join(dropped, "; "))
	}
	return nil
}
