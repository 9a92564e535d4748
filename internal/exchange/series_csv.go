package exchange

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// Names of columns that are no metrics, most telling first.
var (
	timeColumns        = []string{"time", "timestamp", "date", "datetime"}
	labelColumns       = []string{"commit", "git_commit", "hash", "sha", "revision", "rev", "version", "build", "release", "tag"}
	environmentColumns = []string{"kernel", "host", "hostname", "machine", "runner", "os", "compiler", "cpu", "environment", "env"}
	otherColumns       = []string{"seq", "branch", "message", "author", "url", "id"}
)

const branchColumn = "branch"

// csvTable is a CSV file in memory, with the place of each field.
type csvTable struct {
	name   string
	header []string
	rows   [][]string
	places [][]csvPlace
	// Indexes of columns, -1 if there is none.
	time, label, branch int
	environment         []int
	metrics             []int
}

type csvPlace struct{ line, column int }

func readCSV(name string, content []byte, opts SeriesOptions) (SeriesFile, error) {
	t, err := readTable(name, content, opts)
	if err != nil {
		return SeriesFile{}, err
	}
	if err := t.chooseColumns(opts); err != nil {
		return SeriesFile{}, err
	}
	return t.series()
}

func readTable(name string, content []byte, opts SeriesOptions) (*csvTable, error) {
	reader := csv.NewReader(bytes.NewReader(content))
	reader.Comma = opts.Delimiter
	if reader.Comma == 0 {
		reader.Comma = delimiterOf(content)
	}
	reader.TrimLeadingSpace = true
	reader.FieldsPerRecord = -1
	t := &csvTable{name: name}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			var broken *csv.ParseError
			if errors.As(err, &broken) {
				return nil, seriesError(name, broken.Line, broken.Column, "%v", broken.Err)
			}
			return nil, seriesError(name, 0, 0, "%v", err)
		}
		places := make([]csvPlace, len(row))
		for i := range row {
			places[i].line, places[i].column = reader.FieldPos(i)
			row[i] = strings.TrimSpace(row[i])
		}
		if t.header == nil {
			t.header = row
			continue
		}
		if len(row) != len(t.header) {
			return nil, seriesError(name, places[0].line, 0, "%d fields, but the header has %d columns", len(row), len(t.header))
		}
		t.rows, t.places = append(t.rows, row), append(t.places, places)
	}
	if len(t.rows) == 0 {
		return nil, seriesError(name, 0, 0, "there is a header but no data")
	}
	for i, column := range t.header {
		if slices.Index(t.header, column) != i {
			return nil, seriesError(name, 1, 0, "two columns are called %q", column)
		}
	}
	if _, ok := parseNumber(t.header[0]); ok && t.header[0] != "" {
		return nil, seriesError(name, 1, 1, "%q looks like data: the first line must name the columns", t.header[0])
	}
	return t, nil
}

// delimiterOf is what is most frequent in the first line of comma, semicolon and tab.
func delimiterOf(content []byte) rune {
	first, _, _ := bytes.Cut(content, []byte("\n"))
	best := ','
	for _, candidate := range ";\t" {
		if bytes.Count(first, []byte(string(candidate))) > bytes.Count(first, []byte(string(best))) {
			best = candidate
		}
	}
	return best
}

// chooseColumns finds the columns that were asked for, and those that their names or contents tell.
func (t *csvTable) chooseColumns(opts SeriesOptions) error {
	var err error
	if t.time, err = t.find(opts.Time, timeColumns); err != nil {
		return err
	}
	if t.label, err = t.find(opts.Label, labelColumns); err != nil {
		return err
	}
	t.branch = t.known(branchColumn)
	for _, name := range opts.Environment {
		i, err := t.find(name, nil)
		if err != nil {
			return err
		}
		t.environment = append(t.environment, i)
	}
	if opts.Environment == nil {
		for _, name := range environmentColumns {
			// A load of the CPU is a metric, its name is none.
			if i := t.known(name); i >= 0 && (name != "cpu" || !t.startsWithNumber(i)) {
				t.environment = append(t.environment, i)
			}
		}
	}
	for _, name := range opts.Columns {
		i, err := t.find(name, nil)
		if err != nil {
			return err
		}
		t.metrics = append(t.metrics, i)
	}
	if opts.Columns != nil {
		return nil
	}
	for i, name := range t.header {
		lower := strings.ToLower(name)
		if i == t.time || i == t.label || slices.Contains(t.environment, i) || slices.Contains(otherColumns, lower) ||
			slices.Contains(timeColumns, lower) || slices.Contains(labelColumns, lower) {
			continue
		}
		if t.startsWithNumber(i) {
			t.metrics = append(t.metrics, i)
		}
	}
	if len(t.metrics) == 0 {
		return seriesError(t.name, 1, 0, "no column holds numbers; there are %s, and the first row is %q%s",
			strings.Join(t.header, ", "), t.rows[0], decimalHint(strings.Join(t.rows[0], " ")))
	}
	return nil
}

// find gives the column that was asked for by name, or the first one of the usual names, or -1.
func (t *csvTable) find(name string, usual []string) (int, error) {
	if name == "" {
		for _, candidate := range usual {
			if i := t.known(candidate); i >= 0 {
				return i, nil
			}
		}
		return -1, nil
	}
	if i := slices.Index(t.header, name); i >= 0 {
		return i, nil
	}
	if i := t.known(name); i >= 0 {
		return i, nil
	}
	return -1, seriesError(t.name, 1, 0, "there is no column %q%s", name, dbcanary.DidYouMean(name, t.header))
}

// known is the column of that name in any case, or -1.
func (t *csvTable) known(name string) int {
	return slices.IndexFunc(t.header, func(column string) bool { return strings.EqualFold(column, name) })
}

// startsWithNumber looks at the first value that is there. A text after it is
// then an error and not a reason to leave the column out in silence.
func (t *csvTable) startsWithNumber(column int) bool {
	for _, row := range t.rows {
		if v, ok := parseNumber(row[column]); !ok {
			return false
		} else if !math.IsNaN(v) {
			return true
		}
	}
	return false
}

func (t *csvTable) series() (SeriesFile, error) {
	var file SeriesFile
	branches := t.branches()
	for _, column := range t.metrics {
		for _, branch := range branches {
			s := Series{Benchmark: baseName(t.name), Metric: t.header[column], Better: guessDirection(t.header[column], "")}
			if len(branches) > 1 {
				s.Config = "branch " + branch
			}
			for r, row := range t.rows {
				if t.branch >= 0 && row[t.branch] != branch {
					continue
				}
				p, err := t.point(r, column)
				if err != nil {
					return SeriesFile{}, err
				}
				s.Points = append(s.Points, p)
			}
			file.Series = append(file.Series, s)
		}
	}
	return file, nil
}

func (t *csvTable) branches() []string {
	if t.branch < 0 {
		return []string{""}
	}
	var names []string
	for _, row := range t.rows {
		if !slices.Contains(names, row[t.branch]) {
			names = append(names, row[t.branch])
		}
	}
	return names
}

func (t *csvTable) point(r, column int) (Point, error) {
	row, place := t.rows[r], t.places[r][column]
	p := Point{Label: strconv.Itoa(r + 1)} // the number of the row, if nothing names it
	v, ok := parseNumber(row[column])
	if !ok {
		return p, seriesError(t.name, place.line, place.column, "column %q: %q is not a number%s", t.header[column], row[column], decimalHint(row[column]))
	}
	p.Value = v
	if t.time >= 0 {
		at, ok := ParseTime(row[t.time])
		if !ok {
			return p, seriesError(t.name, place.line, t.places[r][t.time].column, "column %q: %q is not a time", t.header[t.time], row[t.time])
		}
		p.Time, p.Label = at, row[t.time]
	}
	if t.label >= 0 {
		p.Label = row[t.label]
		if p.Label == "" {
			return p, seriesError(t.name, place.line, t.places[r][t.label].column, "column %q: the position has no name", t.header[t.label])
		}
	}
	for _, i := range t.environment {
		if p.Environment == nil {
			p.Environment = map[string]string{}
		}
		p.Environment[t.header[i]] = row[i]
	}
	return p, nil
}

var decimalComma = regexp.MustCompile(`\d,\d`)

func decimalHint(text string) string {
	if decimalComma.MatchString(text) {
		return " (write a decimal point, not a comma)"
	}
	return ""
}

// timeLayouts are those of Otava's examples, RFC 3339 and what databases print.
var timeLayouts = []string{
	time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 -07:00", "2006-01-02 15:04:05",
	"2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02", "2006.01.02 15:04:05 -0700", "2006.01.02 15:04:05", "2006.01.02",
	"2006/01/02 15:04:05", "2006/01/02", time.RFC1123Z, time.RFC1123, "Mon Jan 2 15:04:05 2006 -0700",
}

// ParseTime reads a time as files of series hold it: a date, a date with time,
// or a Unix time in seconds, milliseconds, microseconds or nanoseconds.
func ParseTime(text string) (time.Time, bool) {
	for _, layout := range timeLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), true
		}
	}
	v, ok := parseNumber(text)
	if !ok || math.IsNaN(v) || math.Abs(v) > 1e19 {
		return time.Time{}, false
	}
	for math.Abs(v) > 1e11 { // later than the year 5138 in seconds
		v /= 1000
	}
	whole, part := math.Modf(v)
	return time.Unix(int64(whole), int64(part*1e9)).UTC(), true
}
