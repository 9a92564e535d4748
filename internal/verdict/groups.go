package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/stat"
)

// Group sums up the comparisons of one target in a group of benchmarks or, with
// Name "", in the whole suite.
type Group struct {
	Name   string
	Target string
	Base   string

	// Of the QPS ratios, over the benchmarks that have one; NaN if none has.
	Min, Max, Avg, Median float64

	Benchmarks   int // all of the group
	Faster       int
	Slower       int
	Same         int
	Inconclusive int

	Verdict dbcanary.Verdict
	Reason  string
}

// Groups sums comparisons up: for every target, in the order in which targets
// appear, its groups in the order in which they appear and then the suite (Name "").
//
// The verdict of a group is the worst news in it, since that is what somebody
// before an upgrade must know: slower if any benchmark is slower; else
// inconclusive if any is inconclusive; else faster if any is faster; else same.
func Groups(comparisons []dbcanary.Comparison) []Group {
	var groups []Group
	for _, target := range distinct(comparisons, func(c dbcanary.Comparison) string { return c.Target }) {
		var suite []dbcanary.Comparison
		for _, c := range comparisons {
			if c.Target == target {
				suite = append(suite, c)
			}
		}
		for _, name := range distinct(suite, func(c dbcanary.Comparison) string { return c.Group }) {
			if name == "" {
				continue // benchmarks without a group count in the suite only
			}
			var members []dbcanary.Comparison
			for _, c := range suite {
				if c.Group == name {
					members = append(members, c)
				}
			}
			groups = append(groups, sumUp(name, members))
		}
		groups = append(groups, sumUp("", suite))
	}
	return groups
}

func distinct(comparisons []dbcanary.Comparison, key func(dbcanary.Comparison) string) []string {
	var names []string
	seen := map[string]bool{}
	for _, c := range comparisons {
		if name := key(c); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

func sumUp(name string, members []dbcanary.Comparison) Group {
	g := Group{Name: name, Target: members[0].Target, Base: members[0].Base, Benchmarks: len(members)}
	var ratios []float64
	for _, c := range members {
		if !math.IsNaN(c.QPSRatio.Ratio) {
			ratios = append(ratios, c.QPSRatio.Ratio)
		}
		switch c.Verdict {
		case dbcanary.Faster:
			g.Faster++
		case dbcanary.Slower:
			g.Slower++
		case dbcanary.Same:
			g.Same++
		default:
			g.Inconclusive++
		}
	}
	g.Min, g.Max = stat.Quantile(ratios, 0), stat.Quantile(ratios, 1)
	g.Avg, g.Median = stat.Mean(ratios), stat.Median(ratios)
	switch {
	case g.Slower > 0:
		g.Verdict = dbcanary.Slower
	case g.Inconclusive > 0:
		g.Verdict = dbcanary.Inconclusive
	case g.Faster > 0:
		g.Verdict = dbcanary.Faster
	default:
		g.Verdict = dbcanary.Same
	}
	var parts []string
	for _, part := range []struct {
		count int
		name  dbcanary.Verdict
	}{{g.Slower, dbcanary.Slower}, {g.Faster, dbcanary.Faster}, {g.Same, dbcanary.Same}, {g.Inconclusive, dbcanary.Inconclusive}} {
		if part.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.count, part.name))
		}
	}
	g.Reason = strings.Join(parts, ", ")
	return g
}
