package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
)

// Loading steps are counted by inserted rows and others by queries; a step whose
// inserts fell short of their rate is in brackets.
func TestWriteInsertBenchmark(t *testing.T) {
	run := dbcanary.Run{ID: 3, Host: dbcanary.Host{CPUs: 2}, Plan: dbcanary.Plan{
		Targets:    []string{"mariadb@10.5", "postgres@17"},
		Benchmarks: []dbcanary.PlannedBenchmark{{Label: "insert-benchmark.l.i0", Group: "inserts"}, {Label: "insert-benchmark.qr100", Group: "queries"}},
	}}
	trial := func(benchmark, target string, inserted float64, metrics ...dbcanary.Metric) dbcanary.Trial {
		return dbcanary.Trial{
			Benchmark: benchmark, Target: target, ElapsedNs: 2e9, Operations: 1000, Events: 1000, LatencyNs: dbcanary.Latency{Max: 345e6},
			Metrics: append(metrics,
				dbcanary.Metric{Name: "work.inserted_rows", Value: inserted, PerSecond: []float64{inserted / 2, inserted / 2}},
				dbcanary.Metric{Name: "work.insert_max_ns", Gauge: true, Max: 3e6, PerSecond: []float64{3e6, 2e6}},
				dbcanary.Metric{Name: "work.table_bytes", Gauge: true, Value: 25e6},
				dbcanary.Metric{Name: "disk.writes", Value: 100}, dbcanary.Metric{Name: "disk.written_bytes", Value: 1 << 20},
				dbcanary.Metric{Name: "disk.reads", Value: 0}, dbcanary.Metric{Name: "disk.read_bytes", Value: 0},
				dbcanary.Metric{Name: "host.user_ns", Value: 1e9}, dbcanary.Metric{Name: "host.system_ns", Value: 1e9},
			),
		}
	}
	queries := []dbcanary.Metric{
		{Name: "work.queries", Value: 1000, PerSecond: []float64{480, 510}},
		{Name: "work.offered_rows", Value: 200},
	}
	late := trial("insert-benchmark.qr100", "postgres@17", 150, queries...)
	late.Void = "the server did not sustain the inserts beside the queries: 75.0 of 100 rows a second, under 95 %"
	trials := []dbcanary.Trial{
		trial("insert-benchmark.l.i0", "mariadb@10.5", 100_000), trial("insert-benchmark.l.i0", "postgres@17", 100_000),
		trial("insert-benchmark.qr100", "mariadb@10.5", 200, queries...), late,
	}
	var out strings.Builder
	if err := New(run, trials).Write(&out, "insert-benchmark", Options{}); err != nil {
		t.Fatal(err)
	}
	want := `l.i0
ips    qps  rps  rmbps   wps  wmbps    rpq  rkbpq    wpi  wkbpi  csps  cpups  cspq  cpupq  dbgb1  rss  maxop    p50    p99           tag
50000    0    0    0.0  50.0    0.5  0.000  0.000  0.001  0.010    NA   50.0    NA     20  0.025   NA  0.345  50000  50000  mariadb@10.5
50000    0    0    0.0  50.0    0.5  0.000  0.000  0.001  0.010    NA   50.0    NA     20  0.025   NA  0.345  50000  50000   postgres@17

qr100
ips     qps  rps  rmbps     wps  wmbps      rpq    rkbpq      wpi    wkbpi  csps   cpups  cspq   cpupq    dbgb1  rss    maxop    p50    p99           tag
100     500    0    0.0    50.0    0.5    0.000    0.000    0.500    5.120    NA    50.0    NA    2000    0.025   NA    0.345    480    480  mariadb@10.5
(75)  (500)  (0)  (0.0)  (50.0)  (0.5)  (0.000)  (0.000)  (0.667)  (6.827)    NA  (50.0)    NA  (2000)  (0.025)   NA  (0.345)  (480)  (480)   postgres@17
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	out.Reset()
	if err := New(run, trials[2:3]).Write(&out, "insert-benchmark", Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	const seconds = "\nmariadb@10.5, instance 1\n" +
		"i_sec\tt_sec\ti_ips\tt_ips\ti_dps\tt_dps\ti_qps\tt_qps\tmax_i\tmax_d\tmax_q\tt_ins\tt_del\tt_query\n" +
		"1\t1\t100\t100\t0\t0\t480\t480\t3000\t0\t0\t100\t0\t480\n" +
		"1\t2\t100\t100\t0\t0\t510\t495\t2000\t0\t0\t200\t0\t990\n"
	if !strings.Contains(out.String(), seconds) {
		t.Errorf("by second:\n%s", out.String())
	}
	run.Plan.Benchmarks = nil
	if err := New(run, trials).Write(&out, "insert-benchmark", Options{}); dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
		t.Errorf("a run without the Insert Benchmark: %v", err)
	}
}
