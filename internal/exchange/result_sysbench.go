package exchange

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// sysbench counts latencies in 1024 buckets from 1 µs to 100 s, each 1.8 % longer
// than the one before (sb_histogram.c): no percentile is finer.
const sysbenchLatencyStep = 0.0182

// sysbenchText reads the output of sysbench 1.0 and 1.1, and the statistics of 0.5: one or more runs, with
// intervals, checkpoints and histograms, also with the intervals of its CSV hook.
func sysbenchText() resultFormat {
	return resultFormat{
		name: "sysbench",
		recognise: func(head string) bool {
			return sysbenchMark.MatchString(head) || sysbenchCSVHead.MatchString(head)
		},
		begins: func(line string) bool {
			return strings.HasPrefix(line, "sysbench ") && sysbenchVersion.MatchString(line) ||
				strings.HasPrefix(line, "SQL statistics:") || strings.HasPrefix(line, "Running the test with following options:")
		},
		read: func(l *lines, results *Results) error {
			r := &sysbenchReader{lines: l, results: results}
			return r.read()
		},
	}
}

var (
	sysbenchVersion = regexp.MustCompile(`^sysbench (\d[\w.-]*)`)
	sysbenchMark    = regexp.MustCompile(`(?m)^(sysbench \d|Running the test with following options:|SQL statistics:|OLTP test statistics:|\[ *\d+s *\] (thds|Checkpoint)|FATAL: |\S*sysbench .* run( |$))`)
	// The CSV hook writes ten columns and no header.
	sysbenchCSVHead   = regexp.MustCompile(`\A(time,(threads|thds),tps,qps,[^\n]*\n)?\d+(\.\d+)?,\d+(,\d+\.\d+){8}(\n|$)`)
	sysbenchBucket    = regexp.MustCompile(`^\s*([\d.]+) \|[* ]* *(\d+)$`)
	sysbenchCountRate = regexp.MustCompile(`^(\d+) *\(([\d.]+) per sec\.\)$`)
	sysbenchNth       = regexp.MustCompile(`^(?:approx\. +)?(\d+)(?:st|nd|rd|th)? percentile$`)
)

// sysbenchRun is a run while it is read.
type sysbenchRun struct {
	Measurement
	begun      bool
	hasOptions bool
	failure    string // the FATAL or ALERT line
	failedAt   int
	checkpoint bool // the statistics that follow are a checkpoint's
	isReport   bool // the statistics under way, or last read, are a checkpoint's
	dropped    int  // checkpoints before the last statistics
	inBlock    bool
	sql        bool    // statements were counted
	queryRate  float64 // as printed
	buckets    []sysbenchCount
	csv        csvSum
}

type sysbenchCount struct {
	ms    float64
	count int64
}

// csvSum adds up the rows of the CSV hook of a run that has no statistics.
type csvSum struct {
	lastS, qps, tps float64 // integrals over time
	rows            int
}

type sysbenchReader struct {
	*lines
	results *Results
	run     sysbenchRun
	version string
	cpus    int // of the host, which the published scripts print
	command sysbenchCommand
}

// sysbenchCommand is what a command line before the output tells. The line
// itself is not kept: it may hold a password.
type sysbenchCommand struct {
	benchmark string
	family    dbcanary.Family
}

func (r *sysbenchReader) read() error {
	for line := range r.all {
		if err := r.line(line); err != nil {
			return err
		}
	}
	return r.finish()
}

// begin starts a run at this line if none is under way.
func (r *sysbenchReader) begin() {
	if !r.run.begun {
		r.run = sysbenchRun{begun: true}
		r.run.Line, r.run.Latency.Mean = r.number, math.NaN()
		r.run.Benchmark, r.run.Family, r.run.CPUs = r.command.benchmark, r.command.family, r.cpus
	}
}

func (r *sysbenchReader) line(line string) error {
	text := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(line, "sysbench "):
		if match := sysbenchVersion.FindStringSubmatch(line); match != nil {
			if err := r.finish(); err != nil {
				return err
			}
			r.version = match[1] // no run yet: prepare and cleanup print as much
		} else {
			r.commandLine(line)
		}
		return nil
	case text == "Running the test with following options:":
		if r.run.hasOptions {
			if err := r.finish(); err != nil {
				return err
			}
		}
		r.begin()
		r.run.hasOptions = true
		return nil
	case strings.HasPrefix(text, "FATAL: "), strings.HasPrefix(text, "ALERT: "):
		r.begin()
		if r.run.failure == "" {
			r.run.failure, r.run.failedAt = text, r.number
		}
		return nil
	case strings.HasPrefix(text, "["):
		return r.interval(text)
	case strings.Contains(line, "sysbench") && strings.Contains(line, " --"):
		r.commandLine(line)
		return nil
	case strings.HasSuffix(text, " CPUs"):
		if cpus, err := strconv.Atoi(strings.TrimSuffix(text, " CPUs")); err == nil {
			r.cpus = max(0, cpus)
		}
		return nil
	case text != "" && text[0] <= '9' && isSysbenchRow(text):
		return r.csvRow(text)
	}
	if strings.Contains(line, " |") {
		if match := sysbenchBucket.FindStringSubmatch(line); match != nil && r.run.begun {
			return r.bucket(match[1], match[2])
		}
		return nil
	}
	return r.statistic(text)
}

// commandLine learns the name of the test: the last word before "run" that is no option.
func (r *sysbenchReader) commandLine(line string) {
	words := strings.Fields(line)
	found := ""
	for _, word := range words {
		switch {
		case word == "--db-driver=mysql":
			r.command.family = dbcanary.MySQL
		case word == "--db-driver=pgsql":
			r.command.family = dbcanary.Postgres
		case word == "run" && found != "":
			r.command.benchmark = found
		case !strings.HasPrefix(word, "-") && !strings.HasSuffix(word, "sysbench"):
			found = strings.TrimSuffix(word[strings.LastIndexByte(word, '/')+1:], ".lua")
		}
	}
}

func (r *sysbenchReader) interval(text string) error {
	if strings.HasSuffix(text, "Checkpoint report:") {
		r.begin()
		r.run.checkpoint = true
		return nil
	}
	if !strings.Contains(text, " thds: ") {
		return nil
	}
	var i Interval
	for _, part := range []struct {
		what, from, to string
		into           *float64
		scale          float64
	}{
		{"the time", "[ ", "s ]", &i.EndS, 1},
		{"tps", "ps: ", " ", &i.Events, 1},
		{"the latency", "%): ", " ", &i.LatencyNs, 1e6},
	} {
		_, rest, ok := strings.Cut(text, part.from)
		value, _, _ := strings.Cut(rest, part.to)
		if !ok {
			return r.failf(r.number, "an interval of sysbench should read \"[ 10s ] thds: … tps: … lat (ms,95%%): …\"; found %q", clip(text))
		}
		v, err := r.float(part.what, value)
		if err != nil {
			return err
		}
		*part.into = v * part.scale
	}
	r.begin()
	return r.addInterval(i)
}

// mostIntervals of a run: seven weeks of seconds.
const mostIntervals = 1 << 22

func (r *sysbenchReader) addInterval(i Interval) error {
	if n := len(r.run.Intervals); n > 0 && i.EndS < r.run.Intervals[n-1].EndS {
		return r.failf(r.number, "the interval at %gs follows one at %gs: output of two runs is mixed", i.EndS, r.run.Intervals[n-1].EndS)
	}
	if len(r.run.Intervals) >= mostIntervals {
		return r.failf(r.number, "the run has more than %d intervals", mostIntervals)
	}
	r.run.Intervals = append(r.run.Intervals, i)
	return nil
}

// isSysbenchRow tells a row of the CSV hook: a time, a number of threads, and eight
// decimal numbers. A long file has millions of them.
func isSysbenchRow(text string) bool {
	isWhole := func(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
	for column := range 10 {
		field, rest, more := strings.Cut(text, ",")
		if column > 1 {
			field = strings.TrimPrefix(field, "-")
		}
		whole, decimals, isDecimal := strings.Cut(field, ".")
		if more != (column < 9) || !isWhole(whole) || isDecimal && (column == 1 || !isWhole(decimals)) || !isDecimal && column > 1 {
			return false
		}
		text = rest
	}
	return true
}

func (r *sysbenchReader) csvRow(text string) error {
	r.begin()
	var v [10]float64
	for i := range v {
		var field string
		field, text, _ = strings.Cut(text, ",")
		var err error
		if v[i], err = r.float("a column of the row", field); err != nil {
			return err
		}
		if v[i] > 1e9 {
			return r.failf(r.number, "column %d is out of range: %s", i+1, clip(field))
		}
	}
	sum, tps, qps := &r.run.csv, v[2], v[3]
	if len(r.run.Intervals) > 0 && v[0] <= sum.lastS {
		return r.failf(r.number, "the row at %gs follows one at %gs: output of two runs is mixed", v[0], sum.lastS)
	}
	step := v[0] - sum.lastS
	sum.qps, sum.tps, sum.lastS, sum.rows = sum.qps+qps*step, sum.tps+tps*step, v[0], sum.rows+1
	r.run.Threads = int(v[1])
	if v[8] > 0 {
		r.run.Retries += int64(math.Round(v[8] * step))
	}
	return r.addInterval(Interval{EndS: v[0], Events: tps, LatencyNs: v[7] * 1e6})
}

func (r *sysbenchReader) bucket(value, count string) error {
	ms, err := r.float("the latency", value)
	if err != nil {
		return err
	}
	n, err := r.count("the count", count)
	if err != nil {
		return err
	}
	if ms > 1e9 || n > 1e15 {
		return r.failf(r.number, "the row of the histogram is out of range: %s ms, %s times", clip(value), clip(count))
	}
	if len(r.run.buckets) > 0 && ms <= r.run.buckets[len(r.run.buckets)-1].ms {
		r.run.buckets = r.run.buckets[:0] // the histogram of the next checkpoint
	}
	r.run.buckets = append(r.run.buckets, sysbenchCount{ms, n})
	return nil
}

// manyIgnored is the part of events from which ignored errors are told.
const manyIgnored = 0.01

// finish takes what was read of a run and makes room for the next.
func (r *sysbenchReader) finish() error {
	run := r.run
	r.run = sysbenchRun{}
	if !run.begun {
		return nil
	}
	if run.failure != "" {
		r.results.rejectf(r.lines, run.failedAt, "sysbench failed: %s", clip(run.failure))
		return nil
	}
	switch {
	case run.ElapsedNs > 0 && !run.inBlock && !run.isReport:
	case run.csv.rows > 0 && !run.inBlock && run.ElapsedNs == 0:
		run.ElapsedNs, run.Operations, run.Events = int64(run.csv.lastS*1e9), int64(math.Round(run.csv.qps)), int64(math.Round(run.csv.tps))
		run.sql, run.RateStep = run.Operations > 0, 0.01*run.csv.lastS/max(1, run.csv.qps, run.csv.tps)
	default:
		r.results.rejectf(r.lines, r.number, "the run that starts in line %d has no final statistics: expected \"execution time (avg/stddev)\" at their end; was the output cut?", run.Line)
		return nil
	}
	if !run.sql {
		run.Operations, run.Unit = run.Events, "events"
	}
	if run.Operations <= 0 {
		r.results.rejectf(r.lines, run.Line, "the run finished no %s", unitName(run.Unit))
		return nil
	}
	if run.dropped > 0 {
		r.results.Notes = append(r.results.Notes, r.failf(run.Line, "of %d reports of one run the last counts, the checkpoints before it do not", run.dropped+1).Error())
	}
	if float64(run.Retries) > manyIgnored*float64(run.Events) {
		r.results.Notes = append(r.results.Notes, r.failf(run.Line, "sysbench ignored %d errors beside %d events; look at what they were", run.Retries, run.Events).Error())
	}
	run.Tool = strings.TrimSpace("sysbench " + r.version)
	run.LatencyStep = sysbenchLatencyStep
	run.RateStep = max(run.RateStep, 1/float64(run.Operations))
	run.fromBuckets()
	return r.results.add(r.lines, run.Measurement)
}

// fromBuckets fills percentiles that sysbench was not told to print.
func (run *sysbenchRun) fromBuckets() {
	var all int64
	for _, b := range run.buckets {
		all += b.count
	}
	if all == 0 || all != run.Events {
		return // of another checkpoint
	}
	at := func(percent float64) int64 {
		rank, seen := int64(math.Ceil(percent/100*float64(all))), int64(0)
		for _, b := range run.buckets {
			if seen += b.count; seen >= rank {
				return int64(math.Round(b.ms * 1e6))
			}
		}
		return 0
	}
	for percent, into := range map[float64]*int64{50: &run.Latency.P50, 95: &run.Latency.P95, 99: &run.Latency.P99} {
		if *into == 0 {
			*into = at(percent)
		}
	}
}

func unitName(unit string) string {
	if unit == "" {
		return "statements"
	}
	return unit
}
