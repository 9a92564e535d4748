package cli_test

import (
	"strings"
	"testing"
)

// The published suite on real servers, one after the other, in slices of an instant:
// every benchmark has a ratio and none a verdict, and the tables are those of the reports.
func TestCompare_Classic(t *testing.T) {
	fetch(t, "mariadb@10.11", "postgres@18")
	p := newProgram(t)
	out, _ := p.run(0, "compare", "mariadb@10.11", "postgres@18", "--mode", "classic", "--suite", "sysbench-32",
		"--slice", "50ms", "--table-size", "11000", "--tables", "2", "--data-dir", "work", "--seed", "1", "--format", "json")
	report := parseReport(t, out)
	if len(report.Comparisons) != 32 || report.Run.State != "done" {
		t.Fatalf("%d comparisons, state %s", len(report.Comparisons), report.Run.State)
	}
	for _, c := range report.Comparisons {
		if c.Verdict != "inconclusive" || c.Ratio == nil || *c.Ratio <= 0 || c.Instances != 1 || c.Blocks != 1 {
			t.Errorf("%+v", c)
		}
	}
	settled := map[string]int{}
	trials := p.trials()
	for i, trial := range trials {
		if want := []string{"mariadb@10.11", "postgres@18"}[i*2/len(trials)]; trial.Target != want || trial.Void != "" {
			t.Errorf("trial %d is %s on %s, void %q", i, trial.Benchmark, trial.Target, trial.Void)
		}
		for _, metric := range trial.Metrics {
			if metric.Name == "work.settled_before_ns" {
				settled[trial.Benchmark]++
			}
		}
	}
	if len(trials) != 2*38 || len(settled) != 2 || settled["scan.warmpre"] != 2 || settled["scan.warm"] != 2 {
		t.Errorf("%d trials, the debt of writes was paid before %v", len(trials), settled)
	}
	if rqps, _ := p.run(0, "report", "--format", "rqps"); strings.Count(rqps, "\n") != 4+32 {
		t.Errorf("rqps: %s", rqps)
	}
}
