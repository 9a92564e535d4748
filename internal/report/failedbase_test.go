package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
)

// TestFailedBase: every format goes on without its base, prints no ratio against it and
// no number that is none, and those with sentences say why and offer another base.
func TestFailedBase(t *testing.T) {
	for name, failed := range map[string][]string{
		"failed-base":      {"point-query", "update-index", "random-points range=100", "scan", "read-only range=100", "insert"},
		"half-failed-base": {"scan", "insert"},
	} {
		s := runs()[name]()
		r := New(s.run, s.trials)
		for _, c := range r.Comparisons {
			missing := slices.Contains(failed, c.Benchmark)
			if missing != (c.QPSRatio.Ratio != c.QPSRatio.Ratio) || missing && c.Verdict != dbcanary.Inconclusive {
				t.Errorf("%s: %s of %s: %s, %v", name, c.Benchmark, c.Target, c.Verdict, c.QPSRatio)
			}
			if missing && (!(c.QPS > 0) || c.BaseQPS == c.BaseQPS || !strings.HasPrefix(c.Reason, "the base postgres@15 has no valid slice")) {
				t.Errorf("%s: %s of %s: QPS %v, base %v, %s", name, c.Benchmark, c.Target, c.QPS, c.BaseQPS, c.Reason)
			}
		}
		for _, format := range Formats() {
			var b bytes.Buffer
			err := r.Write(&b, format, Options{Width: 300})
			if dbcanary.ErrorCode(err) == dbcanary.CodeUsage && b.Len() == 0 {
				continue // a format of what this run does not have
			}
			if err != nil {
				t.Errorf("%s: %s: %v", name, format, err)
				continue
			}
			text := b.String()
			if Binary(format) {
				text = strings.Join(r.headlines(), "\n")
			}
			for _, wrong := range []string{"NaN", "Inf", "∞"} {
				if strings.Contains(text, wrong) {
					t.Errorf("%s: %s has %s", name, format, wrong)
				}
			}
			if slices.Contains([]string{"text", "md", "json", "github", "html", "xlsx"}, format) &&
				!(strings.Contains(text, "The base postgres@15 failed") && strings.Contains(text, "out of memory") &&
					strings.Contains(text, "dbcanary report 7 --base postgres@17")) {
				t.Errorf("%s: %s does not say what became of the base:\n%s", name, format, text)
			}
		}
		// What is offered is a report with ratios of what the base failed on.
		other, err := NewAgainst(s.run, s.trials, []string{"postgres@17"})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range other.Comparisons {
			if c.Target == "postgres@18" && c.QPSRatio.Ratio != c.QPSRatio.Ratio {
				t.Errorf("%s: %s against the other base has no ratio: %s", name, c.Benchmark, c.Reason)
			}
		}
		if note := other.Note(); note != "" {
			t.Errorf("%s: %s", name, note)
		}
	}
}

// TestFailedBase_Note: what is offered depends on what there is to compare.
func TestFailedBase_Note(t *testing.T) {
	trial := func(target, benchmark string) dbcanary.Trial {
		return dbcanary.Trial{Target: target, Benchmark: benchmark, Operations: 10, ElapsedNs: 1e9}
	}
	for _, c := range []struct {
		name    string
		dropped string
		bases   []string
		trials  []dbcanary.Trial
		want    []string // parts of the note; nil for none
	}{
		{"all there", "", nil, []dbcanary.Trial{trial("a", "x"), trial("b", "x")}, nil},
		{"nothing at all", "no memory", nil, nil, nil},
		{"one other", "no memory", nil, []dbcanary.Trial{trial("b", "x")}, []string{"The base a failed", ": no memory. No two other targets"}},
		{"others that share nothing", "no memory", nil, []dbcanary.Trial{trial("b", "x"), trial("c d", "y")}, []string{"No two other targets"}},
		{"two others", "", nil, []dbcanary.Trial{trial("b", "x"), trial("c d", "x")}, []string{"The base a failed, so nothing is compared with it. ", "--base b`"}},
		{"a second base", "", []string{"a", "b"}, []dbcanary.Trial{trial("b", "x"), trial("c d", "x"), trial("e", "x")}, []string{"The base a failed", "--base 'c d'`"}},
		{"later", "no memory", nil, []dbcanary.Trial{trial("a", "x"), trial("b", "x"), trial("c d", "x")}, []string{"a was dropped before the end", "no memory"}},
		{"one benchmark", "", nil, []dbcanary.Trial{trial("a", "x"), trial("b", "x"), trial("b", "y"), trial("c d", "y"), trial("e", "y")}, []string{"failed on y, so", "--base b`"}},
	} {
		run := dbcanary.Run{ID: 7, Plan: dbcanary.Plan{
			Targets: []string{"a", "b", "c d", "e"}, Bases: c.bases, Benchmarks: []dbcanary.PlannedBenchmark{{Label: "x"}, {Label: "y"}},
		}}
		for _, name := range run.Plan.Targets {
			run.Targets = append(run.Targets, dbcanary.Target{Name: name})
		}
		run.Targets[0].Dropped = c.dropped
		note := New(run, c.trials).Note()
		if (note == "") != (c.want == nil) {
			t.Errorf("%s: %q", c.name, note)
		}
		for _, want := range c.want {
			if !strings.Contains(note, want) {
				t.Errorf("%s: %q is not in: %s", c.name, want, note)
			}
		}
	}
}
