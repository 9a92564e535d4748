package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/verdict"
)

func verdictStyle(v dbcanary.Verdict) style {
	switch v {
	case dbcanary.Slower:
		return red
	case dbcanary.Faster:
		return green
	case dbcanary.Same:
		return dim
	}
	return yellow
}

// overviewCell is how wide a target's column of the overview is: the widest
// content, "10.123 ±10.123 inconclusive".
const overviewCell = 24

// overview shows all targets side by side, in panels of so many targets (0: all).
func (r *Report) overview(panel int) []block {
	targets := r.compared()
	if panel <= 0 {
		panel = len(targets)
	}
	var blocks []block
	for part := range slices.Chunk(targets, panel) {
		t := &table{columns: []column{{title: "benchmark", shrink: true}}}
		for _, target := range part {
			t.columns = append(t.columns, column{title: target, shrink: true})
		}
		columns := make([][]dbcanary.Comparison, len(part))
		for i, target := range part {
			columns[i] = r.of(target)
		}
		group := ""
		for n, c := range columns[0] {
			if c.Group != group && c.Group != "" {
				t.rows = append(t.rows, row{heading: c.Group})
			}
			group = c.Group
			cells := []cell{{text: "  " + c.Benchmark}}
			for _, list := range columns {
				one := list[n]
				cells = append(cells, cell{plusMinus(one.QPSRatio) + " " + string(one.Verdict), verdictStyle(one.Verdict)})
			}
			t.add(cells...)
		}
		blocks = append(blocks, block{table: t})
	}
	blocks[0].title = "QPS relative to " + r.base()
	blocks[0].lines = []line{{fmt.Sprintf("above 1 is faster; ± is the larger half of the %s interval", percentText(r.Comparisons[0].Level)), dim}}
	return blocks
}

// detail shows one target with all numbers.
func (r *Report) detail(target string, notes *notes, verbose bool) block {
	t := &table{columns: []column{
		{title: "benchmark", shrink: true},
		{title: "verdict"},
		{title: "ratio", right: true},
		{title: "interval", right: true},
		{title: "QPS", right: true, drop: 2},
		{title: "base QPS", right: true, drop: 4},
		{title: "CPU/op", right: true, drop: 3},
		{title: "CPU µs", right: true, drop: 6},
		{title: "inst.", right: true, drop: 5},
		{title: "note", right: true, drop: 1},
	}}
	group := ""
	for _, c := range r.of(target) {
		if c.Group != group && c.Group != "" {
			t.rows = append(t.rows, row{heading: c.Group})
		}
		group = c.Group
		look := verdictStyle(c.Verdict)
		cost := missing
		if !math.IsNaN(c.CPUUs) {
			cost = strconv.FormatFloat(c.CPUUs, 'f', 1, 64)
		}
		t.add(cell{text: "  " + c.Benchmark}, cell{string(c.Verdict), look}, cell{ratioText(c.QPSRatio.Ratio), look},
			cell{text: intervalText(c.QPSRatio)}, cell{text: rateText(c.QPS)}, cell{text: rateText(c.BaseQPS)},
			cell{text: plusMinus(c.CPURatio)}, cell{text: cost}, cell{text: strconv.Itoa(c.Instances)}, cell{notes.of(c, verbose), dim})
	}
	return block{
		title: target + " against " + r.base(), table: t,
		lines: []line{{"ratio: QPS / base QPS, above 1 is faster; CPU/op: server CPU per statement / base, above 1 costs more (± larger half of the interval)", dim}},
	}
}

func (r *Report) groupBlock() block {
	t := &table{columns: []column{
		{title: "group", shrink: true},
		{title: "min", right: true},
		{title: "max", right: true},
		{title: "avg", right: true, drop: 1},
		{title: "median", right: true},
		{title: "slower", right: true, drop: 4},
		{title: "faster", right: true, drop: 3},
		{title: "same", right: true, drop: 2},
		{title: "inconclusive", right: true, drop: 5},
		{title: "verdict"},
	}}
	target := ""
	for _, g := range r.Groups {
		if g.Target != target && len(r.compared()) > 1 {
			t.rows = append(t.rows, row{heading: g.Target})
		}
		target = g.Target
		t.add(groupCells(g)...)
	}
	return block{
		title: "Groups", table: t,
		lines: []line{{"of the ratios; the verdict of a group is the worst news in it", dim}},
	}
}

func groupCells(g verdict.Group) []cell {
	name := g.Name
	if name == "" {
		name = "all"
	}
	count := func(n int, v dbcanary.Verdict) cell {
		if n == 0 {
			return cell{"0", dim}
		}
		return cell{strconv.Itoa(n), verdictStyle(v)}
	}
	return []cell{
		{text: "  " + name},
		{text: ratioText(g.Min)},
		{text: ratioText(g.Max)},
		{text: ratioText(g.Avg)},
		{text: ratioText(g.Median)},
		count(g.Slower, dbcanary.Slower),
		count(g.Faster, dbcanary.Faster),
		count(g.Same, dbcanary.Same),
		count(g.Inconclusive, dbcanary.Inconclusive),
		{string(g.Verdict), verdictStyle(g.Verdict)},
	}
}

// notes numbers what is said below the tables; equal texts share a number.
type notes struct {
	texts   []string
	numbers map[string]int
}

// of gives the numbers of a comparison's notes: its warnings, and the reason of
// a verdict that needs one.
func (n *notes) of(c dbcanary.Comparison, verbose bool) string {
	var list []string
	if c.Reason != "" && (c.Verdict == dbcanary.Inconclusive || verbose) {
		list = append(list, c.Reason)
	}
	list = append(list, c.Warnings...)
	var marks []string
	for _, text := range list {
		number := n.numbers[text]
		if number == 0 {
			n.texts = append(n.texts, text)
			number = len(n.texts)
			n.numbers[text] = number
		}
		marks = append(marks, strconv.Itoa(number))
	}
	return strings.Join(marks, ",")
}

func (n *notes) block(verbose bool) block {
	b := block{title: "Notes"}
	for i, text := range n.texts {
		if i == mostShown && !verbose {
			b.lines = append(b.lines, line{fmt.Sprintf("… and %d more; --verbose or --format json lists them", len(n.texts)-i), dim})
			break
		}
		b.lines = append(b.lines, line{text: fmt.Sprintf("%d: %s", i+1, text)})
	}
	return b
}
