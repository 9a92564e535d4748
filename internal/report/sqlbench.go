package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload"
	"github.com/dbcanary/dbcanary/stat"
)

// operationSeconds is one operation of sql-bench on all targets.
type operationSeconds struct {
	test, name string
	events     int64
	seconds    []float64 // by target: median over instances, NaN if it has none
	flags      []string  // why it has none: "?" void, "-" not applicable, "" if it is not measured yet
}

// complete tells whether all targets that were measured at all have the operation.
func (o operationSeconds) complete(measured []bool) bool {
	for i, seconds := range o.seconds {
		if measured[i] && math.IsNaN(seconds) {
			return false
		}
	}
	return true
}

// writeSQLBench writes seconds in the layout of the published reports on
// sql-bench: by test and in total for each target, then by operation, with three
// decimals. It holds no interval and no verdict.
func (r *Report) writeSQLBench(w io.Writer, _ Options) error {
	operations := r.sqlBenchOperations()
	if len(operations) == 0 {
		return dbcanary.Errorf(dbcanary.CodeUsage, "run %d has no benchmark of suite %s", r.Run.ID, workload.SQLBench)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Seconds, one connection; median over %d server starts of each target.\n\n", r.instanceCount())
	r.writeTestTotals(&b, operations)
	r.writeOperations(&b, operations)
	return writeAll(w, &b)
}

func (r *Report) instanceCount() int {
	most := 0
	for i := range r.trials {
		most = max(most, r.trials[i].Instance+1)
	}
	return most
}

// sqlBenchOperations collects the operations in the order of the plan.
func (r *Report) sqlBenchOperations() []operationSeconds {
	var list []operationSeconds
	for _, planned := range r.Run.Plan.Benchmarks {
		name, ok := strings.CutPrefix(planned.Label, workload.SQLBench+"."+planned.Group+".")
		if !ok {
			continue
		}
		o := operationSeconds{test: planned.Group, name: name}
		for _, target := range r.Run.Plan.Targets {
			var seconds []float64
			flag := ""
			for i := range r.trials {
				t := &r.trials[i]
				if t.Benchmark != planned.Label || t.Target != target {
					continue
				}
				if t.Void != "" {
					flag = "?"
					continue
				}
				o.events = t.Events
				seconds = append(seconds, float64(t.ElapsedNs)/1e9)
			}
			median := math.NaN()
			if len(seconds) > 0 {
				median = stat.Median(seconds)
			}
			if !r.Run.Plan.Applies(planned.Label, target) {
				flag = "-"
			}
			o.seconds, o.flags = append(o.seconds, median), append(o.flags, flag)
		}
		list = append(list, o)
	}
	return list
}

// writeTestTotals writes a row for each target with its seconds of each test, and
// their totals, in absolute numbers and by those of the base. A total is of the
// operations that all targets have; one that failed altogether has none.
func (r *Report) writeTestTotals(b *strings.Builder, operations []operationSeconds) {
	var tests []string
	sums := map[string][]float64{}
	total := make([]float64, len(r.Run.Plan.Targets))
	measured := make([]bool, len(total))
	for i := range measured {
		if measured[i] = slices.ContainsFunc(operations, func(o operationSeconds) bool { return !math.IsNaN(o.seconds[i]) }); !measured[i] {
			total[i] = math.NaN()
		}
	}
	none := slices.Clone(total)
	left := 0
	for _, o := range operations {
		if sums[o.test] == nil {
			sums[o.test] = slices.Clone(none)
			tests = append(tests, o.test)
		}
		if !o.complete(measured) {
			left++
			continue
		}
		for i, seconds := range o.seconds {
			sums[o.test][i] += seconds
			total[i] += seconds
		}
	}
	rows := [][]string{append(append([]string{"target"}, tests...), "total", "relative")}
	for i, target := range r.Run.Plan.Targets {
		row := []string{clean(target)}
		for _, test := range tests {
			row = append(row, fixed(sums[test][i], 3, missing))
		}
		relative := math.NaN()
		if total[0] > 0 {
			relative = total[i] / total[0]
		}
		rows = append(rows, append(row, fixed(total[i], 3, missing), hundredths(relative)))
	}
	writeColumns(b, rows)
	if left > 0 {
		fmt.Fprintf(b, "%d operations that not every target has are in no total\n", left)
	}
}

// writeOperations writes a row for each operation: events, and seconds of each target.
func (r *Report) writeOperations(b *strings.Builder, operations []operationSeconds) {
	fmt.Fprintf(b, "\nTotals per operation: seconds, and of the others relative to %s (above 1 is slower)\n", clean(r.base()))
	header := []string{"operation", "events"}
	for _, target := range r.Run.Plan.Targets {
		header = append(header, clean(target))
	}
	for _, target := range r.compared() {
		header = append(header, clean(target)+" relative")
	}
	rows := [][]string{header}
	for _, o := range operations {
		row := []string{o.test + "." + o.name, strconv.FormatInt(o.events, 10)}
		for i, seconds := range o.seconds {
			if math.IsNaN(seconds) {
				row = append(row, "NA"+o.flags[i])
				continue
			}
			row = append(row, fixed(seconds, 3, missing))
		}
		for _, seconds := range o.seconds[1:] {
			row = append(row, hundredths(seconds/o.seconds[0]))
		}
		rows = append(rows, row)
	}
	writeColumns(b, rows)
	b.WriteString("NA? void in every instance, NA- not applicable\n")
}

// writeColumns aligns a table: the first column left, the others right.
func writeColumns(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for _, row := range rows {
		fmt.Fprintf(b, "%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			fmt.Fprintf(b, "  %*s", widths[i+1], cell)
		}
		b.WriteString("\n")
	}
}
