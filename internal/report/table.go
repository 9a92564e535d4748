package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// style is how a piece of text looks where colours are allowed.
type style string

// The styles, as parameters of the ANSI sequence SGR (ECMA-48, 8.3.117).
const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

func (s style) apply(text string, color bool) string {
	if !color || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// cell is one entry of a table.
type cell struct {
	text  string
	style style
}

// column is a column of a table.
type column struct {
	title string
	right bool // numbers
	// drop is the order in which columns give way on a narrow terminal: the
	// highest first, 0 never.
	drop int
	// shrink columns are cut, with an ellipsis, when nothing else helps.
	shrink bool
}

// row is a line of a table, or a heading over the lines that follow.
type row struct {
	heading string
	cells   []cell
}

// table is rows of cells under columns.
type table struct {
	columns []column
	rows    []row
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, row{cells: cells}) }

// leastShrink is where shrinking a column ends: less tells nothing.
const leastShrink = 8

// text renders the table in at most width columns (0: any), as far as its
// columns can give way: gaps first, then columns that may be dropped, then long text.
func (t *table) text(width int, color bool) string {
	shown := make([]int, len(t.columns))
	for i := range shown {
		shown[i] = i
	}
	widths := t.widths()
	gap := 2
	for width > 0 && total(widths, shown, gap) > width {
		if gap > 1 {
			gap = 1
			continue
		}
		last := t.nextToDrop(shown)
		if last < 0 {
			break
		}
		shown = append(shown[:last:last], shown[last+1:]...)
	}
	for over := total(widths, shown, gap) - width; width > 0 && over > 0; over-- {
		widest := t.widestToShrink(shown, widths)
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	var b strings.Builder
	titles := make([]cell, len(t.columns))
	for i, c := range t.columns {
		titles[i] = cell{c.title, dim}
	}
	t.line(&b, titles, shown, widths, gap, color)
	for _, r := range t.rows {
		if r.heading != "" {
			b.WriteString(bold.apply(fit(r.heading, width), color) + "\n")
			continue
		}
		t.line(&b, r.cells, shown, widths, gap, color)
	}
	return b.String()
}

func (t *table) line(b *strings.Builder, cells []cell, shown, widths []int, gap int, color bool) {
	var line strings.Builder
	pending := 0 // blanks that are written only if text follows
	for n, i := range shown {
		if n > 0 {
			pending += gap
		}
		text := fit(cells[i].text, widths[i])
		space := widths[i] - displayWidth(text)
		if t.columns[i].right {
			pending += space
			space = 0
		}
		if text != "" {
			line.WriteString(strings.Repeat(" ", pending) + cells[i].style.apply(text, color))
			pending = 0
		}
		pending += space
	}
	b.WriteString(line.String() + "\n")
}

func (t *table) widths() []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = displayWidth(c.title)
	}
	for _, r := range t.rows {
		for i, c := range r.cells {
			widths[i] = max(widths[i], displayWidth(clean(c.text)))
		}
	}
	return widths
}

func total(widths, shown []int, gap int) int {
	sum := gap * (len(shown) - 1)
	for _, i := range shown {
		sum += widths[i]
	}
	return sum
}

// nextToDrop gives the place in shown of the column that gives way next, -1 if none may.
func (t *table) nextToDrop(shown []int) int {
	place, order := -1, 0
	for n, i := range shown {
		if t.columns[i].drop > order {
			place, order = n, t.columns[i].drop
		}
	}
	return place
}

// widestToShrink gives the widest column that may be cut, -1 if none may.
func (t *table) widestToShrink(shown, widths []int) int {
	widest := -1
	for _, i := range shown {
		if t.columns[i].shrink && widths[i] > leastShrink && (widest < 0 || widths[i] > widths[widest]) {
			widest = i
		}
	}
	return widest
}

// fit cleans text and cuts it to a width (0: any).
func fit(text string, width int) string {
	text = clean(text)
	if width <= 0 || displayWidth(text) <= width {
		return text
	}
	var b strings.Builder
	used := 0
	for _, r := range text {
		if used+runeWidth(r) > width-1 {
			break
		}
		b.WriteRune(r)
		used += runeWidth(r)
	}
	return b.String() + "…"
}

// clean makes control characters visible: a server's setting or a file name must
// not move the cursor or colour the screen.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || r == utf8.RuneError:
			return '�'
		}
		return r
	}, text)
}

func displayWidth(text string) int {
	width := 0
	for _, r := range text {
		width += runeWidth(r)
	}
	return width
}

// wide holds the blocks whose characters take two columns (Unicode Standard
// Annex #11, East Asian Width W and F), joined where what lies between is unassigned.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1},
		{Lo: 0x2e80, Hi: 0x303e, Stride: 1},
		{Lo: 0x3041, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1},
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff00, Hi: 0xff60, Stride: 1},
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, {Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wrap breaks text at blanks so that no line is wider than width (0: any), as
// far as its words allow; further lines are indented.
func wrap(text string, width int, indent string) string {
	text = clean(text)
	if width <= 0 || displayWidth(text) <= width {
		return text
	}
	var b strings.Builder
	used := 0
	for i, word := range strings.Split(text, " ") {
		size := displayWidth(word)
		switch {
		case i == 0:
		case used+1+size > width:
			b.WriteString("\n" + indent)
			used = displayWidth(indent)
		default:
			b.WriteString(" ")
			used++
		}
		b.WriteString(word)
		used += size
	}
	return b.String()
}
