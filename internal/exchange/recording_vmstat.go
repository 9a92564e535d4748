package exchange

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	vmstatHead   = regexp.MustCompile(`\A\s*(procs|--procs--) -+memory`)
	vmstatClock  = regexp.MustCompile(`^\d\d\d\d-\d\d-\d\d \d\d:\d\d:\d\d$`)
	vmstatLayout = "2006-01-02 15:04:05"
)

// vmstat reads the output of vmstat N, with its header once or repeated, wide and
// with times too. Its first row counts since the boot of the host.
func vmstat() resultFormat {
	return resultFormat{
		name:      "vmstat",
		recognise: func(head string) bool { return vmstatHead.MatchString(head) },
		begins:    isVmstatTitle,
		read: func(l *lines, results *Results) error {
			r := &vmstatReader{lines: l, results: results}
			return r.read()
		},
	}
}

func isVmstatTitle(line string) bool {
	return strings.HasPrefix(line, "procs -") || strings.HasPrefix(line, "--procs-- -")
}

// vmstatReader adds up the columns that it knows by name.
type vmstatReader struct {
	*lines
	results *Results
	header  []string
	fields  []string
	at      [vmstatColumns]int // places of the columns, -1 if there is none
	sums    [vmstatColumns]float64
	sampler sampler
	first   int // line
	clock   time.Time
	clocked bool
	step    float64
}

// The columns that are added up; more CPU time of guests stands apart since procps 4.
const (
	vmInterrupts = iota
	vmSwitches
	vmUser
	vmSystem
	vmGuest
	vmSteal
	vmstatColumns
)

func (r *vmstatReader) read() error {
	for line := range r.all {
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case isVmstatTitle(line):
			if r.first == 0 {
				r.first = r.number
			}
			continue
		case strings.Contains(line, "swpd"), strings.Contains(line, " us "):
			if err := r.columns(line); err != nil {
				return err
			}
			continue
		}
		if err := r.row(line); err != nil {
			return err
		}
	}
	if r.err != nil {
		return r.err
	}
	rec := Recording{Line: max(1, r.first), Tool: "vmstat", StepS: r.step}
	n := float64(max(1, r.sampler.counted))
	rec.cpu((r.sums[vmUser]+r.sums[vmGuest])/n, r.sums[vmSystem]/n, r.sums[vmSteal]/n)
	rec.rate(metricHostSwitches, r.sums[vmSwitches]/n)
	rec.rate(metricHostInterrupts, r.sums[vmInterrupts]/n)
	return r.results.addRecording(r.lines, rec, r.sampler)
}

// columns takes a header line; a repeated one must name the same columns.
func (r *vmstatReader) columns(line string) error {
	header := strings.Fields(line)
	if r.header != nil {
		if slices.Equal(header, r.header) {
			return nil
		}
		return r.failf(r.number, "the columns change from %d to %d: output of two calls of vmstat is mixed", len(r.header), len(header))
	}
	for i, name := range [vmstatColumns]string{"in", "cs", "us", "sy", "gu", "st"} {
		r.at[i] = slices.Index(header, name)
		if r.at[i] < 0 && i != vmGuest && i != vmSteal {
			return r.failf(r.number, "vmstat should have a column %q; its header is %q", name, clip(line))
		}
	}
	r.header = header
	r.sampler = r.recording.newSampler(0, true)
	return nil
}

func (r *vmstatReader) row(line string) error {
	if r.header == nil {
		return r.failf(r.number, "a header with swpd, cs, us, sy should stand before the numbers of vmstat, found %q", clip(line))
	}
	fields := appendFields(r.fields[:0], line)
	r.fields = fields
	want := len(r.header)
	if last := r.header[len(r.header)-1]; len(fields) == want+1 && vmstatClock.MatchString(strings.Join(fields[want-1:], " ")) && last != "st" && last != "gu" {
		r.time(strings.Join(fields[want-1:], " ")) // a time is two fields below one name
		fields = fields[:want]
	}
	if len(fields) != want {
		if !r.whole {
			r.results.cutTail(r.lines, r.number)
			return nil
		}
		return r.failf(r.number, "expected %d numbers as the header names columns, found %d: was the line cut?", want, len(fields))
	}
	if !r.whole {
		r.results.cutTail(r.lines, r.number)
		return nil
	}
	counts := r.sampler.next()
	for i, at := range r.at {
		if at < 0 {
			continue
		}
		v, err := r.float(r.header[at], fields[at])
		if err != nil {
			return err
		}
		if counts {
			r.sums[i] += v
		}
	}
	return nil
}

// time learns the step from the first two times.
func (r *vmstatReader) time(text string) {
	at, err := time.Parse(vmstatLayout, text)
	if err != nil || r.step > 0 {
		return
	}
	if r.clocked {
		r.step = at.Sub(r.clock).Seconds()
		if r.sampler.seen == 1 && r.step > 0 {
			skipped := r.sampler
			r.sampler = r.recording.newSampler(r.step, true)
			r.sampler.seen = skipped.seen
		}
	}
	r.clock, r.clocked = at, true
}

// appendFields is strings.Fields into a slice that is used again; blanks and tabs part fields.
func appendFields(into []string, line string) []string {
	start := -1
	for i := 0; i < len(line); i++ {
		blank := line[i] == ' ' || line[i] == '\t'
		switch {
		case !blank && start < 0:
			start = i
		case blank && start >= 0:
			into, start = append(into, line[start:i]), -1
		}
	}
	if start >= 0 {
		into = append(into, line[start:])
	}
	return into
}
