package report

import (
	"io"
	"strings"
)

// defaultWidth is for output that goes to no terminal, and least is where
// further narrowing is not worth a broken word.
const (
	defaultWidth = 120
	leastWidth   = 40
)

// writeText writes the report for a terminal.
func (r *Report) writeText(w io.Writer, options Options) error {
	width := defaultWidth
	if options.Width > 0 {
		width = max(leastWidth, options.Width)
	}
	names := 0
	for _, c := range r.Comparisons {
		names = max(names, displayWidth(c.Benchmark)+2)
	}
	panel := max(1, (width-min(names, width/3))/(overviewCell+1))
	var b strings.Builder
	for i, one := range r.blocks(panel, options.Verbose) {
		if i > 0 {
			b.WriteString("\n")
		}
		one.text(&b, width, options.Color)
	}
	return writeAll(w, &b)
}

func (b block) text(out *strings.Builder, width int, color bool) {
	if b.title != "" {
		out.WriteString(bold.apply(fit(b.title, width), color) + "\n")
	}
	writeLines(out, b.lines, width, color)
	if b.table != nil {
		out.WriteString(b.table.text(width, color))
	}
	writeLines(out, b.after, width, color)
}

func writeLines(out *strings.Builder, lines []line, width int, color bool) {
	for _, one := range lines {
		for part := range strings.SplitSeq(wrap(one.text, width, "  "), "\n") {
			out.WriteString(one.style.apply(part, color) + "\n")
		}
	}
}
