package exchange

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// Measurement is one result of another tool: one benchmark on one target for
// some time. What a tool does not tell is zero, NaN for a mean.
type Measurement struct {
	File string
	Line int    // where the result starts
	Tool string // with its version if the file tells: "sysbench 1.0.20"

	Benchmark string // as the file names it; "" if it does not
	Target    string // the same
	Family    dbcanary.Family
	Threads   int
	Started   time.Time

	ElapsedNs  int64
	Operations int64  // statements; something else if Unit says so
	Events     int64  // transactions
	Unit       string // of Operations: "" for statements, else "transactions", "krows", …
	// Relative is the name of the base if Operations by ElapsedNs is not a rate but
	// a ratio to that base; "" for rates.
	Relative string
	// RateStep is the step of the rate as a fraction of it: 0.01 for 1.00 of a table
	// with two decimals.
	RateStep float64

	Latency     dbcanary.Latency // of events
	LatencyStep float64          // step of the percentiles as a fraction
	Histogram   []byte           // as in dbcanary.Trial
	Retries     int64
	Errors      map[string]int64
	Intervals   []Interval

	// Set tells apart tables of several hosts in one file, which are runs of their own.
	Set int

	WarmupNs int64             // that went before
	CPUs     int               // of the host, 0 if untold
	Metrics  []dbcanary.Metric // of recordings beside it
	stacks   []sampledStacks   // the same
}

// Interval is a part of a measurement that the tool reported while it went on.
type Interval struct {
	EndS      float64 // seconds since the start
	Events    float64 // per second
	LatencyNs float64 // the percentile or mean that the tool chose, 0 if none
}

// Results is what was read of one file.
type Results struct {
	Format       string // name of the format
	Measurements []Measurement
	Recordings   []Recording
	Tables       []Table // that hold no result
	// Rejected are results that must not be used, and why, with file and line.
	Rejected []error
	Notes    []string // what a reader should know, with the file's name
}

// resultFormat is how one tool writes its results.
type resultFormat struct {
	name string
	// recognise tells from the first lines of a file whether it is of the format.
	recognise func(head string) bool
	// begins tells whether output of the tool begins with this line, which has no
	// place within the output of another; nil if no line is so plain.
	begins func(line string) bool
	// read adds what it finds to the results. An error ends the file; what was
	// added before stays.
	read func(*lines, *Results) error
}

// resultFormats lists every format, the most particular first: those that the first
// line of a file tells come before those that any line tells.
func resultFormats() []resultFormat {
	return slices.Concat(recordingFormats(), []resultFormat{
		publishedQPS(),
		mysqlslapCSV(),
		pgbenchAggregate(),
		pgbenchLog(),
		benchBase(),
	}, anchoredSeries(), []resultFormat{
		sysbenchJSON(),
		publishedTable(), // may quote the command line of sysbench
		sysbenchText(),
		pgbenchText(),
		mysqlslapText(),
		sqlBench(),
		insertBenchmark(),
		goTPC(),
		hammerDB(),
		goBenchmarks(),
	})
}

// ResultFormats names what ReadResults reads, by letters.
func ResultFormats() []string {
	var names []string
	for _, f := range resultFormats()[len(recordingFormats()):] {
		names = append(names, f.name)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return names
}

// headBytes is how far a file is looked into to recognise it: the published
// scripts put a command line and plans of statements before the results.
const headBytes = 64 << 10

// ReadResults reads the results in one file of another tool; the content decides
// which tool. Text may be compressed with gzip, UTF-8 or UTF-16, with either end of line.
// It streams: memory does not grow with the file but for intervals. Errors have
// CodeUsage and name file and line; measurements that come with an error are whole.
func ReadResults(name string, content io.Reader) (Results, error) {
	return readResults(name, content, recordingOptions{sinceBoot: true})
}

func readResults(name string, content io.Reader, recording recordingOptions) (Results, error) {
	text, err := openText(name, content)
	if err != nil {
		return Results{}, err
	}
	l := newLines(name, text)
	head, err := l.head()
	if err != nil {
		return Results{}, err
	}
	for _, f := range resultFormats() {
		if !f.recognise(head) {
			continue
		}
		results := Results{Format: f.name}
		l.recording = recording
		l.others = beginningsExcept(f.name)
		err := f.read(l, &results)
		if l.err != nil {
			err = l.err
		}
		if err == nil && len(results.Measurements)+len(results.Recordings)+len(results.Tables)+len(results.Rejected) == 0 {
			err = l.failf(l.number, "this looks like %s but holds no result", f.name)
		}
		return results, err
	}
	return Results{}, unknownFormat(name, head)
}

func beginningsExcept(name string) []resultFormat {
	var others []resultFormat
	for _, f := range resultFormats() {
		if f.begins != nil && firstWord(f.name) != firstWord(name) && !(isSysstat(f.name) && isSysstat(name)) {
			others = append(others, f)
		}
	}
	return others
}

func unknownFormat(name, head string) error {
	first := firstLine(head)
	if first == "" {
		return seriesError(name, 1, 0, "the file is empty; a result of another tool should stand here")
	}
	return seriesError(name, 1, 0, "no format that is known starts with %q; what is read is %s, and the recordings %s", first, strings.Join(ResultFormats(), ", "), strings.Join(RecordingFormats(), ", "))
}

// rejectf notes a result that must not be used.
func (r *Results) rejectf(l *lines, line int, format string, args ...any) {
	r.Rejected = append(r.Rejected, l.failf(line, format, args...))
}

// errTooMany keeps memory bounded whatever a file holds.
var errTooMany = errors.New("too many")

// mostMeasurements of one file.
const mostMeasurements = 100_000

// add takes a measurement.
func (r *Results) add(l *lines, m Measurement) error {
	if len(r.Measurements) >= mostMeasurements {
		return fmt.Errorf("%w: %w", l.failf(m.Line, "the file holds more than %d results", mostMeasurements), errTooMany)
	}
	m.File = l.name
	r.Measurements = append(r.Measurements, m)
	return nil
}
