package exchange_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/exchange"
	"github.com/dbcanary/dbcanary/internal/report"
	"github.com/dbcanary/dbcanary/internal/verdict"
)

const (
	smallServer = "mysql-5.6-to-8.0.34-sysbench-small-server.txt"
	rangeScans  = "mysql-5.7-low-concurrency-and-range-scans.txt"
	bugReport   = "mysql-5.7-vs-8.0-oltp-read-only-bug-report.txt"
	manyServers = "mysql-8.0.28-to-8.0.40-sysbench-servers.txt"
	medium      = "mysql-8.0.38-sysbench-medium-server.txt"
)

// reportTables is how many tables of each kind stand in a report, counted by hand.
type reportTables struct {
	relative, cost, summary, hosts, waits int
	boxes                                 int // throughput by threads; the bug report holds its two again, without line breaks
	seconds                               int // times of sql-bench
	perf                                  int // listings of perf report: percentages alone, which no importer reads
}

func wantTables() map[string]reportTables {
	return map[string]reportTables{
		smallServer: {}, // charts and prose
		rangeScans:  {waits: 12, seconds: 3, perf: 4},
		bugReport:   {boxes: 4},
		manyServers: {relative: 4, cost: 8, hosts: 2},
		medium:      {summary: 1},
	}
}

// TestPublishedReports_Counted holds that no table of the public reports beside the
// repository is without a test below.
func TestPublishedReports_Counted(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(reportDir(), "*.txt"))
	if err != nil || len(paths) != len(wantTables()) {
		t.Fatalf("%d reports, %v", len(paths), err)
	}
	for _, path := range paths {
		text := readReport(t, filepath.Base(path))
		count := func(pattern string) int { return len(regexp.MustCompile(pattern).FindAllString(text, -1)) }
		got := reportTables{
			relative: count(`(?m)^Relative to: `), cost: count(`(?m)^--- absolute`), summary: count(`(?m)^\s+min\s+max\s+avg\s+median`),
			hosts: count(`(?m)^server .*\d`), waits: count(`(?m)^Seconds\s+Event`), boxes: count(`\| threads \|`),
			seconds: count(`(?m)^(binary|version)\s`), perf: count(`(?i)this is (from|the result for) the|different from the result for the`),
		}
		if diff := cmp.Diff(wantTables()[filepath.Base(path)], got, cmp.AllowUnexported(reportTables{})); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func reportDir() string { return filepath.Join("..", "..", "..", "shared", "reports") }

func readReport(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(reportDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(content), "\u00a0", " ")
}

// importReport gives the runs of a report: those of rates, then those of ratios.
func importReport(t *testing.T, name string) (rates, ratios []*report.Report, results exchange.Results) {
	t.Helper()
	path := filepath.Join(reportDir(), name)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if results, err = exchange.ReadResults(path, file); err != nil {
		t.Fatal(err)
	}
	for _, run := range importRuns(t, path) {
		r := report.New(run.Run, run.Trials)
		if strings.Contains(run.Run.Host.Name, ", relative to ") {
			ratios = append(ratios, r)
		} else {
			rates = append(rates, r)
		}
	}
	return rates, ratios, results
}

func printed(t *testing.T, r *report.Report, format string) string {
	t.Helper()
	var b strings.Builder
	if err := r.Write(&b, format, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPublishedReports_Relative prints every table of relative QPS again: each row
// comes out as it was.
func TestPublishedReports_Relative(t *testing.T) {
	_, ratios, _ := importReport(t, manyServers)
	want := publishedRows(readReport(t, manyServers))
	if len(want) != 4 || len(ratios) != len(want) {
		t.Fatalf("%d runs of %d tables", len(ratios), len(want))
	}
	for i, r := range ratios {
		if diff := cmp.Diff(want[i], publishedRows(printed(t, r, "rqps"))[0]); diff != "" {
			t.Errorf("table %d: %s", i+1, diff)
		}
	}
}

// publishedRows gives the base, the columns and the rows of each table, with single blanks.
func publishedRows(text string) [][]string {
	var tables [][]string
	for _, line := range strings.Split(text, "\n") {
		line = strings.NewReplacer("x.my", "my", ".pk1", "").Replace(strings.Join(strings.Fields(line), " "))
		if strings.HasPrefix(line, "Relative to: ") {
			tables = append(tables, nil)
		}
		if n := len(tables) - 1; n >= 0 && (strings.HasPrefix(line, "Relative to: ") || strings.HasPrefix(line, "col-") || strings.Contains(line, "_range=") && line[0] <= '9') {
			tables[n] = append(tables[n], line)
		}
	}
	for _, table := range tables {
		slices.Sort(table)
	}
	return tables
}

// TestPublishedReports_Cost prints the tables of hardware cost again: the absolute
// values, and beside them ours by those of the base, which must be theirs to the last digit.
func TestPublishedReports_Cost(t *testing.T) {
	rates, _, _ := importReport(t, manyServers)
	var got []string
	for _, r := range rates {
		got = append(got, costRows(printed(t, r, "metrics"))...)
	}
	want := costRows(readReport(t, manyServers))
	if len(want) != 8*(1+1+1+5+1+4)-1 { // one table has no title
		t.Fatalf("%d rows", len(want))
	}
	// Differences that are the author's: update-index on socket2 has no title, and in its
	// absolute table the name of a target lost its end, so that it is another target to
	// us, which comes after the others.
	want = slices.Insert(want, slices.Index(want, "0.001677 11.125 0 0 16.578 38477 my8028_rel_o2nofp")-2, "sb.met.untitled.pk1.dop8")
	want = moveRow(t, want, "0.001859 12.496 0 0 24.596 34256 my8030_rel_o2nof", "", 3)
	want = moveRow(t, want, "1.11 1.12 1 1 1.48 0.89 my8030_rel_o2nofp", "1.11 1.12 1 1 1.48 0.89 my8030_rel_o2nof", 3)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// moveRow moves the only row of that text down by some rows, and changes it.
func moveRow(t *testing.T, rows []string, row, changed string, down int) []string {
	t.Helper()
	at := slices.Index(rows, row)
	if at < 0 || slices.Index(rows[at+1:], row) >= 0 {
		t.Fatalf("row %q is not there, or twice", row)
	}
	if changed == "" {
		changed = row
	}
	return slices.Insert(slices.Delete(rows, at, at+1), at+down, changed)
}

// costRows gives titles, headers and rows of the tables of cost.
func costRows(text string) []string {
	row := regexp.MustCompile(`^(sb\.met\..*|--- .*|cpu/o .*|[\d.]+( [\d.]+){5} \S+)$`)
	var rows []string
	for _, line := range strings.Split(text, "\n") {
		line = strings.Replace(strings.Join(strings.Fields(line), " "), " x.my", " my", 1)
		if row.MatchString(line) {
			rows = append(rows, line)
		}
	}
	return rows
}

// TestPublishedReports_Throughput imports the sweeps over threads of the bug report: each
// number comes out as it was, and its ratios, 5.7 by 8.0, are ours with 8.0 as base.
func TestPublishedReports_Throughput(t *testing.T) {
	path := filepath.Join(reportDir(), bugReport)
	files, err := exchange.ReadFiles(t.Context(), []string{path}, exchange.FileOptions{})
	if err != nil || len(files.Rejected) > 0 {
		t.Fatal(err, files.Rejected)
	}
	runs, err := exchange.MakeRuns(files.Measurements, exchange.RunOptions{Base: "MySQL 8.0.15"})
	if err != nil || len(runs) != 1 {
		t.Fatal(len(runs), err)
	}
	got := map[string]bool{}
	for _, c := range report.New(runs[0].Run, runs[0].Trials).Comparisons {
		label, threads, _ := strings.Cut(c.Benchmark, " threads=")
		number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
		got[fmt.Sprintf("%s | %s | %s | %s | %.2f |", label, threads, number(c.QPS), number(c.BaseQPS), c.QPSRatio.Ratio)] = true
	}
	row := regexp.MustCompile(`\| (OLTP RO|point select) \|| (\d+) \| ([\d.]+) \| ([\d.]+) \| (\d\.\d\d) \|`)
	label, rows := "", 0
	for _, match := range row.FindAllStringSubmatch(readReport(t, bugReport), -1) {
		if match[1] != "" {
			label = match[1]
			continue
		}
		rows++
		if want := label + " | " + strings.Join(match[2:], " | ") + " |"; !got[want] {
			t.Errorf("%q did not come out", want)
		}
	}
	if rows != 2*2*9 || len(got) != 2*9 {
		t.Errorf("%d rows, of which %d differ", rows, len(got))
	}
}

// TestPublishedReports_Seconds imports the times of sql-bench: each comes out as it was,
// tests add up to totals, and factors that the text tells are ours.
func TestPublishedReports_Seconds(t *testing.T) {
	rates, _, _ := importReport(t, rangeScans)
	if len(rates) != 1 {
		t.Fatalf("%d runs", len(rates))
	}
	seconds := map[string]map[string]float64{}
	keep := func(benchmark, target string, qps float64) {
		if seconds[target] == nil {
			seconds[target] = map[string]float64{}
		}
		seconds[target][benchmark] = math.Round(1e6/qps) / 1e6
	}
	for _, c := range rates[0].Comparisons {
		keep(c.Benchmark, c.Target, c.QPS)
		keep(c.Benchmark, c.Base, c.BaseQPS)
	}
	checkSecondsRows(t, seconds)
	for target, times := range seconds {
		sum := 0.0
		for name, s := range times {
			if strings.HasPrefix(name, "sql-bench ") {
				sum += s
			}
		}
		// The text: "all of the test types excluding wisconsin that takes 5 to 7 seconds". Eight times
		// are rounded to seconds, which is up to 4 s.
		if rest := times["total seconds"] - sum; rest < 5-4 || rest > 7+4 {
			t.Errorf("%s: %g s are missing between tests and total", target, rest)
		}
	}
	factor := func(target, base string) string {
		return fmt.Sprintf("%.2f", seconds[target]["total seconds"]/seconds[base]["total seconds"])
	}
	for _, claim := range []struct{ target, base, text, ours, reason string }{
		{"5.7.5-ps", "5.0.85", "5.7.5 is 1.45X slower than 5.0.85 when the PS is enabled", "1.45", ""},
		{"5.7.5", "5.0.85", "5.7.5 is 1.33X slower than 5.0.85 when the PS is disabled", "1.33", ""},
		{"5.7.5-ps", "5.7.5", "Enabling PS for 5.7.5 makes it 1.1X slower", "1.09", "one digit is told"},
		{"5.6.21-ps", "5.0.85", "5.6.21 is 1.45X slower than 5.0.85 when the PS is enabled", "1.45", ""},
		{"5.6.21", "5.0.85", "5.6.21 is 1.16X slower than 5.0.85 when the PS is disabled", "1.17", "the author cut 1.169"},
		{"5.6.21-ps", "5.6.21", "Enabling PS for 5.6.21 makes it 1.25X slower", "1.24", "the author divided 1.45 by 1.16"},
	} {
		if !strings.Contains(readReport(t, rangeScans), claim.text) {
			t.Errorf("the report does not say %q", claim.text)
		}
		if got := factor(claim.target, claim.base); got != claim.ours || strings.Contains(claim.text, " "+got+"X") == (claim.reason != "") {
			t.Errorf("%s: ours is %s (%s)", claim.text, got, claim.reason)
		}
	}
}

// checkSecondsRows looks for each printed row among the times.
func checkSecondsRows(t *testing.T, seconds map[string]map[string]float64) {
	t.Helper()
	names := []string{}
	rows := 0
	for _, line := range strings.Split(readReport(t, rangeScans), "\n") {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 1 && (fields[0] == "binary" || fields[0] == "version"):
			if names = fields[1:]; fields[0] == "binary" {
				names = []string{strings.Join(names, " ")}
			}
			continue
		case len(fields) != len(names)+1 || seconds[fields[0]] == nil:
			continue
		}
		rows++
		for i, cell := range fields[1:] {
			name := names[i]
			if len(names) > 1 {
				name = "sql-bench " + name
			}
			if got := strconv.FormatFloat(seconds[fields[0]][name], 'f', -1, 64); got != cell {
				t.Errorf("%s of %s is %s, not %s", name, fields[0], got, cell)
			}
		}
	}
	if rows != 3*10 {
		t.Errorf("%d rows", rows)
	}
}

// TestPublishedReports_Summary prints the summary of groups again.
func TestPublishedReports_Summary(t *testing.T) {
	results := importTables(t, medium)
	if len(results.Tables) != 1 || results.Tables[0].Kind != exchange.TableSummary {
		t.Fatalf("%+v", results.Tables)
	}
	r := &report.Report{Run: dbcanary.Run{Plan: dbcanary.Plan{Targets: []string{"8.0.26", "8.0.38"}}}}
	for _, row := range results.Tables[0].Rows {
		v := make([]float64, len(row.Cells))
		for i, cell := range row.Cells {
			v[i], _ = strconv.ParseFloat(cell, 64) // digits, else the table differs below
		}
		r.Groups = append(r.Groups, verdict.Group{Name: row.Name, Target: "8.0.38", Min: v[0], Max: v[1], Avg: v[2], Median: v[3]})
	}
	if got := printed(t, r, "summary"); len(r.Groups) != 5 || !strings.Contains(readReport(t, medium), "\n"+got) {
		t.Errorf("got %s", got)
	}
}

// importTables reads a report that may hold no result.
func importTables(t *testing.T, name string) exchange.Results {
	t.Helper()
	results, err := exchange.ReadResults(name, strings.NewReader(readReport(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// TestPublishedReports_Hosts holds the tables of one benchmark by host against the
// tables of each host that stand below them.
func TestPublishedReports_Hosts(t *testing.T) {
	_, ratios, results := importReport(t, manyServers)
	config := map[string]string{"beelink": "z11a_bee", "pn53": "z11a_c8r32", "socket2": "z11a_c24r64", "dell32": "z11a_c32r128"}
	benchmarks := []string{"scan", "update-index"} // in this order
	var compared, alone int
	for i, table := range results.Tables {
		if table.Kind != exchange.TableHosts || len(table.Rows) != 5 {
			t.Fatalf("table %d: %+v", i, table)
		}
		for _, row := range table.Rows {
			if config[row.Name] == "" { // ax162-s, of which the report holds nothing else
				alone++
				continue
			}
			for k, version := range table.Columns {
				target := fmt.Sprintf("my%s_rel_o2nofp.%s", strings.ReplaceAll(version, ".", ""), config[row.Name])
				if got := ratioOf(ratios, benchmarks[i], target); got != row.Cells[k] {
					t.Errorf("%s on %s: %s is %s, not %s", benchmarks[i], row.Name, version, got, row.Cells[k])
				}
				compared++
			}
		}
	}
	if compared != 2*4*2 || alone != 2 {
		t.Errorf("%d ratios compared, %d hosts alone", compared, alone)
	}
	for i, server := range []string{"beelink", "pn53", "socket2", "dell32"} {
		ratios[i].Run.Host.Name = server
	}
	var b strings.Builder
	if err := report.Hosts(&b, ratios, report.HostOptions{Benchmarks: benchmarks, Targets: []string{"8.0.30", "8.0.40"}}); err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(hostLines(readReport(t, manyServers)), func(line string) bool { return strings.HasPrefix(line, "ax162-s ") })
	if diff := cmp.Diff(want, hostLines(b.String())); diff != "" || len(want) != 2*(3+4) {
		t.Errorf("%d lines: %s", len(want), diff)
	}
}

// hostLines gives the lines of tables by host, with single blanks.
func hostLines(text string) []string {
	line := regexp.MustCompile(`^(rQPS rQPS|server 8.*|-+ -+ -+|[a-z\d-]+ \d\.\d\d \d\.\d\d)$`)
	var lines []string
	for _, one := range strings.Split(text, "\n") {
		if one = strings.Join(strings.Fields(one), " "); line.MatchString(one) {
			lines = append(lines, regexp.MustCompile(`-+`).ReplaceAllString(one, "-"))
		}
	}
	return lines
}

func ratioOf(reports []*report.Report, benchmark, target string) string {
	for _, r := range reports {
		for _, c := range r.Comparisons {
			if c.Benchmark == benchmark && c.Target == target {
				return fmt.Sprintf("%.2f", c.QPSRatio.Ratio)
			}
		}
	}
	return ""
}

// TestPublishedReports_Waits holds the tables of waits against what the text says of them.
func TestPublishedReports_Waits(t *testing.T) {
	results := importTables(t, rangeScans)
	seen := map[string]bool{}
	for i, table := range results.Tables {
		if table.Kind != exchange.TableWaits || len(table.Rows) != 10 {
			t.Errorf("table %d: %s of %d rows", i, table.Kind, len(table.Rows))
		}
		for _, row := range table.Rows {
			seen[row.Name[strings.LastIndexByte(row.Name, '/')+1:]+" "+row.Cells[0]] = true
		}
	}
	claim := regexp.MustCompile(`(?:time|wait time) (?:on|in) (\w+) \(([\d.]+) vs ([\d.]+) seconds\)`)
	claims := claim.FindAllStringSubmatch(readReport(t, rangeScans), -1)
	for _, match := range claims {
		if !seen[match[1]+" "+match[2]] || !seen[match[1]+" "+match[3]] {
			t.Errorf("no tables hold %s", match[0])
		}
	}
	if len(results.Tables) != 12 || len(claims) != 10 {
		t.Errorf("%d tables, %d claims", len(results.Tables), len(claims))
	}
}
