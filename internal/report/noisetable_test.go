package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
)

// The table of an A/A run counts false verdicts; that of another run does not, and
// one target has none.
func TestNoiseTable(t *testing.T) {
	run := dbcanary.Run{Plan: dbcanary.Plan{Targets: []string{"a", "a#2"}, Benchmarks: []dbcanary.PlannedBenchmark{{Label: "scan"}}, MinEffect: 0.02}}
	var trials []dbcanary.Trial
	for instance := range 6 {
		for block := range 2 {
			for i := range run.Plan.Targets {
				// The second target is 10 % slower, and each pair of starts swings by 1 %.
				operations := 1e6 * (1 - 0.1*float64(i)) * (1 + 0.01*float64((instance+i)%2)) * (1 + 0.001*float64(block))
				trials = append(trials, dbcanary.Trial{Benchmark: "scan", Target: run.Plan.Targets[i], Instance: instance, Block: block, ElapsedNs: 1e9, Operations: int64(operations)})
			}
		}
	}
	print := func(run dbcanary.Run) (string, error) {
		var out bytes.Buffer
		err := New(run, trials).Write(&out, "noise", Options{})
		return out.String(), err
	}
	text, err := print(run)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nscan       0.07 %  0.00 %  1.1 %      slower", "Nothing differs between the targets: 1 of 1 verdict is false (scan); in 5 % of runs"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	for i := range trials {
		trials[i].Target = strings.Replace(trials[i].Target, "a#2", "b", 1)
	}
	run.Plan.Targets = []string{"a", "b"}
	if text, err = print(run); err != nil || strings.Contains(text, "false") {
		t.Errorf("two targets: %v\n%s", err, text)
	}
	run.Plan.Targets = []string{"a"}
	if _, err := print(run); dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
		t.Errorf("one target: %v", err)
	}
}
