package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/exchange"
	"github.com/dbcanary/dbcanary/internal/plot"
	"github.com/dbcanary/dbcanary/stat"
)

// SeriesChart draws the series of files as lines over their positions, each in a
// panel with its own axis. Repeats of a position are one value, their median, with
// the least and the most as its ends.
func SeriesChart(file exchange.SeriesFile, o ChartOptions) (*plot.Scene, error) {
	var names []string
	for _, s := range file.Series {
		names = append(names, s.Benchmark)
	}
	chosen := names
	if o.Benchmarks != nil {
		var err error
		if chosen, err = chooseBenchmarks(names, o.Benchmarks); err != nil {
			return nil, err
		}
	}
	wanted := map[string]bool{}
	for _, name := range chosen {
		wanted[name] = true
	}
	c := plot.Chart{Title: o.Title, From: o.From, To: o.To, Reference: math.NaN(), Small: true}
	var metrics []string
	positions, count := "", 0
	for _, s := range file.Series {
		metrics = append(metrics, s.Metric)
		if !wanted[s.Benchmark] || len(o.Metrics) > 0 && !slices.Contains(o.Metrics, s.Metric) {
			continue
		}
		panel := seriesPanel(s)
		c.Panels = append(c.Panels, panel)
		count = max(count, len(panel.Labels))
		if positions == "" && len(panel.Labels) > 0 {
			positions = fmt.Sprintf("%s to %s", panel.Labels[0], panel.Labels[len(panel.Labels)-1])
		}
	}
	if len(c.Panels) == 0 {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "no series is of the metrics %v%s", o.Metrics, dbcanary.DidYouMean(o.Metrics[0], metrics))
	}
	if c.Title == "" {
		c.Title = fmt.Sprintf("%s over %s", countText(len(c.Panels), "series", "series"), countText(count, "position", "positions"))
	}
	c.Subtitle = positions
	return plot.Lines(c)
}

func seriesPanel(s exchange.Series) plot.Panel {
	title := s.Benchmark
	if s.Metric != "" && s.Metric != s.Benchmark && s.Metric != "value" {
		title += " " + s.Metric
	}
	if s.Unit != "" && s.Unit != s.Metric {
		title += ", " + s.Unit
	}
	if s.Config != "" {
		title += " (" + s.Config + ")"
	}
	switch s.Better {
	case exchange.HigherIsBetter:
		title += ": higher is better"
	case exchange.LowerIsBetter:
		title += ": lower is better"
	}
	panel := plot.Panel{Title: title}
	line := plot.Series{}
	for i := 0; i < len(s.Points); {
		first, end := s.Points[i], i
		var values []float64
		for ; end < len(s.Points) && s.Points[end].Label == first.Label && s.Points[end].Time.Equal(first.Time); end++ {
			if !math.IsNaN(s.Points[end].Value) {
				values = append(values, s.Points[end].Value)
			}
		}
		v := plot.Value{Y: stat.Median(values), Low: math.NaN(), High: math.NaN()}
		if len(values) > 1 {
			v.Low, v.High = stat.Quantile(values, 0), stat.Quantile(values, 1)
		}
		panel.Labels = append(panel.Labels, shortPosition(first.Label))
		line.Values = append(line.Values, v)
		i = end
	}
	panel.Series = []plot.Series{line}
	return panel
}

// shortPosition cuts the hash of a commit to what people read.
func shortPosition(label string) string {
	const most = 24
	hash := len(label) >= 32
	for _, r := range label {
		hash = hash && (r >= '0' && r <= '9' || r >= 'a' && r <= 'f')
	}
	if hash {
		return label[:10]
	}
	return fit(label, most)
}
