package exchange

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// Table is a table of a published report that holds no result of a benchmark.
type Table struct {
	Kind    string // "summary", "hosts", "waits"
	Line    int    // of its header
	Columns []string
	Rows    []TableRow
}

// TableRow is a row of a Table, with its numbers as they were printed.
type TableRow struct {
	Name  string
	Cells []string
}

// The kinds of Table.
const (
	TableSummary = "summary" // min, max, avg and median of the ratios of groups
	TableHosts   = "hosts"   // ratios of one benchmark by host and target
	TableWaits   = "waits"   // seconds by event
)

var (
	metTitle     = regexp.MustCompile(`^sb\.met\.(.+)\.range(\d+)\.pk[01](?:\.dop(\d+))?$`)
	boxRule      = regexp.MustCompile(`\s*(\+-[-+]*-\+)\s*`)
	secondsRow   = regexp.MustCompile(`^(\d+\.\d+\.\d+\S*)((?:\s+\d+(?:\.\d+)?)+)$`)
	hostsHeader  = regexp.MustCompile(`^server((?:\s+\d+\.\d+(?:\.\d+)?)+)$`)
	hostsRow     = regexp.MustCompile(`^(\S+)((?:\s+\d+\.\d+)+)$`)
	waitsRow     = regexp.MustCompile(`^(\d+\.\d+)\s+(wait/\S+)$`)
	summaryRow   = regexp.MustCompile(`^(\S+)((?:\s+\d+\.\d\d){4})$`)
	tablesMark   = regexp.MustCompile(`(?m)^(--- absolute|\s*min\s+max\s+avg\s+median|Seconds\s+Event|(binary|version)\s.*(seconds|select).*|\| threads \|(.*\|)? throughput \|.*)$`)
	sqlBenchTest = []string{"alter-table", "ATIS", "big-tables", "connect", "create", "insert", "select", "transact", "transactions", "wisconsin", "table-elimination"}
)

// otherTable is a table under way that is none of relative or absolute QPS.
type otherTable interface {
	// row takes a line that is not blank; false if the table ended before it.
	row(t *tableReader, text string) (bool, error)
	// end says what is wrong with a table that ends here.
	end(t *tableReader) error
}

// other takes a line as one of a table of another kind; false if it is none.
func (t *tableReader) other(text string) (bool, error) {
	if text == "" {
		return t.under != nil, nil // blank lines part the rows of some posts
	}
	if t.under != nil {
		used, err := t.under.row(t, text)
		if used || err != nil {
			return true, err
		}
		if err := t.endOther(); err != nil {
			return true, err
		}
	}
	if metTitle.MatchString(text) {
		t.title = text
		return true, nil
	}
	t.under = t.starts(text)
	if t.under != nil {
		return true, t.end()
	}
	return false, nil
}

func (t *tableReader) endOther() error {
	under := t.under
	t.under = nil
	if under == nil {
		return nil
	}
	return under.end(t)
}

// starts gives the table that begins with this line, nil if none does.
func (t *tableReader) starts(text string) otherTable {
	fields := strings.Fields(text)
	switch {
	case text == "--- absolute":
		m := &metTable{start: t.number}
		m.benchmark, m.threads = t.metName()
		return m
	case slices.Equal(fields, []string{"min", "max", "avg", "median"}):
		return &plainTable{Table{Kind: TableSummary, Line: t.number, Columns: fields}, summaryRow}
	case slices.Equal(fields, []string{"Seconds", "Event"}):
		return &plainTable{Table{Kind: TableWaits, Line: t.number, Columns: fields[:1]}, waitsRow}
	case hostsHeader.MatchString(text):
		return &plainTable{Table{Kind: TableHosts, Line: t.number, Columns: fields[1:]}, hostsRow}
	case strings.HasPrefix(text, "+-"):
		return &boxTable{}
	case len(fields) > 1 && (fields[0] == "binary" || fields[0] == "version"):
		return newSecondsTable(fields)
	}
	return nil
}

// metName takes what the title above a table of costs tells.
func (t *tableReader) metName() (benchmark string, threads int) {
	match := metTitle.FindStringSubmatch(t.title)
	t.title = ""
	if match == nil {
		t.results.Notes = append(t.results.Notes, t.failf(t.number, "the table has no title such as sb.met.scan.range100.pk1.dop1, so its benchmark is called untitled").Error())
		return "untitled", 0
	}
	threads, _ = strconv.Atoi(match[3]) // digits or nothing
	return match[1] + "_range=" + match[2], threads
}

// plainTable is one that is kept as it is.
type plainTable struct {
	table   Table
	pattern *regexp.Regexp
}

func (p *plainTable) row(_ *tableReader, text string) (bool, error) {
	if strings.Trim(text, "- ") == "" {
		return true, nil // a rule
	}
	match := p.pattern.FindStringSubmatch(text)
	if match == nil {
		return false, nil
	}
	if p.table.Kind == TableWaits {
		match[1], match[2] = match[2], match[1]
	}
	cells := strings.Fields(match[2])
	if len(cells) != len(p.table.Columns) || len(p.table.Rows) >= mostMeasurements {
		return false, nil
	}
	p.table.Rows = append(p.table.Rows, TableRow{match[1], cells})
	return true, nil
}

func (p *plainTable) end(t *tableReader) error {
	if len(p.table.Rows) == 0 {
		return nil // prose that reads like a header
	}
	t.results.Tables = append(t.results.Tables, p.table)
	return nil
}

// metTable is a table of hardware cost: absolute rows, then relative ones, which
// follow from them.
type metTable struct {
	start     int
	benchmark string
	threads   int
	header    []string
	relative  bool
	rows      int
}

func (m *metTable) row(t *tableReader, text string) (bool, error) {
	fields := strings.Fields(text)
	switch {
	case m.header == nil:
		m.header = fields
		if fields[len(fields)-1] != "dbms" || !slices.Contains(fields, "o/s") {
			return true, t.failf(t.number, "expected the names of columns, cpu/o cs/o … o/s dbms, found %q", clip(text))
		}
		return true, nil
	case text == "--- relative to first result":
		m.relative = true
		return true, nil
	case !numberField.MatchString(fields[0]) && fields[0] != "inf":
		return false, nil
	case len(fields) != len(m.header):
		return true, t.failf(t.number, "expected %d columns, found %d: was the line cut?", len(m.header), len(fields))
	case m.relative:
		return true, t.cut()
	}
	if err := t.cut(); err != nil {
		return true, err
	}
	m.rows++
	return true, m.add(t, fields)
}

func (m *metTable) add(t *tableReader, fields []string) error {
	last := len(fields) - 1
	found := Measurement{Line: t.number, Tool: "published table", Benchmark: m.benchmark, Target: fields[last], Threads: m.threads}
	found.Latency.Mean = math.NaN()
	if strings.HasPrefix(m.benchmark, "scan") {
		found.Unit = "krows"
	}
	rec := Recording{}
	for i, name := range m.header[:last] {
		v, err := t.float(name, fields[i])
		if err != nil {
			return err
		}
		if metric, factor := perOperation(name); metric != "" {
			rec.Rates = append(rec.Rates, Rate{Name: metric, PerOperation: v * factor})
		} else if name == "o/s" {
			found.setRate(fields[i], v)
		}
	}
	if found.Operations == 0 {
		t.results.rejectf(t.lines, t.number, "%s did 0 operations a second: nothing was measured, or it is out of range", clip(found.Target))
		return nil
	}
	found.attach(rec)
	return t.addOnce(found)
}

func (m *metTable) end(t *tableReader) error {
	if m.rows == 0 {
		return t.failf(m.start, "the table that starts here has no rows: expected a number for cpu/o, cs/o, … o/s and a name")
	}
	return nil
}

// nextSet begins the tables of another host.
func (t *tableReader) nextSet() {
	if len(t.seen) > 0 {
		t.set++
		clear(t.seen)
	}
}

func sameMetric(a, b dbcanary.Metric) bool { return a.Name == b.Name && a.Value == b.Value }

// addOnce adds a measurement of a file in which tables of several hosts may stand one
// below the other: where a benchmark comes again, and with each table of relative QPS,
// the next set begins. The same numbers again are left out.
func (t *tableReader) addOnce(m Measurement) error {
	key := fmt.Sprintf("%s\x00%s\x00%d", m.Benchmark, m.Target, m.Threads)
	if before, ok := t.seen[key]; ok && before.Operations == m.Operations && before.ElapsedNs == m.ElapsedNs && slices.EqualFunc(before.Metrics, m.Metrics, sameMetric) {
		t.again++
		return nil
	} else if ok {
		t.nextSet()
	}
	if t.seen == nil {
		t.seen = map[string]Measurement{}
	}
	m.Set = t.set
	t.seen[key] = m
	return t.results.add(t.lines, m)
}

// note tells what was left out.
func (t *tableReader) note() {
	note := func(format string, args ...any) {
		t.results.Notes = append(t.results.Notes, fmt.Sprintf("%s: %s", t.name, fmt.Sprintf(format, args...)))
	}
	for _, kind := range []string{TableSummary, TableHosts, TableWaits} {
		var at []string
		for _, table := range t.results.Tables {
			if table.Kind == kind {
				at = append(at, strconv.Itoa(table.Line))
			}
		}
		if len(at) > 0 {
			note("tables of %s hold no result of a benchmark and were left out (line %s)", kind, strings.Join(at, ", "))
		}
	}
	if t.again > 0 {
		note("%d results stand in several places, and count once", t.again)
	}
}

// boxTable is a table in the boxes of the mysql client: threads, and throughput by target.
type boxTable struct {
	names  []string // the first row: benchmark and targets
	header []string // the second
}

func (b *boxTable) row(t *tableReader, text string) (bool, error) {
	if strings.HasPrefix(text, "+-") {
		return true, nil
	}
	if !strings.HasPrefix(text, "|") {
		return false, nil
	}
	var cells []string
	for _, cell := range strings.Split(strings.Trim(text, "|"), "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	switch {
	case cells[0] == "threads" && len(b.names) == len(cells):
		b.header = cells
		return true, nil
	case b.header == nil || len(cells) > 0 && !numberField.MatchString(cells[0]):
		b.names, b.header = cells, nil
		return true, nil
	case len(cells) != len(b.header):
		return true, t.failf(t.number, "expected %d columns, found %d: was the line cut?", len(b.header), len(cells))
	}
	threads, err := t.count("threads", cells[0])
	if err != nil {
		return true, err
	}
	for i, name := range b.header {
		if name != "throughput" || b.names[i] == "" {
			continue
		}
		v, err := t.float(name, cells[i])
		if err != nil {
			return true, err
		}
		m := Measurement{Line: t.number, Tool: "published table", Benchmark: b.names[0], Target: b.names[i], Threads: int(min(threads, math.MaxInt32)), Unit: "events"}
		m.Latency.Mean = math.NaN()
		m.setRate(cells[i], v)
		if m.Operations == 0 {
			t.results.rejectf(t.lines, t.number, "%s of %s is %s: nothing was measured, or it is out of range", clip(m.Benchmark), clip(m.Target), clip(cells[i]))
			continue
		}
		if err := t.addOnce(m); err != nil {
			return true, err
		}
	}
	return true, nil
}

func (b *boxTable) end(*tableReader) error { return nil }

// secondsTable is a table of times of sql-bench by version.
type secondsTable struct {
	benchmarks []string
}

// newSecondsTable gives nil if a header is not of such a table.
func newSecondsTable(fields []string) otherTable {
	if fields[len(fields)-1] == "seconds" || fields[len(fields)-1] == "query-seconds" {
		return &secondsTable{[]string{strings.Join(fields[1:], " ")}}
	}
	s := &secondsTable{}
	for _, name := range fields[1:] {
		if !slices.Contains(sqlBenchTest, name) {
			return nil
		}
		s.benchmarks = append(s.benchmarks, "sql-bench "+name)
	}
	return s
}

func (s *secondsTable) row(t *tableReader, text string) (bool, error) {
	match := secondsRow.FindStringSubmatch(text)
	if match == nil {
		return false, nil
	}
	cells := strings.Fields(match[2])
	if len(cells) != len(s.benchmarks) {
		return true, t.failf(t.number, "expected %d times in seconds, found %d: was the line cut?", len(s.benchmarks), len(cells))
	}
	for i, cell := range cells {
		seconds, err := t.float(s.benchmarks[i], cell)
		if err != nil {
			return true, err
		}
		if !(seconds > 0 && seconds < 1e9) {
			t.results.rejectf(t.lines, t.number, "%s of %s took %s seconds, which gives no rate", s.benchmarks[i], clip(match[1]), clip(cell))
			continue
		}
		_, decimals, _ := strings.Cut(cell, ".")
		m := Measurement{Line: t.number, Tool: "published table", Benchmark: s.benchmarks[i], Target: match[1], Unit: "runs", Operations: 1}
		m.Latency.Mean = math.NaN()
		m.ElapsedNs = max(1, int64(math.Round(seconds*1e9)))
		m.RateStep = math.Pow10(-len(decimals)) / seconds
		if err := t.addOnce(m); err != nil {
			return true, err
		}
	}
	return true, nil
}

func (s *secondsTable) end(*tableReader) error { return nil }
