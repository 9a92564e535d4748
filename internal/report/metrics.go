package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// costColumn is a column of the tables of hardware cost.
type costColumn struct {
	title string
	value func(Cost) float64
	// print gives an absolute value as the published scripts do.
	print func(float64) string
}

// shortDecimals is a number with up to three decimals: awk prints it as a number.
func shortDecimals(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fixed(v, 3, missing), "0"), ".")
}

// publishedCosts are the columns of the published tables.
func publishedCosts() []costColumn {
	return []costColumn{
		{"cpu/o", func(c Cost) float64 { return c.CPUPercent }, decimals(6)},
		{"cs/o", func(c Cost) float64 { return c.Switches }, decimals(3)},
		{"r/o", func(c Cost) float64 { return c.Reads }, shortDecimals},
		{"rKB/o", func(c Cost) float64 { return c.ReadKB }, shortDecimals},
		{"wKB/o", func(c Cost) float64 { return c.WriteKB }, shortDecimals},
		{"o/s", func(c Cost) float64 { return c.Rate }, decimals(0)},
	}
}

// cpuCosts are CPU times, which compare between hosts as percentages do not.
func cpuCosts() []costColumn {
	return []costColumn{
		{"server_us/o", func(c Cost) float64 { return c.ServerUs }, decimals(3)},
		{"client_us/o", func(c Cost) float64 { return c.ClientUs }, decimals(3)},
		{"host_us/o", func(c Cost) float64 { return c.HostUs }, decimals(3)},
	}
}

// writeMetrics writes the cost of an operation in the layout of the published
// reports: for each benchmark a table of values, and one of them by those of the base.
func (r *Report) writeMetrics(w io.Writer, _ Options) error {
	var b strings.Builder
	for _, planned := range r.Run.Plan.Benchmarks {
		costs := r.costsOf(planned.Label)
		if len(costs) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s\n", metName(planned.Label, r.Run.Plan.Threads))
		r.writeCosts(&b, costs, "", publishedCosts())
		if anyKnown(costs, cpuCosts()) {
			r.writeCosts(&b, costs, ", CPU time in microseconds", cpuCosts())
		}
	}
	return writeAll(w, &b)
}

func (r *Report) costsOf(benchmark string) []Cost {
	var costs []Cost
	for _, c := range r.Costs {
		if c.Benchmark == benchmark {
			costs = append(costs, c)
		}
	}
	return costs
}

// metName is the name of the file that the published scripts keep the table in.
func metName(label string, threads int) string {
	if before, after, ok := strings.Cut(label, " threads="); ok {
		if n, err := strconv.Atoi(after); err == nil {
			label, threads = before, n
		}
	}
	name := "sb.met." + strings.Replace(publishedName(label), "_range=", ".range", 1) + ".pk1"
	if threads > 0 {
		name += ".dop" + strconv.Itoa(threads)
	}
	return name
}

func anyKnown(costs []Cost, columns []costColumn) bool {
	for _, c := range costs {
		for _, column := range columns {
			if !math.IsNaN(column.value(c)) {
				return true
			}
		}
	}
	return false
}

// writeCosts writes the absolute table and, if there is a base to compare with, the relative one.
func (r *Report) writeCosts(b *strings.Builder, costs []Cost, of string, columns []costColumn) {
	fmt.Fprintf(b, "--- absolute%s\n", of)
	for _, column := range columns {
		b.WriteString(column.title + "\t")
	}
	b.WriteString("dbms\n")
	for _, c := range costs {
		for _, column := range columns {
			if v := column.value(c); math.IsNaN(v) {
				b.WriteString("NA\t")
			} else {
				b.WriteString(column.print(v) + "\t")
			}
		}
		b.WriteString(clean(c.Target) + "\n")
	}
	base := costs[0]
	if base.Target != r.base() || len(costs) < 2 {
		return
	}
	fmt.Fprintf(b, "--- relative to first result%s\n", of)
	for _, c := range costs[1:] {
		for _, column := range columns {
			b.WriteString(column.relative(c, base) + "\t")
		}
		b.WriteString(clean(c.Target) + "\n")
	}
}

// relative is a value by that of the base as the published scripts print it: 1 if
// both are 0 to the printed digits, inf if the base is.
func (column costColumn) relative(c, base Cost) string {
	v, of := column.value(c), column.value(base)
	zero := column.print(0)
	switch {
	case math.IsNaN(v) || math.IsNaN(of):
		return "NA"
	case column.print(of) != zero:
		return hundredths(v / of)
	case column.print(v) == zero:
		return "1"
	}
	return "inf"
}
