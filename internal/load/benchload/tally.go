package main

import (
	"fmt"
	"io"
	"math"

	"github.com/dbcanary/dbcanary/stat"
)

// tally remembers the worst medians of all cells and of those against each rival.
type tally struct {
	rivals  []string
	byRival map[string]*extremes
	all     extremes
}

type extremes struct {
	cpu, qps           float64 // highest and lowest median ratio
	cpuCell, qpsCell   cell
	cpuFilled, qpsFill bool
}

func (e *extremes) add(c cell, cpu, qps float64) {
	if !e.cpuFilled || cpu > e.cpu {
		e.cpu, e.cpuCell, e.cpuFilled = cpu, c, true
	}
	if !e.qpsFill || qps < e.qps {
		e.qps, e.qpsCell, e.qpsFill = qps, c, true
	}
}

// add prints the line of a cell.
func (t *tally) add(out io.Writer, c cell, rival string, pairs []pair) error {
	var cpu, qps, ourCPU, theirCPU, ourQPS, theirQPS []float64
	for _, p := range pairs {
		cpu = append(cpu, p.ours.cpuUs/p.theirs.cpuUs)
		qps = append(qps, p.ours.qps/p.theirs.qps)
		ourCPU, theirCPU = append(ourCPU, p.ours.cpuUs), append(theirCPU, p.theirs.cpuUs)
		ourQPS, theirQPS = append(ourQPS, p.ours.qps), append(theirQPS, p.theirs.qps)
	}
	cpuMedian, qpsMedian := stat.Median(cpu), stat.Median(qps)
	if math.IsNaN(cpuMedian) || math.IsNaN(qpsMedian) {
		return fmt.Errorf("a run of %s or dbcanary gave no figures", rival)
	}
	if t.byRival == nil {
		t.byRival = map[string]*extremes{}
	}
	if t.byRival[rival] == nil {
		t.rivals = append(t.rivals, rival)
		t.byRival[rival] = &extremes{}
	}
	t.byRival[rival].add(c, cpuMedian, qpsMedian)
	t.all.add(c, cpuMedian, qpsMedian)
	_, err := fmt.Fprintf(out, "%-14s %-11s %-6s %4d %-9s  %-19s  %-19s  %.2f %.2f us, %.0f %.0f/s\n",
		c.target, c.benchmark, c.transport, c.connections, rival, spread(cpu), spread(qps),
		stat.Median(ourCPU), stat.Median(theirCPU), stat.Median(ourQPS), stat.Median(theirQPS))
	return err
}

// spread gives the median with the quartiles.
func spread(ratios []float64) string {
	return fmt.Sprintf("%.3f (%.3f-%.3f)", stat.Median(ratios), stat.Quantile(ratios, 0.25), stat.Quantile(ratios, 0.75))
}

// print ends the report.
func (t *tally) print(out io.Writer) error {
	for _, rival := range t.rivals {
		e := t.byRival[rival]
		fmt.Fprintf(out, "against %s: cpu %.2f (%s), qps %.2f (%s)\n", rival, e.cpu, e.cpuCell, e.qps, e.qpsCell)
	}
	_, err := fmt.Fprintf(out, "worst: cpu %.2f qps %.2f\n", t.all.cpu, t.all.qps)
	return err
}

func (c cell) String() string {
	return fmt.Sprintf("%s %s, %d by %s", c.target, c.benchmark, c.connections, c.transport)
}
