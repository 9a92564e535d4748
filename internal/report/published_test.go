package report

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/verdict"
)

// The published reports lie beside the repository.
const publishedReports = "../../../shared/reports"

// publishedTable is a table of relative QPS as it was published.
type publishedTable struct {
	base    string
	targets []string
	names   []string
	rows    [][]string
}

var rqpsRow = regexp.MustCompile(`^[0-9]+\.[0-9]{2}[ \t].*_range=[0-9]+$`)

// parsePublished reads the tables of relative QPS in a report; tabs of the
// original are blanks where it was pasted into a page, and the empty line is gone.
func parsePublished(text string) []publishedTable {
	var tables []publishedTable
	for line := range strings.SplitSeq(text, "\n") {
		if base, ok := strings.CutPrefix(line, "Relative to: "); ok {
			tables = append(tables, publishedTable{base: base})
			continue
		}
		if len(tables) == 0 {
			continue
		}
		t := &tables[len(tables)-1]
		if column, target, ok := strings.Cut(line, " : "); ok && column == fmt.Sprintf("col-%d", len(t.targets)+1) {
			t.targets = append(t.targets, target)
		}
		if rqpsRow.MatchString(line) {
			fields := strings.Fields(line)
			t.rows = append(t.rows, fields[:len(fields)-1])
			t.names = append(t.names, fields[len(fields)-1])
		}
	}
	return tables
}

func readPublished(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(publishedReports, name))
	if err != nil {
		t.Fatalf("the published reports must lie beside the repository: %v", err)
	}
	return string(text)
}

// labelOf is the label of the benchmark with a published name.
func labelOf(name string) string {
	stem, size, _ := strings.Cut(name, "_range=")
	for _, label := range []string{stem + " range=" + size, stem} {
		if publishedName(label) == name {
			return label
		}
	}
	return name
}

func reportOf(t *testing.T, table publishedTable) *Report {
	t.Helper()
	r := &Report{Run: dbcanary.Run{Plan: dbcanary.Plan{Targets: append([]string{table.base}, table.targets...)}}}
	// In another order than printed: the longest name first.
	for i := len(table.names) - 1; i >= 0; i-- {
		for j, target := range table.targets {
			ratio, err := strconv.ParseFloat(table.rows[i][j], 64)
			if err != nil {
				t.Fatal(err)
			}
			r.Comparisons = append(r.Comparisons, dbcanary.Comparison{
				Benchmark: labelOf(table.names[i]), Target: target, Base: table.base, QPSRatio: dbcanary.Estimate{Ratio: ratio},
			})
		}
	}
	return r
}

// TestPublishedTables prints every published table again, to the letter.
func TestPublishedTables(t *testing.T) {
	tables := parsePublished(readPublished(t, "mysql-8.0.28-to-8.0.40-sysbench-servers.txt"))
	if len(tables) != 4 {
		t.Fatalf("%d tables, want one for each of 4 servers", len(tables))
	}
	for _, table := range tables {
		var want strings.Builder
		fmt.Fprintf(&want, "Relative to: %s\n", table.base)
		header := []string{}
		for i, target := range table.targets {
			fmt.Fprintf(&want, "col-%d : %s\n", i+1, target)
			header = append(header, fmt.Sprintf("col-%d", i+1))
		}
		fmt.Fprintf(&want, "\n%s\n", strings.Join(header, "\t"))
		for i, row := range table.rows {
			fmt.Fprintf(&want, "%s\t%s\n", strings.Join(row, "\t"), table.names[i])
		}
		if len(table.rows) < 25 || len(table.targets) != 4 {
			t.Errorf("%s: %d rows, %d targets", table.base, len(table.rows), len(table.targets))
		}
		if got := write(t, reportOf(t, table), "rqps", Options{}); got != want.String() {
			t.Errorf("%s: got\n%swant\n%s", table.base, got, want.String())
		}
	}
}

// TestPublishedArithmetic: where operations per second stand beside relative
// ones, dividing gives the published ratio, within what rounding the former to
// whole numbers leaves open.
func TestPublishedArithmetic(t *testing.T) {
	lines := bufio.NewScanner(strings.NewReader(readPublished(t, "mysql-8.0.28-to-8.0.40-sysbench-servers.txt")))
	var absolute []float64 // the base first; by place, since one name is misspelt on the page
	relative, checked := -1, 0
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case strings.HasPrefix(lines.Text(), "--- absolute"):
			absolute, relative = nil, -1
		case strings.HasPrefix(lines.Text(), "--- relative"):
			relative = 0
		case len(fields) == 7 && strings.HasPrefix(fields[6], "x.my80"):
			if relative < 0 {
				rate, err := strconv.ParseFloat(fields[5], 64)
				if err != nil {
					t.Fatal(err)
				}
				absolute = append(absolute, rate)
				continue
			}
			checked++
			relative++
			mine, base := absolute[relative], absolute[0]
			least, most := hundredths((mine-0.5)/(base+0.5)), hundredths((mine+0.5)/(base-0.5))
			if base >= 1000 && hundredths(mine/base) != fields[5] || fields[5] < least || fields[5] > most {
				t.Errorf("%s: %v / %v is %s, published is %s", fields[6], mine, base, hundredths(mine/base), fields[5])
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d ratios were checked", checked)
	}
}

// TestPublishedSummary reads the summary table of a report and prints it again.
func TestPublishedSummary(t *testing.T) {
	text := readPublished(t, "mysql-8.0.38-sysbench-medium-server.txt")
	start := strings.Index(text, "\tmin\tmax\tavg\tmedian\n")
	end := strings.Index(text[start:], "\n\n")
	want := text[start : start+end+1]
	r := &Report{Run: dbcanary.Run{Plan: dbcanary.Plan{Targets: []string{"8.0.26", "8.0.38"}}}}
	for line := range strings.SplitSeq(strings.TrimSuffix(want, "\n"), "\n") {
		fields := strings.Fields(line)
		if fields[0] == "min" {
			continue
		}
		var numbers [4]float64
		for i := range numbers {
			var err error
			if numbers[i], err = strconv.ParseFloat(fields[i+1], 64); err != nil {
				t.Fatal(err)
			}
		}
		r.Groups = append(r.Groups, verdict.Group{
			Name: fields[0], Target: "8.0.38", Min: numbers[0], Max: numbers[1], Avg: numbers[2], Median: numbers[3],
		})
	}
	if len(r.Groups) != 5 {
		t.Fatalf("%d groups", len(r.Groups))
	}
	r.Groups = append(r.Groups, verdict.Group{Target: "8.0.38"}) // the suite is no group
	if got := write(t, r, "summary", Options{}); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestRQPSRoundTrip: what is written is read back, to two decimals.
func TestRQPSRoundTrip(t *testing.T) {
	labels := []string{"scan", "point-query.pre", "read-only range=10000", "update-zipf", "read-write range=10", "hot-points"}
	rapid.Check(t, func(rt *rapid.T) {
		table := publishedTable{base: "base"}
		for i := range rapid.IntRange(1, 5).Draw(rt, "targets") {
			table.targets = append(table.targets, fmt.Sprintf("target-%d", i))
		}
		r := &Report{Run: dbcanary.Run{Plan: dbcanary.Plan{Targets: append([]string{"base"}, table.targets...)}}}
		ratios := map[string][]float64{}
		for _, label := range labels {
			for _, target := range table.targets {
				ratio := rapid.Float64Range(0.01, 90).Draw(rt, label)
				ratios[publishedName(label)] = append(ratios[publishedName(label)], ratio)
				r.Comparisons = append(r.Comparisons, dbcanary.Comparison{
					Benchmark: label, Target: target, Base: "base", QPSRatio: dbcanary.Estimate{Ratio: ratio},
				})
			}
		}
		tables := parsePublished(write(t, r, "rqps", Options{}))
		if len(tables) != 1 || len(tables[0].rows) != len(labels) {
			rt.Fatalf("%d tables", len(tables))
		}
		for i, name := range tables[0].names {
			for j, text := range tables[0].rows[i] {
				got, err := strconv.ParseFloat(text, 64)
				if err != nil || math.Abs(got-ratios[name][j]) > 0.00501 {
					rt.Errorf("%s: %s, error %v, want %v", name, text, err, ratios[name][j])
				}
			}
		}
	})
}

func TestSortPublished_Threads(t *testing.T) {
	names := []string{"scan_threads=16", "scan_threads=128", "scan_threads=1", "read-only_range=10_threads=4", "read-only_range=100_threads=8", "read-only_range=100_threads=4"}
	sortPublished(names)
	want := []string{"read-only_range=100_threads=4", "read-only_range=100_threads=8", "read-only_range=10_threads=4", "scan_threads=1", "scan_threads=16", "scan_threads=128"}
	if !slices.Equal(want, names) {
		t.Errorf("got %v, want %v", names, want)
	}
}

// Benchmarks that differ by their connections alone are rows of their own.
func TestPublishedName_Threads(t *testing.T) {
	for label, want := range map[string]string{
		"read-only range=100 threads=4": "read-only_range=100_threads=4",
		"point-query threads=16":        "point-query_range=100_threads=16",
		"point-query":                   "point-query_range=100",
		"slap-pk threads=32":            "slap-pk_threads=32",
		"a file's threads=2":            "a_file's_threads=2",
	} {
		if got := publishedName(label); got != want {
			t.Errorf("%q is published as %q, want %q", label, got, want)
		}
	}
}
