package exchange

import (
	"math"
	"regexp"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// mysqlslapText reads what mysqlslap and mariadb-slap print. They print a
// plausible time after failed connections too: such a run is rejected.
func mysqlslapText() resultFormat {
	return resultFormat{
		name:      "mysqlslap",
		recognise: func(head string) bool { return slapMark.MatchString(head) },
		begins: func(line string) bool {
			return strings.HasPrefix(line, "\tAverage number of seconds to run all queries:")
		},
		read: func(l *lines, results *Results) error {
			r := &slapReader{lines: l, results: results}
			return r.read()
		},
	}
}

var (
	slapMark   = regexp.MustCompile(`(?m)^(\s+Average number of seconds to run all queries: |\S*(mysql|mariadb-)slap: )`)
	slapNotice = regexp.MustCompile(`^\S*(mysql|mariadb-)slap: (\[Warning\]|Warning:?|Deprecated)`)
	slapError  = regexp.MustCompile(`^\S*(mysql|mariadb-)slap: `)
	slapCSV    = regexp.MustCompile(`\A[^,\n]*,[^,\n]+,\d+\.\d{3},\d+\.\d{3},\d+\.\d{3},\d+,\d+\r?(\n|\z)`)
)

type slapReader struct {
	*lines
	results *Results
	run     Measurement
	inside  bool
	engine  string
	average float64
	queries int64
	clients int64
}

func (r *slapReader) read() error {
	failed := 0
	for line := range r.all {
		text := strings.TrimSpace(line)
		switch {
		case slapNotice.MatchString(line):
		case slapError.MatchString(line):
			if failed == 0 {
				r.results.rejectf(r.lines, r.number, "mysqlslap failed and printed times all the same: %s", clip(text))
			}
			failed++
		case text == "Benchmark":
			if err := r.start(); err != nil {
				return err
			}
		case strings.HasPrefix(text, "Running for engine "):
			r.engine = strings.TrimPrefix(text, "Running for engine ")
		default:
			if err := r.field(text); err != nil {
				return err
			}
		}
	}
	if r.inside {
		return r.failf(r.number, "the report that starts in line %d ends without \"Average number of queries per client\"; was the output cut?", r.run.Line)
	}
	if failed > 0 {
		r.results.Measurements = nil // one cannot tell which of the reports the errors belong to
	}
	return nil
}

func (r *slapReader) start() error {
	if r.inside {
		return r.failf(r.number, "a report begins before that of line %d ends", r.run.Line)
	}
	r.inside, r.average, r.queries, r.clients, r.engine = true, 0, 0, 0, ""
	r.run = Measurement{Line: r.number}
	return nil
}

func (r *slapReader) field(text string) error {
	name, value, ok := strings.Cut(text, ": ")
	if !ok || !r.inside {
		return nil
	}
	var err error
	switch name {
	case "Average number of seconds to run all queries":
		r.average, err = r.float(name, strings.TrimSuffix(value, " seconds"))
	case "Number of clients running queries":
		r.clients, err = r.count(name, value)
	case "Average number of queries per client":
		if err := r.cut(); err != nil {
			return err
		}
		r.queries, err = r.count(name, value)
		if err == nil {
			r.inside = false
			err = r.results.addSlap(r.lines, r.run.Line, "mysqlslap", r.engine, r.average, r.clients, r.queries)
		}
	}
	return err
}

// addSlap takes one result: all queries took that many seconds, to the millisecond.
func (r *Results) addSlap(l *lines, line int, benchmark, engine string, average float64, clients, queries int64) error {
	if average <= 0 || clients <= 0 || queries <= 0 || clients > 1e6 || queries > 1e12 || average > 1e9 {
		r.rejectf(l, line, "%d clients with %d queries each in %.3f seconds give no rate", clients, queries, average)
		return nil
	}
	m := Measurement{Line: line, Tool: "mysqlslap", Benchmark: benchmark, Family: dbcanary.MySQL, Threads: int(clients)}
	if engine != "" {
		m.Benchmark += " " + engine
	}
	m.Latency.Mean = math.NaN()
	m.Operations, m.ElapsedNs = clients*queries, int64(math.Round(average*1e9))
	m.Events, m.RateStep = m.Operations, 0.001/average
	return r.add(l, m)
}

// mysqlslapCSV reads the file of mysqlslap --csv: engine, kind of load, average,
// least and most seconds, clients, queries of each.
func mysqlslapCSV() resultFormat {
	return resultFormat{
		name:      "mysqlslap CSV",
		recognise: func(head string) bool { return slapCSV.MatchString(head) },
		read: func(l *lines, results *Results) error {
			for line := range l.all {
				if strings.TrimSpace(line) == "" {
					continue
				}
				if slapError.MatchString(line) {
					results.Measurements = nil
					results.rejectf(l, l.number, "mysqlslap failed: %s", clip(line))
					return nil
				}
				if err := readSlapRow(l, results, line); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func readSlapRow(l *lines, results *Results, line string) error {
	if err := l.cut(); err != nil {
		return err
	}
	fields := strings.Split(line, ",")
	if !slapCSV.MatchString(line) {
		if len(fields) > 8 || strings.Contains(line, ";") {
			return l.failf(l.number, "expected engine, load, three times, clients and queries, found %q; are the numbers written with decimal commas?", clip(line))
		}
		return l.failf(l.number, "expected 7 columns (engine, load, average, least and most seconds, clients, queries), found %d in %q: was the line cut?", len(fields), clip(line))
	}
	average, err := l.float("the average", fields[2])
	if err != nil {
		return err
	}
	clients, err := l.count("the number of clients", fields[5])
	if err != nil {
		return err
	}
	queries, err := l.count("the number of queries", fields[6])
	if err != nil {
		return err
	}
	return results.addSlap(l, l.number, "mysqlslap "+fields[1], fields[0], average, clients, queries)
}
