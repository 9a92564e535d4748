package exchange

import (
	"regexp"
	"strings"
)

// machineMetrics knows the output of tools that watch a machine or a server while a
// benchmark runs. It holds no result, so it is told and left out.
func machineMetrics() resultFormat {
	return resultFormat{
		name:      metricsName,
		recognise: func(head string) bool { return metricsTool(head) != "" },
		read: func(l *lines, results *Results) error {
			head, err := l.head()
			if err != nil {
				return err
			}
			tool := metricsTool(head)
			if tool == "" {
				return l.failf(1, "expected output of vmstat, iostat or mysqladmin, found %q", firstLine(head))
			}
			for more := true; more; { // to the end, since a result may begin below
				_, more = l.next()
			}
			if l.err != nil {
				return l.err
			}
			results.Notes = append(results.Notes, l.failf(1, "output of %s holds no result of a benchmark and was left out", tool).Error())
			return nil
		},
	}
}

const metricsName = "metrics"

var (
	vmstatHead     = regexp.MustCompile(`\A\s*procs -+memory`)
	sysstatHead    = regexp.MustCompile(`\A\s*Linux \S+ \(.*\).*CPU\)\s`)
	mysqladminHead = regexp.MustCompile(`\A\+-+\+-+\+\r?\n\| Variable_name +\| Value`)
)

func metricsTool(head string) string {
	switch {
	case vmstatHead.MatchString(head):
		return "vmstat"
	case sysstatHead.MatchString(head), strings.HasPrefix(strings.TrimSpace(head), `{"sysstat":`):
		return "sysstat (iostat, pidstat, mpstat)"
	case mysqladminHead.MatchString(head):
		return "mysqladmin extended-status"
	}
	return ""
}
