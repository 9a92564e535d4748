package exchange

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// benchBase reads the summary.json of BenchBase.
func benchBase() resultFormat {
	return resultFormat{
		name: "BenchBase",
		recognise: func(head string) bool {
			return strings.HasPrefix(strings.TrimSpace(head), "{") && strings.Contains(head, `"Throughput (requests/second)"`)
		},
		read: readBenchBase,
	}
}

// benchBaseSummary is what is taken of the file; a number that is missing is nil.
type benchBaseSummary struct {
	Benchmark  string   `json:"Benchmark Type"`
	DBMS       string   `json:"DBMS Type"`
	State      string   `json:"Final State"`
	TimestampM float64  `json:"Current Timestamp (milliseconds)"`
	Terminals  string   `json:"terminals"`
	Requests   *float64 `json:"Measured Requests"`
	ElapsedNs  *float64 `json:"Elapsed Time (nanoseconds)"`
	Throughput *float64 `json:"Throughput (requests/second)"`
	Goodput    *float64 `json:"Goodput (requests/second)"`
	Latency    struct {
		Min    float64 `json:"Minimum Latency (microseconds)"`
		Mean   float64 `json:"Average Latency (microseconds)"`
		Median float64 `json:"Median Latency (microseconds)"`
		P95    float64 `json:"95th Percentile Latency (microseconds)"`
		P99    float64 `json:"99th Percentile Latency (microseconds)"`
		Max    float64 `json:"Maximum Latency (microseconds)"`
	} `json:"Latency Distribution"`
}

// mostJSON is the largest file of one object that is read.
const mostJSON = 1 << 20

func readBenchBase(l *lines, results *Results) error {
	content, err := io.ReadAll(io.LimitReader(l.reader, mostJSON))
	if err != nil {
		return l.failf(1, "%w", readError(err))
	}
	var s benchBaseSummary
	if err := json.Unmarshal(content, &s); err != nil {
		line := 1
		var syntax *json.SyntaxError
		var mismatch *json.UnmarshalTypeError
		switch {
		case errors.As(err, &syntax):
			line, _ = lineAndColumn(content, syntax.Offset-1)
		case errors.As(err, &mismatch):
			line, _ = lineAndColumn(content, mismatch.Offset-1)
		}
		return l.failf(line, "not a summary of BenchBase: %w", err)
	}
	if s.Requests == nil || s.ElapsedNs == nil || s.Throughput == nil || !(*s.Requests >= 0 && *s.Requests < 1e15 && *s.ElapsedNs >= 0 && *s.ElapsedNs < 1e18) {
		return l.failf(1, `"Measured Requests", "Elapsed Time (nanoseconds)" and "Throughput (requests/second)" should be numbers`)
	}
	seconds := *s.ElapsedNs / 1e9
	switch {
	case s.State != "" && s.State != "DONE" && s.State != "EXIT":
		results.rejectf(l, 1, "the run did not end as it should: its final state is %q", clip(s.State))
		return nil
	case *s.Requests < 1 || *s.ElapsedNs < 1:
		results.rejectf(l, 1, "the run finished no request")
		return nil
	case math.Abs(*s.Requests/seconds-*s.Throughput) > 0.01*math.Abs(*s.Throughput):
		results.rejectf(l, 1, "%.0f requests in %.3fs are not the %g requests/second that the file gives", *s.Requests, seconds, *s.Throughput)
		return nil
	}
	m := Measurement{Line: 1, Tool: "BenchBase", Benchmark: s.Benchmark, Unit: "transactions"}
	m.Operations, m.ElapsedNs = int64(*s.Requests), int64(*s.ElapsedNs)
	m.Events, m.RateStep = m.Operations, 1 / *s.Requests
	if family, err := dbcanary.ParseFamily(s.DBMS); err == nil {
		m.Family = family
	}
	if threads, err := strconv.Atoi(s.Terminals); err == nil && threads > 0 {
		m.Threads = threads
	}
	if s.TimestampM > 0 && s.TimestampM < 1e14 {
		m.Started = time.UnixMilli(int64(s.TimestampM - seconds*1e3)).UTC()
	}
	if s.Goodput != nil {
		if failed := int64(*s.Requests - *s.Goodput*seconds); failed > 0 {
			m.Errors = map[string]int64{"not completed": failed}
		}
	}
	ns := func(us float64) int64 { return int64(math.Round(max(0, min(us, 1e15)) * 1e3)) }
	m.Latency = dbcanary.Latency{
		Min: ns(s.Latency.Min), Mean: max(0, s.Latency.Mean) * 1e3, P50: ns(s.Latency.Median),
		P95: ns(s.Latency.P95), P99: ns(s.Latency.P99), Max: ns(s.Latency.Max),
	}
	m.LatencyStep = 1e-6
	return results.add(l, m)
}
