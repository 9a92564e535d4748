package exchange

import (
	"bytes"
	"regexp"
	"strings"
)

// isGoBenchmark looks for a result line or the lines that go test prints before.
func isGoBenchmark(content []byte) bool {
	for line := range bytes.Lines(content) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "Benchmark") && goResult(strings.Fields(text)) {
			return true
		}
	}
	return false
}

// goResult tells whether fields are name, iterations, and pairs of value and unit.
func goResult(fields []string) bool {
	if len(fields) < 4 || len(fields)%2 != 0 {
		return false
	}
	_, ok := parseNumber(fields[1])
	return ok
}

// cpuSuffix is the number of CPUs that go test adds to a name.
var cpuSuffix = regexp.MustCompile(`-\d+$`)

// readGoBenchmark reads Go benchmark results (golang.org/design/14313): one
// position per file, named by its "commit:" or "version:" line or else by the
// file, with as many repeats as -count made. A later such line starts a new
// position; "kernel:" and the like are its environment.
func readGoBenchmark(name string, content []byte) (SeriesFile, error) {
	var c collector
	label, environment := baseName(name), map[string]string{}
	number := 0
	for line := range bytes.Lines(content) {
		number++
		text := strings.TrimSpace(string(line))
		if key, value, ok := strings.Cut(text, ": "); ok && key == strings.ToLower(key) && !strings.ContainsAny(key, " \t") {
			value = strings.TrimSpace(value)
			if isOneOf(key, labelColumns) && value != "" {
				label = value
			}
			if isOneOf(key, environmentColumns) {
				next := map[string]string{}
				for k, v := range environment {
					next[k] = v
				}
				next[key] = value
				environment = next
			}
			continue
		}
		fields := strings.Fields(text)
		if !strings.HasPrefix(text, "Benchmark") || len(fields) < 2 {
			continue
		}
		if !goResult(fields) {
			if _, ok := parseNumber(fields[1]); !ok {
				continue // a name that is printed before a log line
			}
			return SeriesFile{}, seriesError(name, number, 0, "the result of %s is cut off: pairs of value and unit should follow", fields[0])
		}
		benchmark := cpuSuffix.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		for i := 2; i < len(fields); i += 2 {
			v, ok := parseNumber(fields[i])
			if !ok {
				return SeriesFile{}, seriesError(name, number, strings.Index(string(line), fields[i])+1,
					"benchmark %s: %q is not a number of %s", benchmark, fields[i], fields[i+1])
			}
			c.add(benchmark, fields[i+1], fields[i+1], Unknown, Point{Label: label, Value: v, Environment: environment})
		}
	}
	return c.file, nil
}

func isOneOf(name string, names []string) bool {
	for _, one := range names {
		if name == one {
			return true
		}
	}
	return false
}
