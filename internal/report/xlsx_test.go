package report

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/dbcanary/dbcanary"
)

func openXLSX(t *testing.T, r *Report) *excelize.File {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b, "xlsx", Options{}); err != nil {
		t.Fatal(err)
	}
	book, err := excelize.OpenReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { book.Close() })
	return book
}

// calculated gives the cells of a sheet with their formulas recalculated.
func calculated(t *testing.T, book *excelize.File, sheet string) [][]string {
	t.Helper()
	raw := excelize.Options{RawCellValue: true}
	rows, err := book.GetRows(sheet, raw)
	if err != nil {
		t.Fatal(err)
	}
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	table := make([][]string, len(rows))
	for i := range rows {
		for j := range width {
			at, err := excelize.CoordinatesToCellName(j+1, i+1)
			if err != nil {
				t.Fatal(err)
			}
			formula, err := book.GetCellFormula(sheet, at)
			if err != nil {
				t.Fatal(err)
			}
			value := ""
			if formula != "" {
				value, err = book.CalcCellValue(sheet, at, raw)
			} else {
				value, err = book.GetCellValue(sheet, at, raw)
			}
			if err != nil {
				t.Fatalf("%s!%s %s: %v", sheet, at, formula, err)
			}
			table[i] = append(table[i], value)
		}
	}
	return table
}

// near tells whether a cell holds a number, or nothing for NaN.
func near(cell string, want, tolerance float64) bool {
	if math.IsNaN(want) {
		return cell == ""
	}
	got, err := strconv.ParseFloat(cell, 64)
	return err == nil && math.Abs(got-want) <= tolerance*math.Abs(want)
}

// cost finds an absolute number of the report, NaN if there is none.
func cost(r *Report, benchmark, target string) float64 {
	for _, c := range r.Costs {
		if c.Benchmark == benchmark && c.Target == target {
			return c.Rate
		}
	}
	return math.NaN()
}

// TestXLSXRatios recalculates every formula of the sheets of groups: the ratios are
// those of the report's numbers, and of the comparisons to the digits shown.
func TestXLSXRatios(t *testing.T) {
	for name, make := range runs() {
		s := make()
		r := s.report()
		book := openXLSX(t, r)
		checked := 0
		for _, group := range r.groupNames() {
			sheet := group
			if sheet == "外部" && !slices.Contains(book.GetSheetList(), sheet) {
				t.Errorf("%s: no sheet %s in %v", name, sheet, book.GetSheetList())
				continue
			}
			table := calculated(t, book, sheet)
			n := len(r.compared())
			for i, label := range r.labelsOf(group) {
				row := table[groupRow-1+i]
				if row[0] != clean(label) {
					t.Fatalf("%s: row %d is %q, want %q", name, i, row[0], label)
				}
				for j, target := range r.compared() {
					ratio, verdict := row[2+n+j], row[2+2*n+j]
					want := cost(r, label, target) / cost(r, label, r.base())
					c := r.comparison(label, target)
					if math.IsNaN(c.QPSRatio.Ratio) {
						want = math.NaN() // no slice has a pair
					}
					if !near(row[2+j], cost(r, label, target), 1e-12) || !near(ratio, want, 1e-12) {
						t.Errorf("%s: %s on %s: rate %q, ratio %q, want %v", name, label, target, row[2+j], ratio, want)
					}
					if !near(ratio, c.QPSRatio.Ratio, 5e-4) {
						t.Errorf("%s: %s on %s: ratio %q, the comparison says %v", name, label, target, ratio, c.QPSRatio.Ratio)
					}
					if verdict != string(c.Verdict) {
						t.Errorf("%s: %s on %s: verdict %q, want %q", name, label, target, verdict, c.Verdict)
					}
					checked++
				}
			}
		}
		if checked != len(r.Comparisons) {
			t.Errorf("%s: %d of %d comparisons are in sheets", name, checked, len(r.Comparisons))
		}
	}
}

// TestXLSXGroups recalculates the summary of groups.
func TestXLSXGroups(t *testing.T) {
	for name, make := range runs() {
		r := make().report()
		table := calculated(t, openXLSX(t, r), "Summary")
		at := slices.IndexFunc(table, func(row []string) bool { return row[0] == "group" })
		if at < 0 {
			t.Fatalf("%s: no groups", name)
		}
		for i, g := range r.Groups {
			row := table[at+1+i]
			if row[1] != clean(g.Target) || row[11] != string(g.Verdict) || row[7] != strconv.Itoa(g.Slower) {
				t.Errorf("%s: group %v is %q", name, g, row)
			}
			for j, want := range []float64{g.Min, g.Max, g.Avg, g.Median} {
				if !near(row[3+j], want, 5e-4) {
					t.Errorf("%s: %s of %s: %q, want %v", name, table[at][3+j], g.Name, row[3+j], want)
				}
			}
		}
	}
}

// TestXLSXFormulas: ratios are formulas on the base's column and stay so when a
// user changes a number.
func TestXLSXFormulas(t *testing.T) {
	book := openXLSX(t, runs()["one-target"]().report())
	if err := book.SetCellFloat("point", "B3", 10_000, -1, 64); err != nil {
		t.Fatal(err)
	}
	if got, err := book.CalcCellValue("point", "D3"); err != nil || got != "1.960" {
		t.Errorf("the ratio is %q, want 1.960 (error %v)", got, err)
	}
	formula, err := book.GetCellFormula("point", "D3")
	if err != nil || formula != `IF(COUNT(C3,$B3)=2,C3/$B3,"")` {
		t.Errorf("formula %q, error %v", formula, err)
	}
	panes, err := book.GetPanes("point")
	if err != nil || !panes.Freeze || panes.YSplit != 2 || panes.XSplit != 1 {
		t.Errorf("panes %+v, error %v", panes, err)
	}
	formats, err := book.GetConditionalFormats("point")
	if err != nil || len(formats["D3:D4"]) != 4 || len(formats["E3:E4"]) != 4 {
		t.Errorf("conditional formats %v, error %v", formats, err)
	}
}

// TestXLSXFacts: intervals, settings and host are as the report says.
func TestXLSXFacts(t *testing.T) {
	r := runs()["one-target"]().report()
	book := openXLSX(t, r)
	verdicts := calculated(t, book, "Verdicts")
	if len(verdicts) != 1+len(r.Comparisons) {
		t.Fatalf("%d verdicts", len(verdicts)-1)
	}
	for i, c := range r.Comparisons {
		row := verdicts[i+1]
		if row[0] != c.Benchmark || row[4] != string(c.Verdict) || !near(row[5], c.QPSRatio.Ratio, 1e-12) ||
			!near(row[6], c.QPSRatio.Low, 1e-12) || !near(row[7], c.QPSRatio.High, 1e-12) || row[17] != c.Reason {
			t.Errorf("%q for %+v", row, c)
		}
	}
	settings := calculated(t, book, "Settings")
	for i, d := range r.Differences {
		row := settings[i+1]
		for j, value := range d.Values {
			want := ""
			if value != nil {
				want = *value
			}
			if row[0] != d.Name || row[2+j] != want {
				t.Errorf("setting %s is %q", d.Name, row)
			}
		}
	}
	host := calculated(t, book, "Host")
	if host[0][1] != "beelink" || host[1][1] != "AMD Ryzen 7 7840HS" || host[3][1] != "off" {
		t.Errorf("host %q", host[:4])
	}
	one := calculated(t, openXLSX(t, runs()["one-instance"]().report()), "Verdicts")
	if one[1][6] != "" || one[1][7] != "" || one[1][4] != "inconclusive" {
		t.Errorf("one instance has an interval: %q", one[1])
	}
}

// TestXLSXText: names stay text, whatever they look like, and sheets get names that Excel takes.
func TestXLSXText(t *testing.T) {
	long := strings.Repeat("[a*b]", 20)
	s := newSynthetic([]string{"=1+1", "mysql@9.7"}, []dbcanary.PlannedBenchmark{
		{Label: "=SUM(A1)", Group: long},
		{Label: "b", Group: strings.ToUpper(long)},
		{Label: "c\x00\ufffe", Group: "History"},
		{Label: "d", Group: ""},
		{Label: "e", Group: "summary"},
	})
	s.measure(2)
	book := openXLSX(t, s.report())
	sheets := book.GetSheetList()
	want := []string{"Summary", "_a_b__a_b__a_b__a_b__a_b__a", "_A_B__A_B__A_B__A_B__A_B__A 2", "benchmarks", "benchmarks 2", "summary 2", "Verdicts", "Settings", "Host"}
	if !slices.Equal(sheets, want) {
		t.Errorf("sheets %q\nwant   %q", sheets, want)
	}
	table := calculated(t, book, sheets[1])
	if table[2][0] != "=SUM(A1)" || table[1][1] != "=1+1" {
		t.Errorf("%q", table)
	}
}
