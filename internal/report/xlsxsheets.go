package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/verdict"
)

// groupSheet is where the summary finds the ratios of a group.
type groupSheet struct {
	base   string
	group  string
	ratios map[string]string // by target: "'point-1'!E3:E12"
}

// groupRow is the first row of data of a group's sheet: below a row that names
// the sections, and one that names the targets.
const groupRow = 3

// columns are the first columns of the sections of a group's sheet.
type columns struct {
	targets                                         []string // the base first
	rates, ratios, verdicts, costs, costRatios, end int
}

func columnsOf(targets []string) columns {
	all, compared := len(targets), len(targets)-1
	c := columns{targets: targets, rates: 2}
	c.ratios = c.rates + all
	c.verdicts = c.ratios + compared
	c.costs = c.verdicts + compared
	c.costRatios = c.costs + all
	c.end = c.costRatios + compared - 1
	return c
}

// groupSheet writes the benchmarks of a group: rates, ratios as formulas against
// the column of the base, verdicts, and the same of CPU time.
func (b *workbook) groupSheet(r *Report, group string) error {
	name := group
	if name == "" {
		name = "benchmarks"
	}
	sheet, err := b.sheet(name)
	if err != nil {
		return err
	}
	c := columnsOf(r.Run.Plan.Targets)
	labels := r.labelsOf(group)
	last := groupRow + len(labels) - 1
	if err := b.groupTitles(sheet, c); err != nil {
		return err
	}
	found := groupSheet{base: r.base(), group: group, ratios: map[string]string{}}
	for i, target := range r.compared() {
		cells, err := rangeName(c.ratios+i, groupRow, c.ratios+i, last)
		if err != nil {
			return err
		}
		found.ratios[target] = quoteSheet(sheet) + "!" + cells
	}
	b.groups = append(b.groups, found)
	for i, label := range labels {
		if err := b.benchmarkRow(sheet, r, c, label, groupRow+i); err != nil {
			return err
		}
	}
	return b.finishGroup(sheet, labels, c)
}

// groupTitles writes what stands above the columns.
func (b *workbook) groupTitles(sheet string, c columns) error {
	base := c.targets[0]
	if err := b.put(sheet, 1, 2, "benchmark"); err != nil {
		return err
	}
	for _, section := range []struct {
		column int
		title  string
		names  []string
	}{
		{c.rates, "statements per second, base first", c.targets},
		{c.ratios, "relative to " + base + ": above 1 is faster", c.targets[1:]},
		{c.verdicts, "verdict", c.targets[1:]},
		{c.costs, "server CPU µs per statement, base first", c.targets},
		{c.costRatios, "CPU relative to " + base + ": above 1 costs more", c.targets[1:]},
	} {
		if len(section.names) == 0 {
			continue
		}
		if err := b.put(sheet, section.column, 1, section.title); err != nil {
			return err
		}
		for i, target := range section.names {
			if err := b.put(sheet, section.column+i, 2, target); err != nil {
				return err
			}
		}
	}
	return nil
}

// benchmarkRow writes one benchmark.
func (b *workbook) benchmarkRow(sheet string, r *Report, c columns, label string, row int) error {
	values := make([]any, c.end)
	values[0] = label
	for j, target := range c.targets {
		values[c.rates-1+j], values[c.costs-1+j] = r.absolute(label, target)
		if j == 0 {
			continue
		}
		quotients, err := quotientsOf(row, c.rates, c.costs, j)
		if err != nil {
			return err
		}
		compared := r.comparison(label, target)
		values[c.verdicts-2+j] = string(compared.Verdict)
		// Numbers of slices that have no pair make no ratio.
		if !math.IsNaN(compared.QPSRatio.Ratio) {
			values[c.ratios-2+j] = quotients[0]
		}
		if !math.IsNaN(compared.CPURatio.Ratio) {
			values[c.costRatios-2+j] = quotients[1]
		}
	}
	return b.put(sheet, 1, row, values...)
}

// finishGroup makes a group's sheet look like one.
func (b *workbook) finishGroup(sheet string, labels []string, c columns) error {
	last := groupRow + len(labels) - 1
	for _, part := range []struct{ from, row, to, toRow, style int }{
		{1, 1, c.end, 1, b.section},
		{1, 2, c.end, 2, b.header},
		{c.rates, groupRow, c.ratios - 1, last, b.rate},
		{c.ratios, groupRow, c.verdicts - 1, last, b.ratio},
		{c.costs, groupRow, c.costRatios - 1, last, b.cost},
		{c.costRatios, groupRow, c.end, last, b.ratio},
	} {
		if err := b.look(sheet, part.from, part.row, part.to, part.toRow, part.style); err != nil {
			return err
		}
	}
	if err := b.width(sheet, 1, 1, widest(append(labels, "benchmark")...)); err != nil {
		return err
	}
	if err := b.width(sheet, 2, c.end, 14); err != nil {
		return err
	}
	if c.ratios < c.verdicts && last >= groupRow {
		verdictCell, err := excelize.CoordinatesToCellName(c.verdicts, groupRow)
		if err != nil {
			return err
		}
		// One after the other: the formula is for the first cell of a range.
		for _, first := range []int{c.ratios, c.verdicts} {
			cells, err := rangeName(first, groupRow, first+c.verdicts-c.ratios-1, last)
			if err != nil {
				return err
			}
			if err := b.colour(sheet, cells, verdictCell); err != nil {
				return err
			}
		}
	}
	return b.freeze(sheet, 1, groupRow-1)
}

// quotientsOf are the formulas of target number j in a row: empty where one of
// the two numbers is.
func quotientsOf(row, rates, costs, j int) ([2]formula, error) {
	var formulas [2]formula
	for i, first := range []int{rates, costs} {
		mine, err := excelize.CoordinatesToCellName(first+j, row)
		if err != nil {
			return formulas, err
		}
		column, err := excelize.ColumnNumberToName(first)
		if err != nil {
			return formulas, err
		}
		base := "$" + column + strconv.Itoa(row)
		formulas[i] = formula(fmt.Sprintf(`IF(COUNT(%s,%s)=2,%s/%s,"")`, mine, base, mine, base))
	}
	return formulas, nil
}

func rangeName(column, row, toColumn, toRow int) (string, error) {
	from, err := excelize.CoordinatesToCellName(column, row)
	if err != nil {
		return "", err
	}
	to, err := excelize.CoordinatesToCellName(toColumn, toRow)
	return from + ":" + to, err
}

// quoteSheet is a sheet's name in a formula.
func quoteSheet(name string) string { return "'" + strings.ReplaceAll(name, "'", "''") + "'" }

// labelsOf lists the benchmarks of a group in the order of the plan.
func (r *Report) labelsOf(group string) []string {
	var labels []string
	seen := map[string]bool{}
	for _, c := range r.Comparisons {
		if c.Group == group && !seen[c.Benchmark] {
			seen[c.Benchmark] = true
			labels = append(labels, c.Benchmark)
		}
	}
	return labels
}

// absolute gives a target's rate and server CPU time, in microseconds for a
// statement, on a benchmark: nil where it is not known.
func (r *Report) absolute(label, target string) (rate, cpuUs any) {
	for _, c := range r.Costs {
		if c.Benchmark == label && c.Target == target {
			return positive(c.Rate), positive(c.ServerUs)
		}
	}
	return nil, nil
}

// positive is nil for what cannot be divided by.
func positive(v float64) any {
	if !(v > 0) {
		return nil
	}
	return v
}

// comparison finds a comparison; one without numbers and verdict if there is none.
func (r *Report) comparison(label, target string) dbcanary.Comparison {
	for _, c := range r.Comparisons {
		if c.Benchmark == label && c.Target == target {
			return c
		}
	}
	none := dbcanary.Estimate{Ratio: math.NaN(), Low: math.NaN(), High: math.NaN()}
	return dbcanary.Comparison{Benchmark: label, Target: target, QPSRatio: none, CPURatio: none}
}

// summarySheet writes the result in sentences, the targets, and the groups, whose
// numbers are formulas over the sheets of the groups.
func (b *workbook) summarySheet() error {
	const sheet = "Summary"
	row := 1
	line := func(style int, values ...any) error {
		if err := b.put(sheet, 1, row, values...); err != nil {
			return err
		}
		if err := b.look(sheet, 1, row, max(1, len(values)), row, style); err != nil {
			return err
		}
		row++
		return nil
	}
	if err := line(b.title, b.docTitle()); err != nil {
		return err
	}
	for _, text := range b.report.headlines() {
		if err := line(b.text, text); err != nil {
			return err
		}
	}
	if note := b.report.stateNote(); note != "" {
		if err := line(b.note, note); err != nil {
			return err
		}
	}
	row++
	if err := line(b.header, "role", "target", "version", "provider", "checksum", "origin", "dropped"); err != nil {
		return err
	}
	for i, t := range b.report.Run.Targets {
		role := ""
		if i == 0 {
			role = "base"
		}
		if err := line(b.text, role, t.Name, strings.TrimSpace(string(t.Build.Family)+" "+t.Build.Version), t.Build.Provider,
			t.Build.Checksum, t.Build.Origin, t.Dropped); err != nil {
			return err
		}
	}
	row++
	if err := line(b.note, "Ratios of this table and of the sheets of groups are quotients of the medians beside them. Verdicts and intervals (sheet Verdicts) are estimated from pairs of slices, which is more exact."); err != nil {
		return err
	}
	if err := line(b.header, "group", "target", "base", "min", "max", "avg", "median", "slower", "faster", "same", "inconclusive", "verdict"); err != nil {
		return err
	}
	first := row
	for _, g := range b.report.allGroups() {
		if err := line(b.text, b.groupCells(g)...); err != nil {
			return err
		}
	}
	if row > first {
		if err := b.look(sheet, 4, first, 7, row-1, b.ratio); err != nil {
			return err
		}
		if err := b.colour(sheet, fmt.Sprintf("L%d:L%d", first, row-1), fmt.Sprintf("L%d", first)); err != nil {
			return err
		}
	}
	if err := b.width(sheet, 1, 1, 12); err != nil {
		return err
	}
	return b.width(sheet, 2, 12, 16)
}

// groupCells sums up a group with formulas over the ratios of its sheet, the whole
// suite over those of all sheets.
func (b *workbook) groupCells(g verdict.Group) []any {
	var ranges []string
	for _, one := range b.groups {
		if one.base == g.Base && (one.group == g.Name || g.Name == "") {
			ranges = append(ranges, one.ratios[g.Target])
		}
	}
	name := g.Name
	if name == "" {
		name = "all"
	}
	cells := []any{name, g.Target, g.Base}
	over := strings.Join(ranges, ",")
	for _, function := range []string{"MIN", "MAX", "AVERAGE", "MEDIAN"} {
		cells = append(cells, formula(fmt.Sprintf(`IF(COUNT(%s)=0,"",%s(%s))`, over, function, over)))
	}
	return append(cells, g.Slower, g.Faster, g.Same, g.Inconclusive, string(g.Verdict))
}
