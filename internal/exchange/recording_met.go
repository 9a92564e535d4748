package exchange

import (
	"regexp"
	"strings"
)

var metHead = regexp.MustCompile(`(?m)^samp\s+(r/s|cs/s)\s`)

// publishedMetrics reads sb.met files of the published scripts: two tables of means of
// iostat and vmstat by second, and by operation. The latter count: they have more digits.
func publishedMetrics() resultFormat {
	return resultFormat{
		name: "sb.met",
		recognise: func(head string) bool {
			return metHead.MatchString(head) && !sysbenchMark.MatchString(head)
		},
		begins: func(line string) bool { return strings.HasPrefix(line, "iostat, vmstat normalized by") },
		read:   readPublishedMetrics,
	}
}

// perOperation gives metric and factor of the columns of the published tables; cpu/o is
// percent of all CPUs in seconds.
func perOperation(column string) (metric string, factor float64) {
	switch column {
	case "cpu/o":
		return metricHostCPUPercent, 1
	case "cs/o":
		return metricHostSwitches, 1
	case "r/o":
		return metricDiskReads, 1
	case "rKB/o":
		return metricDiskReadBytes, 1024
	case "wKB/o":
		return metricDiskWritten, 1024
	}
	return "", 0
}

func readPublishedMetrics(l *lines, results *Results) error {
	rec := Recording{Tool: "published scripts"}
	var header []string
	s := sampler{}
	for line := range l.all {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 1 && fields[0] == "samp":
			header = fields
			if rec.Line == 0 {
				rec.Line = l.number
			}
			continue
		case header == nil || len(fields) == 0:
			continue
		case len(fields) != len(header):
			return l.failf(l.number, "expected %d numbers as the header names columns, found %d: was the line cut?", len(header), len(fields))
		}
		if err := l.cut(); err != nil {
			return err
		}
		for i, name := range header {
			v, err := l.float(name, fields[i])
			if err != nil {
				return err
			}
			switch metric, factor := perOperation(name); {
			case i == 0:
				s = sampler{seen: int(min(v, 1e9)), counted: int(min(v, 1e9))}
			case metric != "":
				rec.Rates = append(rec.Rates, Rate{Name: metric, PerOperation: v * factor})
			case name == "w/s":
				rec.rate(metricDiskWrites, v)
			}
		}
		header = nil
	}
	if l.err != nil {
		return l.err
	}
	if rec.Line == 0 {
		return l.failf(1, "expected a header \"samp r/s rMB/s …\" of the published scripts, found none")
	}
	return results.addRecording(l, rec, s)
}
