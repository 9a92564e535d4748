package history

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/dbcanary/dbcanary/changepoint"
)

// The size of the chart beside its labels.
const (
	chartRows  = 4
	chartWidth = 64
)

// steps are the parts of a cell from empty to full.
var steps = []rune(" ▁▂▃▄▅▆▇█")

// chart draws the series in a few lines: a bar per position or, if there are more
// than fit, per group of neighbours with their median; below it "^" where a
// change was confirmed and "?" where one is suspect. The axis starts at the
// smallest value, not at 0, and says so by its labels.
func (f *Finding) chart(width int) string {
	n := len(f.Positions)
	columns := min(n, max(8, min(chartWidth, width-20)))
	heights := make([]float64, columns)
	low, high := math.Inf(1), math.Inf(-1)
	for c := range columns {
		var values []float64
		for _, p := range f.Positions[c*n/columns : (c+1)*n/columns] {
			values = append(values, p.Value)
		}
		heights[c] = medianOf(values)
		if !math.IsNaN(heights[c]) {
			low, high = min(low, heights[c]), max(high, heights[c])
		}
	}
	if !(low < high) || math.IsInf(high-low, 0) {
		return ""
	}
	labels := make([]string, chartRows)
	labels[0], labels[chartRows-1] = valueText(high), valueText(low)
	margin := max(utf8.RuneCountInString(labels[0]), utf8.RuneCountInString(labels[chartRows-1]))
	var b strings.Builder
	for row := range chartRows {
		fmt.Fprintf(&b, "  %s%s ┤", strings.Repeat(" ", margin-utf8.RuneCountInString(labels[row])), labels[row])
		line := make([]rune, columns)
		for c, h := range heights {
			line[c] = cell(h, low, high, row)
		}
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	b.WriteString(strings.Repeat(" ", margin+4) + f.chartMarks(columns) + "\n")
	return b.String()
}

// cell is the part of a bar that lies in a row; the lowest bar is one step high.
func cell(height, low, high float64, row int) rune {
	if math.IsNaN(height) {
		return ' '
	}
	const eighths = chartRows * 8
	filled := 1 + int(math.Round((height-low)/(high-low)*(eighths-1)))
	inRow := filled - 8*(chartRows-1-row)
	return steps[max(0, min(8, inRow))]
}

func (f *Finding) chartMarks(columns int) string {
	marks := []rune(strings.Repeat(" ", columns))
	for _, c := range f.Changes {
		// The column of a position is the last one that starts at or before it.
		column := ((c.at+1)*columns - 1) / len(f.Positions)
		mark := '^'
		if c.State == changepoint.Suspect {
			mark = '?'
		}
		marks[column] = mark
	}
	return strings.TrimRight(string(marks), " ")
}
