package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/plot"
	"github.com/dbcanary/dbcanary/stat"
)

// ChartOptions say which chart is drawn of a report.
type ChartOptions struct {
	Kind       string   // one of ChartKinds
	Metrics    []string // one, or two for a scatter: across, up; nil for the usual ones
	Benchmarks []string // by label, published name or pattern; nil for all
	Targets    []string // by name or version; nil for all
	From, To   float64  // ends of the axis of values; NaN for what they need
	Title      string   // "" for what the chart shows
}

// ChartKinds lists what a chart can be.
func ChartKinds() []string { return []string{"bars", "lines", "intervals", "scatter"} }

// ChartMetrics lists the metrics that a chart can show beside those that were
// probed, which are known by their own names.
func ChartMetrics() []string {
	var names []string
	for _, m := range chartMetrics() {
		names = append(names, m.name)
	}
	return names
}

// chartMetric is a number of a benchmark on a target.
type chartMetric struct {
	name  string
	title string // "QPS", with "relative to" after it
	unit  string // of the absolute value
	value func(r *Report, benchmark, target string) float64
	// ratio is the comparison's own estimate; nil where the quotient of values is all there is.
	ratio func(dbcanary.Comparison) dbcanary.Estimate
}

func chartMetrics() []chartMetric {
	metrics := []chartMetric{
		{
			"qps", "QPS", "statements per second",
			func(r *Report, benchmark, target string) float64 {
				return r.costValue(benchmark, target, func(c Cost) float64 { return c.Rate })
			},
			func(c dbcanary.Comparison) dbcanary.Estimate { return c.QPSRatio },
		},
		{
			"cpu", "server CPU per statement", "µs",
			func(r *Report, benchmark, target string) float64 {
				return r.costValue(benchmark, target, func(c Cost) float64 { return c.ServerUs })
			},
			func(c dbcanary.Comparison) dbcanary.Estimate { return c.CPURatio },
		},
		{
			"p95", "p95 of latency", "ms", func(r *Report, benchmark, target string) float64 {
				median, _, _, _ := r.summed(benchmark, target, func(one Instance) float64 { return one.P95Ns / 1e6 })
				return median
			}, nil,
		},
	}
	for _, column := range append(publishedCosts(), cpuCosts()...) {
		metrics = append(metrics, chartMetric{column.title, column.title, "", func(r *Report, benchmark, target string) float64 {
			return r.costValue(benchmark, target, column.value)
		}, nil})
	}
	return metrics
}

func (r *Report) costValue(benchmark, target string, value func(Cost) float64) float64 {
	for _, c := range r.Costs {
		if c.Benchmark == benchmark && c.Target == target {
			return value(c)
		}
	}
	return math.NaN()
}

// chartMetric finds a metric by its name, one of those that were probed included.
func (r *Report) chartMetric(name string) (chartMetric, error) {
	names := ChartMetrics()
	if at := slices.Index(names, name); at >= 0 {
		return chartMetrics()[at], nil
	}
	probed := map[string]bool{}
	for i := range r.trials {
		for _, m := range r.trials[i].Metrics {
			if !probed[m.Name] {
				probed[m.Name] = true
				names = append(names, m.Name)
			}
		}
	}
	if !probed[name] {
		return chartMetric{}, dbcanary.Errorf(dbcanary.CodeUsage, "the run has no metric %q%s", name, dbcanary.DidYouMean(name, names))
	}
	return chartMetric{name, name + " per statement", "", func(r *Report, benchmark, target string) float64 {
		return r.probedValue(benchmark, target, name)
	}, nil}, nil
}

// probedValue is a count per statement, or of a gauge its level: medians over instances.
func (r *Report) probedValue(benchmark, target, name string) float64 {
	var valid []*dbcanary.Trial
	var levels []float64
	for i := range r.trials {
		t := &r.trials[i]
		if t.Void != "" || t.Operations <= 0 || t.Benchmark != benchmark || t.Target != target {
			continue
		}
		valid = append(valid, t)
		for _, m := range t.Metrics {
			if m.Name == name && m.Gauge {
				levels = append(levels, m.Value)
			}
		}
	}
	if len(levels) > 0 {
		return stat.Median(levels)
	}
	return perOperation(valid, func(t *dbcanary.Trial) float64 { return metricSum(t, []string{name}) })
}

// Chart draws the report. Errors of the options have CodeUsage.
func (r *Report) Chart(o ChartOptions) (*plot.Scene, error) {
	m := &chartMaker{report: r, options: o}
	if err := m.choose(); err != nil {
		return nil, err
	}
	switch o.Kind {
	case "bars":
		return plot.Bars(m.chart(m.byBenchmark))
	case "lines":
		if err := m.findChanges(); err != nil {
			return nil, err
		}
		return plot.Lines(m.chart(m.overTargets))
	case "intervals":
		return plot.Intervals(m.chart(m.byBenchmark))
	case "scatter":
		return plot.Scatter(m.cloud())
	}
	return nil, dbcanary.Errorf(dbcanary.CodeUsage, "unknown chart %q%s", o.Kind, dbcanary.DidYouMean(o.Kind, ChartKinds()))
}

// chartMaker puts the data of a chart together.
type chartMaker struct {
	report     *Report
	options    ChartOptions
	metrics    []chartMetric
	targets    []string // without the base
	benchmarks map[string]bool
	absolute   bool // there is nothing to compare
	// changes are those of the rate, by benchmark and the target that they came with.
	changes map[[2]string]namedChange
}

func (m *chartMaker) choose() error {
	r := m.report
	names, wanted := m.options.Metrics, 1
	if m.options.Kind == "scatter" {
		wanted = 2
	}
	if len(names) == 0 {
		names = []string{"qps"}
		if wanted == 2 {
			names = []string{"cpu", "qps"}
		}
	}
	if len(names) != wanted {
		return dbcanary.Errorf(dbcanary.CodeUsage, "a chart of %s takes %s, not %d", m.options.Kind, countText(wanted, "metric", "metrics"), len(names))
	}
	for _, name := range names {
		metric, err := r.chartMetric(name)
		if err != nil {
			return err
		}
		m.metrics = append(m.metrics, metric)
	}
	m.targets = r.compared()
	m.absolute = len(m.targets) == 0
	if m.absolute {
		m.targets = r.Run.Plan.Targets
	}
	if m.options.Targets != nil {
		chosen, err := r.chooseTargets(m.targets, m.options.Targets)
		if err != nil {
			return err
		}
		m.targets = chosen
	}
	return m.chooseBenchmarks()
}

func (m *chartMaker) chooseBenchmarks() error {
	var labels []string
	for _, planned := range m.report.Run.Plan.Benchmarks {
		labels = append(labels, planned.Label)
	}
	if m.options.Benchmarks != nil {
		chosen, err := chooseBenchmarks(labels, m.options.Benchmarks)
		if err != nil {
			return err
		}
		labels = chosen
	}
	m.benchmarks = map[string]bool{}
	for _, label := range labels {
		m.benchmarks[label] = true
	}
	if len(labels) == 0 || len(m.targets) == 0 {
		return dbcanary.Errorf(dbcanary.CodeUsage, "run %d has nothing to draw: no benchmark or no target", m.report.Run.ID)
	}
	return nil
}

// chooseTargets gives those that are asked for by name or version, in the order of the plan.
func (r *Report) chooseTargets(targets, wanted []string) ([]string, error) {
	var chosen, names []string
	for _, target := range targets {
		names = append(names, target, r.columnOf(target))
	}
	for _, want := range wanted {
		if !slices.Contains(names, want) {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "the run compares no target %q%s", want, dbcanary.DidYouMean(want, targets))
		}
	}
	for _, target := range targets {
		if slices.Contains(wanted, target) || slices.Contains(wanted, r.columnOf(target)) {
			chosen = append(chosen, target)
		}
	}
	return chosen, nil
}

// groups lists the chosen benchmarks by group, in the order of the plan.
func (m *chartMaker) groups() (names []string, labels map[string][]string) {
	labels = map[string][]string{}
	for _, planned := range m.report.Run.Plan.Benchmarks {
		if !m.benchmarks[planned.Label] {
			continue
		}
		if labels[planned.Group] == nil {
			names = append(names, planned.Group)
		}
		labels[planned.Group] = append(labels[planned.Group], planned.Label)
	}
	return names, labels
}

// chart makes what all charts of one metric share.
func (m *chartMaker) chart(panels func() []plot.Panel) plot.Chart {
	c := plot.Chart{
		Title: m.title(), Subtitle: m.subtitle(), Axis: m.axisName(m.metrics[0]), Note: m.note(), Panels: panels(),
		From: m.options.From, To: m.options.To, Reference: 1, Least: .05, Interval: m.intervalText(),
	}
	if m.absolute {
		c.Reference = math.NaN()
	} else if m.metrics[0].ratio != nil && m.options.Kind == "intervals" {
		c.Band = m.report.Run.Plan.MinEffect
	}
	return c
}

func (m *chartMaker) title() string {
	switch {
	case m.options.Title != "":
		return m.options.Title
	case len(m.metrics) == 2:
		return fmt.Sprintf("%s against %s", m.metrics[1].title, m.metrics[0].title)
	case m.absolute:
		return fmt.Sprintf("%s of %s", m.metrics[0].title, strings.Join(m.targets, ", "))
	case len(m.targets) == 1 && m.options.Kind != "lines":
		return fmt.Sprintf("%s: %s relative to %s", m.targets[0], m.metrics[0].title, m.report.base())
	}
	return fmt.Sprintf("%s relative to %s", m.metrics[0].title, m.report.base())
}

func (m *chartMaker) subtitle() string {
	host := m.report.Run.Host
	var parts []string
	for _, part := range []string{shortHost(m.report), host.CPU, host.OS, workText(m.report.Run.Plan)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// axisName says what the values are, and which way is better.
func (m *chartMaker) axisName(metric chartMetric) string {
	if m.absolute {
		return strings.TrimSuffix(metric.title+", "+metric.unit, ", ")
	}
	name := metric.title + " / that of " + m.report.base()
	switch metric.name {
	case "qps", "o/s":
		name += ", above 1 is faster"
	default:
		name += ", above 1 costs more"
	}
	return name
}

// note says what a reader cannot see: dropped targets, missing intervals.
func (m *chartMaker) note() string {
	var parts []string
	for _, t := range m.report.Run.Targets {
		if t.Dropped != "" && (slices.Contains(m.targets, t.Name) || t.Name == m.report.base()) {
			parts = append(parts, t.Name+" was dropped before the end.")
		}
	}
	if note := m.report.stateNote(); note != "" {
		parts = append(parts, note)
	}
	if len(m.changes) > 0 {
		parts = append(parts, m.changesNote())
	}
	switch {
	case m.absolute || m.options.Kind == "scatter":
	case m.metrics[0].ratio == nil:
		parts = append(parts, "This metric has no intervals: a difference may be noise.")
	case m.intervalText() == "":
		parts = append(parts, "No interval is known, so no difference here is a verdict.")
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// intervalText says what the intervals are, "" if no value has one.
func (m *chartMaker) intervalText() string {
	if m.absolute || m.metrics[0].ratio == nil {
		return ""
	}
	for _, c := range m.report.Comparisons {
		if m.benchmarks[c.Benchmark] && bounded(m.metrics[0].ratio(c)) {
			return fmt.Sprintf("%s intervals over %s", percentText(c.Level), instancesText(m.report.Noise))
		}
	}
	return ""
}

// value is the number of a metric: a ratio with its interval, or absolute.
func (m *chartMaker) value(metric chartMetric, benchmark, target string) plot.Value {
	nan := math.NaN()
	if m.absolute {
		return plot.Value{Y: metric.value(m.report, benchmark, target), Low: nan, High: nan}
	}
	c := m.report.comparison(benchmark, target)
	if metric.ratio == nil {
		v := plot.Value{Y: metric.value(m.report, benchmark, target) / metric.value(m.report, benchmark, m.report.base()), Low: nan, High: nan}
		if math.IsNaN(c.QPSRatio.Ratio) {
			v.Y = nan // no slice has a pair
		}
		return v
	}
	e := metric.ratio(c)
	v := plot.Value{Y: e.Ratio, Low: nan, High: nan}
	if bounded(e) {
		v.Low, v.High = e.Low, e.High
	}
	if metric.name == "qps" {
		v.Look = plot.Look(c.Verdict)
		v.Text = fmt.Sprintf("%s (%s) %s", ratioText(e.Ratio), intervalText(e), c.Verdict)
		if !bounded(e) {
			v.Text = fmt.Sprintf("%s %s", ratioText(e.Ratio), c.Verdict)
		}
	} else {
		v.Text = fmt.Sprintf("%s (%s)", ratioText(e.Ratio), intervalText(e))
	}
	return v
}

// panelTitle names the panel of a group.
func panelTitle(group string, groups []string) string {
	if group == "" && len(groups) > 1 {
		return "no group"
	}
	return group
}

// byBenchmark makes a panel for each group, a series for each target.
func (m *chartMaker) byBenchmark() []plot.Panel {
	names, labels := m.groups()
	var panels []plot.Panel
	for _, group := range names {
		panel := plot.Panel{Title: panelTitle(group, names), Labels: labels[group]}
		for _, target := range m.targets {
			series := plot.Series{Name: target}
			for _, label := range labels[group] {
				series.Values = append(series.Values, m.value(m.metrics[0], label, target))
			}
			panel.Series = append(panel.Series, series)
		}
		panels = append(panels, panel)
	}
	return panels
}

// overTargets makes a panel for each group, a series for each benchmark over the
// targets; the base is the first place, where a ratio is 1.
func (m *chartMaker) overTargets() []plot.Panel {
	names, labels := m.groups()
	var panels []plot.Panel
	for _, group := range names {
		panel := plot.Panel{Title: panelTitle(group, names)}
		if !m.absolute {
			panel.Labels = append(panel.Labels, m.report.base())
		}
		panel.Labels = append(panel.Labels, m.targets...)
		for _, label := range labels[group] {
			series := plot.Series{Name: label}
			if !m.absolute {
				base := plot.Value{Y: 1, Low: math.NaN(), High: math.NaN()}
				if math.IsNaN(m.metrics[0].value(m.report, label, m.report.base())) {
					base.Y = math.NaN()
				}
				series.Values = append(series.Values, base)
			}
			for _, target := range m.targets {
				value := m.value(m.metrics[0], label, target)
				if change, ok := m.changes[[2]string{label, target}]; ok {
					value.Change = &change.Change
				}
				series.Values = append(series.Values, value)
			}
			panel.Series = append(panel.Series, series)
		}
		panels = append(panels, panel)
	}
	return panels
}

// cloud makes a chart of metric against metric, a point for each benchmark on each target.
func (m *chartMaker) cloud() plot.Cloud {
	nan := math.NaN()
	c := plot.Cloud{
		Title: m.title(), Subtitle: m.subtitle(), Note: m.note(),
		X: plot.CloudAxis{Name: m.axisName(m.metrics[0]), From: nan, To: nan, Reference: 1},
		Y: plot.CloudAxis{Name: m.axisName(m.metrics[1]), From: m.options.From, To: m.options.To, Reference: 1},
	}
	if m.absolute {
		c.X.Reference, c.Y.Reference = nan, nan
	}
	for _, target := range m.targets {
		group := plot.CloudGroup{Name: target}
		for _, planned := range m.report.Run.Plan.Benchmarks {
			if m.benchmarks[planned.Label] {
				group.Points = append(group.Points, plot.CloudPoint{
					X: m.value(m.metrics[0], planned.Label, target).Y, Y: m.value(m.metrics[1], planned.Label, target).Y, Name: planned.Label,
				})
			}
		}
		c.Groups = append(c.Groups, group)
	}
	return c
}
