package report

import (
	"bytes"
	"flag"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/exchange"
	"github.com/dbcanary/dbcanary/internal/plot"
)

var rewriteCharts = flag.Bool("rewrite-charts", false, "write the golden charts anew")

// ladder is a run of releases with changes as published ones have them, and everything
// that a table must bear: a dropped target, a void benchmark, one far off.
func ladder() *synthetic {
	targets := []string{"mysql@8.0.28", "mysql@8.0.30", "mysql@8.0.33", "mysql@8.0.39", "mysql@8.0.40"}
	benchmarks := []dbcanary.PlannedBenchmark{
		{Label: "hot-points", Group: "point-1"},
		{Label: "point-query", Group: "point-1"},
		{Label: "points-covered-pk", Group: "point-1"},
		{Label: "points-covered-si", Group: "point-1"},
		{Label: "random-points range=100", Group: "point-2"},
		{Label: "random-points range=1000", Group: "point-2"},
		{Label: "range-covered-pk", Group: "range-1"},
		{Label: "range-notcovered-si", Group: "range-1"},
		{Label: "scan", Group: "range-1"},
		{Label: "read-only range=10", Group: "range-2"},
		{Label: "read-only range=10000", Group: "range-2"},
		{Label: "update-index", Group: "writes"},
		{Label: "update-inlist", Group: "writes"},
		{Label: "insert", Group: "writes"},
		{Label: "delete", Group: "writes"},
		{Label: "write-only", Group: "writes"},
	}
	s := newSynthetic(targets, benchmarks)
	fall := []float64{1, .97, .94, .93, .92}
	for i, target := range targets[1:] {
		for j, b := range benchmarks {
			s.ratios[target+"/"+b.Label] = fall[i+1] + float64(j%4)*.013
		}
	}
	s.ratios["mysql@8.0.33/random-points range=1000"], s.ratios["mysql@8.0.39/random-points range=1000"] = 2.2, 2.3
	s.ratios["mysql@8.0.40/random-points range=1000"] = 2.35
	s.ratios["mysql@8.0.30/update-index"], s.ratios["mysql@8.0.40/update-index"] = .56, .76
	s.ratios["mysql@8.0.40/scan"] = .78
	s.measure(6)
	kept := s.trials[:0]
	for i, trial := range s.trials {
		trial.LatencyNs.P95 = trial.ElapsedNs * 1000 / trial.Operations * 2
		trial.Operations += int64(i % 5)
		if trial.Target == "mysql@8.0.39" && trial.Benchmark == "delete" {
			trial.Void = "foreign CPU 20 % of the slice"
		}
		if trial.Target != "mysql@8.0.40" || trial.Benchmark != "write-only" {
			kept = append(kept, trial)
		}
	}
	s.trials = kept
	s.run.Targets[4].Dropped = "out of memory"
	return s
}

type chartCase struct {
	name    string
	make    func() *synthetic
	options ChartOptions
}

func chartCases() []chartCase {
	nan := math.NaN()
	return []chartCase{
		{"bars", ladder, ChartOptions{Kind: "bars", From: nan, To: nan}},
		{"bars-cut", ladder, ChartOptions{Kind: "bars", From: .7, To: 1.2}},
		{"lines", ladder, ChartOptions{Kind: "lines", From: nan, To: nan}},
		{"intervals", ladder, ChartOptions{Kind: "intervals", From: nan, To: 1.2}},
		{"intervals-one", runs()["one-target"], ChartOptions{Kind: "intervals", From: nan, To: nan}},
		{"scatter", ladder, ChartOptions{Kind: "scatter", From: nan, To: nan}},
		{"one-instance", runs()["one-instance"], ChartOptions{Kind: "intervals", From: nan, To: nan}},
		{"names", runs()["names"], ChartOptions{Kind: "bars", From: nan, To: nan}},
		{"void", runs()["void"], ChartOptions{Kind: "lines", From: nan, To: nan}},
	}
}

func svgOf(t *testing.T, scene *plot.Scene) string {
	t.Helper()
	var b bytes.Buffer
	if err := scene.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCharts holds the charts to those that were looked at, and their PNG to its
// size, and to be no blank page.
func TestCharts(t *testing.T) {
	for _, c := range chartCases() {
		t.Run(c.name, func(t *testing.T) {
			scene, err := c.make().report().Chart(c.options)
			if err != nil {
				t.Fatal(err)
			}
			got := svgOf(t, scene)
			golden := filepath.Join("testdata", "charts", c.name+".svg")
			if *rewriteCharts {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs; look at the chart, then: go test ./internal/report -run Charts -rewrite-charts", golden)
			}
			var b bytes.Buffer
			if err := scene.WritePNG(&b); err != nil {
				t.Fatal(err)
			}
			image, err := png.Decode(&b)
			if err != nil {
				t.Fatal(err)
			}
			if size := image.Bounds().Size(); float64(size.X) < 2*scene.Width-1 || float64(size.Y) < 2*scene.Height-1 {
				t.Errorf("the PNG is %v, the scene %v x %v", size, scene.Width, scene.Height)
			}
		})
	}
}

// TestChart_Values: bars show the ratios of the comparisons and nothing where
// there is none; a target without a base shows its own numbers.
func TestChart_Values(t *testing.T) {
	r := ladder().report()
	m := &chartMaker{report: r, options: ChartOptions{Kind: "bars"}}
	if err := m.choose(); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, panel := range m.byBenchmark() {
		for _, series := range panel.Series {
			for i, v := range series.Values {
				c := r.comparison(panel.Labels[i], series.Name)
				if v.Y != c.QPSRatio.Ratio && !(math.IsNaN(v.Y) && math.IsNaN(c.QPSRatio.Ratio)) || v.Low != c.QPSRatio.Low && !math.IsNaN(v.Low) {
					t.Errorf("%s of %s: %+v, want %+v", panel.Labels[i], series.Name, v, c.QPSRatio)
				}
				if math.IsNaN(v.Y) {
					checked += 100
				}
				checked++
			}
		}
	}
	if checked != 64+200 {
		t.Errorf("%d values, two of them unknown", checked)
	}
	one := newSynthetic([]string{"sqlite"}, quick()[:2])
	one.measure(2)
	single := &chartMaker{report: one.report(), options: ChartOptions{Kind: "bars", Metrics: []string{"cpu"}}}
	if err := single.choose(); err != nil {
		t.Fatal(err)
	}
	if v := single.byBenchmark()[0].Series[0].Values[0]; math.Abs(v.Y-40) > 1e-9 {
		t.Errorf("CPU of the only target is %v µs, want 40", v.Y)
	}
}

// TestChart_Metrics: a metric without an estimate of its own is the quotient of its values.
func TestChart_Metrics(t *testing.T) {
	s := ladder()
	for i := range s.trials {
		s.trials[i].Metrics = []dbcanary.Metric{{Name: "dbms.Rows", Value: float64(s.trials[i].Operations) * 3}, {Name: "host.level", Gauge: true, Value: 5}}
	}
	r := s.report()
	for name, want := range map[string]float64{"p95": 1 / .7587, "dbms.Rows": 1, "host.level": 1, "o/s": .76} {
		m := &chartMaker{report: r, options: ChartOptions{Kind: "bars", Metrics: []string{name}, Benchmarks: []string{"update-index"}, Targets: []string{"mysql@8.0.40"}}}
		if err := m.choose(); err != nil {
			t.Fatal(err)
		}
		if got := m.byBenchmark()[0].Series[0].Values[0].Y; math.Abs(got/want-1) > .01 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestChart_Refuses(t *testing.T) {
	r := ladder().report()
	for _, c := range []struct {
		options ChartOptions
		want    string
	}{
		{ChartOptions{Kind: "bar"}, "bars"},
		{ChartOptions{Kind: "bars", Metrics: []string{"qsp"}}, `no metric "qsp"; did you mean`},
		{ChartOptions{Kind: "scatter", Metrics: []string{"qps"}}, "takes 2 metrics, not 1"},
		{ChartOptions{Kind: "bars", Benchmarks: []string{"skan"}}, "scan"},
		{ChartOptions{Kind: "bars", Targets: []string{"8.0.99"}}, "compares no target"},
	} {
		_, err := r.Chart(c.options)
		if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.options, err, c.want)
		}
	}
	if _, err := runs()["no-plan"]().report().Chart(ChartOptions{Kind: "bars"}); dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
		t.Errorf("a run without a plan: error %v", err)
	}
}

// TestSeriesChart: repeats become one value, and metrics choose the panels.
func TestSeriesChart(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }
	hash := strings.Repeat("0123456789abcdef", 3)
	s := exchange.Series{Benchmark: "nightly", Metric: "p99", Unit: "ms", Better: exchange.LowerIsBetter, Points: []exchange.Point{
		{Label: hash, Time: at(1), Value: 4},
		{Label: hash, Time: at(1), Value: 6},
		{Label: hash, Time: at(1), Value: 5},
		{Label: "b", Time: at(2), Value: math.NaN()},
		{Label: "c", Time: at(3), Value: 7},
	}}
	panel, changes, err := seriesPanel(s)
	if err != nil || len(changes) > 0 {
		t.Fatalf("changes %v, error %v", changes, err)
	}
	values := panel.Series[0].Values
	if panel.Title != "nightly p99, ms: lower is better" || len(values) != 3 || values[0].Y != 5 || values[0].Low != 4 || values[0].High != 6 || !math.IsNaN(values[1].Y) || panel.Labels[0] != "0123456789" {
		t.Errorf("%+v", panel)
	}
	file := exchange.SeriesFile{Series: []exchange.Series{s, {Benchmark: "nightly", Metric: "qps", Points: s.Points}}}
	nan := math.NaN()
	scene, err := SeriesChart(file, ChartOptions{Metrics: []string{"qps"}, From: nan, To: nan})
	if err != nil || strings.Contains(svgOf(t, scene), "p99") {
		t.Errorf("error %v, or another metric is drawn", err)
	}
	if _, err := SeriesChart(file, ChartOptions{Metrics: []string{"p98"}}); dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
		t.Errorf("error %v", err)
	}
}

// TestCharts_Changes: a line that steps bears a ring there, and the note tells of it.
func TestCharts_Changes(t *testing.T) {
	s := releases()
	scene, err := s.report().Chart(ChartOptions{Kind: "lines", From: math.NaN(), To: math.NaN()})
	if err != nil {
		t.Fatal(err)
	}
	svg := svgOf(t, scene)
	for _, want := range []string{"update-index, mariadb@10.11: slower by ", "scan, mariadb@11.4: faster by "} {
		if strings.Count(svg, "<title>"+want) != 1 {
			t.Errorf("the chart has no ring %q", want)
		}
	}
	series := exchange.Series{Benchmark: "nightly", Better: exchange.HigherIsBetter}
	for i := range 40 {
		series.Points = append(series.Points, exchange.Point{Label: fmt.Sprintf("c%02d", i), Value: 100 + float64(i*7%5) - 20*float64(i/25)})
	}
	panel, changes, err := seriesPanel(series)
	if err != nil || len(changes) != 1 || panel.Series[0].Values[25].Change == nil {
		t.Fatalf("changes %v, error %v", changes, err)
	}
	if note := changesNote(changes); !strings.HasPrefix(note, "Rings mark change points (orange slower, blue faster, thin suspect): nightly: higher is better: slower by ") || !strings.HasSuffix(note, "with c25.") {
		t.Errorf("the note is %q", note)
	}
}
