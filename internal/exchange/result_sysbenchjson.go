package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
)

// sysbenchJSON reads what sysbench's JSON hook writes: a list of intervals and,
// if the hook reports the whole run too, a list of one entry after it.
func sysbenchJSON() resultFormat {
	return resultFormat{
		name:      "sysbench JSON",
		recognise: func(head string) bool { return sysbenchJSONMark.MatchString(head) },
		read:      readSysbenchJSON,
	}
}

var sysbenchJSONMark = regexp.MustCompile(`(?m)^\s*\[\s*\{\s*"time":\s*[\d.]+,\s*"threads":\s*\d+`)

// sysbenchEntry is an interval, or the whole run.
type sysbenchEntry struct {
	Time    *float64 `json:"time"`
	Threads int      `json:"threads"`
	TPS     *float64 `json:"tps"`
	QPS     struct {
		Total float64 `json:"total"`
	} `json:"qps"`
	Latency    float64 `json:"latency"`
	Errors     float64 `json:"errors"`
	Reconnects float64 `json:"reconnects"`
}

func readSysbenchJSON(l *lines, results *Results) error {
	version := ""
	for {
		line, ok := l.next()
		if !ok {
			return l.failf(l.number, "the list of intervals is missing")
		}
		text := strings.TrimSpace(line)
		if match := sysbenchVersion.FindStringSubmatch(line); match != nil {
			version = match[1]
		}
		if strings.HasPrefix(text, "FATAL: ") || strings.HasPrefix(text, "ALERT: ") {
			results.rejectf(l, l.number, "sysbench failed: %s", clip(text))
			return nil
		}
		if text == "[" || strings.HasPrefix(text, "[{") || strings.HasPrefix(text, "[ {") {
			break
		}
	}
	start := l.number
	decoder := l.json(l.last)
	m := Measurement{Line: start, Tool: strings.TrimSpace("sysbench " + version), LatencyStep: sysbenchLatencyStep}
	m.Latency.Mean = math.NaN()
	var sum csvSum
	for lists := 0; ; lists++ {
		last, ends, err := readSysbenchList(l, decoder.Decoder, start, &m, &sum, lists > 0)
		if err != nil {
			return err
		}
		if ends {
			break
		}
		if lists > 0 && last.Time != nil { // the whole run
			sum = csvSum{lastS: *last.Time, qps: last.QPS.Total * *last.Time, tps: *last.TPS * *last.Time, rows: 1}
		}
	}
	if err := decoder.end(); err != nil {
		return err
	}
	m.ElapsedNs, m.Operations, m.Events = int64(sum.lastS*1e9), int64(math.Round(sum.qps)), int64(math.Round(sum.tps))
	if m.Operations == 0 {
		m.Operations, m.Unit = m.Events, "events"
	}
	if m.Operations <= 0 || m.ElapsedNs <= 0 {
		results.rejectf(l, start, "the run finished no %s", unitName(m.Unit))
		return nil
	}
	m.RateStep = 0.01 * sum.lastS / float64(m.Operations)
	return results.add(l, m)
}

// readSysbenchList reads one list; ends is true where none follows. The entries
// of the first are added up as intervals.
func readSysbenchList(l *lines, decoder *json.Decoder, start int, m *Measurement, sum *csvSum, whole bool) (last sysbenchEntry, ends bool, err error) {
	broken := func(entry int, err error) error {
		if cutJSON(err) {
			err = errors.New("the file ends within the list; was the output cut?")
		}
		return l.failf(start, "entry %d of the list that starts here: %w", entry, err)
	}
	token, err := decoder.Token()
	if whole && err != nil {
		return last, true, nil // text of sysbench after the list, or nothing
	}
	if err != nil {
		return last, false, broken(1, err)
	}
	if token != json.Delim('[') {
		return last, true, nil
	}
	entries := 0
	for decoder.More() {
		entries++
		var e sysbenchEntry
		if err := decoder.Decode(&e); err != nil {
			return last, false, broken(entries, err)
		}
		if e.Time == nil || e.TPS == nil || !(*e.Time >= 0) || *e.Time > 1e9 || !(*e.TPS >= 0) || !(e.QPS.Total >= 0) || *e.TPS > 1e9 || e.QPS.Total > 1e9 || e.Threads < 0 {
			return last, false, broken(entries, errors.New(`"time", "threads", "tps" and "qps" should be numbers, and not negative`))
		}
		last = e
		if whole {
			continue
		}
		if *e.Time <= sum.lastS {
			return last, false, broken(entries, fmt.Errorf("its time %gs does not follow %gs", *e.Time, sum.lastS))
		}
		if len(m.Intervals) >= mostIntervals {
			return last, false, broken(entries, errTooMany)
		}
		step := *e.Time - sum.lastS
		*sum = csvSum{*e.Time, sum.qps + e.QPS.Total*step, sum.tps + *e.TPS*step, sum.rows + 1}
		m.Retries += int64(math.Round(max(0, min(e.Errors, 1e9)) * step))
		m.Threads = e.Threads
		m.Intervals = append(m.Intervals, Interval{EndS: *e.Time, Events: *e.TPS, LatencyNs: e.Latency * 1e6})
	}
	if _, err := decoder.Token(); err != nil {
		return last, false, broken(entries+1, err)
	}
	return last, false, nil
}
