package ui

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/lab"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newRun() *dbcanary.Run {
	return &dbcanary.Run{ID: 7, Plan: dbcanary.Plan{
		Targets:    []string{"mariadb@10.5", "mariadb@11.8", "mysql@9.7"},
		Benchmarks: []dbcanary.PlannedBenchmark{{Label: "scan"}, {Label: "read-only range=100"}},
	}}
}

func comparison(target string, ratio, low, high float64, verdict dbcanary.Verdict) dbcanary.Comparison {
	return dbcanary.Comparison{
		Benchmark: "scan", Target: target, Base: "mariadb@10.5", Verdict: verdict,
		QPSRatio: dbcanary.Estimate{Ratio: ratio, Low: low, High: high},
	}
}

// events is a run in short: load, an instance, a void slice, verdicts.
func events() []lab.Event {
	return []lab.Event{
		{Kind: lab.EventRun, Time: start, Run: newRun()},
		{Kind: lab.EventPrepare, Time: start, Target: "mariadb@10.5", Phase: "start"},
		{Kind: lab.EventPrepare, Time: start, Target: "mariadb@10.5", Phase: "load", Done: 50, Total: 100},
		{Kind: lab.EventPrepare, Time: start, Target: "mariadb@10.5", Phase: "load", Done: 100, Total: 100},
		{Kind: lab.EventInstance, Time: start, LeftNs: int64(90 * time.Second)},
		{Kind: lab.EventSlice, Time: start, Benchmark: "scan", Target: "mysql@9.7"},
		{Kind: lab.EventTrial, Time: start, Benchmark: "scan", Target: "mysql@9.7", Trial: &dbcanary.Trial{}},
		{Kind: lab.EventTrial, Time: start, Benchmark: "scan", Target: "mysql@9.7", Trial: &dbcanary.Trial{Void: "1213"}},
		{Kind: lab.EventProblem, Time: start, Benchmark: "scan", Target: "mysql@9.7", Problem: "slice void: 1213"},
		{Kind: lab.EventComparisons, Time: start, Comparisons: []dbcanary.Comparison{
			comparison("mariadb@11.8", 0.912, 0.884, 0.941, dbcanary.Slower),
			comparison("mysql@9.7", 1.304, 0, math.Inf(1), dbcanary.Inconclusive),
		}},
	}
}

func TestModel_Lines(t *testing.T) {
	m := newModel()
	for _, event := range events() {
		m.apply(event)
	}
	want := []string{
		"run 7  base mariadb@10.5  instance 1  slices 1 (1 void)  1m20s left",
		"now   scan on mysql@9.7, block 1",
		"note  mysql@9.7, scan: slice void: 1213",
		"benchmark            mariadb@11.8                   mysql@9.7",
		"scan                 0.91 [0.88-0.94] slower        1.30",
		"read-only range=100  -                              -",
	}
	if diff := cmp.Diff(want, m.lines(100, 24, start.Add(10*time.Second))); diff != "" {
		t.Error(diff)
	}
}

func TestModel_Profile(t *testing.T) {
	m := newModel()
	for _, event := range append(events(), lab.Event{Kind: lab.EventProfile, Time: start, Benchmark: "scan", Target: "mysql@9.7", Phase: "perf"}) {
		m.apply(event)
	}
	if got := m.lines(100, 24, start)[1]; got != "now   profile of scan on mysql@9.7: perf" {
		t.Error(got)
	}
}

func TestModel_FitsTheTerminal(t *testing.T) {
	m := newModel()
	for _, event := range events() {
		m.apply(event)
		for _, width := range []int{1, 20, 80} {
			for _, height := range []int{1, 5, 24} {
				lines := m.lines(width, height, start)
				if len(lines) > max(height, 6) {
					t.Errorf("%d lines on %d rows", len(lines), height)
				}
				for _, line := range lines {
					if got := len([]rune(line)); got > width {
						t.Errorf("a line of %d columns on %d: %q", got, width, line)
					}
				}
			}
		}
	}
}

func TestPlain(t *testing.T) {
	var out bytes.Buffer
	voice := NewPlain(&out)
	for _, event := range events() {
		voice.Event(event)
	}
	voice.Event(lab.Event{Kind: lab.EventProfile, Benchmark: "scan", Target: "mysql@9.7", Phase: "waits"})
	voice.Event(lab.Event{Kind: lab.EventInstance, Instance: 1, LeftNs: int64(time.Minute)})
	voice.Close()
	want := `run 7: 3 targets, 2 benchmarks, base mariadb@10.5
mariadb@10.5: initialise and start
mariadb@10.5: load
instance 1 of every target, 1m30s left
note: mysql@9.7, scan: slice void: 1213
profile of scan on mysql@9.7: waits
instance 2 of every target, 1m0s left; so far 1 slower, 1 inconclusive
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestJSON_IsOneObjectPerLine(t *testing.T) {
	var out bytes.Buffer
	voice := NewJSON(&out)
	for _, event := range events() {
		voice.Event(event)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(events())-1 {
		t.Errorf("%d lines for %d events without the comparisons", len(lines), len(events())-1)
	}
	for _, line := range lines {
		var event struct{ Event, Time string }
		if err := json.Unmarshal([]byte(line), &event); err != nil || event.Event == "" || event.Time == "" {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// The live view paints in place, and nothing of it stays but the problems.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		voice := NewLive(&out, func() (int, int) { return 80, 24 }, time.Now)
		for _, event := range events() {
			voice.Event(event)
		}
		time.Sleep(3 * paintEvery)
		synctest.Wait()
		voice.Close()
		painted := out.String()
		if got := strings.Count(painted, "read-only range=100"); got < 2 {
			t.Errorf("painted %d times", got)
		}
		if want := "\x1b[6A\r\x1b[Jnote: mysql@9.7, scan: slice void: 1213\n"; !strings.HasSuffix(painted, want) {
			t.Errorf("the end is %q, want %q", painted[max(0, len(painted)-80):], want)
		}
	})
}
