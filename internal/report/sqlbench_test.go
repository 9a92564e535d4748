package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
)

// Seconds are medians over instances; what a target lacks is in no total.
func TestWriteSQLBench(t *testing.T) {
	run := dbcanary.Run{ID: 3, Plan: dbcanary.Plan{
		Targets: []string{"mariadb@10.5", "postgres@17"},
		Benchmarks: []dbcanary.PlannedBenchmark{
			{Label: "sql-bench.connect.connect scale=1", Group: "connect"},
			{Label: "sql-bench.insert.insert", Group: "insert"},
			{Label: "sql-bench.insert.update_big", Group: "insert"},
			{Label: "sql-bench.insert.prepared_select", Group: "insert"},
			{Label: "point-query", Group: "point"},
		},
		NotApplicable: []dbcanary.NotApplicable{{Benchmark: "sql-bench.insert.prepared_select", Target: "postgres@17", Reason: "for the test"}},
	}}
	var trials []dbcanary.Trial
	add := func(benchmark, target, void string, ms ...int64) {
		for i, one := range ms {
			trials = append(trials, dbcanary.Trial{Benchmark: benchmark, Target: target, Instance: i, ElapsedNs: one * 1e6, Events: 10, Operations: 20, Void: void})
		}
	}
	add("sql-bench.connect.connect scale=1", "mariadb@10.5", "", 1000, 1500, 1001)
	add("sql-bench.connect.connect scale=1", "postgres@17", "", 2002, 2002, 1)
	add("sql-bench.insert.insert", "mariadb@10.5", "", 500)
	add("sql-bench.insert.insert", "postgres@17", "", 499)
	add("sql-bench.insert.update_big", "mariadb@10.5", "", 70)
	add("sql-bench.insert.update_big", "postgres@17", "wrong answer", 60, 61)
	add("sql-bench.insert.prepared_select", "mariadb@10.5", "", 10)
	var out strings.Builder
	if err := New(run, trials).Write(&out, "sql-bench", Options{}); err != nil {
		t.Fatal(err)
	}
	want := `Seconds, one connection; median over 3 server starts of each target.

target        connect  insert  total  relative
mariadb@10.5    1.001   0.500  1.501      1.00
postgres@17     2.002   0.499  2.501      1.67
2 operations that not every target has are in no total

Totals per operation: seconds, and of the others relative to mariadb@10.5 (above 1 is slower)
operation                events  mariadb@10.5  postgres@17  postgres@17 relative
connect.connect scale=1      10         1.001        2.002                  2.00
insert.insert                10         0.500        0.499                  1.00
insert.update_big            10         0.070          NA?                    NA
insert.prepared_select       10         0.010          NA-                    NA
NA? void in every instance, NA- not applicable
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	run.Plan.Benchmarks = run.Plan.Benchmarks[4:]
	if err := New(run, trials).Write(&out, "sql-bench", Options{}); dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
		t.Errorf("a run without sql-bench: %v", err)
	}
}

// A base that failed has no total, and takes none from the others.
func TestWriteSQLBench_FailedBase(t *testing.T) {
	run := dbcanary.Run{Plan: dbcanary.Plan{
		Targets:    []string{"a", "b", "c"},
		Benchmarks: []dbcanary.PlannedBenchmark{{Label: "sql-bench.insert.insert", Group: "insert"}, {Label: "sql-bench.wisc.join", Group: "wisc"}},
	}}
	trial := func(benchmark, target string, ms int64) dbcanary.Trial {
		return dbcanary.Trial{Benchmark: benchmark, Target: target, ElapsedNs: ms * 1e6, Events: 10, Operations: 20}
	}
	trials := []dbcanary.Trial{
		trial("sql-bench.insert.insert", "b", 1000), trial("sql-bench.insert.insert", "c", 2000), trial("sql-bench.wisc.join", "b", 10),
	}
	var out strings.Builder
	if err := New(run, trials).Write(&out, "sql-bench", Options{}); err != nil {
		t.Fatal(err)
	}
	const want = `target  insert   wisc  total  relative
a            -      -      -        NA
b        1.000  0.000  1.000        NA
c        2.000  0.000  2.000        NA
1 operations that not every target has are in no total
`
	if !strings.Contains(out.String(), want) {
		t.Errorf("got\n%s", out.String())
	}
}
