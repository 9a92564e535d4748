package exchange

import (
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// publishedTable reads the tables of the published reports: relative QPS
// ("Relative to:" and columns named below) and, without that line, absolute QPS;
// hardware cost; throughput by threads in boxes; times of sql-bench. They may stand
// in prose, several in a file, with tabs or blanks.
func publishedTable() resultFormat {
	return resultFormat{
		name: "published table",
		recognise: func(head string) bool {
			if !publishedColumn.MatchString(head) && !tablesMark.MatchString(head) {
				return false
			}
			return !sysbenchOutput.MatchString(head)
		},
		begins: func(line string) bool {
			return strings.HasPrefix(line, "Relative to: ") || strings.HasPrefix(line, "col-1 : ")
		},
		read: func(l *lines, results *Results) error {
			t := &tableReader{lines: l, results: results, rows: map[string]int{}}
			return t.read()
		},
	}
}

var (
	// sysbenchOutput is more than its command line, which a report quotes.
	sysbenchOutput  = regexp.MustCompile(`(?m)^(sysbench \d|Running the test with following options:|SQL statistics:|OLTP test statistics:|\[ *\d+s *\] (thds|Checkpoint)|FATAL: )`)
	publishedColumn = regexp.MustCompile(`(?m)^col-1 : \S`)
	publishedHeader = regexp.MustCompile(`^col-\d+\s*:\s*(\S.*)$`)
	publishedName   = regexp.MustCompile(`_range=\d+$`)
	numberField     = regexp.MustCompile(`^[\d.,]+$`)
)

// tableReader reads tables one after the other.
type tableReader struct {
	*lines
	results *Results
	base    string // "" in a table of absolute numbers
	columns []string
	start   int
	found   int            // rows of the table under way
	rows    map[string]int // line of each row of it

	under otherTable // a table of another kind that is under way
	title string     // of the next table of cost
	set   int
	seen  map[string]Measurement // of the set
	again int                    // results that were seen before
}

func (t *tableReader) read() error {
	for line := range t.all {
		if err := t.line(line); err != nil {
			return err
		}
	}
	if err := t.endOther(); err != nil {
		return err
	}
	t.note()
	return t.end()
}

// line takes a line, which holds several of a table in boxes where a page was copied
// without its line breaks.
func (t *tableReader) line(line string) error {
	parts := []string{line}
	if strings.Contains(line, "+-") {
		parts = strings.Split(boxRule.ReplaceAllString(line, "\n$1\n"), "\n")
	}
	for i, part := range parts {
		if i > 0 && part == "" {
			continue
		}
		if strings.Contains(part, "\u00a0") { // as pages have it
			part = strings.ReplaceAll(part, "\u00a0", " ")
		}
		if err := t.part(strings.TrimSpace(part)); err != nil {
			return err
		}
	}
	return nil
}

func (t *tableReader) part(text string) error {
	if used, err := t.other(text); used || err != nil {
		return err
	}
	if base, ok := strings.CutPrefix(text, "Relative to: "); ok {
		if err := t.end(); err != nil {
			return err
		}
		t.base, t.columns, t.start = strings.TrimSpace(base), nil, t.number
		t.nextSet()
		return nil
	}
	match := publishedHeader.FindStringSubmatch(text)
	if match == nil {
		return t.row(text)
	}
	if t.found > 0 { // a table of absolute numbers begins after one with rows
		if err := t.end(); err != nil {
			return err
		}
	}
	if len(t.columns) == 0 && t.start == 0 {
		t.start = t.number
	}
	if len(t.columns) >= 1000 {
		return t.failf(t.number, "the table has more than 1000 columns")
	}
	t.columns = append(t.columns, strings.TrimSpace(match[1]))
	return nil
}

// end closes the table under way.
func (t *tableReader) end() error {
	if t.base != "" && len(t.columns) == 0 {
		return t.failf(t.start, "the table that starts here has no columns: expected col-1 : NAME below \"Relative to:\"; was the file cut?")
	}
	if len(t.columns) > 0 && t.found == 0 {
		return t.failf(t.start, "the table that starts here has no rows: expected a number for each of %d columns and a name such as scan_range=100", len(t.columns))
	}
	t.base, t.columns, t.start, t.found, t.rows = "", nil, 0, 0, map[string]int{}
	return nil
}

func (t *tableReader) row(text string) error {
	fields := strings.Fields(text)
	if strings.Contains(text, "\t") {
		fields = strings.Split(text, "\t")
	}
	if len(t.columns) == 0 || len(fields) < 2 || !numberField.MatchString(fields[0]) && fields[0] != "NA" {
		return nil
	}
	name := fields[len(fields)-1]
	full := publishedName.MatchString(name)
	switch tabs := strings.Contains(text, "\t"); {
	case numberField.MatchString(name) || strings.HasPrefix(name, "x."):
		return nil // a row of another table
	case !full && !tabs && len(fields) != len(t.columns)+1:
		return nil // prose
	case !full && !tabs:
		return t.failf(t.number, "expected a name such as scan_range=100 at the end, found %q: was the line cut?", clip(name))
	}
	if len(fields) != len(t.columns)+1 {
		return t.failf(t.number, "expected %d columns and a name, found %d: was the line cut?", len(t.columns), len(fields)-1)
	}
	if err := t.cut(); err != nil {
		return err
	}
	if before := t.rows[name]; before > 0 {
		return t.failf(t.number, "%s stands in line %d too", clip(name), before)
	}
	t.rows[name] = t.number
	t.found++
	if t.base != "" {
		if err := t.results.add(t.lines, t.measurement(name, t.base, "1.00", 1)); err != nil {
			return err
		}
	}
	for i, column := range t.columns {
		if fields[i] == "NA" {
			continue
		}
		value, err := t.float(column, fields[i])
		if err != nil {
			return err
		}
		m := t.measurement(name, column, fields[i], value)
		if m.Operations == 0 {
			t.results.rejectf(t.lines, t.number, "%s of %s is %s: nothing was measured, or it is out of range", clip(name), clip(column), clip(fields[i]))
			continue
		}
		if err := t.results.add(t.lines, m); err != nil {
			return err
		}
	}
	return nil
}

func (t *tableReader) measurement(benchmark, target, text string, value float64) Measurement {
	m := Measurement{Line: t.number, Tool: "published table", Benchmark: benchmark, Target: target, Relative: t.base}
	m.Latency.Mean = math.NaN()
	if t.base == "" && strings.HasPrefix(benchmark, "scan") {
		m.Unit = "krows" // as the scripts count scans
	}
	m.setRate(text, value)
	return m
}

// setRate stores a rate that comes without its time as so many operations in a
// time that keeps every printed digit: 0.91 is 91 in 100 s. A rate out of any
// range gives no operations.
func (m *Measurement) setRate(text string, value float64) {
	if value > 1e12 {
		return
	}
	seconds := 1.0
	if _, decimals, ok := strings.Cut(text, "."); ok {
		seconds = math.Pow10(min(len(decimals), 6))
	}
	m.Operations, m.ElapsedNs = int64(math.Round(value*seconds)), int64(seconds*1e9)
	m.RateStep = 1 / (value * seconds)
}

// publishedQPS reads sb.r.qps files of the published scripts: a line with the
// QPS of each number of connections, then engine, test and range; several if files
// were put together.
func publishedQPS() resultFormat {
	return resultFormat{
		name:      "sb.r.qps",
		recognise: func(head string) bool { return qpsLine.MatchString(firstWholeLine(head)) },
		read:      readPublishedQPS,
	}
}

var qpsLine = regexp.MustCompile(`\A[\d.]+(\t[\d.]+)*\t(\S+) (\S+) range=(\d+)\s*\z`)

func readPublishedQPS(l *lines, results *Results) error {
	for line := range l.all {
		if l.number > 1 && strings.TrimSpace(line) == "" {
			continue
		}
		if err := readQPSLine(l, results, line); err != nil {
			return err
		}
	}
	return l.err
}

func readQPSLine(l *lines, results *Results, line string) error {
	if err := l.cut(); err != nil {
		return err
	}
	match := qpsLine.FindStringSubmatch(line)
	if match == nil {
		return l.failf(l.number, "expected QPS, engine, test and range=N, found %q", clip(line))
	}
	numbers := strings.Split(line, "\t")
	for i, text := range numbers[:len(numbers)-1] {
		value, err := l.float("QPS", text)
		if err != nil {
			return err
		}
		m := Measurement{Line: l.number, Tool: "published scripts", Benchmark: match[3] + "_range=" + match[4]}
		m.Latency.Mean = math.NaN()
		if strings.HasPrefix(match[3], "scan") {
			m.Unit = "krows" // as run.sh counts scans
		}
		m.setRate(text, value)
		if m.Operations == 0 {
			results.rejectf(l, l.number, "column %d is %s: the run failed, or was too slow to count", i+1, clip(text))
			continue
		}
		if err := results.add(l, m); err != nil {
			return err
		}
	}
	return nil
}

// publishedFile is what the name of a file of the published scripts tells:
// sb.o.point-query.pre.range100.pk1.dop40.
var publishedFile = regexp.MustCompile(`^sb\.(o|r\.qps|vm|io|met)\.(.+)\.range(\d+)\.pk[01](?:\.dop(\d+))?(?:\.gz)?$`)

// PublishedFile tells kind ("o" and "r.qps" hold results, "vm", "io" and "met" are
// recordings beside them), benchmark and connections (0 if untold) by the name of a
// file of the published scripts.
func PublishedFile(path string) (kind, benchmark string, threads int, ok bool) {
	match := publishedFile.FindStringSubmatch(filepath.Base(path))
	if match == nil {
		return "", "", 0, false
	}
	threads, _ = strconv.Atoi(match[4]) // digits or nothing
	return match[1], match[2] + "_range=" + match[3], threads, true
}
