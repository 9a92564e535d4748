package exchange

import (
	"math"
	"strings"
)

// beginBlock starts final statistics or those of a checkpoint. Counters start
// anew at each checkpoint, so that the last statistics stand for themselves.
func (r *sysbenchReader) beginBlock() error {
	if r.run.ElapsedNs > 0 && !r.run.inBlock && !r.run.isReport {
		// A second report without a header of its own: several runs whose headers were cut off.
		if err := r.finish(); err != nil {
			return err
		}
	}
	r.begin()
	run := &r.run
	if run.inBlock && run.ElapsedNs == 0 && run.Operations == 0 {
		return nil
	}
	if run.inBlock {
		return r.failf(r.number, "statistics begin before those above end with \"execution time (avg/stddev)\": output was cut or mixed")
	}
	if run.ElapsedNs > 0 {
		run.dropped++
	}
	run.inBlock, run.isReport, run.checkpoint = true, run.checkpoint, false
	run.ElapsedNs, run.Operations, run.Events, run.Retries, run.Errors = 0, 0, 0, 0, nil
	run.sql, run.queryRate = false, 0
	return nil
}

// statistic reads a line "name: value" of the options or of the statistics.
func (r *sysbenchReader) statistic(text string) error {
	name, value, ok := strings.Cut(text, ":")
	if !ok {
		return nil
	}
	value = strings.TrimSpace(value)
	switch name {
	case "Number of threads":
		n, err := r.count(name, value)
		r.begin()
		r.run.Threads = int(min(n, math.MaxInt32))
		return err
	case "Warmup time":
		return r.warmup(name, value)
	case "Target transaction rate":
		r.results.Notes = append(r.results.Notes, r.failf(r.number, "%s", limited).Error())
		return nil
	case "SQL statistics", "OLTP test statistics":
		return r.beginBlock()
	case "General statistics", "Throughput", "CPU speed":
		if !r.run.inBlock {
			return r.beginBlock()
		}
		return nil
	}
	if !r.run.inBlock {
		return nil
	}
	run := &r.run
	switch name {
	case "transactions":
		count, _, err := r.countRate(name, value)
		run.Events = count
		return err
	case "queries":
		count, rate, err := r.countRate(name, value)
		run.Operations, run.queryRate, run.sql = count, rate, true
		return err
	case "total": // of the queries performed, all that version 0.5 tells
		count, err := r.count(name, value)
		run.Operations, run.sql = count, true
		return err
	case "ignored errors", "deadlocks":
		count, _, err := r.countRate(name, value)
		run.Retries = count
		return err
	case "reconnects":
		count, _, err := r.countRate(name, value)
		if count > 0 {
			run.Errors = map[string]int64{"reconnect": count}
		}
		return err
	case "total time", "time elapsed":
		seconds, err := r.float(name, strings.TrimSuffix(value, "s"))
		run.ElapsedNs = int64(math.Round(min(seconds, 1e9) * 1e9))
		return err
	case "total number of events":
		count, err := r.count(name, value)
		run.Events = count
		return err
	case "min", "avg", "max":
		return r.latency(name, value)
	case "execution time (avg/stddev)":
		return r.endBlock()
	}
	if match := sysbenchNth.FindStringSubmatch(name); match != nil {
		return r.latency(match[1], value)
	}
	return nil
}

func (r *sysbenchReader) warmup(name, value string) error {
	seconds, err := r.float(name, strings.TrimSuffix(value, "s"))
	r.begin()
	r.run.WarmupNs = int64(min(seconds, 1e6) * 1e9)
	return err
}

func (r *sysbenchReader) countRate(name, value string) (count int64, rate float64, err error) {
	match := sysbenchCountRate.FindStringSubmatch(value)
	if match == nil {
		if strings.Contains(value, ",") {
			return 0, 0, r.failf(r.number, "%s is %q, with a decimal comma; run sysbench with LC_ALL=C", name, clip(value))
		}
		return 0, 0, r.failf(r.number, "%s should read \"COUNT (RATE per sec.)\" and is %q", name, clip(value))
	}
	if count, err = r.count(name, match[1]); err != nil {
		return 0, 0, err
	}
	rate, err = r.float(name, match[2])
	return count, rate, err
}

func (r *sysbenchReader) latency(name, value string) error {
	ms, err := r.float("latency "+name, strings.TrimSuffix(value, "ms"))
	if err != nil {
		return err
	}
	ns := int64(math.Round(min(ms*1e6, math.MaxInt64/2)))
	latency := &r.run.Latency
	switch name {
	case "min":
		latency.Min = ns
	case "avg":
		latency.Mean = ms * 1e6
	case "max":
		latency.Max = ns
	case "50":
		latency.P50 = ns
	case "95":
		latency.P95 = ns
	case "99":
		latency.P99 = ns
	}
	return nil
}

// endBlock checks that what the statistics print fits together.
func (r *sysbenchReader) endBlock() error {
	run := &r.run
	run.inBlock = false
	if run.ElapsedNs <= 0 {
		return r.failf(r.number, "the statistics have no time: expected \"total time\" or \"time elapsed\" above")
	}
	if run.queryRate == 0 {
		return nil
	}
	rate := float64(run.Operations) / (float64(run.ElapsedNs) / 1e9)
	if math.Abs(rate-run.queryRate) <= 0.01*run.queryRate+0.01 {
		return nil
	}
	if run.dropped > 0 {
		run.ElapsedNs = int64(float64(run.Operations) / run.queryRate * 1e9) // the time is that of the whole run
		return nil
	}
	return r.failf(r.number, "%d queries in %.4fs are %.2f per sec., but the statistics say %.2f: two outputs are mixed, or the file was edited",
		run.Operations, float64(run.ElapsedNs)/1e9, rate, run.queryRate)
}
