package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload"
	"github.com/dbcanary/dbcanary/internal/workload/insertbench"
	"github.com/dbcanary/dbcanary/stat"
)

// insertColumn is a column of the published summary of the Insert Benchmark.
type insertColumn struct {
	title string
	print func(float64) string
	value func(t insertTrial) float64
}

// insertTrial is a slice of a step. A loading step is counted by inserted rows, one
// with queries by queries, but for what is written.
type insertTrial struct {
	*dbcanary.Trial
	seconds  float64
	inserted float64
	queries  bool
	cpus     int
}

// count is what costs are divided by.
func (t insertTrial) count() float64 {
	if t.queries {
		return float64(t.Operations)
	}
	return t.inserted
}

func (t insertTrial) sum(names ...string) float64 { return metricSum(t.Trial, names) }

// rates gives what each second did, the most first.
func (t insertTrial) rates() []float64 {
	name := insertbench.InsertedRows
	if t.queries {
		name = insertbench.Queries
	}
	at := slices.IndexFunc(t.Metrics, func(m dbcanary.Metric) bool { return m.Name == name })
	if at < 0 {
		return nil
	}
	rates := slices.Clone(t.Metrics[at].PerSecond)
	if len(rates) > 1 && !t.queries {
		rates = rates[:len(rates)-1] // the last second is not a whole one
	}
	slices.Sort(rates)
	slices.Reverse(rates)
	return rates
}

// exceeded is the rate that is exceeded in so many of all seconds.
func (t insertTrial) exceeded(share float64) float64 {
	rates := t.rates()
	if len(rates) == 0 {
		return math.NaN()
	}
	return rates[min(len(rates)-1, int(share*float64(len(rates))))]
}

func insertColumns() []insertColumn {
	const mb, gb = 1e6, 1e9
	hostCPU := []string{"host.user_ns", "host.system_ns"}
	return []insertColumn{
		{"ips", decimals(0), func(t insertTrial) float64 { return t.inserted / t.seconds }},
		{"qps", decimals(0), func(t insertTrial) float64 {
			if !t.queries {
				return 0
			}
			return float64(t.Operations) / t.seconds
		}},
		{"rps", decimals(0), func(t insertTrial) float64 { return t.sum("disk.reads") / t.seconds }},
		{"rmbps", decimals(1), func(t insertTrial) float64 { return t.sum("disk.read_bytes") / mb / t.seconds }},
		{"wps", decimals(1), func(t insertTrial) float64 { return t.sum("disk.writes") / t.seconds }},
		{"wmbps", decimals(1), func(t insertTrial) float64 { return t.sum("disk.written_bytes") / mb / t.seconds }},
		{"rpq", decimals(3), func(t insertTrial) float64 { return t.sum("disk.reads") / t.count() }},
		{"rkbpq", decimals(3), func(t insertTrial) float64 { return t.sum("disk.read_bytes") / 1024 / t.count() }},
		{"wpi", decimals(3), func(t insertTrial) float64 { return t.sum("disk.writes") / t.inserted }},
		{"wkbpi", decimals(3), func(t insertTrial) float64 { return t.sum("disk.written_bytes") / 1024 / t.inserted }},
		{"csps", decimals(0), func(t insertTrial) float64 { return t.sum("host.context_switches") / t.seconds }},
		{"cpups", decimals(1), func(t insertTrial) float64 { return t.sum(hostCPU...) / 1e7 / t.seconds / float64(t.cpus) }},
		{"cspq", decimals(3), func(t insertTrial) float64 { return t.sum("host.context_switches") / t.count() }},
		{"cpupq", decimals(0), func(t insertTrial) float64 { return t.sum(hostCPU...) / 1e3 / t.count() }},
		{"dbgb1", decimals(3), func(t insertTrial) float64 { return t.sum(insertbench.TableBytes) / gb }},
		{"rss", decimals(1), func(t insertTrial) float64 { return t.sum("server.rss_bytes") / gb }},
		{"maxop", decimals(3), func(t insertTrial) float64 { return float64(t.LatencyNs.Max) / 1e9 }},
		{"p50", decimals(0), func(t insertTrial) float64 { return t.exceeded(0.5) }},
		{"p99", decimals(0), func(t insertTrial) float64 { return t.exceeded(0.99) }},
	}
}

// writeInsertBenchmark writes the summary of each step in the columns of the
// published reports, medians over the instances of each target, and in verbose what
// each second of each slice did. A step whose inserts fell short of their rate has
// its numbers in brackets: they can be ignored.
func (r *Report) writeInsertBenchmark(w io.Writer, options Options) error {
	var b strings.Builder
	for _, planned := range r.Run.Plan.Benchmarks {
		if !strings.HasPrefix(planned.Label, workload.InsertBenchmark+".") {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s\n", strings.TrimPrefix(planned.Label, workload.InsertBenchmark+"."))
		r.writeInsertStep(&b, planned.Label)
		if options.Verbose {
			r.writeInsertSeconds(&b, planned.Label)
		}
	}
	if b.Len() == 0 {
		return dbcanary.Errorf(dbcanary.CodeUsage, "run %d has no benchmark of suite %s", r.Run.ID, workload.InsertBenchmark)
	}
	return writeAll(w, &b)
}

// insertTrials lists the slices of a step on a target: those that count or, if
// there is none, those of which the rate was missed.
func (r *Report) insertTrials(label, target string) (list []insertTrial, missed bool) {
	var short []insertTrial
	for i := range r.trials {
		t := &r.trials[i]
		if t.Benchmark != label || t.Target != target || t.ElapsedNs <= 0 {
			continue
		}
		one := insertTrial{Trial: t, seconds: float64(t.ElapsedNs) / 1e9, cpus: max(1, r.Run.Host.CPUs)}
		one.inserted = one.sum(insertbench.InsertedRows)
		one.queries = slices.ContainsFunc(t.Metrics, func(m dbcanary.Metric) bool { return m.Name == insertbench.Queries })
		offered := one.sum(insertbench.OfferedRows)
		switch {
		case t.Void == "":
			list = append(list, one)
		case one.inserted < insertbench.Sustained*offered:
			short = append(short, one)
		}
	}
	if len(list) == 0 {
		return short, len(short) > 0
	}
	return list, false
}

func (r *Report) writeInsertStep(b *strings.Builder, label string) {
	columns := insertColumns()
	var header []string
	for _, column := range columns {
		header = append(header, column.title)
	}
	rows := [][]string{append(header, "tag")}
	for _, target := range r.Run.Plan.Targets {
		trials, missed := r.insertTrials(label, target)
		var row []string
		for _, column := range columns {
			var values []float64
			for _, t := range trials {
				if v := column.value(t); !math.IsNaN(v) && !math.IsInf(v, 0) {
					values = append(values, v)
				}
			}
			switch {
			case len(values) == 0:
				row = append(row, "NA")
			case missed:
				row = append(row, "("+column.print(stat.Median(values))+")")
			default:
				row = append(row, column.print(stat.Median(values)))
			}
		}
		rows = append(rows, append(row, clean(target)))
	}
	writeColumns(b, rows)
}

// writeInsertSeconds writes the lines that the published tool prints by second; the
// longest statements are in microseconds.
func (r *Report) writeInsertSeconds(b *strings.Builder, label string) {
	for i := range r.trials {
		t := &r.trials[i]
		if t.Benchmark != label || len(t.Metrics) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s, instance %d\ni_sec\tt_sec\ti_ips\tt_ips\ti_dps\tt_dps\ti_qps\tt_qps\tmax_i\tmax_d\tmax_q\tt_ins\tt_del\tt_query\n", clean(t.Target), t.Instance+1)
		series := func(name string) []float64 {
			if at := slices.IndexFunc(t.Metrics, func(m dbcanary.Metric) bool { return m.Name == name }); at >= 0 {
				return t.Metrics[at].PerSecond
			}
			return nil
		}
		counts := [3][]float64{series(insertbench.InsertedRows), series(insertbench.DeletedRows), series(insertbench.Queries)}
		longest := [3][]float64{series(insertbench.InsertMax), series(insertbench.DeleteMax), series(insertbench.QueryMax)}
		var totals [3]float64
		for second := range max(len(counts[0]), len(counts[1]), len(counts[2])) {
			fmt.Fprintf(b, "1\t%d", second+1)
			for kind := range counts {
				totals[kind] += at(counts[kind], second)
				fmt.Fprintf(b, "\t%.0f\t%.0f", at(counts[kind], second), totals[kind]/float64(second+1))
			}
			for kind := range longest {
				fmt.Fprintf(b, "\t%.0f", at(longest[kind], second)/1e3)
			}
			fmt.Fprintf(b, "\t%.0f\t%.0f\t%.0f\n", totals[0], totals[1], totals[2])
		}
	}
}

func at(list []float64, i int) float64 {
	if i < len(list) {
		return list[i]
	}
	return 0
}
