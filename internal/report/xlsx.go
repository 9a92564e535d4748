package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"github.com/dbcanary/dbcanary"
)

// writeXLSX writes a workbook of Office Open XML: a summary, a sheet for each
// group with absolute numbers and ratios that are formulas, the verdicts with
// their intervals, the settings that differ, and the host.
func (r *Report) writeXLSX(w io.Writer, _ Options) (err error) {
	book := &workbook{File: excelize.NewFile(), report: r, names: map[string]bool{}}
	defer func() { err = errors.Join(err, book.Close()) }()
	if err := book.styles(); err != nil {
		return err
	}
	if err := book.fill(); err != nil {
		return fmt.Errorf("make a workbook: %w", err)
	}
	_, err = book.WriteTo(w)
	return err
}

// workbook is a workbook under way.
type workbook struct {
	*excelize.File
	report *Report
	names  map[string]bool // of sheets, in lower case
	groups []groupSheet

	title, header, section, note          int // styles of cells
	rate, cost, ratio, percent, text      int
	slower, faster, same, inconclusiveFmt int // conditional ones
}

// The colours of verdicts, told apart by every kind of colour vision (Okabe and
// Ito, "Color Universal Design", 2008), light enough to read black text on.
const (
	slowerFill       = "F4C9A8"
	fasterFill       = "B3D7EC"
	inconclusiveFill = "FFF3C4"
	sameFont         = "808080"
)

func (b *workbook) styles() error {
	number := func(format string) *excelize.Style { return &excelize.Style{CustomNumFmt: &format} }
	bold := &excelize.Font{Bold: true}
	wrap := &excelize.Alignment{WrapText: true, Vertical: "top"}
	var problems []error
	for _, one := range []struct {
		id    *int
		style *excelize.Style
	}{
		{&b.title, &excelize.Style{Font: &excelize.Font{Bold: true, Size: 13}}},
		{&b.section, &excelize.Style{Font: bold, Alignment: &excelize.Alignment{Horizontal: "left"}}},
		{&b.header, &excelize.Style{Font: bold, Border: []excelize.Border{{Type: "bottom", Color: "000000", Style: 1}}, Alignment: wrap}},
		{&b.note, &excelize.Style{Font: &excelize.Font{Italic: true, Color: sameFont}}},
		{&b.rate, number("#,##0.0;;0.0")},
		{&b.cost, number("#,##0.00")},
		{&b.ratio, number("0.000")},
		{&b.percent, number("0.0%")},
		{&b.text, &excelize.Style{Alignment: &excelize.Alignment{Vertical: "top"}}},
	} {
		var err error
		*one.id, err = b.NewStyle(one.style)
		problems = append(problems, err)
	}
	for _, one := range []struct {
		id   *int
		fill string
	}{{&b.slower, slowerFill}, {&b.faster, fasterFill}, {&b.inconclusiveFmt, inconclusiveFill}} {
		var err error
		*one.id, err = b.NewConditionalStyle(&excelize.Style{Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{one.fill}}})
		problems = append(problems, err)
	}
	var err error
	b.same, err = b.NewConditionalStyle(&excelize.Style{Font: &excelize.Font{Color: sameFont}})
	return errors.Join(append(problems, err)...)
}

func (b *workbook) fill() error {
	r := b.report
	if err := b.SetSheetName("Sheet1", "Summary"); err != nil {
		return err
	}
	b.names["summary"] = true
	for _, view := range r.views() {
		for _, group := range view.groupNames() {
			if err := b.groupSheet(view, group); err != nil {
				return err
			}
		}
	}
	steps := []func() error{b.summarySheet, b.verdictSheet, b.settingSheet, b.hostSheet}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return b.SetDocProps(&excelize.DocProperties{
		Creator: "dbcanary", Title: b.docTitle(), Created: r.Run.Started.UTC().Format("2006-01-02T15:04:05Z"),
		Modified: r.Run.Started.UTC().Format("2006-01-02T15:04:05Z"),
	})
}

func (b *workbook) docTitle() string {
	return cutText(fmt.Sprintf("dbcanary run %d: %s", b.report.Run.ID, strings.Join(b.report.Run.Plan.Targets, ", ")), 200)
}

// sheet adds a sheet with a name as near to the one asked for as Excel takes: at
// most 31 characters, some not allowed, none used twice in any case.
func (b *workbook) sheet(name string) (string, error) {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`[]:*?/\`, r) {
			return '_'
		}
		return r
	}, clean(name))
	name = strings.Trim(cutText(name, 27), "' ") // room for a number
	if name == "" || strings.EqualFold(name, "history") {
		name = "benchmarks"
	}
	for n := 2; b.names[strings.ToLower(name)]; n++ {
		if next := fmt.Sprintf("%s %d", cutText(name, 27), n); !b.names[strings.ToLower(next)] {
			name = next
		}
	}
	b.names[strings.ToLower(name)] = true
	_, err := b.NewSheet(name)
	return name, err
}

// cutText cuts text to so many UTF-16 code units, in which Excel counts.
func cutText(text string, most int) string {
	units := 0
	for i, r := range text {
		units++
		if r > 0xffff {
			units++
		}
		if units > most {
			return text[:i]
		}
	}
	return text
}

// put writes a row of values from a cell on; nil and numbers that are not known
// leave their cells empty. Text stays text, also where it starts with "=".
func (b *workbook) put(sheet string, column, row int, values ...any) error {
	for i, value := range values {
		at, err := excelize.CoordinatesToCellName(column+i, row)
		if err != nil {
			return err
		}
		switch v := value.(type) {
		case nil:
		case string:
			err = b.SetCellStr(sheet, at, xlsxText(v))
		case float64:
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				err = b.SetCellFloat(sheet, at, v, -1, 64)
			}
		case formula:
			err = b.SetCellFormula(sheet, at, string(v))
		case int:
			err = b.SetCellInt(sheet, at, int64(v))
		default:
			err = fmt.Errorf("a cell of type %T", value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// formula is a formula of a cell, without the "=".
type formula string

// xlsxText makes text that a cell can hold: no control characters, at most as
// long as the format allows.
func xlsxText(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == 0xfffe || r == 0xffff {
			return utf8.RuneError // no characters of XML
		}
		return r
	}, clean(strings.ToValidUTF8(text, "�")))
	return cutText(text, excelize.TotalCellChars)
}

// look gives the cells of a rectangle a style.
func (b *workbook) look(sheet string, column, row, toColumn, toRow, style int) error {
	if toColumn < column || toRow < row {
		return nil
	}
	from, err := excelize.CoordinatesToCellName(column, row)
	if err != nil {
		return err
	}
	to, err := excelize.CoordinatesToCellName(toColumn, toRow)
	if err != nil {
		return err
	}
	return b.SetCellStyle(sheet, from, to, style)
}

// freeze keeps the rows above and the columns before a cell in sight.
func (b *workbook) freeze(sheet string, columns, rows int) error {
	at, err := excelize.CoordinatesToCellName(columns+1, rows+1)
	if err != nil {
		return err
	}
	pane := "bottomLeft"
	if columns > 0 {
		pane = "bottomRight"
	}
	return b.SetPanes(sheet, &excelize.Panes{Freeze: true, XSplit: columns, YSplit: rows, TopLeftCell: at, ActivePane: pane})
}

// width fits columns to their text.
func (b *workbook) width(sheet string, column, toColumn int, width float64) error {
	if toColumn < column {
		return nil
	}
	from, err := excelize.ColumnNumberToName(column)
	if err != nil {
		return err
	}
	to, err := excelize.ColumnNumberToName(toColumn)
	if err != nil {
		return err
	}
	return b.SetColWidth(sheet, from, to, min(max(width, 8), 80))
}

// colour paints cells by the verdict that a formula, for the first cell, finds.
func (b *workbook) colour(sheet, cells, verdictCell string) error {
	rules := []excelize.ConditionalFormatOptions{}
	for _, one := range []struct {
		verdict dbcanary.Verdict
		style   int
	}{{dbcanary.Slower, b.slower}, {dbcanary.Faster, b.faster}, {dbcanary.Inconclusive, b.inconclusiveFmt}, {dbcanary.Same, b.same}} {
		rules = append(rules, excelize.ConditionalFormatOptions{
			Type: "formula", Criteria: fmt.Sprintf(`%s="%s"`, verdictCell, one.verdict), Format: &one.style,
		})
	}
	return b.SetConditionalFormat(sheet, cells, rules)
}

// widest is the width of a column for texts.
func widest(texts ...string) float64 {
	longest := slices.MaxFunc(texts, func(a, b string) int { return cmp.Compare(displayWidth(a), displayWidth(b)) })
	return float64(displayWidth(longest)) + 2
}
