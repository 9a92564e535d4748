package report

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/exchange"
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

// TestSweep_Published prints the tables of the published bug report again: the same
// rows, and ratios to the last digit.
func TestSweep_Published(t *testing.T) {
	path := filepath.Join(publishedReports, "mysql-5.7-vs-8.0-oltp-read-only-bug-report.txt")
	published, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files, err := exchange.ReadFiles(t.Context(), []string{path}, exchange.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := exchange.MakeRuns(files.Measurements, exchange.RunOptions{Now: time.Unix(1e9, 0)})
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	var out bytes.Buffer
	if err := New(runs[0].Run, runs[0].Trials).Write(&out, "sweep", Options{}); err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (\d+) +\| ([\d.]+) +\| ([\d.]+) +\| ([\d.]+) +\|`)
	read := func(text string) (list [][4]string) {
		for _, match := range rows.FindAllStringSubmatch(text, -1) {
			row := [4]string(match[1:])
			for i := 1; i <= 2; i++ { // some are published with one digit
				value, err := strconv.ParseFloat(row[i], 64)
				if err != nil {
					t.Fatal(err)
				}
				row[i] = strconv.FormatFloat(value, 'f', 2, 64)
			}
			list = append(list, row)
		}
		return list
	}
	want := read(string(published))
	if len(want) < 18 {
		t.Fatalf("%d rows are published", len(want))
	}
	if diff := gocmp.Diff(want[:18], read(out.String())); diff != "" {
		t.Error(diff)
	}
}
