package cli

import (
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/report"
)

// TestGate: QPS decides, worst news first; a dropped target never passes.
func TestGate(t *testing.T) {
	view := func(base string, comparisons ...dbcanary.Comparison) *report.Report {
		return &report.Report{Run: dbcanary.Run{Plan: dbcanary.Plan{Targets: []string{base, "x"}}}, Comparisons: comparisons}
	}
	qps := func(target string, verdict dbcanary.Verdict) dbcanary.Comparison {
		return dbcanary.Comparison{Target: target, Verdict: verdict}
	}
	const slower, faster, same, open = dbcanary.Slower, dbcanary.Faster, dbcanary.Same, dbcanary.Inconclusive
	for _, c := range []struct {
		name     string
		report   *report.Report
		further  *report.Report
		dropped  string
		exitCode int
		want     string // part of the message
	}{
		{"nothing changed", view("a", qps("b", same), qps("b", faster)), nil, "", 0, ""},
		{"slower goes before inconclusive", view("a", qps("b", open), qps("b", slower)), nil, "", 3, "1 of 2 comparisons are slower"},
		{"one inconclusive", view("a", qps("b", open), qps("b", same)), nil, "", 4, "1 of 2 comparisons are inconclusive"},
		{"nothing compared", view("a"), nil, "", 4, "0 of 0"},
		{"CPU is a witness only", view("a", dbcanary.Comparison{Target: "b", Verdict: same, CPUVerdict: slower}), nil, "", 0, ""},
		{"CPU saves nothing", view("a", dbcanary.Comparison{Target: "b", Verdict: slower, CPUVerdict: faster}), nil, "", 3, "slower"},
		{"dropped after a clear verdict", view("a", qps("b", same)), nil, "the server died", 4, "gate: b was dropped: the server died"},
		{"dropped before", view("a", qps("b", open)), nil, "the server died", 4, "inconclusive; b was dropped: the server died"},
		{"slower against the second base", view("a", qps("b", same), qps("c", same)), view("b", qps("a", same), qps("c", slower)), "", 3, "1 of 3"},
		{"the earlier base is slower than the later", view("a", qps("b", faster), qps("c", faster)), view("b", qps("a", slower), qps("c", same)), "", 0, ""},
		{"the later base is slower than the earlier", view("a", qps("b", slower), qps("c", same)), view("b", qps("a", faster), qps("c", faster)), "", 3, "1 of 3"},
	} {
		if c.further != nil {
			c.report.Further = []*report.Report{c.further}
		}
		c.report.Run.Targets = []dbcanary.Target{{Name: "a"}, {Name: "b", Dropped: c.dropped}}
		err := gate(c.report)
		if got := dbcanary.ExitCode(err); got != c.exitCode || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: exit code %d (%v), want %d and %q", c.name, got, err, c.exitCode, c.want)
		}
	}
}
