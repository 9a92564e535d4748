package report

import (
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/exchange"
)

// readBack reads what a format wrote with the importer of that format, which knows
// it by its content.
func readBack(t *testing.T, r *Report, format string) map[string]exchange.Series {
	t.Helper()
	var b strings.Builder
	if err := r.Write(&b, format, Options{}); err != nil {
		t.Fatal(err)
	}
	file, err := exchange.ReadSeries("written", []byte(b.String()), exchange.SeriesOptions{})
	if err != nil {
		t.Fatalf("%s: %v\n%s", format, err, b.String())
	}
	series := map[string]exchange.Series{}
	for _, s := range file.Series {
		series[s.Benchmark+"|"+s.Metric] = s
	}
	return series
}

// noisy is a run whose instances differ, as real ones do.
func noisy() *synthetic {
	s := newSynthetic([]string{"mysql@8.0", "mysql@9.7", "mysql@9.7+noahi"}, quick())
	s.ratios["mysql@9.7/scan"] = 0.8
	s.measure(5)
	kept := s.trials[:0]
	for i, trial := range s.trials {
		trial.Operations += int64(i%7) * 13
		trial.LatencyNs.P95 = int64(100_000 + i)
		if trial.Target == "mysql@9.7+noahi" && (trial.Benchmark == "insert" || trial.Instance == 3) {
			trial.Void = "foreign CPU"
		}
		kept = append(kept, trial)
	}
	s.trials = kept
	return s
}

// TestTrackersRoundTrip: the importers read back the numbers of every instance, or
// their medians, and nothing where nothing was measured.
func TestTrackersRoundTrip(t *testing.T) {
	r := noisy().report()
	gobench, otava := readBack(t, r, "gobench"), readBack(t, r, "otava")
	action, bencher := readBack(t, r, "github-action-benchmark"), readBack(t, r, "bencher")
	for _, planned := range r.Run.Plan.Benchmarks {
		var rates, latencies []float64
		for _, target := range r.Run.Plan.Targets {
			median, _, _, count := r.summed(planned.Label, target, Instance.rate)
			name := target + ": " + planned.Label
			if _, ok := action[name+"|value"]; ok != (count > 0) {
				t.Errorf("%s: written %v with %d instances", name, ok, count)
			}
			if count > 0 && (action[name+"|value"].Points[0].Value != median || bencher[name+"|throughput"].Points[0].Value != median) {
				t.Errorf("%s: read back %v and %v, want %v", name, action[name+"|value"].Points, bencher[name+"|throughput"].Points, median)
			}
			for _, one := range r.Instances {
				if one.Benchmark == planned.Label && one.Target == target {
					rates, latencies = append(rates, one.QPS), append(latencies, one.P95Ns)
				}
			}
		}
		name := strings.ReplaceAll(planned.Label, " ", "/")
		same(t, planned.Label+" of gobench", gobench[name+"|queries/s"], rates, 1e-7)
		same(t, planned.Label+" p95 of gobench", gobench[name+"|p95-ns"], latencies, 1e-7)
		var known []exchange.Point
		for _, p := range otava["written|"+planned.Label].Points {
			if !math.IsNaN(p.Value) {
				known = append(known, p)
			}
		}
		same(t, planned.Label+" of Otava", exchange.Series{Points: known}, rates, 1e-5)
	}
	if better := gobench["scan|queries/s"].Better; better != exchange.HigherIsBetter {
		t.Errorf("queries/s is %q", better)
	}
	labels := []string{}
	for _, p := range otava["written|scan"].Points {
		if !slices.Contains(labels, p.Label) {
			labels = append(labels, p.Label)
		}
	}
	if got := strings.Join(labels, " "); got != "8.0.3 mysql@9.7 mysql@9.7+noahi" {
		t.Errorf("positions of Otava's file: %s", got)
	}
}

func same(t *testing.T, what string, got exchange.Series, want []float64, tolerance float64) {
	t.Helper()
	if len(got.Points) != len(want) {
		t.Errorf("%s: %d points, want %d", what, len(got.Points), len(want))
		return
	}
	for i, p := range got.Points {
		if math.Abs(p.Value/want[i]-1) > tolerance {
			t.Errorf("%s: point %d is %v, want %v", what, i, p.Value, want[i])
		}
	}
}

// TestTrackers_NothingMeasured: a run without slices makes files without results.
func TestTrackers_NothingMeasured(t *testing.T) {
	r := runs()["no-trials"]().report()
	for format, want := range map[string]string{
		"github-action-benchmark": "[]\n", "bencher": "{}\n", "otava": "time,version,target,host,point-query,update-index\n",
	} {
		if got := write(t, r, format, Options{}); got != want {
			t.Errorf("%s: %q", format, got)
		}
	}
	if text := write(t, r, "gobench", Options{}); strings.Contains(text, "Benchmark") {
		t.Errorf("gobench:\n%s", text)
	}
}

// TestGoBenchName: a name that ends like a number of CPUs is read back whole.
func TestGoBenchName(t *testing.T) {
	s := newSynthetic([]string{"a", "b"}, []dbcanary.PlannedBenchmark{{Label: "join-2"}, {Label: "two  words"}})
	s.measure(2)
	for _, threads := range []int{0, 1, 16} {
		s.run.Plan.Threads = threads
		series := readBack(t, s.report(), "gobench")
		if len(series["join-2|ns/op"].Points) != 4 || len(series["two/words|ns/op"].Points) != 4 {
			t.Errorf("%d threads: %v", threads, series)
		}
	}
}

// TestJUnit: counts are those of the cases, each verdict has its element, and any
// text makes a document that a reader takes.
func TestJUnit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := &Report{Run: dbcanary.Run{Plan: dbcanary.Plan{Targets: []string{"a", rapid.String().Draw(rt, "target")}}}}
		counts := map[dbcanary.Verdict]int{}
		for range rapid.IntRange(0, 5).Draw(rt, "comparisons") {
			v := rapid.SampledFrom([]dbcanary.Verdict{dbcanary.Slower, dbcanary.Faster, dbcanary.Same, dbcanary.Inconclusive}).Draw(rt, "verdict")
			counts[v]++
			r.Comparisons = append(r.Comparisons, dbcanary.Comparison{
				Benchmark: rapid.String().Draw(rt, "benchmark"), Target: r.Run.Plan.Targets[1], Base: "a", Verdict: v, Reason: rapid.String().Draw(rt, "reason"),
			})
		}
		var b strings.Builder
		if err := r.Write(&b, "junit", Options{}); err != nil {
			rt.Fatal(err)
		}
		var read junitSuites
		if err := xml.Unmarshal([]byte(b.String()), &read); err != nil {
			rt.Fatalf("%v\n%s", err, b.String())
		}
		failures, skipped, cases := 0, 0, 0
		for _, suite := range read.Suites {
			for _, one := range suite.Cases {
				cases++
				if one.Failure != nil {
					failures++
				}
				if one.Skipped != nil {
					skipped++
				}
			}
		}
		if cases != len(r.Comparisons) || read.Tests != cases || failures != counts[dbcanary.Slower] || read.Failures != failures ||
			skipped != counts[dbcanary.Inconclusive] || read.Skipped != skipped {
			rt.Errorf("%d cases, %d failures, %d skipped of %v:\n%s", cases, failures, skipped, counts, b.String())
		}
	})
}

// TestGitHubLimit: a summary of any size fits into a comment, says what is left
// out, and closes what it opens.
func TestGitHubLimit(t *testing.T) {
	var benchmarks []dbcanary.PlannedBenchmark
	for i := range 42 {
		benchmarks = append(benchmarks, dbcanary.PlannedBenchmark{Label: fmt.Sprintf("benchmark-%02d range=1000", i), Group: fmt.Sprintf("group-%d", i/10)})
	}
	for _, targets := range []int{2, 6, 20, 60} {
		var names []string
		for i := range targets {
			names = append(names, fmt.Sprintf("mysql@8.0.%d+a_rather_long_overlay_of_settings", i))
		}
		s := newSynthetic(names, benchmarks)
		for _, target := range names[1:] {
			for i, b := range benchmarks {
				s.ratios[target+"/"+b.Label] = 0.8 + float64(i%5)/10
			}
		}
		s.measure(2)
		text := write(t, s.report(), "github", Options{Verbose: true})
		if count := utf8.RuneCountInString(text); count > 65_536 {
			t.Errorf("%d targets: %d characters", targets, count)
		}
		if !strings.HasPrefix(text, "<!-- dbcanary -->\n### dbcanary: slower in ") {
			t.Errorf("%d targets: it starts with %q", targets, text[:80])
		}
		if open, closed := strings.Count(text, "<details>"), strings.Count(text, "</details>"); open != closed || open == 0 {
			t.Errorf("%d targets: %d details open, %d close", targets, open, closed)
		}
		if left := strings.Contains(text, "GitHub takes no more"); left != (targets >= 20) {
			t.Errorf("%d targets: left out is %v", targets, left)
		}
	}
}
