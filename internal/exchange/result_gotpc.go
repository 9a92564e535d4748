package exchange

import (
	"math"
	"regexp"
	"strings"
)

// goTPC reads what go-tpc prints at the end: a summary for each transaction, with
// the failed ones in a line of their own.
func goTPC() resultFormat {
	return resultFormat{
		name:      "go-tpc",
		recognise: func(head string) bool { return goTPCMark.MatchString(head) },
		begins:    func(line string) bool { return strings.HasPrefix(line, "[Summary] ") },
		read:      readGoTPC,
	}
}

// goTPCLatencyStep: its histogram keeps one significant digit.
const goTPCLatencyStep = 0.1

var (
	goTPCMark = regexp.MustCompile(`(?m)^\s*\[(Current|Summary)\] [A-Z_]+ - Takes\(s\): `)
	goTPCLine = regexp.MustCompile(`^\[Summary\] ([A-Z_]+) - Takes\(s\): ([\d.,]+), Count: (\d+), TPM: ([\d.]+)(?:, (.*))?$`)
)

func readGoTPC(l *lines, results *Results) error {
	place := map[string]int{} // of the last result of a transaction
	for line := range l.all {
		text := strings.TrimSpace(line)
		if !strings.HasPrefix(text, "[Summary] ") || !strings.Contains(text, "Takes(s)") {
			continue
		}
		if err := l.cut(); err != nil {
			return err
		}
		match := goTPCLine.FindStringSubmatch(text)
		if match == nil {
			return l.failf(l.number, "expected \"[Summary] NAME - Takes(s): …, Count: …, TPM: …\", found %q", clip(text))
		}
		seconds, err := l.float("Takes(s)", match[2])
		if err != nil {
			return err
		}
		count, err := l.count("Count", match[3])
		if err != nil {
			return err
		}
		if name, failed := strings.CutSuffix(match[1], "_ERR"); failed {
			if at, ok := place[name]; ok && count > 0 {
				results.Measurements[at].Errors = map[string]int64{"failed": count}
			} else if count > 0 {
				results.rejectf(l, l.number, "%s failed %d times and never succeeded", name, count)
			}
			continue
		}
		if seconds <= 0 || seconds > 1e9 || count <= 0 {
			results.rejectf(l, l.number, "%s finished no transaction", match[1])
			continue
		}
		m := Measurement{Line: l.number, Tool: "go-tpc", Benchmark: "tpcc " + match[1], Unit: "transactions"}
		m.Operations, m.Events, m.ElapsedNs = count, count, int64(math.Round(seconds*1e9))
		m.RateStep, m.LatencyStep = max(0.1/seconds, 1/float64(count)), goTPCLatencyStep
		m.Latency.Mean = math.NaN()
		if err := m.goTPCLatency(l, match[5]); err != nil {
			return err
		}
		place[match[1]] = len(results.Measurements)
		if err := results.add(l, m); err != nil {
			return err
		}
	}
	if len(results.Measurements) == 0 && len(results.Rejected) == 0 && l.err == nil {
		return l.failf(l.number, "the lines \"[Summary] …\" are missing; was the output cut?")
	}
	return nil
}

// goTPCLatency reads "Avg(ms): 64.6, 50th(ms): 62.9, …".
func (m *Measurement) goTPCLatency(l *lines, text string) error {
	for _, part := range strings.Split(text, ", ") {
		name, value, ok := strings.Cut(part, "(ms): ")
		if !ok {
			continue
		}
		ms, err := l.float(name, value)
		if err != nil {
			return err
		}
		ns := int64(math.Round(min(ms, 1e12) * 1e6))
		switch name {
		case "Avg":
			m.Latency.Mean = ms * 1e6
		case "50th":
			m.Latency.P50 = ns
		case "95th":
			m.Latency.P95 = ns
		case "99th":
			m.Latency.P99 = ns
		case "Max":
			m.Latency.Max = ns
		}
	}
	return nil
}
