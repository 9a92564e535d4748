package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/changepoint"
	"github.com/dbcanary/dbcanary/internal/exchange"
	"github.com/dbcanary/dbcanary/internal/store"
)

func TestParseKnown(t *testing.T) {
	datadriven.Walk(t, filepath.Join("testdata", "known"), func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			file, err := ParseKnown("known.yaml", []byte(d.Input))
			if err != nil {
				if dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
					t.Errorf("%s: code %s", d.Pos, dbcanary.ErrorCode(err))
				}
				return err.Error() + "\n"
			}
			var b strings.Builder
			for _, k := range file.Changes {
				fmt.Fprintf(&b, "line %d: {%s %s %s %s %s %s %s}\n", k.line, k.Benchmark, k.Metric, k.At, k.State, k.Bug, k.FixedIn, k.Note)
			}
			if b.Len() == 0 {
				return "nothing\n"
			}
			return b.String()
		})
	})
}

func FuzzParseKnown(f *testing.F) {
	f.Add([]byte("changes:\n  - at: a\n    state: fixed\n    fixed in: b\n"))
	f.Add([]byte("changes: &a [*a]"))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := ParseKnown("k", content)
		if (file == nil) == (err == nil) {
			t.Errorf("%v and %v", file, err)
		}
	})
}

// level makes points of one value each, or of k repeats, with a pattern and no noise.
func points(label func(i int) string, n, k int, value func(i int) float64) []exchange.Point {
	var all []exchange.Point
	for i := range n {
		for r := range k {
			wiggle := 1 + float64((7*i+3*r)%11-5)/2000
			all = append(all, exchange.Point{Label: label(i), Value: value(i) * wiggle})
		}
	}
	return all
}

func commit(i int) string { return fmt.Sprintf("c%02d", i) }

func report(t *testing.T, file exchange.SeriesFile, known string, opts Options) *Report {
	t.Helper()
	k, err := ParseKnown("known.yaml", []byte(known))
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(file, k, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestGroups puts changes together that a common position explains, and keeps
// apart those of other positions.
func TestGroups(t *testing.T) {
	var file exchange.SeriesFile
	for b, factor := range []float64{0.9, 0.85, 0.95, 1.1} {
		at := 30
		if b == 2 {
			at = 45
		}
		file.Series = append(file.Series, exchange.Series{
			Benchmark: []string{"point", "scan", "update", "insert"}[b], Metric: "qps", Better: exchange.HigherIsBetter,
			Points: points(commit, 60, 1, func(i int) float64 {
				if i >= at {
					return 1000 * factor
				}
				return 1000
			}),
		})
	}
	var got []string
	for _, g := range report(t, file, "", Options{}).Groups {
		got = append(got, g.Headline())
	}
	want := []string{
		"c30: 2 benchmarks slower, scan most, -15 %; insert qps faster, +10 %",
		"c45: update qps slower, -5.0 %",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headlines (-want +got):\n%s", diff)
	}
}

// TestFix holds the verdicts about a fix that is said to have come with c40.
func TestFix(t *testing.T) {
	for _, test := range []struct {
		name    string
		n       int
		after   float64 // level since c40; it was 1000 before c20 and 800 since
		fixedIn string
		verdict string
	}{
		{"restored", 60, 1000, "c40", "restored"},
		{"half of it is left", 60, 900, "c40", "not restored"},
		{"nothing happened", 60, 800, "c40", "not restored"},
		{"better", 60, 1100, "c40", "better than before"},
		{"too early to tell", 41, 1000, "c40", "unknown"},
		{"not there yet", 60, 800, "c99", "unknown"},
		{"before the change", 60, 800, "c05", "unknown"},
	} {
		series := exchange.Series{
			Benchmark: "scan", Metric: "qps", Better: exchange.HigherIsBetter,
			Points: points(commit, test.n, 1, func(i int) float64 {
				switch {
				case i < 20:
					return 1000
				case i < 40:
					return 800
				}
				return test.after
			}),
		}
		known := "changes:\n  - {at: c20, state: fixed, bug: b, fixed in: " + test.fixedIn + "}\n"
		r := report(t, exchange.SeriesFile{Series: []exchange.Series{series}}, known, Options{})
		c := r.Findings[0].Changes[0]
		if c.At != "c20" || c.Known == nil || c.Fix == nil {
			t.Errorf("%s: change %+v, want one at c20 that is known", test.name, c)
			continue
		}
		if c.Fix.Verdict != test.verdict {
			t.Errorf("%s: %q (%s), want %q", test.name, c.Fix.Verdict, c.Fix.text(), test.verdict)
		}
	}
}

// TestKnownInInterval takes an entry for a change that is found a little beside it, and notes one that fits none.
func TestKnownThatFitsNothing(t *testing.T) {
	series := exchange.Series{Benchmark: "scan", Metric: "qps", Points: points(commit, 40, 1, func(i int) float64 { return 1000 - 200*float64(i/20) })}
	r := report(t, exchange.SeriesFile{Series: []exchange.Series{series}}, "changes:\n  - at: c07\n    state: expected\n", Options{})
	if r.Findings[0].Changes[0].Known != nil {
		t.Errorf("an entry for c07 is taken for the change at %s", r.Findings[0].Changes[0].At)
	}
	if diff := cmp.Diff([]string{"known.yaml:2: no change that was found fits this entry"}, r.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if confirmed, suspects := r.Judge(); confirmed != 1 || suspects != 0 {
		t.Errorf("the gate counts %d confirmed and %d suspects, want 1 and 0: an unknown direction may be for the worse", confirmed, suspects)
	}
}

func TestEnvironmentIsToldApart(t *testing.T) {
	series := exchange.Series{
		Benchmark: "scan", Metric: "qps", Better: exchange.HigherIsBetter,
		Points: points(commit, 40, 1, func(i int) float64 { return 1000 - 200*float64(i/20) }),
	}
	for i := range series.Points {
		kernel := "6.1"
		if i >= 20 {
			kernel = "6.8"
		}
		series.Points[i].Environment = map[string]string{"kernel": kernel, "host": "a"}
	}
	r := report(t, exchange.SeriesFile{Series: []exchange.Series{series}}, "", Options{})
	c := r.Findings[0].Changes[0]
	if diff := cmp.Diff([]string{"kernel 6.1 → 6.8 at c20"}, c.Environment); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	if confirmed, suspects := r.Judge(); confirmed != 0 || suspects != 1 {
		t.Errorf("the gate counts %d confirmed and %d it can't tell, want 0 and 1", confirmed, suspects)
	}
}

// TestFromStore measures a ladder in a store: versions in their own order, the
// instance as the unit, void slices left out, setups apart.
func TestFromStore(t *testing.T) {
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	versions := []string{"8.0.4", "8.0.11", "8.0.28", "8.0.29", "8.0.30", "8.0.36"}
	for _, tableSize := range []int{1000, 5000} {
		run := dbcanary.Run{
			Started: time.Unix(1e9, 0), Host: dbcanary.Host{Name: "h", Kernel: "6.1"},
			Plan: dbcanary.Plan{Tables: 1, TableSize: tableSize, Threads: 1, PSMode: "text", Placement: dbcanary.PlacementFree},
		}
		for _, v := range versions {
			run.Targets = append(run.Targets, dbcanary.Target{Name: "mysql@" + v, Build: dbcanary.Build{Family: dbcanary.MySQL, Version: v}})
		}
		if err := st.CreateRun(t.Context(), &run); err != nil {
			t.Fatal(err)
		}
		if tableSize == 5000 {
			versions = versions[:2]
		}
		addTrials(t, st, run.ID, versions)
	}
	file, err := FromStore(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	r := report(t, file, "", Options{})
	var got []string
	for _, f := range r.Findings {
		got = append(got, fmt.Sprintf("%s: %d positions, method %s, changes %d, %s", name(f.Series), len(f.Positions), f.Method, len(f.Changes), f.Problem))
	}
	want := []string{
		"scan qps (mysql, 1 × 1000 rows, 1 threads, text, free): 6 positions, method ladder, changes 1, ",
		"scan cpu (mysql, 1 × 1000 rows, 1 threads, text, free): 6 positions, method ladder, changes 1, ",
		"scan qps (mysql, 1 × 5000 rows, 1 threads, text, free): 2 positions, method ladder, changes 0, ",
		"scan cpu (mysql, 1 × 5000 rows, 1 threads, text, free): 2 positions, method ladder, changes 0, ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("findings (-want +got):\n%s", diff)
	}
	c := r.Findings[0].Changes[0]
	if c.At != "8.0.30" || c.LastGood != "8.0.29" || c.Word != "slower" || c.State != changepoint.Confirmed {
		t.Errorf("change %+v, want one at 8.0.30", c)
	}
	if c := r.Findings[1].Changes[0]; c.Word != "slower" || c.Size < 0 {
		t.Errorf("cpu change %+v, want more of it", c)
	}
}

func addTrials(t *testing.T, st *store.Store, run int64, versions []string) {
	t.Helper()
	for i, v := range versions {
		for instance := range 4 {
			for block := range 3 {
				operations := int64(10_000 + 20*((7*i+3*instance+block)%11))
				if i >= 4 {
					operations = operations * 85 / 100
				}
				trial := dbcanary.Trial{
					Benchmark: "scan", Target: "mysql@" + v, Instance: instance, Block: block,
					Started: time.Unix(1e9, 0), ElapsedNs: 1e9, Operations: operations, ServerCPUNs: 9e8, ServerContextSwitches: -1,
				}
				if block == 2 {
					trial.Void, trial.Operations = "foreign load", 1
				}
				if err := st.AddTrial(t.Context(), run, &trial); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestWriters holds that no format fails on a value that is not finite.
func TestWriters(t *testing.T) {
	constant := exchange.Series{Benchmark: "exact", Metric: "instructions", Points: points(commit, 30, 1, func(int) float64 { return 0 })}
	constant.Points[29].Value = 5
	r := report(t, exchange.SeriesFile{Series: []exchange.Series{constant}}, "", Options{})
	if len(r.Findings[0].Changes) != 1 || r.Findings[0].Changes[0].State != changepoint.Suspect {
		t.Fatalf("changes %+v, want a suspect", r.Findings[0].Changes)
	}
	var out bytes.Buffer
	if err := r.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) {
		t.Errorf("not JSON: %s", out.String())
	}
	if err := r.WriteText(&out, TextOptions{Width: 20, Verbose: true}); err != nil {
		t.Error(err)
	}
	if err := r.WriteMarkdown(&out); err != nil {
		t.Error(err)
	}
	if text := out.String(); strings.Contains(text, "NaN") || !strings.Contains(text, "from 0 to 5") {
		t.Errorf("output:\n%s", text)
	}
}

// TestNew_Step holds that no change is told that is finer than what the values can show.
func TestNew_Step(t *testing.T) {
	s := exchange.Series{Benchmark: "b", Metric: "qps", Better: exchange.HigherIsBetter}
	for i := range 24 {
		value := 100 + 0.1*float64(i%3)
		if i >= 12 {
			value -= 1.5
		}
		s.Points = append(s.Points, exchange.Point{Label: fmt.Sprint("v", i), Value: value})
	}
	for step, want := range map[float64]int{0: 1, 0.005: 1, 0.01: 0} {
		s.Step = step
		for _, method := range []string{"auto", "history", "otava"} {
			report, err := New(exchange.SeriesFile{Series: []exchange.Series{s}}, nil, Options{Method: method, Otava: changepoint.EDivisiveOptions{Window: 10, MaxPValue: 0.01}})
			if err != nil {
				t.Fatal(err)
			}
			if got := len(report.Findings[0].Changes); got != want {
				t.Errorf("%s with a step of %g: %d changes, want %d", method, step, got, want)
			}
		}
	}
}
