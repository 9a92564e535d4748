package exchange

import (
	"math"
	"regexp"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// sqlBench reads the RUN files of sql-bench: totals for each operation, in
// seconds of wall time for a number of tests.
func sqlBench() resultFormat {
	return resultFormat{
		name:      "sql-bench",
		recognise: func(head string) bool { return strings.Contains(head, "Benchmark DBD suite:") },
		begins:    func(line string) bool { return strings.HasPrefix(line, "Benchmark DBD suite:") },
		read:      readSQLBench,
	}
}

// A row: operation, seconds, usr, sys, cpu, tests, and what is wrong with it:
// "+" estimated, "?" a wrong result.
var sqlBenchRow = regexp.MustCompile(`^(\S.*?)\s+(\d+\.\d\d)\s+(\d+\.\d\d)\s+(\d+\.\d\d)\s+(\d+\.\d\d)\s+(\d+)\s*([+?*]*)$`)

func readSQLBench(l *lines, results *Results) error {
	inTotals, complete, server := false, false, ""
	for line := range l.all {
		switch {
		case strings.HasPrefix(line, "Server version:"):
			server = strings.TrimSpace(strings.TrimPrefix(line, "Server version:"))
		case strings.HasPrefix(line, "Totals per operation"):
			inTotals = true
		case inTotals && strings.HasPrefix(line, "TOTALS"):
			complete, inTotals = true, false
		case inTotals && !strings.HasPrefix(line, "Operation"):
			if err := sqlBenchTotal(l, results, line, server); err != nil {
				return err
			}
		case strings.Contains(line, "Failed (") || strings.Contains(line, "Got error"):
			results.rejectf(l, l.number, "a test of sql-bench failed: %s", clip(line))
		}
	}
	if !complete && l.err == nil {
		return l.failf(l.number, "the totals for each operation and the line TOTALS are missing; was the file cut?")
	}
	return nil
}

func sqlBenchTotal(l *lines, results *Results, line, server string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	match := sqlBenchRow.FindStringSubmatch(strings.TrimSpace(line))
	if match == nil {
		return l.failf(l.number, "expected operation, seconds, usr, sys, cpu and tests, found %q", clip(line))
	}
	name, flags := match[1], match[7]
	seconds, err := l.float("seconds", match[2])
	if err != nil {
		return err
	}
	tests, err := l.count("tests", match[6])
	if err != nil {
		return err
	}
	switch {
	case strings.Contains(flags, "?"):
		results.rejectf(l, l.number, "%s gave a wrong result", clip(name))
		return nil
	case strings.Contains(flags, "+"):
		results.rejectf(l, l.number, "%s was not measured to its end: its time is an estimate", clip(name))
		return nil
	case seconds <= 0 || tests <= 0 || seconds > 1e9:
		results.Notes = append(results.Notes, l.failf(l.number, "%s took less than can be told", clip(name)).Error())
		return nil
	}
	m := Measurement{Line: l.number, Tool: "sql-bench", Benchmark: name, Family: dbcanary.MySQL, Threads: 1, Unit: "tests"}
	if family, err := dbcanary.ParseFamily(firstWord(server)); err == nil {
		m.Family = family
	}
	m.Latency.Mean = math.NaN()
	step := 0.01
	if seconds == math.Trunc(seconds) {
		step = 1 // times are whole seconds unless --hires was given
	}
	m.Operations, m.Events, m.ElapsedNs, m.RateStep = tests, tests, int64(math.Round(seconds*1e9)), step/seconds
	return results.add(l, m)
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}
