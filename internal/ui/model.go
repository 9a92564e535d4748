// Package ui tells a person, or a program, how a run goes: a live view on a
// terminal, plain lines when piped, JSON events. It owns no measured data: what
// it shows comes in events of the lab, and the final table is a report.
package ui

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/lab"
)

// model is what the live view shows. It is a pure function of the events.
type model struct {
	run      *dbcanary.Run
	phase    string // what happens now, with the target
	done     int64  // rows loaded
	total    int64
	instance int
	measured int            // slices that count
	void     int            // slices that don't
	seen     map[string]int // benchmark -> slices, in this instance
	byCell   map[[2]string]dbcanary.Comparison
	problems []string
	deadline time.Time // zero if unknown
}

func newModel() *model {
	return &model{seen: map[string]int{}, byCell: map[[2]string]dbcanary.Comparison{}}
}

// apply takes one event into the model.
func (m *model) apply(event lab.Event) {
	if event.LeftNs > 0 {
		m.deadline = event.Time.Add(time.Duration(event.LeftNs))
	}
	switch event.Kind {
	case lab.EventRun:
		m.run = event.Run
		m.problems = append(m.problems, event.Run.Problems...)
	case lab.EventEnd:
		m.run = event.Run
	case lab.EventPrepare:
		m.phase = phaseText(event)
		m.done, m.total = event.Done, event.Total
	case lab.EventInstance:
		m.instance = event.Instance
		m.seen = map[string]int{}
		m.phase = "starting " + instanceText(event)
		m.done, m.total = 0, 0
	case lab.EventSlice:
		m.phase = fmt.Sprintf("%s on %s, block %d", event.Benchmark, event.Target, event.Block+1)
	case lab.EventProfile:
		m.phase = profileText(event)
	case lab.EventTrial:
		m.seen[event.Benchmark]++
		if event.Trial.Void == "" {
			m.measured++
		} else {
			m.void++
		}
	case lab.EventComparisons:
		for _, comparison := range event.Comparisons {
			m.byCell[[2]string{comparison.Benchmark, comparison.Target}] = comparison
		}
	case lab.EventProblem:
		m.problems = append(m.problems, problemText(event))
	}
}

// instanceText names an instance: of every target or, in the classic mode, of one.
func instanceText(event lab.Event) string {
	return fmt.Sprintf("instance %d of %s", event.Instance+1, cmp.Or(event.Target, "every target"))
}

func phaseText(event lab.Event) string {
	switch event.Phase {
	case "start":
		return event.Target + ": initialise and start"
	case "load":
		return event.Target + ": load"
	case "settle":
		return event.Target + ": gather statistics, write out dirty pages"
	case "stop":
		return event.Target + ": stop, keep the loaded data"
	}
	return event.Target + ": " + event.Phase
}

func profileText(event lab.Event) string {
	return fmt.Sprintf("profile of %s on %s: %s", event.Benchmark, event.Target, event.Phase)
}

func problemText(event lab.Event) string {
	where := event.Target
	if event.Benchmark != "" {
		where = strings.TrimPrefix(where+", "+event.Benchmark, ", ")
	}
	if where == "" {
		return event.Problem
	}
	return where + ": " + event.Problem
}

// lines renders the view in at most width columns and height rows.
func (m *model) lines(width, height int, now time.Time) []string {
	if m.run == nil {
		return nil
	}
	targets := m.run.Plan.Targets
	head := fmt.Sprintf("run %d  base %s  instance %d  slices %d", m.run.ID, targets[0], m.instance+1, m.measured)
	if m.void > 0 {
		head += fmt.Sprintf(" (%d void)", m.void)
	}
	if !m.deadline.IsZero() {
		head += "  " + leftText(m.deadline.Sub(now)) + " left"
	}
	lines := []string{head, "now   " + m.phase + bar(m.done, m.total)}
	for _, problem := range m.problems[max(0, len(m.problems)-3):] {
		lines = append(lines, "note  "+problem)
	}
	table := m.table()
	// Where the table is higher than the terminal, what was measured last is shown.
	if room := max(1, height-len(lines)-1); len(table) > room {
		table = append(table[:1:1], table[len(table)-room+1:]...)
	}
	lines = append(lines, table...)
	for i, line := range lines {
		lines[i] = cut(line, width)
	}
	return lines
}

// table has a row for each benchmark and a column for each target beside the base.
func (m *model) table() []string {
	name := len("benchmark")
	for _, benchmark := range m.run.Plan.Benchmarks {
		name = max(name, len(benchmark.Label))
	}
	row := fmt.Sprintf("%-*s", name, "benchmark")
	others := m.run.Plan.Targets[1:]
	for _, target := range others {
		row += fmt.Sprintf("  %-*s", columnWidth(target), target)
	}
	rows := []string{strings.TrimRight(row, " ")}
	for _, benchmark := range m.run.Plan.Benchmarks {
		row := fmt.Sprintf("%-*s", name, benchmark.Label)
		for _, target := range others {
			comparison, ok := m.byCell[[2]string{benchmark.Label, target}]
			row += fmt.Sprintf("  %-*s", columnWidth(target), cellText(comparison, ok))
		}
		rows = append(rows, strings.TrimRight(row, " "))
	}
	return rows
}

// columnWidth fits "0.91 [0.89-0.93] inconclusive".
func columnWidth(target string) int { return max(29, len(target)) }

func cellText(c dbcanary.Comparison, ok bool) string {
	if !ok || math.IsNaN(c.QPSRatio.Ratio) {
		return "-"
	}
	if math.IsInf(c.QPSRatio.High, 1) {
		return fmt.Sprintf("%.2f", c.QPSRatio.Ratio)
	}
	return fmt.Sprintf("%.2f [%.2f-%.2f] %s", c.QPSRatio.Ratio, c.QPSRatio.Low, c.QPSRatio.High, c.Verdict)
}

func bar(done, total int64) string {
	if total <= 0 {
		return ""
	}
	const cells = 20
	full := int(done * cells / total)
	return fmt.Sprintf("  [%s%s] %d of %d rows", strings.Repeat("#", full), strings.Repeat(".", cells-full), done, total)
}

func leftText(left time.Duration) string {
	return max(0, left).Round(time.Second).String()
}

// cut shortens a line to width runes.
func cut(line string, width int) string {
	runes := []rune(line)
	if len(runes) <= width {
		return line
	}
	return string(runes[:max(0, width-1)]) + "…"
}
