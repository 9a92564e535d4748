package exchange

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// Direction says which way a metric gets better.
type Direction string

// The directions. An unknown one leaves a change neither faster nor slower.
const (
	HigherIsBetter Direction = "higher"
	LowerIsBetter  Direction = "lower"
	Unknown        Direction = ""
)

// Series is a metric of a benchmark over ordered builds, commits or times.
type Series struct {
	Benchmark string
	Metric    string
	Unit      string // "" if the file names none
	Config    string // host, settings, branch: what else the series is of; "" if there is one only
	Better    Direction
	Step      float64 // in which the values move, as a fraction of them; 0 if unknown
	Points    []Point
}

// Point is one measured value. Neighbours with equal Label and Time are repeats
// of one position.
type Point struct {
	Label string    // what people call the position: version, commit, date, row
	Time  time.Time // zero if the file has none
	Value float64   // NaN if it is missing
	// Environment is what a change may come from beside the build, by name:
	// kernel, host, compiler.
	Environment map[string]string
}

// SeriesFile is what was read of one file.
type SeriesFile struct {
	Series []Series
	Notes  []string // what a reader of the result should know, with the file's name
}

// SeriesOptions say how to read files; the zero value recognises what it can.
type SeriesOptions struct {
	Columns     []string // of a CSV: those with the metrics; nil for all with numbers
	Time        string   // of a CSV: the column with the time
	Label       string   // of a CSV: the column that names the position
	Environment []string // of a CSV: columns with kernel, host, compiler and the like
	Delimiter   rune     // of a CSV: 0 for the one that its first line suggests
}

// ReadSeries reads the series of one file: Otava's CSV or any other with a header,
// Nyrkiö's JSON, github-action-benchmark's JSON or data.js, Bencher Metric
// Format, or Go benchmark results. The content decides which. The points come
// in the order of their positions. Errors have CodeUsage and name file, line and
// column.
func ReadSeries(name string, content []byte, opts SeriesOptions) (SeriesFile, error) {
	file, err := readSeries(name, content, opts)
	if err != nil {
		return SeriesFile{}, err
	}
	if len(file.Series) == 0 {
		return SeriesFile{}, seriesError(name, 0, 0, "there is no metric in any entry")
	}
	return file.ordered(name), nil
}

func readSeries(name string, content []byte, opts SeriesOptions) (SeriesFile, error) {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	trimmed := bytes.TrimSpace(content)
	switch {
	case len(trimmed) == 0:
		return SeriesFile{}, seriesError(name, 0, 0, "the file is empty; it should be a CSV with a header line, JSON, or Go benchmark results")
	case bytes.IndexByte(content, 0) >= 0:
		return SeriesFile{}, seriesError(name, 0, 0, "the file is not text in UTF-8; convert it first")
	case trimmed[0] == '{' || trimmed[0] == '[' || bytes.HasPrefix(trimmed, []byte(actionPrefix)):
		return readJSON(name, content)
	case isGoBenchmark(trimmed):
		return readGoBenchmark(name, content)
	}
	return readCSV(name, content, opts)
}

// JoinSeries puts the points of series of the same benchmark, metric, unit and
// config one after the other: files of one position each become a history, in
// the order of the files or, if time or version tell a better one, in that.
func JoinSeries(files []SeriesFile) SeriesFile {
	var joined SeriesFile
	type key struct{ benchmark, metric, unit, config string }
	at := map[key]int{}
	for _, file := range files {
		joined.Notes = append(joined.Notes, file.Notes...)
		for _, s := range file.Series {
			k := key{s.Benchmark, s.Metric, s.Unit, s.Config}
			if i, ok := at[k]; ok {
				joined.Series[i].Points = append(joined.Series[i].Points, s.Points...)
				continue
			}
			at[k] = len(joined.Series)
			s.Points = slices.Clone(s.Points)
			joined.Series = append(joined.Series, s)
		}
	}
	if len(files) == 1 {
		return joined
	}
	return joined.ordered("all files")
}

// seriesError is an error about a place in a file; a line or column of 0 is left out.
func seriesError(name string, line, column int, format string, args ...any) error {
	place := name
	if line > 0 {
		place += ":" + strconv.Itoa(line)
		if column > 0 {
			place += ":" + strconv.Itoa(column)
		}
	}
	return dbcanary.Errorf(dbcanary.CodeUsage, "%s: %s", place, fmt.Sprintf(format, args...))
}

// lineAndColumn of a byte offset, both from 1.
func lineAndColumn(content []byte, offset int64) (line, column int) {
	before := content[:min(max(0, int(offset)), len(content))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// byTime sorts the points by time if all have one, repeats staying together. It tells whether
// that changed their order.
func byTime(points []Point) bool {
	for _, p := range points {
		if p.Time.IsZero() {
			return false
		}
	}
	compare := func(a, b Point) int { return a.Time.Compare(b.Time) }
	if slices.IsSortedFunc(points, compare) {
		return false
	}
	slices.SortStableFunc(points, compare)
	return true
}

// baseName is the name of a file without folder and extension.
func baseName(name string) string {
	base := filepath.Base(name)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// parseNumber reads a number as tools write it; texts that stand for no value are NaN.
func parseNumber(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case "", "-", "na", "n/a", "nan", "null", "none":
		return math.NaN(), true
	}
	if strings.ContainsAny(text, "xX_pP") { // what only Go takes for a number
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// Words by which a metric or its unit tells which way it gets better. Rates come
// first: "ops/s" holds "s".
var (
	higherWords = []string{"/s", "/sec", "/second", "ops", "qps", "tps", "rps", "ops_sec", "mb_sec", "mb/s", "throughput", "per_second", "rate", "bandwidth"}
	lowerWords  = []string{
		"ns", "us", "µs", "ms", "s", "sec", "secs", "seconds", "ns/op", "b/op", "allocs/op", "ns/iter", "b", "bytes", "kb", "mb",
		"latency", "time", "duration", "elapsed", "rss", "memory", "cpu", "cycles", "instructions", "errors", "stall%", "usec_op",
		"p50", "p90", "p95", "p99", "p99.9", "p99.99", "pmax",
	}
)

// guessDirection goes by the unit, and by the words of the metric if the unit says nothing.
func guessDirection(metric, unit string) Direction {
	for _, text := range []string{unit, metric} {
		text = strings.ToLower(strings.TrimSpace(text))
		words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" _-.()[]:", r) })
		words = append(words, text)
		for _, word := range words {
			if slices.Contains(higherWords, word) || strings.HasSuffix(word, "/s") || strings.HasSuffix(word, "/sec") {
				return HigherIsBetter
			}
		}
		for _, word := range words {
			if slices.Contains(lowerWords, word) {
				return LowerIsBetter
			}
		}
	}
	return Unknown
}
