package exchange

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mostSeriesBytes bounds files that are read whole. A history of ten years of daily
// runs of a hundred benchmarks is smaller.
const mostSeriesBytes = 32 << 20

var (
	nyrkioHead  = regexp.MustCompile(`\A\s*\[\s*\{(?s:.{0,400}?)"metrics"\s*:\s*\[`)
	actionHead  = regexp.MustCompile(`\A\s*(window\.BENCHMARK_DATA\s*=|\[\s*\{\s*"(name|unit|value)"|\{(?s:.*)"entries"\s*:\s*\{)`)
	bencherHead = regexp.MustCompile(`\A\s*\{\s*"[^"]+"\s*:\s*\{\s*"[^"]+"\s*:\s*\{\s*"(lower_value|upper_value|value)"`)
	goBenchmark = regexp.MustCompile(`(?m)^Benchmark\S*\s+\d+\s+[\d.e+-]+ \S+`)
	otavaHead   = regexp.MustCompile(`(?i)\A"?(time|timestamp|date|datetime|commit|git_commit|version)"?([,;\t]"?[^,;\t\n]+"?)+\n`)
)

// anchoredSeries are formats of series that detect reads too, and that the first line
// tells: each position is a target, each metric that is a rate or a time a benchmark.
func anchoredSeries() []resultFormat {
	return []resultFormat{
		seriesFormat("Nyrkiö JSON", nyrkioHead.MatchString),
		seriesFormat("github-action-benchmark", actionHead.MatchString),
		seriesFormat("Bencher JSON", bencherHead.MatchString),
		seriesFormat(otavaName, func(head string) bool {
			names := strings.FieldsFunc(strings.ToLower(firstWholeLine(head)), func(r rune) bool { return strings.ContainsRune(",;\t\" ", r) })
			return otavaHead.MatchString(head) && hasAny(names, timeColumns) && hasAny(names, append(labelColumns, branchColumn))
		}),
	}
}

const (
	otavaName       = "Otava CSV"
	goBenchmarkName = "Go benchmarks"
)

// goBenchmarks reads what go test -bench prints.
func goBenchmarks() resultFormat {
	format := seriesFormat(goBenchmarkName, goBenchmark.MatchString)
	format.begins = func(line string) bool {
		return strings.HasPrefix(line, "Benchmark") && goBenchmark.MatchString(line)
	}
	return format
}

func seriesFormat(name string, recognise func(head string) bool) resultFormat {
	return resultFormat{name: name, recognise: recognise, read: func(l *lines, results *Results) error {
		return readSeriesResults(name, l, results)
	}}
}

func hasAny(names, wanted []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(wanted, name) })
}

func readSeriesResults(tool string, l *lines, results *Results) error {
	content, err := l.rest()
	if err != nil {
		return err
	}
	if tool == otavaName || tool == goBenchmarkName { // lines of numbers; JSON needs no last line break
		if err := l.cut(); err != nil {
			return err
		}
	}
	file, err := readSeries(l.name, content, SeriesOptions{})
	if err != nil {
		return err
	}
	var left []string
	alone := map[string]int{} // usable metrics of each benchmark
	for _, s := range file.Series {
		if rateOf(s) != nil {
			alone[s.Benchmark+"\x00"+s.Config]++
		}
	}
	for _, s := range file.Series {
		convert := rateOf(s)
		if convert == nil {
			name := s.Metric
			if name == "value" { // of github-action-benchmark, which has one metric of each
				name = s.Benchmark
			}
			if !slices.Contains(left, name) {
				left = append(left, name)
			}
			continue
		}
		for _, p := range s.Points {
			if math.IsNaN(p.Value) {
				continue
			}
			m := Measurement{Line: 1, Tool: tool, Benchmark: s.Benchmark, Started: p.Time, Unit: convert.unit}
			m.Latency.Mean = math.NaN()
			if alone[s.Benchmark+"\x00"+s.Config] > 1 {
				m.Benchmark += " " + s.Metric
			}
			if p.Label != baseName(l.name) { // else the file names the target
				m.Target = p.Label
			}
			if s.Config != "" {
				m.Target = strings.TrimSpace(m.Target + " " + s.Config)
			}
			if !convert.set(&m, p.Value) {
				results.rejectf(l, 1, "%s of %s at %s is %g, which gives no rate", clip(s.Metric), clip(s.Benchmark), clip(p.Label), p.Value)
				continue
			}
			if err := results.add(l, m); err != nil {
				return err
			}
		}
	}
	if len(left) > 0 {
		results.Notes = append(results.Notes, fmt.Sprintf("%s: %s left out: neither a rate nor a time by name and unit; dbcanary detect reads any metric", l.name, strings.Join(left[:min(len(left), 10)], ", ")))
	}
	if len(results.Measurements)+len(results.Rejected) == 0 {
		return l.failf(1, "no metric is a rate or a time by its name and unit: expected qps, ops/s, ns/op, ms or the like, found %s", clip(strings.Join(left, ", ")))
	}
	return nil
}

// rest reads all that is left, line by line so that output of another tool in it is told.
func (l *lines) rest() ([]byte, error) {
	var content []byte
	for line := range l.all {
		if len(content)+len(line) > mostSeriesBytes {
			return nil, l.failf(l.number, "the file is larger than %d MB; split it", mostSeriesBytes>>20)
		}
		if content = append(content, line...); l.whole {
			content = append(content, '\n')
		}
	}
	return content, l.err
}

// rateMaker makes a rate of the values of a series.
type rateMaker struct {
	unit    string
	seconds float64 // of a value of 1 if it is a time, 0 if it is a rate
}

// timeUnits are units of times in seconds.
func timeUnit(unit string) float64 {
	unit = strings.ToLower(strings.TrimSpace(unit))
	unit = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(unit, "/op"), "/iter"), "_op")
	switch unit {
	case "ns":
		return 1e-9
	case "us", "µs", "usec":
		return 1e-6
	case "ms", "msec":
		return 1e-3
	case "s", "sec", "secs", "seconds":
		return 1
	}
	return 0
}

// rateOf gives nil for a metric that is neither a rate nor a time.
func rateOf(s Series) *rateMaker {
	if s.Better == HigherIsBetter {
		return &rateMaker{unit: firstOf(s.Unit, s.Metric)}
	}
	words := strings.FieldsFunc(s.Metric, func(r rune) bool { return strings.ContainsRune(" _()[]", r) })
	for i, unit := range append([]string{s.Unit}, words...) {
		seconds := timeUnit(unit)
		if seconds == 0 || i > 0 && s.Better != LowerIsBetter { // a unit is sure, a word is not
			continue
		}
		if strings.Contains(unit, "/") {
			return &rateMaker{unit: "operations", seconds: seconds}
		}
		return &rateMaker{unit: "1/" + s.Metric, seconds: seconds}
	}
	return nil
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// set stores a value as a rate; false if it is none.
func (r *rateMaker) set(m *Measurement, value float64) bool {
	if !(value > 0) || math.IsInf(value, 0) {
		return false
	}
	text := strconv.FormatFloat(value, 'f', -1, 64)
	if r.seconds == 0 {
		m.setRate(text, value)
		return m.Operations > 0
	}
	_, decimals, _ := strings.Cut(text, ".")
	m.RateStep = math.Pow10(-min(len(decimals), 300)) / value
	ns := value * r.seconds * 1e9
	m.Operations = 1
	for ns < 1e6 && m.Operations < 1e9 { // keep three digits and more
		ns *= 1000
		m.Operations *= 1000
	}
	if !(ns >= 1 && ns < 1e18) {
		return false
	}
	m.ElapsedNs = int64(math.Round(ns))
	return m.RateStep > 0
}
