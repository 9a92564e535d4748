package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// verdictSheet lists every comparison with its interval and reason.
func (b *workbook) verdictSheet() error {
	sheet, err := b.sheet("Verdicts")
	if err != nil {
		return err
	}
	titles := []any{
		"benchmark", "group", "target", "base", "verdict", "ratio", "low", "high", "level", "smallest change", "instances", "blocks", "void slices",
		"CPU ratio", "CPU low", "CPU high", "could show", "reason", "warnings",
	}
	if err := b.put(sheet, 1, 1, titles...); err != nil {
		return err
	}
	row := 2
	for _, c := range b.report.comparisons() {
		low, high := c.QPSRatio.Low, c.QPSRatio.High
		cells := []any{
			c.Benchmark, c.Group, c.Target, c.Base, string(c.Verdict), c.QPSRatio.Ratio, low, high, c.Level, c.MinEffect,
			c.Instances, c.Blocks, c.VoidSlices, c.CPURatio.Ratio, c.CPURatio.Low, c.CPURatio.High, c.MinDetectable,
			c.Reason, strings.Join(c.Warnings, "; "),
		}
		if !bounded(c.QPSRatio) {
			cells[6], cells[7] = nil, nil // no interval
		}
		if !bounded(c.CPURatio) {
			cells[14], cells[15] = nil, nil
		}
		if err := b.put(sheet, 1, row, cells...); err != nil {
			return err
		}
		row++
	}
	last := row - 1
	for _, part := range []struct{ from, to, style int }{{6, 8, b.ratio}, {9, 10, b.percent}, {14, 16, b.ratio}, {17, 17, b.percent}} {
		if err := b.look(sheet, part.from, 2, part.to, last, part.style); err != nil {
			return err
		}
	}
	if err := b.look(sheet, 1, 1, len(titles), 1, b.header); err != nil {
		return err
	}
	if last > 1 {
		if err := b.colour(sheet, fmt.Sprintf("E2:F%d", last), "$E2"); err != nil {
			return err
		}
		if err := b.AutoFilter(sheet, fmt.Sprintf("A1:S%d", last), nil); err != nil {
			return err
		}
	}
	if err := b.width(sheet, 1, 4, 22); err != nil {
		return err
	}
	if err := b.width(sheet, 18, 19, 60); err != nil {
		return err
	}
	return b.freeze(sheet, 1, 1)
}

// settingSheet lists every setting that differs, with its value on each target.
func (b *workbook) settingSheet() error {
	sheet, err := b.sheet("Settings")
	if err != nil {
		return err
	}
	titles := []any{"setting", "chosen by the run"}
	for _, target := range b.report.Run.Targets {
		titles = append(titles, target.Name)
	}
	if err := b.put(sheet, 1, 1, titles...); err != nil {
		return err
	}
	if err := b.look(sheet, 1, 1, len(titles), 1, b.header); err != nil {
		return err
	}
	row := 2
	for _, d := range b.report.Differences {
		cells := []any{d.Name, yesNo(d.Chosen)}
		for _, value := range d.Values {
			if value == nil {
				cells = append(cells, nil)
				continue
			}
			cells = append(cells, *value)
		}
		if err := b.put(sheet, 1, row, cells...); err != nil {
			return err
		}
		row++
	}
	notes := []string{"An empty cell: the target has no such setting, or its settings are not compared. Ports, paths and other marks of a single server are left out."}
	if len(b.report.Differences) == 0 {
		notes = []string{"No setting is known to differ."}
	}
	if text := b.report.uncomparedSettings(); text != "" {
		notes = append(notes, text)
	}
	for _, setting := range withoutEffect(b.report.Run.Targets) {
		notes = append(notes, fmt.Sprintf("%s = %s was asked for, and is so on every target: it makes no difference here", setting.Name, setting.Value))
	}
	for i, note := range notes {
		if err := b.put(sheet, 1, row+1+i, note); err != nil {
			return err
		}
		if err := b.look(sheet, 1, row+1+i, 1, row+1+i, b.note); err != nil {
			return err
		}
	}
	if err := b.width(sheet, 1, 1, 36); err != nil {
		return err
	}
	if err := b.width(sheet, 2, len(titles), 24); err != nil {
		return err
	}
	return b.freeze(sheet, 1, 1)
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}

// hostSheet says on what and how it was measured.
func (b *workbook) hostSheet() error {
	sheet, err := b.sheet("Host")
	if err != nil {
		return err
	}
	run := b.report.Run
	row := 1
	add := func(name string, value any) error {
		err := b.put(sheet, 1, row, name, value)
		row++
		return err
	}
	facts := []struct {
		name  string
		value any
	}{
		{"host", run.Host.Name},
		{"CPU", run.Host.CPU},
		{"CPUs", unlessZero(run.Host.CPUs)},
		{"SMT", smtText(run.Host)},
		{"governor", run.Host.Governor},
		{"memory, MiB", unlessZero(int(run.Host.MemoryBytes >> 20))},
		{"OS", run.Host.OS},
		{"kernel", run.Host.Kernel},
		{"virtual", run.Host.Virtual},
		{"file system", run.Host.Filesystem},
		{"device", run.Host.Device},
		{"run", fmt.Sprintf("%d, uid %s", run.ID, run.UID)},
		{"state", string(run.State)},
		{"program", run.Program},
		{"started (UTC)", timeText(run.Started)},
		{"ended (UTC)", timeText(run.Ended)},
		{"work", workText(run.Plan)},
		{"placement", string(run.Plan.Placement)},
		{"smallest change that matters", run.Plan.MinEffect},
		{"slices", b.report.Noise.Slices},
		{"void slices", b.report.Noise.Void},
		{"noise", b.report.noiseText()},
	}
	for _, fact := range facts {
		if err := add(fact.name, fact.value); err != nil {
			return err
		}
	}
	for _, problem := range run.Problems {
		if err := add("problem", problem); err != nil {
			return err
		}
	}
	for _, note := range run.Host.Notes {
		if err := add("unknown", note); err != nil {
			return err
		}
	}
	if err := b.look(sheet, 1, 1, 1, row-1, b.section); err != nil {
		return err
	}
	if err := b.width(sheet, 1, 1, 28); err != nil {
		return err
	}
	return b.width(sheet, 2, 2, 70)
}

func smtText(h dbcanary.Host) string {
	switch {
	case h.CPUs == 0:
		return ""
	case h.SMT:
		return "on"
	}
	return "off"
}

// unlessZero is nil for a number that is not known.
func unlessZero(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}
