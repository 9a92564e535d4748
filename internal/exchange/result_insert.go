package exchange

import (
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// insertBenchmark reads the o.res files of the Insert Benchmark's scripts: their
// first line has the rates of one step.
func insertBenchmark() resultFormat {
	return resultFormat{
		name:      "Insert Benchmark",
		recognise: func(head string) bool { return insertLine.MatchString(firstWholeLine(head)) },
		read:      readInsertBenchmark,
	}
}

var (
	insertLine = regexp.MustCompile(`^(\d+) processes, (\d+) rows-per-process, ([\d.]+) seconds, ([\d.]+) rows-per-second(?:, [\d.]+ rows-per-second-per-user)?(?:, (\d+) queries, ([\d.]+) queries-per-second)?(?:, .*)?$`)
	insertFile = regexp.MustCompile(`^o\.res\.dop\d+(\.ns\d+)?$`)
)

// insertSLA is the part of its rate of inserts that a step with queries must reach, as in
// the author's reports.
const insertSLA = 0.95

// insertStep is a folder of a step with queries: qr100.L1 has 100 inserts per second and process.
var insertStep = regexp.MustCompile(`^q[rp]?(\d{1,6})\.`)

// insertTarget gives the rate of inserts that the folder names, 0 if none.
func insertTarget(path string) float64 {
	match := insertStep.FindStringSubmatch(folderName(path))
	if match == nil {
		return 0
	}
	rate, _ := strconv.ParseFloat(match[1], 64) // digits
	return rate
}

func firstWholeLine(head string) string {
	line, _, _ := strings.Cut(head, "\n")
	return line
}

// isInsertFile tells whether a path is of such a file: TARGET/STEP/o.res.dopN.
func isInsertFile(path string) bool { return insertFile.MatchString(filepath.Base(path)) }

// insertPlace gives the target and step that the folders of such a file name.
func insertPlace(path string) (target, step string) {
	step = folderName(path)
	return folderName(filepath.Dir(path)), step
}

func readInsertBenchmark(l *lines, results *Results) error {
	line, _ := l.next()
	if err := l.cut(); err != nil {
		return err
	}
	match := insertLine.FindStringSubmatch(line)
	if match == nil {
		return l.failf(1, "expected processes, rows, seconds and rates, found %q", clip(line))
	}
	processes, err := l.count("processes", match[1])
	if err != nil {
		return err
	}
	rows, err := l.count("rows", match[2])
	if err != nil {
		return err
	}
	seconds, err := l.float("seconds", match[3])
	if err != nil {
		return err
	}
	rate, err := l.float("the rate of inserts", match[4])
	if err != nil {
		return err
	}
	if processes < 1 || processes > 1e6 || rows > 1e12 || seconds <= 0 || seconds > 1e9 {
		results.rejectf(l, 1, "%d processes in %g seconds give no rate", processes, seconds)
		return nil
	}
	add := func(name, unit string, operations int64) error {
		m := Measurement{Line: 1, Tool: "Insert Benchmark", Benchmark: name, Unit: unit, Threads: int(processes)}
		m.Latency.Mean = math.NaN()
		m.Operations, m.Events, m.ElapsedNs = operations, operations, int64(math.Round(seconds*1e9))
		m.RateStep = max(1/seconds, 1/float64(operations)) // times are whole seconds
		return results.add(l, m)
	}
	inserted := processes * rows
	if inserted > 0 {
		if made := float64(inserted) / seconds; math.Abs(made-rate) > 0.01*made+1 {
			results.rejectf(l, 1, "%d rows in %gs are %.1f per second, but the file says %g", inserted, seconds, made, rate)
			return nil
		}
	}
	if match[5] == "" || strings.Trim(match[5], "0") == "" {
		if inserted == 0 {
			results.rejectf(l, 1, "the step inserted and queried nothing")
			return nil
		}
		return add("inserts", "rows", inserted)
	}
	if target := insertTarget(l.name) * float64(processes); rate < insertSLA*target {
		results.rejectf(l, 1, "inserts ran at %g per second and not at the %g that the step is for, so that its queries had less to compete with", rate, target)
		return nil
	}
	queries, err := l.count("queries", match[5])
	if err != nil {
		return err
	}
	if queries > 1e15 {
		return l.failf(1, "the number of queries is out of range")
	}
	if inserted > 0 {
		results.Notes = append(results.Notes, l.failf(1, "inserts of a step with queries run at a fixed rate and are left out").Error())
	}
	return add("queries", "", queries)
}
