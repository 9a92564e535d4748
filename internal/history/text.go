package history

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/dbcanary/dbcanary/changepoint"
	"github.com/dbcanary/dbcanary/internal/exchange"
)

// TextOptions say how text is written.
type TextOptions struct {
	Width   int  // columns of the terminal; 0 if there is none
	Verbose bool // every position of a series with changes, and the series without changes
}

// tableContext is how many positions are shown before and after each change.
const tableContext = 3

// WriteText writes the report for a terminal: what happened where, then each
// series with changes as a chart and a marked table.
func (r *Report) WriteText(w io.Writer, opts TextOptions) error {
	width := opts.Width
	if width <= 0 {
		width = 100
	}
	var b strings.Builder
	for _, g := range r.Groups {
		b.WriteString(g.Headline() + "\n")
	}
	quiet := 0
	for i := range r.Findings {
		f := &r.Findings[i]
		if len(f.Changes) == 0 {
			if f.Problem == "" {
				quiet++
			}
			continue
		}
		b.WriteString("\n")
		f.writeText(&b, width, opts.Verbose)
	}
	if len(r.Groups) > 0 {
		b.WriteString("\n")
	}
	if quiet > 0 {
		b.WriteString(plural(quiet, "series") + " without a change\n")
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Problem != "" {
			b.WriteString(name(f.Series) + ": not judged: " + f.Problem + "\n")
		} else if len(f.Changes) == 0 && opts.Verbose {
			b.WriteString("  " + f.heading() + "\n")
		}
	}
	for _, note := range r.Notes {
		b.WriteString("note: " + note + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (f *Finding) heading() string {
	text := name(f.Series)
	if f.Series.Unit != "" && f.Series.Unit != f.Series.Metric {
		text += ", " + f.Series.Unit
	}
	switch f.Series.Better {
	case exchange.HigherIsBetter:
		text += ", higher is better"
	case exchange.LowerIsBetter:
		text += ", lower is better"
	}
	text += fmt.Sprintf(": %s, %s to %s", plural(len(f.Positions), "position"),
		shortLabel(f.Positions[0].Label), shortLabel(f.Positions[len(f.Positions)-1].Label))
	if f.Dropped > 0 {
		text += ", " + plural(f.Dropped, "missing value")
	}
	return text
}

func (f *Finding) writeText(b *strings.Builder, width int, verbose bool) {
	b.WriteString(f.heading() + "\n" + f.chart(width))
	labels, values := 8, 8
	shown := f.shownRows(verbose)
	for i, p := range f.Positions {
		if shown[i] {
			labels = max(labels, utf8.RuneCountInString(shortLabel(p.Label)))
			values = max(values, utf8.RuneCountInString(valueText(p.Value)))
		}
	}
	next, gap := 0, false
	for i, p := range f.Positions {
		if !shown[i] {
			gap = true
			continue
		}
		if gap {
			b.WriteString("  …\n")
			gap = false
		}
		if next < len(f.Changes) && f.Changes[next].at == i {
			f.writeChange(b, f.Changes[next])
			next++
		}
		row := fmt.Sprintf("  %s%s  %s%s", shortLabel(p.Label), pad(labels, shortLabel(p.Label)), pad(values, valueText(p.Value)), valueText(p.Value))
		b.WriteString(row + "\n")
	}
	if gap {
		b.WriteString("  …\n")
	}
}

func pad(width int, text string) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// shownRows are the positions near changes, or all of them.
func (f *Finding) shownRows(all bool) []bool {
	shown := make([]bool, len(f.Positions))
	for i := range shown {
		shown[i] = all
	}
	for _, c := range f.Changes {
		for i := max(0, c.at-tableContext); i < min(len(shown), c.at+tableContext); i++ {
			shown[i] = true
		}
	}
	return shown
}

func (f *Finding) writeChange(b *strings.Builder, c Change) {
	b.WriteString("  ··· " + f.verdict(c) + "\n")
	for _, line := range f.details(c) {
		b.WriteString("      " + line + "\n")
	}
}

// verdict is the change in one line.
func (f *Finding) verdict(c Change) string {
	text := sizeText(c.Change) + " " + c.Word
	if interval := intervalText(c.Change); interval != "" {
		text += " (" + interval + ")"
	}
	text += fmt.Sprintf(", from %s to %s, %s", valueText(c.Before.Median), valueText(c.After.Median), c.State)
	switch {
	case c.Known != nil:
		text += ", " + c.Known.summary()
	default:
		text += ", new"
	}
	return text
}

// details are where the change came, how it was judged, and what is known of it.
func (f *Finding) details(c Change) []string {
	where := "came with " + shortLabel(c.At)
	if c.firstBad-c.lastGood > 1 {
		where = fmt.Sprintf("came after %s and not after %s, most likely with %s", shortLabel(c.LastGood), shortLabel(c.FirstBad), shortLabel(c.At))
	}
	lines := []string{where + "; " + f.judged(c)}
	if c.State == changepoint.Suspect {
		lines = append(lines, "it may be a spike: measure again")
	}
	for _, text := range c.Environment {
		lines = append(lines, "the environment changed there, so it may not be the build: "+text)
	}
	if c.Known != nil && c.Known.Note != "" {
		lines = append(lines, c.Known.Note)
	}
	if c.Fix != nil {
		lines = append(lines, c.Fix.text())
	}
	return lines
}

func (f *Finding) judged(c Change) string {
	if c.Judged.Rule == "otava" {
		return fmt.Sprintf("Otava's p %.2g, at most %.2g", c.Judged.Score, c.Judged.Threshold)
	}
	return c.Judged.String()
}

// text says whether the fix restored the level.
func (x *Fix) text() string {
	start := "fixed in " + shortLabel(x.In) + ": "
	switch x.Verdict {
	case "unknown":
		return start + "can't tell whether the level is restored: " + x.Reason
	case "restored":
		return start + fmt.Sprintf("the level is restored (%s of difference)", rangeText(x.LeftLow, x.LeftHigh))
	case "not restored":
		return start + fmt.Sprintf("NOT restored: still %s, %s %% (%s)", x.Word, percent(x.Left), rangeText(x.LeftLow, x.LeftHigh))
	}
	return start + fmt.Sprintf("%s: now %s, %s %% (%s)", x.Verdict, x.Word, percent(x.Left), rangeText(x.LeftLow, x.LeftHigh))
}

// WriteMarkdown writes the report as GitHub Flavored Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("### Change points\n\n")
	if len(r.Groups) == 0 {
		b.WriteString("No change in " + plural(len(r.Findings), "series") + ".\n")
	}
	for _, g := range r.Groups {
		b.WriteString("- " + escape(g.Headline()) + "\n")
	}
	if len(r.Groups) > 0 {
		b.WriteString("\n| series | came with | after | before | level | change | 95 % | state | judged | known |\n")
		b.WriteString("| --- | --- | --- | ---: | ---: | ---: | --- | --- | --- | --- |\n")
	}
	for _, g := range r.Groups {
		for _, m := range g.Members {
			c := *m.Change
			known := "new"
			if c.Known != nil {
				known = c.Known.summary()
			}
			if c.Fix != nil {
				known += "; " + c.Fix.text()
			}
			for _, text := range c.Environment {
				known += "; environment: " + text
			}
			cells := []string{
				name(m.Finding.Series), shortLabel(c.At), shortLabel(c.LastGood), valueText(c.Before.Median), valueText(c.After.Median),
				"**" + sizeText(c.Change) + " " + c.Word + "**", intervalText(c.Change), string(c.State), m.Finding.judged(c), known,
			}
			for i, text := range cells {
				if i == 5 {
					b.WriteString("| " + text + " ")
					continue
				}
				b.WriteString("| " + escape(text) + " ")
			}
			b.WriteString("|\n")
		}
	}
	for _, f := range r.Findings {
		if f.Problem != "" {
			b.WriteString("\n" + escape(name(f.Series)+": not judged: "+f.Problem) + "\n")
		}
	}
	for _, note := range r.Notes {
		b.WriteString("\nNote: " + escape(note) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escape takes their meaning from characters that Markdown would read.
func escape(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", "\n", " ", "`", "\\`").Replace(text)
}

func isNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
