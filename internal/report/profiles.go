package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/profile"
)

// waitSum is what the threads of a target waited for in the profiling slices of a
// benchmark that show waits.
type waitSum struct {
	benchmark, target string
	operations        int64
	elapsedNs         int64
	waits             []dbcanary.Wait // the most time first
}

// sampled tells waits that were seen by sampling, not timed.
func (s *waitSum) sampled() bool {
	return slices.ContainsFunc(s.waits, func(w dbcanary.Wait) bool { return w.Sampled })
}

// waitSums adds up the profiles that show waits, in the order of the plan.
func (r *Report) waitSums() []waitSum {
	var sums []waitSum
	for _, benchmark := range r.Run.Plan.Benchmarks {
		for _, target := range r.Run.Plan.Targets {
			sum := waitSum{benchmark: benchmark.Label, target: target}
			for _, p := range r.Profiles {
				if p.Benchmark == benchmark.Label && p.Target == target && p.Void == "" && len(p.Waits) > 0 {
					sum.add(p)
				}
			}
			if len(sum.waits) > 0 {
				slices.SortStableFunc(sum.waits, func(a, b dbcanary.Wait) int { return cmp.Compare(b.TotalNs, a.TotalNs) })
				sums = append(sums, sum)
			}
		}
	}
	return sums
}

func (s *waitSum) add(p dbcanary.Profile) {
	s.operations += p.Operations
	s.elapsedNs += p.ElapsedNs
	for _, wait := range p.Waits {
		at := slices.IndexFunc(s.waits, func(w dbcanary.Wait) bool { return w.Event == wait.Event })
		if at < 0 {
			s.waits = append(s.waits, wait)
			continue
		}
		s.waits[at].Count += wait.Count
		s.waits[at].TotalNs += wait.TotalNs
	}
}

// sampledSide is the stacks of a target on a benchmark by one sampler.
type sampledSide struct {
	benchmark, sampler string
	profile.Side
}

// isCPUSampler tells a sampler whose samples say what operations cost: one of CPU
// time. Pauses of the server see every thread, idle ones too.
func isCPUSampler(sampler string) bool { return strings.HasPrefix(sampler, "perf ") }

// sides adds up the stacks of the profiles, in the order of the plan.
func (r *Report) sides() ([]sampledSide, error) {
	var sides []sampledSide
	for _, benchmark := range r.Run.Plan.Benchmarks {
		for _, target := range r.Run.Plan.Targets {
			first := len(sides)
			for _, p := range r.Profiles {
				if p.Benchmark != benchmark.Label || p.Target != target || p.Void != "" {
					continue
				}
				for _, stacks := range p.Stacks {
					list, err := profile.Decode(stacks.Pprof)
					if err != nil {
						return nil, fmt.Errorf("stacks of %s on %s: %w", p.Benchmark, p.Target, err)
					}
					at := slices.IndexFunc(sides[first:], func(s sampledSide) bool { return s.sampler == stacks.Sampler })
					if at < 0 {
						at = len(sides) - first
						sides = append(sides, sampledSide{p.Benchmark, stacks.Sampler, profile.Side{Name: p.Target}})
					}
					side := &sides[first+at]
					side.Stacks = profile.Merge(append(side.Stacks, list...))
					if isCPUSampler(stacks.Sampler) {
						side.Operations += p.Operations
					}
				}
			}
		}
	}
	return sides, nil
}

// shownWaits and the others are how much of a profile is printed.
const (
	shownWaits     = 10
	shownFunctions = 20
	shownCallers   = 8
	shownStacks    = 20
)

// writeWaits writes what threads waited for as the published reports do, seconds and
// event, and after them how often, how long a wait was, and its part of an operation.
func (r *Report) writeWaits(w io.Writer, _ Options) error {
	sums := r.waitSums()
	if len(sums) == 0 {
		return r.writeNoProfiles(w, "waits")
	}
	var b strings.Builder
	for i, sum := range sums {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s\n\n", sum.title())
		rows := sum.rows()
		width, event := 0, 0
		for _, row := range rows {
			width, event = max(width, len(row[0])), max(event, utf8.RuneCountInString(row[1]))
		}
		head := sum.head()
		line := func(seconds string, row []string) {
			fmt.Fprintf(&b, "%-11s%-*s", seconds, event, row[1])
			for j, text := range row[2:] {
				fmt.Fprintf(&b, "  %*s", max(10, len(head[j+2])), text)
			}
			b.WriteString("\n")
		}
		line(head[0], head)
		for _, row := range rows {
			line(fmt.Sprintf("%*s", width, row[0]), row)
		}
	}
	writePlain(&b, r.missingLines())
	return writeAll(w, &b)
}

func (s *waitSum) title() string {
	title := fmt.Sprintf("%s on %s: %s operations in %.1f seconds", s.benchmark, s.target, grouped(s.operations), float64(s.elapsedNs)/1e9)
	if s.sampled() {
		title += "; estimated from samples"
	}
	return title
}

// head and rows are the cells of the table.
func (s *waitSum) head() []string {
	if s.sampled() {
		return []string{"Seconds", "Event", "samples", "us/o"}
	}
	return []string{"Seconds", "Event", "waits", "us/wait", "us/o"}
}

func (s *waitSum) rows() [][]string {
	var rows [][]string
	for _, wait := range s.waits[:min(shownWaits, len(s.waits))] {
		row := []string{strconv.FormatFloat(float64(wait.TotalNs)/1e9, 'f', 2, 64), clean(wait.Event), strconv.FormatInt(wait.Count, 10)}
		if !s.sampled() {
			row = append(row, microseconds(float64(wait.TotalNs)/float64(wait.Count)))
		}
		rows = append(rows, append(row, microseconds(float64(wait.TotalNs)/float64(s.operations))))
	}
	return rows
}

// microseconds prints nanoseconds; without anything to divide by there is none.
func microseconds(ns float64) string {
	return fixed(ns/1e3, 3, missing)
}

// writeWaitsMarkdown writes the same as tables.
func (r *Report) writeWaitsMarkdown(w io.Writer, _ Options) error {
	sums := r.waitSums()
	if len(sums) == 0 {
		return r.writeNoProfiles(w, "waits")
	}
	var b strings.Builder
	for i, sum := range sums {
		if i > 0 {
			b.WriteString("\n")
		}
		t := &table{}
		for j, title := range sum.head() {
			t.columns = append(t.columns, column{title: title, right: j != 1})
		}
		for _, row := range sum.rows() {
			var cells []cell
			for _, text := range row {
				cells = append(cells, cell{text: text})
			}
			t.add(cells...)
		}
		block{title: sum.title(), table: t}.markdown(&b)
	}
	if lines := markdownLines(r.missingLines()); lines != "" {
		b.WriteString("\n" + lines)
	}
	return writeAll(w, &b)
}

func writePlain(b *strings.Builder, lines []line) {
	for i, one := range lines {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(clean(one.text) + "\n")
	}
}

// writeStacks writes stacks as the published reports do: of those that ran the flat
// list and the callers of its first functions, of those that a pause saw a line each.
func (r *Report) writeStacks(w io.Writer, _ Options) error { return r.stacks(w, false) }

// writeStacksMarkdown writes the same below headings.
func (r *Report) writeStacksMarkdown(w io.Writer, _ Options) error { return r.stacks(w, true) }

func (r *Report) stacks(w io.Writer, markdown bool) error {
	sides, err := r.sides()
	if err != nil {
		return err
	}
	if len(sides) == 0 {
		return r.writeNoProfiles(w, "stacks")
	}
	var b strings.Builder
	for i, side := range sides {
		if i > 0 {
			b.WriteString("\n")
		}
		text, err := side.text()
		if err != nil {
			return err
		}
		title := fmt.Sprintf("%s on %s: %s samples by %s", side.benchmark, side.Name, grouped(profile.Total(side.Stacks)), side.sampler)
		if side.Operations > 0 {
			title += fmt.Sprintf(", %s operations", grouped(side.Operations))
		}
		if markdown {
			fmt.Fprintf(&b, "### %s\n\n```\n%s```\n", escapeMarkdown(title), strings.ReplaceAll(text, "```", "'''"))
		} else {
			fmt.Fprintf(&b, "%s\n\n%s", title, text)
		}
	}
	if missing := r.missingLines(); markdown && len(missing) > 0 {
		b.WriteString("\n" + markdownLines(missing))
	} else {
		writePlain(&b, missing)
	}
	return writeAll(w, &b)
}

func (s sampledSide) text() (string, error) {
	var b bytes.Buffer
	if !isCPUSampler(s.sampler) {
		err := profile.WriteLines(&b, s.Stacks, profile.Limits{Rows: shownStacks})
		return b.String(), err
	}
	if err := profile.WriteFlat(&b, s.Stacks, profile.Limits{Rows: shownFunctions, MinShare: 0.005}); err != nil {
		return "", err
	}
	b.WriteString("\n")
	err := profile.WriteCallers(&b, s.Stacks, profile.Limits{Rows: shownCallers, MinShare: 0.01})
	return b.String(), err
}

// writeNoProfiles writes why there is nothing to print.
func (r *Report) writeNoProfiles(w io.Writer, what string) error {
	_, err := fmt.Fprintln(w, clean(r.noProfiles(what).Error()))
	return err
}

// noProfiles says why there is nothing to print.
func (r *Report) noProfiles(what string) error {
	var reasons strings.Builder
	for _, p := range r.Profiles {
		if p.Void != "" {
			fmt.Fprintf(&reasons, "; %s on %s: %s", p.Benchmark, p.Target, p.Void)
		}
	}
	for _, m := range r.Run.Missing {
		if slices.Contains([]string{"waits", "perf", "stacks"}, m.Probe) {
			fmt.Fprintf(&reasons, "; %s of %s: %s", m.Probe, m.Target, m.Reason)
		}
	}
	if reasons.Len() == 0 {
		return dbcanary.Errorf(dbcanary.CodeUsage, "run %d has no %s: they come from profiling slices, see `dbcanary compare --profile`", r.Run.ID, what)
	}
	return dbcanary.Errorf(dbcanary.CodeUsage, "run %d has no %s%s", r.Run.ID, what, reasons.String())
}
