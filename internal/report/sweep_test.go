package report

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/dbcanary/dbcanary"
)

// sweepRun has two benchmarks at three numbers of connections, of which one was
// not measured on the second target.
func sweepRun() *synthetic {
	var benchmarks []dbcanary.PlannedBenchmark
	for _, label := range []string{
		"read-only range=100 threads=1", "read-only range=100 threads=4", "read-only range=100 threads=16",
		"point-query threads=1", "point-query threads=4", "scan",
		"of another tool threads=2", "of another tool threads=8",
	} {
		benchmarks = append(benchmarks, dbcanary.PlannedBenchmark{Label: label, Group: "reads"})
	}
	s := newSynthetic([]string{"mysql@5.7.25", "mysql@8.0.15"}, benchmarks)
	for i, version := range []string{"5.7.25", "8.0.15"} {
		s.run.Targets[i].Build.Version = version
	}
	for label, ratio := range map[string]float64{
		"read-only range=100 threads=1": 0.0620590, "read-only range=100 threads=4": 0.228909, "read-only range=100 threads=16": 0.788182,
	} {
		s.ratios["mysql@5.7.25/"+label] = ratio
	}
	for label, ratio := range map[string]float64{
		"read-only range=100 threads=1": 0.055720, "read-only range=100 threads=4": 0.2053345, "read-only range=100 threads=16": 0.715177,
	} {
		s.ratios["mysql@8.0.15/"+label] = ratio
	}
	s.measure(2)
	for i := range s.trials {
		if s.trials[i].Benchmark == "point-query threads=4" && s.trials[i].Target == "mysql@8.0.15" {
			s.trials[i].Void = "errors"
		}
	}
	return s
}

// The layouts of bug reports on concurrency and of the reports on low concurrency.
func TestSweeps(t *testing.T) {
	datadriven.RunTest(t, "testdata/sweep", func(t *testing.T, d *datadriven.TestData) string {
		s := sweepRun()
		var out bytes.Buffer
		if err := New(s.run, s.trials).Write(&out, d.Cmd, Options{}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	})
}
