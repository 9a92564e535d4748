package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/profile"
)

// whereTimeWent is a run with waits and stacks of several samplers, in several
// profiling slices, and one that shows nothing.
func whereTimeWent(t *testing.T) *Report {
	t.Helper()
	r := profiled(t)
	base, target := r.Run.Plan.Targets[0], r.Run.Plan.Targets[1]
	packed, err := profile.Encode([]profile.Stack{
		{Frames: []profile.Frame{{Function: "clone", Binary: "libc.so.6"}, {Function: "do_command", Binary: "mysqld"}, {Function: "poll", Binary: "libc.so.6"}}, Count: 7},
		{Frames: []profile.Frame{{Function: "clone", Binary: "libc.so.6"}, {Function: "evil\x1b[31m", Binary: "mysqld"}, {Function: "futex_wait", Binary: "[kernel.kallsyms]"}}, Count: 9},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Profiles = append(r.Profiles,
		dbcanary.Profile{Benchmark: "scan", Target: base, Operations: 3, ElapsedNs: 5e9, Stacks: []dbcanary.Stacks{{Sampler: "eu-stack", Pprof: packed}}},
		dbcanary.Profile{Benchmark: "point-query", Target: base, Operations: 2_000_000, ElapsedNs: 5e9, Waits: []dbcanary.Wait{
			{Event: "wait/synch/sxlock/innodb/btr_search_latch", Count: 12_345, TotalNs: 655_570_000_000},
			{Event: "wait/synch/sxlock/innodb/hash_table_locks", Count: 99, TotalNs: 35_470_000_000},
			{Event: "wait/synch/mutex/sql/THD::LOCK_query_plan", Count: 4_000_000, TotalNs: 3_420_000_000},
		}},
	)
	r.Run.Missing = []dbcanary.MissingProbe{{Target: target, Probe: "waits", Reason: "performance_schema is off"}}
	return r
}

func TestProfileFormats(t *testing.T) {
	r := whereTimeWent(t)
	datadriven.RunTest(t, "testdata/profiles", func(t *testing.T, d *datadriven.TestData) string {
		var got bytes.Buffer
		var err error
		switch d.Cmd {
		case "report":
			err = r.Write(&got, d.CmdArgs[0].Key, Options{})
		case "flame":
			o := FlameOptions{Format: "folded"}
			d.MaybeScanArgs(t, "benchmark", &o.Benchmark)
			d.MaybeScanArgs(t, "target", &o.Target)
			d.MaybeScanArgs(t, "base", &o.Base)
			d.MaybeScanArgs(t, "format", &o.Format)
			d.MaybeScanArgs(t, "sampler", &o.Sampler)
			if o.Sampler == "perf" {
				o.Sampler = "perf cycles"
			}
			err = r.Flame(&got, o)
		}
		if err != nil {
			if dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
				t.Errorf("error %v has code %v", err, dbcanary.ErrorCode(err))
			}
			return "error: " + err.Error() + "\n"
		}
		return got.String()
	})
}

func TestFlame_Pprof(t *testing.T) {
	r := whereTimeWent(t)
	var packed bytes.Buffer
	if err := r.Flame(&packed, FlameOptions{Target: r.Run.Plan.Targets[1], Format: "pprof"}); err != nil {
		t.Fatal(err)
	}
	stacks, err := profile.Decode(packed.Bytes())
	if err != nil || profile.Total(stacks) != 120 {
		t.Errorf("%d samples, error %v, want 120", profile.Total(stacks), err)
	}
}

// A difference says what an operation costs: the target did twice as many.
func TestFlame_Difference(t *testing.T) {
	r := whereTimeWent(t)
	var svg bytes.Buffer
	if err := r.Flame(&svg, FlameOptions{Target: r.Run.Plan.Targets[1], Base: r.Run.Plan.Targets[0], Format: "svg"}); err != nil {
		t.Fatal(err)
	}
	const want = "mariadb@11.8+noahi: 60.0 %, mariadb@10.5: 20.0 %&#xA;+40.0 % of all that an operation costs on mariadb@10.5"
	if !strings.Contains(svg.String(), "<title>lex&#xA;"+want) {
		t.Errorf("no function lex with %q in %s", want, svg.String())
	}
}

func TestProfileFormats_None(t *testing.T) {
	r := runs()["one-target"]().report()
	for _, format := range []string{"waits", "waits-md", "stacks", "stacks-md"} {
		if got := written(t, r, format); !strings.Contains(got, "compare --profile") {
			t.Errorf("%s of a run without profiles: %s", format, got)
		}
	}
	err := r.Flame(&bytes.Buffer{}, FlameOptions{Format: "svg"})
	if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), "compare --profile") {
		t.Errorf("a flame graph of a run without profiles: %v", err)
	}
	r.Profiles = []dbcanary.Profile{{Benchmark: "scan", Target: "mariadb@10.5", Void: "perf saw nothing"}}
	r.Run.Missing = []dbcanary.MissingProbe{{Target: "mariadb@11.8+noahi", Probe: "perf", Reason: "not permitted"}}
	if got := written(t, r, "stacks"); !strings.Contains(got, "scan on mariadb@10.5: perf saw nothing; perf of mariadb@11.8+noahi: not permitted") {
		t.Errorf("stacks of a run whose profiles failed: %s", got)
	}
}

func written(t *testing.T, r *Report, format string) string {
	t.Helper()
	var text bytes.Buffer
	if err := r.Write(&text, format, Options{}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
