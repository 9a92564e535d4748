package exchange

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
)

var mysqladminHead = regexp.MustCompile(`\A\+-+\+-+\+\n\| Variable_name +\| Value`)

// mysqladmin reads the output of mysqladmin extended-status -i N: a table of the
// server's counters each time, absolute or, with -r, relative to the one before.
func mysqladmin() resultFormat {
	return resultFormat{
		name:      "mysqladmin extended-status",
		recognise: func(head string) bool { return mysqladminHead.MatchString(head) },
		begins:    func(line string) bool { return strings.HasPrefix(line, "| Variable_name ") },
		read: func(l *lines, results *Results) error {
			r := &mysqladminReader{lines: l, results: results}
			return r.read()
		},
	}
}

// mostVariables bounds the memory of damaged files.
const mostVariables = 10_000

// statusVariable is a counter or level of the server, over the tables.
type statusVariable struct {
	name string
	text bool // its value is no number
	now  float64
	seen bool // in the table under way
	// Of tables that count, all as absolute values.
	initial, first, last, most float64
	fell                       bool // a counter never does
}

type mysqladminReader struct {
	*lines
	results   *Results
	variables []statusVariable
	at        map[string]int
	place     int // of the next variable, if the order is that of the table before
	tables    int // that are whole
	start     int // line of the table under way
	inside    bool
	relative  bool
	rules     int // lines of dashes of the table under way
	sampler   sampler
	startS    float64 // uptime at the first table
	firstS    float64 // uptime at the first table that counts
	lastS     float64
}

func (r *mysqladminReader) read() error {
	r.at = map[string]int{}
	for line := range r.all {
		if err := r.line(line); err != nil {
			return err
		}
	}
	if r.err != nil {
		return r.err
	}
	if r.rules > 0 || r.number > 0 && !r.whole {
		r.results.cutTail(r.lines, r.number)
	}
	if r.tables < 2 {
		return r.failf(r.number, "there are %d whole tables of counters, and it takes two to tell what happened between: mysqladmin extended-status -i 1", r.tables)
	}
	if r.sampler.counted < 2 || r.lastS <= r.firstS {
		return r.failf(1, "none of the %d tables that count is later than the first one by its Uptime", r.sampler.counted)
	}
	return r.results.addRecording(r.lines, r.recorded(), r.sampler)
}

func (r *mysqladminReader) recorded() Recording {
	seconds := r.lastS - r.firstS
	rec := Recording{Line: 1, Tool: "mysqladmin", StepS: seconds / float64(r.sampler.counted-1)}
	for _, v := range r.variables {
		switch {
		case v.text || v.name == "Uptime" || v.name == "Uptime_since_flush_status":
		case v.fell || isLevel(v.name):
			rec.Gauges = append(rec.Gauges, dbcanary.Metric{Name: dbmsPrefix + v.name, Gauge: true, Value: v.last, First: v.first, Max: v.most})
		case v.last > v.first:
			rec.rate(dbmsPrefix+v.name, (v.last-v.first)/seconds)
		}
	}
	return rec
}

var levelName = regexp.MustCompile(`(?i)^(threads_(running|connected|cached)|open_(files|tables|table_definitions|streams)|innodb_(buffer_pool_(pages_(data|dirty|free|misc|total|old)|bytes_\w+)|page_size|row_lock_current_waits|num_open_files|history_list_length|checkpoint_\w+|lsn_\w+|mem_\w+)|memory_used\w*|max_\w+|prepared_stmt_count|\w+_current\w*)$`)

// isLevel tells a level by the name of the variable; one that fell is a level too.
func isLevel(name string) bool { return levelName.MatchString(name) }

func (r *mysqladminReader) line(line string) error {
	switch {
	case strings.HasPrefix(line, "+-"):
		r.rules++
		switch {
		case r.rules == 1:
			r.start = r.number
		case r.rules == 3:
			r.endTable()
		}
		return nil
	case strings.HasPrefix(line, "| Variable_name "):
		r.inside = true
		return nil
	case strings.TrimSpace(line) == "":
		return nil
	case !r.inside || !strings.HasPrefix(line, "| "):
		if !r.whole {
			return nil // it is told as a table that is not whole
		}
		return r.failf(r.number, "expected a row of the table of counters that starts in line %d, found %q", r.start, clip(line))
	}
	name, value, ok := strings.Cut(line[2:], "|")
	value, bar := strings.CutSuffix(strings.TrimSpace(value), "|")
	if !ok || !bar {
		if !r.whole {
			return nil
		}
		return r.failf(r.number, "expected \"| name | value |\", found %q: was the line cut?", clip(line))
	}
	return r.variable(strings.TrimSpace(name), strings.TrimSpace(value))
}

// variable takes a row; they mostly come in the order of the table before.
func (r *mysqladminReader) variable(name, value string) error {
	if r.place >= len(r.variables) || r.variables[r.place].name != name {
		at, ok := r.at[name]
		if !ok {
			if len(r.variables) >= mostVariables {
				return r.failf(r.number, "there are more than %d variables", mostVariables)
			}
			at = len(r.variables)
			name = strings.Clone(name)
			r.at[name] = at
			r.variables = append(r.variables, statusVariable{name: name})
		}
		r.place = at
	}
	v := &r.variables[r.place]
	r.place++
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		v.text = true
		return nil
	}
	v.now, v.seen = number, true
	return nil
}

// endTable takes the table that is whole.
func (r *mysqladminReader) endTable() {
	r.tables++
	if r.tables == 2 {
		r.relative = r.isRelative()
	}
	uptime := -1.0
	if at, ok := r.at["Uptime"]; ok {
		uptime = r.variables[at].now
	}
	counts := r.takeSample(uptime)
	for i := range r.variables {
		v := &r.variables[i]
		if v.text || !v.seen {
			continue
		}
		before := v.last
		switch {
		case r.tables == 1:
			v.initial, before = v.now, v.now
			v.last = v.now
		case r.relative:
			v.last += v.now
		default:
			v.last = v.now
		}
		v.fell = v.fell || v.last < before
		if counts && r.sampler.counted == 1 {
			v.first, v.most = v.last, v.last
		}
		v.most = max(v.most, v.last)
		v.seen = false
	}
	r.place, r.rules, r.inside = 0, 0, false
}

// takeSample follows the time by the server's clock and tells whether the table counts.
func (r *mysqladminReader) takeSample(uptime float64) bool {
	if r.relative {
		r.lastS += uptime
	} else {
		r.lastS = uptime
	}
	if r.tables == 1 {
		r.startS = r.lastS
	}
	r.sampler.seen++
	if r.lastS-r.startS < r.recording.warmupS {
		r.sampler.skip++
		return false
	}
	r.sampler.counted++
	if r.sampler.counted == 1 {
		r.firstS = r.lastS
	}
	return true
}

// isRelative tells by the uptime, which grows in an absolute table, and by what does
// not change: it is the same again in an absolute table, and 0 in a relative one.
// Small levels are the same by chance.
func (r *mysqladminReader) isRelative() bool {
	const large = 100
	same, zero := 0, 0
	for i := range r.variables {
		v := &r.variables[i]
		switch {
		case !v.seen || v.text:
		case v.name == "Uptime" && v.now < v.initial:
			return true
		case v.initial > large && v.now == v.initial:
			same++
		case v.initial > large && v.now == 0:
			zero++
		}
	}
	return zero > same
}
