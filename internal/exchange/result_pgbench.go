package exchange

import (
	"math"
	"regexp"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// pgbenchText reads what pgbench prints: the summary of one or more runs, with
// the progress lines before it if both went into one file.
func pgbenchText() resultFormat {
	return resultFormat{
		name:      "pgbench",
		recognise: func(head string) bool { return pgbenchMark.MatchString(head) },
		begins: func(line string) bool {
			return strings.HasPrefix(line, "pgbench (") || strings.HasPrefix(line, "transaction type: ")
		},
		read: func(l *lines, results *Results) error {
			r := &pgbenchReader{lines: l, results: results}
			return r.read()
		},
	}
}

var (
	pgbenchMark    = regexp.MustCompile(`(?m)^(pgbench \(|pgbench: error|transaction type: |progress: [\d.]+ s, [\d.]+ tps, lat )`)
	pgbenchVersion = regexp.MustCompile(`^pgbench \(.*?(\d[\w.]*)`)
	pgbenchTPS     = regexp.MustCompile(`^tps = (\S+) \((including|excluding|without|with)`)
	pgbenchFailed  = regexp.MustCompile(`^number of failed transactions: (\d+)`)
	pgbenchError   = regexp.MustCompile(`^pgbench: (?:error|fatal): |^(?:client|Client) \d+ .*aborted|^Run was aborted`)
)

// limited is what is to be known of a run at a fixed rate.
const limited = "the run was limited to a rate: its throughput is that rate and not what the server can do"

type pgbenchReader struct {
	*lines
	results  *Results
	run      Measurement
	begun    bool
	summary  bool // the summary of the run has begun
	complete bool // its rate was read
	limited  bool // it is known that it ran at a fixed rate
	version  string
	failure  string
	failedAt int
	progress float64 // integral of the progress: transactions
	rate     float64
}

func (r *pgbenchReader) read() error {
	for line := range r.all {
		if strings.HasPrefix(line, "tps = ") { // the last line of a summary
			if err := r.cut(); err != nil {
				return err
			}
		}
		if err := r.line(line); err != nil {
			return err
		}
	}
	return r.finish()
}

func (r *pgbenchReader) begin() {
	if !r.begun {
		r.begun = true
		r.run = Measurement{Line: r.number}
		r.run.Latency.Mean = math.NaN()
	}
}

func (r *pgbenchReader) line(line string) error {
	switch {
	case strings.HasPrefix(line, "progress: "):
		if r.summary {
			if err := r.finish(); err != nil {
				return err
			}
		}
		r.begin()
		return r.interval(line)
	case pgbenchError.MatchString(line):
		r.begin()
		if r.failure == "" {
			r.failure, r.failedAt = line, r.number
		}
		return nil
	case strings.HasPrefix(line, "pgbench ("):
		if match := pgbenchVersion.FindStringSubmatch(line); match != nil {
			if r.summary {
				if err := r.finish(); err != nil {
					return err
				}
			}
			r.begin()
			r.version = match[1]
		}
		return nil
	case strings.HasPrefix(line, "transaction type: "):
		if r.summary {
			if err := r.finish(); err != nil {
				return err
			}
		}
		r.begin()
		r.summary = true
		r.run.Benchmark = pgbenchName(strings.TrimPrefix(line, "transaction type: "))
		return nil
	case r.summary:
		return r.field(line)
	}
	return nil
}

// pgbenchName makes a label of "<builtin: TPC-B (sort of)>" or a script's path.
func pgbenchName(text string) string {
	text = strings.Trim(strings.TrimSpace(text), "<>")
	if name, ok := strings.CutPrefix(text, "builtin: "); ok {
		return "pgbench " + name
	}
	return strings.TrimSuffix(text[strings.LastIndexByte(text, '/')+1:], ".sql")
}

// pgbenchProgress takes time, rate and latency of a line such as "progress: 1.0 s, 1000.0 tps,
// lat 1.000 ms stddev 0.5". A long file has millions of them.
func pgbenchProgress(line string) (at, rate, latency string, ok bool) {
	rest, begins := strings.CutPrefix(line, "progress: ")
	at, rest, timed := strings.Cut(rest, " s, ")
	rate, rest, rated := strings.Cut(rest, " tps, lat ")
	latency, _, ends := strings.Cut(rest, " ms stddev")
	isNumber := func(text string) bool { return text != "" && strings.Trim(text, "0123456789.,") == "" }
	ok = begins && timed && rated && ends && isNumber(at) && isNumber(rate) && (latency == "NaN" || isNumber(latency))
	return at, rate, latency, ok
}

func (r *pgbenchReader) interval(line string) error {
	at, rate, lat, ok := pgbenchProgress(line)
	if !ok {
		return r.failf(r.number, "a progress line of pgbench should read \"progress: 1.0 s, 1000.0 tps, lat 1.000 ms stddev …\"; found %q", clip(line))
	}
	end, err := r.float("the time", at)
	if err != nil {
		return err
	}
	tps, err := r.float("tps", rate)
	if err != nil {
		return err
	}
	latency := 0.0
	if lat != "NaN" { // of an interval without a transaction
		if latency, err = r.float("the latency", lat); err != nil {
			return err
		}
	}
	if strings.Contains(line, " ms, lag ") || strings.Contains(line, " failed, lag ") {
		r.noteLimited()
	}
	before := 0.0
	if n := len(r.run.Intervals); n > 0 {
		before = r.run.Intervals[n-1].EndS
	}
	if end < before {
		return r.failf(r.number, "the interval at %gs follows one at %gs: output of two runs is mixed", end, before)
	}
	if len(r.run.Intervals) >= mostIntervals {
		return r.failf(r.number, "the run has more than %d intervals", mostIntervals)
	}
	r.progress += tps * (end - before)
	r.run.Intervals = append(r.run.Intervals, Interval{EndS: end, Events: tps, LatencyNs: latency * 1e6})
	return nil
}

// noteLimited tells of a run at a fixed rate, once.
func (r *pgbenchReader) noteLimited() {
	if !r.limited {
		r.limited = true
		r.results.Notes = append(r.results.Notes, r.failf(r.run.Line, "%s", limited).Error())
	}
}

// field reads a line of the summary.
func (r *pgbenchReader) field(line string) error {
	if match := pgbenchTPS.FindStringSubmatch(line); match != nil {
		rate, err := r.float("tps", match[1])
		if err != nil || match[2] == "including" && r.complete {
			return err
		}
		// Before version 14 the rate with the time to connect comes first.
		r.rate, r.complete = rate, true
		return nil
	}
	if match := pgbenchFailed.FindStringSubmatch(line); match != nil {
		count, err := r.count("failed transactions", match[1])
		if count > 0 {
			r.run.Errors = map[string]int64{"failed": count}
		}
		return err
	}
	name, value, ok := strings.Cut(line, ": ")
	if !ok {
		name, value, ok = strings.Cut(line, " = ")
	}
	if !ok {
		return nil
	}
	switch name {
	case "rate limit schedule lag":
		r.noteLimited()
	case "number of clients":
		count, err := r.count(name, value)
		r.run.Threads = int(min(count, math.MaxInt32))
		return err
	case "number of transactions actually processed":
		value, _, _ = strings.Cut(value, "/")
		count, err := r.count(name, value)
		r.run.Events = count
		return err
	case "number of transactions retried":
		value, _, _ = strings.Cut(value, " ")
		count, err := r.count(name, value)
		r.run.Retries = count
		return err
	case "latency average":
		ms, err := r.float(name, strings.TrimSuffix(value, " ms"))
		r.run.Latency.Mean = ms * 1e6
		return err
	}
	return nil
}

// finish takes what was read of a run and makes room for the next.
func (r *pgbenchReader) finish() error {
	run, begun, complete, summary := r.run, r.begun, r.complete, r.summary
	failure, rate, progress := r.failure, r.rate, r.progress
	r.begun, r.complete, r.limited, r.summary, r.failure, r.rate, r.progress = false, false, false, false, "", 0, 0
	switch {
	case !begun:
		return nil
	case failure != "":
		r.results.rejectf(r.lines, r.failedAt, "pgbench failed: %s", clip(failure))
		return nil
	case summary && !complete:
		r.results.rejectf(r.lines, r.number, "the summary that starts in line %d has no line \"tps = …\"; was the output cut?", run.Line)
		return nil
	case !summary && len(run.Intervals) == 0:
		return nil
	}
	run.Tool, run.Family, run.Unit = strings.TrimSpace("pgbench "+r.version), dbcanary.Postgres, "transactions"
	if summary {
		run.ElapsedNs = int64(math.Round(float64(run.Events) / max(rate, 1e-9) * 1e9))
		run.RateStep = 1 / max(1, float64(run.Events))
	} else {
		run.Events = int64(math.Round(progress))
		end := run.Intervals[len(run.Intervals)-1].EndS
		run.ElapsedNs = int64(end * 1e9)
		run.RateStep = 0.1 * end / max(1, progress)
		run.Benchmark = ""
	}
	run.Operations = run.Events
	if run.Operations <= 0 || run.ElapsedNs <= 0 || rate == 0 && summary {
		r.results.rejectf(r.lines, run.Line, "the run finished no transaction")
		return nil
	}
	return r.results.add(r.lines, run)
}
