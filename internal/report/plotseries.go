package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/changepoint"
	"github.com/dbcanary/dbcanary/internal/exchange"
	"github.com/dbcanary/dbcanary/internal/history"
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
	var changed []namedChange
	positions, count := "", 0
	for _, s := range file.Series {
		metrics = append(metrics, s.Metric)
		if !wanted[s.Benchmark] || len(o.Metrics) > 0 && !slices.Contains(o.Metrics, s.Metric) {
			continue
		}
		panel, changes, err := seriesPanel(s)
		if err != nil {
			return nil, err
		}
		changed = append(changed, changes...)
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
	c.Subtitle, c.Note = positions, changesNote(changed)
	return plot.Lines(c)
}

// findChanges finds the change points of the rate, as the HTML report has them.
func (m *chartMaker) findChanges() error {
	if m.metrics[0].name != "qps" {
		return nil
	}
	lines, err := m.report.pageLines()
	if err != nil {
		return err
	}
	m.changes = map[[2]string]namedChange{}
	plan, targets := m.report.Run.Plan, m.report.Run.Targets
	for _, line := range lines {
		for _, c := range line.Changes {
			label, target := plan.Benchmarks[c.Benchmark].Label, targets[c.Target].Name
			if m.benchmarks[label] && slices.Contains(m.targets, target) {
				m.changes[[2]string{label, target}] = newChange(c.Word, float64(c.Relative), target, c.State == string(changepoint.Suspect))
			}
		}
	}
	return nil
}

// changesNote tells of the change points.
func (m *chartMaker) changesNote() string {
	var list []namedChange
	for _, planned := range m.report.Run.Plan.Benchmarks {
		for _, target := range m.targets {
			if c, ok := m.changes[[2]string{planned.Label, target}]; ok {
				list = append(list, c.of(planned.Label))
			}
		}
	}
	return changesNote(list)
}

// seriesPanel draws a series, and tells of its change points.
func seriesPanel(s exchange.Series) (plot.Panel, []namedChange, error) {
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
	var places []int // of the positions of the series, which may hold several values
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
		if i == 0 || first.Label != s.Points[i-1].Label {
			places = append(places, len(line.Values))
		}
		panel.Labels = append(panel.Labels, shortPosition(first.Label))
		line.Values = append(line.Values, v)
		i = end
	}
	panel.Series = []plot.Series{line}
	found, err := history.New(exchange.SeriesFile{Series: []exchange.Series{s}}, nil, history.Options{Method: "auto"})
	if err != nil {
		return panel, nil, err
	}
	var changes []namedChange
	for _, c := range found.Findings[0].Changes {
		size, _, _ := c.Relative()
		at := places[c.Position()]
		change := newChange(c.Word, size, panel.Labels[at], c.State == changepoint.Suspect)
		line.Values[at].Change = &change.Change
		changes = append(changes, change.of(title+":"))
	}
	return panel, changes, nil
}

// namedChange is a change point of a line with its size as a part of the level before.
type namedChange struct {
	plot.Change
	line string
	size float64
}

func (c namedChange) of(line string) namedChange {
	c.line = line
	return c
}

func newChange(word string, size float64, with string, suspect bool) namedChange {
	c := namedChange{Change: plot.Change{Suspect: suspect}, size: math.Abs(size)}
	switch word {
	case "slower", "worse":
		c.Look = plot.LookSlower
	case "faster", "better":
		c.Look = plot.LookFaster
	}
	c.Text = word
	if c.size < math.Inf(1) { // the level before is not 0
		c.Text += " by " + fixed(100*c.size, 1, missing) + " %"
	}
	c.Text += " with " + with
	if suspect {
		c.Text += " (suspect)"
	}
	return c
}

// mostChanges is how many change points the note of a chart tells.
const mostChanges = 6

// changesNote tells the largest of the change points that a chart marks, "" if there are none.
func changesNote(changes []namedChange) string {
	if len(changes) == 0 {
		return ""
	}
	slices.SortStableFunc(changes, func(a, b namedChange) int { return cmp.Compare(b.size, a.size) })
	var list []string
	for _, c := range changes[:min(mostChanges, len(changes))] {
		list = append(list, c.line+" "+c.Text)
	}
	text := "Rings mark change points (orange slower, blue faster, thin suspect): " + strings.Join(list, "; ")
	if more := len(changes) - mostChanges; more > 0 {
		text += fmt.Sprintf("; and %d smaller ones", more)
	}
	return text + "."
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
