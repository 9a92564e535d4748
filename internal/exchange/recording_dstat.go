package exchange

import (
	"encoding/csv"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var dstatHead = regexp.MustCompile(`\A"?(pcp-)?[Dd]stat[^\n]* CSV output"?`)

// dstatCSV reads the file of dstat --output, also that of its successor in PCP. Its
// first row counts since the boot of the host. A file that was appended to holds
// several recordings, which are one here.
func dstatCSV() resultFormat {
	return resultFormat{
		name:      "dstat CSV",
		recognise: func(head string) bool { return dstatHead.MatchString(head) },
		begins:    func(line string) bool { return strings.HasPrefix(line, `"Dstat `) },
		read: func(l *lines, results *Results) error {
			r := &dstatReader{lines: l, results: results, sums: map[string]float64{}}
			return r.read()
		},
	}
}

// dstatColumns are the metrics of columns by group and name, and the factor to a
// count or bytes by second. dstat counts in bytes.
func dstatMetric(group, name string) string {
	if _, after, ok := strings.Cut(name, ":"); ok {
		name = after // "dsk/total:read"
	}
	switch group + " " + name {
	case "total cpu usage usr", "total usage usr":
		return metricUserPercent
	case "total cpu usage sys", "total usage sys":
		return metricSystemPercent
	case "total cpu usage stl", "total usage stl":
		return metricStealPercent
	case "dsk/total read":
		return metricDiskReadBytes
	case "dsk/total writ":
		return metricDiskWritten
	case "io/total read":
		return metricDiskReads
	case "io/total writ":
		return metricDiskWrites
	case "system csw":
		return metricHostSwitches
	case "system int":
		return metricHostInterrupts
	}
	return ""
}

type dstatReader struct {
	*lines
	results *Results
	groups  []string
	names   []string
	metrics []string // of the columns, "" for those that are left out
	fields  int      // of a row
	sums    map[string]float64
	sampler sampler
	step    float64
	total   sampler
}

func (r *dstatReader) read() error {
	for line := range r.all {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := r.line(line); err != nil {
			return err
		}
	}
	if r.err != nil {
		return r.err
	}
	r.endPart()
	rec := Recording{Line: 1, Tool: "dstat", StepS: r.step}
	n := float64(max(1, r.total.counted))
	if _, ok := r.sums[metricUserPercent]; ok {
		rec.cpu(r.sums[metricUserPercent]/n, r.sums[metricSystemPercent]/n, r.sums[metricStealPercent]/n)
	}
	for name, sum := range r.sums {
		if name != metricUserPercent && name != metricSystemPercent && name != metricStealPercent {
			rec.rate(name, sum/n)
		}
	}
	slices.SortFunc(rec.Rates, func(a, b Rate) int { return strings.Compare(a.Name, b.Name) })
	return r.results.addRecording(r.lines, rec, r.total)
}

// endPart adds up the samples of what dstat wrote in one go.
func (r *dstatReader) endPart() {
	r.total.seen += r.sampler.seen
	r.total.counted += r.sampler.counted
	r.total.skip = max(r.total.skip, r.sampler.skip)
	r.sampler = sampler{}
}

func (r *dstatReader) line(line string) error {
	if !r.whole {
		r.results.cutTail(r.lines, r.number)
		return nil
	}
	switch {
	case dstatHead.MatchString(line):
		r.endPart()
		r.groups, r.metrics = nil, nil
		return nil
	case strings.HasPrefix(line, `"Cmdline:"`):
		r.step = dstatDelay(line)
		return nil
	case strings.HasPrefix(line, `"`) && strings.Contains(line, `:",`):
		return nil // author, host
	case strings.HasPrefix(line, `"`) && r.metrics == nil:
		return r.headerLine(line)
	}
	if r.metrics == nil {
		return r.failf(r.number, "two lines with the names of columns should stand before the numbers of dstat, found %q", clip(line))
	}
	return r.row(line)
}

// dstatDelay is the seconds between samples by the command line, 0 if it tells none.
func dstatDelay(line string) float64 {
	fields, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil || len(fields) < 2 {
		return 0
	}
	var numbers []float64
	for _, word := range strings.Fields(fields[1]) {
		if n, err := strconv.Atoi(word); err == nil && n > 0 {
			numbers = append(numbers, float64(n))
		}
	}
	if len(numbers) == 0 {
		return 1
	}
	return numbers[max(0, len(numbers)-2)] // delay, or delay and count
}

// headerLine takes the groups, which stand above their first column, then the names.
func (r *dstatReader) headerLine(line string) error {
	fields, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil {
		return r.failf(r.number, "the names of columns are no CSV: %w", err)
	}
	if r.groups == nil {
		for i := range fields {
			if fields[i] == "" && i > 0 {
				fields[i] = fields[i-1]
			}
		}
		r.groups = fields
		return nil
	}
	r.names, r.fields = fields, len(fields)
	r.metrics = make([]string, len(fields))
	found := false
	for i, name := range fields {
		if i < len(r.groups) {
			r.metrics[i] = dstatMetric(r.groups[i], name)
		}
		found = found || r.metrics[i] != ""
	}
	if !found {
		return r.failf(r.number, "dstat should have columns of CPU, disk or system; its header is %q", clip(line))
	}
	r.sampler = r.recording.newSampler(r.step, true)
	return nil
}

func (r *dstatReader) row(line string) error {
	fields := strings.Split(line, ",")
	if len(fields) != r.fields {
		return r.failf(r.number, "expected %d numbers as the header names columns, found %d: was the line cut, or written with decimal commas?", r.fields, len(fields))
	}
	counts := r.sampler.next()
	for i, metric := range r.metrics {
		if metric == "" {
			continue
		}
		v, err := r.float(r.names[i], fields[i])
		if err != nil {
			return err
		}
		if counts {
			r.sums[metric] += v
		}
	}
	return nil
}
