package exchange

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/load"
)

// pgbenchLog reads the log of single transactions that pgbench -l writes:
// client, number, latency in µs, script, time as seconds and µs, and with a rate
// the lag behind the schedule, which the latency includes.
func pgbenchLog() resultFormat {
	return resultFormat{
		name:      "pgbench log",
		recognise: func(head string) bool { return pgbenchLogLine.MatchString(head) },
		read:      readPgbenchLog,
	}
}

// pgbenchAggregate reads the log that pgbench --aggregate-interval writes.
func pgbenchAggregate() resultFormat {
	return resultFormat{
		name:      "pgbench aggregated log",
		recognise: func(head string) bool { return pgbenchAggregateLine.MatchString(head) },
		read:      readPgbenchAggregate,
	}
}

var (
	pgbenchLogLine       = regexp.MustCompile(`\A\d{1,6} \d+ (\d+|skipped|failed) \d{1,3} 1\d{9} \d{1,6}( \d+)?( \d+)?\n`)
	pgbenchAggregateLine = regexp.MustCompile(`\A1\d{9} \d+ \d+ \d+ \d+ \d+( \d+)*\n`)
)

func newPgbenchLog(line int) Measurement {
	m := Measurement{Line: line, Tool: "pgbench", Family: dbcanary.Postgres, Unit: "transactions"}
	m.Latency.Mean = math.NaN()
	return m
}

func readPgbenchLog(l *lines, results *Results) error {
	m, histogram := newPgbenchLog(1), load.NewHistogram()
	clients := map[string]bool{}
	var first, last int64 // µs since 1970
	perSecond := newSeconds()
	for line := range l.all {
		if err := l.cut(); err != nil {
			return err
		}
		f, columns := splitColumns(line)
		if columns < 6 || columns > 8 {
			return l.failf(l.number, "expected 6 to 8 columns of a pgbench log, found %d: was the line cut?", columns)
		}
		if len(clients) < 100_000 {
			clients[f[0]] = true
		}
		if f[2] == "skipped" || f[2] == "failed" {
			if m.Errors == nil {
				m.Errors = map[string]int64{}
			}
			m.Errors[f[2]]++
			continue
		}
		latency, err := l.count("the latency", f[2])
		if err != nil {
			return err
		}
		seconds, err := l.count("the time", f[4])
		if err != nil {
			return err
		}
		micros, err := l.count("the time", f[5])
		if err != nil {
			return err
		}
		if seconds > 1e10 || micros > 999_999 || latency > 1e14 {
			return l.failf(l.number, "the time or latency is out of range")
		}
		end := seconds*1e6 + micros
		if start := end - latency; m.Events == 0 || start < first {
			first = start
		}
		last = max(last, end)
		histogram.Record(latency * 1000)
		perSecond.add(seconds, 1)
		m.Events++
	}
	if l.err != nil || m.Events == 0 {
		return l.err
	}
	m.Threads = len(clients)
	m.Started = time.UnixMicro(first).UTC()
	m.ElapsedNs, m.Operations, m.RateStep = (last-first)*1000, m.Events, 1/float64(m.Events)
	m.Latency, m.LatencyStep = histogram.Summary(), 0.001
	m.Intervals = perSecond.intervals()
	encoded, err := histogram.Encode()
	if err != nil {
		return err
	}
	m.Histogram = encoded
	if m.ElapsedNs <= 0 {
		results.rejectf(l, 1, "all transactions end in the same microsecond")
		return nil
	}
	return results.add(l, m)
}

// splitColumns parts a line at single blanks, without the garbage of strings.Fields.
func splitColumns(line string) (columns [9]string, n int) {
	for more := true; more && n < len(columns); n++ {
		columns[n], line, more = strings.Cut(line, " ")
	}
	return columns, n
}

func readPgbenchAggregate(l *lines, results *Results) error {
	m := newPgbenchLog(1)
	var start, previous, width int64
	sum, least, most := 0.0, int64(math.MaxInt64), int64(0)
	for line := range l.all {
		f := strings.Fields(line)
		if len(f) < 6 {
			return l.failf(l.number, "expected at least 6 columns of an aggregated pgbench log, found %d: was the line cut?", len(f))
		}
		var v [6]int64
		for i := range v {
			var err error
			if v[i], err = l.count("column "+strconv.Itoa(i+1), f[i]); err != nil {
				return err
			}
		}
		if v[0] > 1e10 || v[1] > 1e12 {
			return l.failf(l.number, "the time or the count is out of range")
		}
		switch {
		case start == 0:
			start = v[0]
		case v[0] <= previous:
			return l.failf(l.number, "the interval at %d follows one at %d: logs of two runs or threads are mixed", v[0], previous)
		case width == 0:
			width = v[0] - previous
		}
		previous = v[0]
		if len(m.Intervals) >= mostIntervals {
			return l.failf(l.number, "the log has more than %d intervals", mostIntervals)
		}
		m.Intervals = append(m.Intervals, Interval{Events: float64(v[1]), LatencyNs: 1000 * float64(v[2]) / max(1, float64(v[1]))})
		m.Events, sum = m.Events+v[1], sum+float64(v[2])
		if v[1] > 0 {
			least, most = min(least, v[4]), max(most, v[5])
		}
	}
	if l.err != nil {
		return l.err
	}
	// The first and the last interval are of unknown length: they are left out.
	if len(m.Intervals) < 3 || width <= 0 {
		results.rejectf(l, l.number, "the log has %d intervals; at least 3 are needed, since the first and the last are not whole", len(m.Intervals))
		return nil
	}
	m.Latency = dbcanary.Latency{Min: min(least, 1e14) * 1000, Mean: 1000 * sum / max(1, float64(m.Events)), Max: min(most, 1e14) * 1000}
	m.Intervals = m.Intervals[1 : len(m.Intervals)-1]
	m.Events = 0
	for i := range m.Intervals {
		interval := &m.Intervals[i]
		m.Events += int64(interval.Events)
		interval.EndS, interval.Events = float64(int64(i+1)*width), interval.Events/float64(width)
	}
	m.Operations, m.ElapsedNs = m.Events, (previous-start-width)*1e9
	m.Started = time.Unix(start+width, 0).UTC()
	if m.Operations == 0 || m.ElapsedNs <= 0 {
		results.rejectf(l, 1, "the run finished no transaction")
		return nil
	}
	m.RateStep = 1 / float64(m.Operations)
	return results.add(l, m)
}

// seconds counts events by second; they need not come in order.
type seconds struct {
	first  int64
	counts []float64
}

func newSeconds() *seconds { return &seconds{} }

func (s *seconds) add(second int64, events float64) {
	if len(s.counts) == 0 {
		s.first = second
	}
	at := second - s.first
	const longestGap = 1 << 17 // more than a day: a clock that was set
	if at < 0 || at >= mostIntervals || at > int64(len(s.counts))+longestGap {
		return // the event is counted in the whole all the same
	}
	for int64(len(s.counts)) <= at {
		s.counts = append(s.counts, 0)
	}
	s.counts[at] += events
}

// intervals gives the seconds, without the first and the last which are not whole.
func (s *seconds) intervals() []Interval {
	if len(s.counts) < 3 {
		return nil
	}
	var list []Interval
	for i, count := range s.counts[1 : len(s.counts)-1] {
		list = append(list, Interval{EndS: float64(i + 1), Events: count})
	}
	return list
}
