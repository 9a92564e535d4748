// Package report prints what a run showed: as text for a terminal, Markdown,
// JSON, CSV, and in the layouts of the published reports. A report is a pure
// function of a stored run and its trials; it prints verdicts and makes none.
package report

import (
	"io"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/verdict"
)

// Report is everything that the formats print.
type Report struct {
	Run         dbcanary.Run
	Comparisons []dbcanary.Comparison // by benchmark, then target, in the order of the plan
	Groups      []verdict.Group       // by target; the last of each target is the whole suite, with Name ""
	Differences []SettingDifference
	Builds      []SettingDifference // how the servers were made, and their libraries; of no config
	Noise       Noise
	Instances   []Instance
	Costs       []Cost // by benchmark, then target, in the order of the plan; only what was measured

	Profiles []dbcanary.Profile // of the profiling slices, if there were any

	Further []*Report // the same run against further bases

	trials []dbcanary.Trial
}

// Options say how a format is written.
type Options struct {
	Color   bool // ANSI colours, in text only; the words say the same
	Width   int  // columns of the terminal, for text; 0 if there is none
	Verbose bool // text and Markdown: every setting that differs, and the reason of every verdict
	Compact bool // JSON on one line, without a newline at its end
}

// New judges the trials of a run against the bases of its plan; they may be of a run
// that still goes on.
func New(run dbcanary.Run, trials []dbcanary.Trial) *Report {
	if len(run.Plan.Bases) < 2 {
		return newReport(run, trials, verdict.Options{})
	}
	return newAgainst(run, trials, run.Plan.Bases)
}

func newReport(run dbcanary.Run, trials []dbcanary.Trial, options verdict.Options) *Report {
	comparisons := verdict.Compare(run.Plan, trials, options)
	return &Report{
		Run:         run,
		Comparisons: comparisons,
		Groups:      verdict.Groups(comparisons),
		Differences: settingDifferences(run.Targets),
		Builds:      buildDifferences(run.Targets),
		Noise:       noiseOf(trials),
		Instances:   instancesOf(run, trials),
		Costs:       Costs(run, trials),
		trials:      trials,
	}
}

// writer writes a report in one format.
type writer struct {
	format string
	write  func(*Report, io.Writer, Options) error
}

func writers() []writer {
	return []writer{
		{"text", (*Report).writeText},
		{"md", (*Report).writeMarkdown},
		{"json", (*Report).writeJSON},
		{"csv", (*Report).writeCSV},
		{"rqps", perBase((*Report).writeRQPS)},
		{"rqps-md", perBase((*Report).writeRQPSMarkdown)},
		{"summary", (*Report).writeSummaries},
		{"metrics", perBase((*Report).writeMetrics)},
		{"waits", (*Report).writeWaits},
		{"waits-md", (*Report).writeWaitsMarkdown},
		{"stacks", (*Report).writeStacks},
		{"stacks-md", (*Report).writeStacksMarkdown},
		{"sql-bench", (*Report).writeSQLBench},
		{"insert-benchmark", (*Report).writeInsertBenchmark},
		{"noise", (*Report).writeNoise},
		{"sweep", perBase((*Report).writeSweep)},
		{"response", perBase((*Report).writeResponse)},
		{"xlsx", (*Report).writeXLSX},
		{"github", (*Report).writeGitHub},
		{"junit", (*Report).writeJUnit},
		{"gobench", (*Report).writeGoBench},
		{"github-action-benchmark", (*Report).writeAction},
		{"bencher", (*Report).writeBencher},
		{"otava", (*Report).writeOtava},
		{"html", (*Report).writeHTML},
	}
}

// Formats lists the names that Write takes.
func Formats() []string {
	var names []string
	for _, w := range writers() {
		names = append(names, w.format)
	}
	return names
}

// Binary tells whether a format is nothing to read in a terminal.
func Binary(format string) bool { return format == "xlsx" || format == "html" }

// Write writes the report in a format of Formats; another one is an error with
// dbcanary.CodeUsage.
func (r *Report) Write(w io.Writer, format string, options Options) error {
	for _, one := range writers() {
		if one.format == format {
			return one.write(r, w, options)
		}
	}
	return dbcanary.Errorf(dbcanary.CodeUsage, "unknown report format %q%s", format, dbcanary.DidYouMean(format, Formats()))
}

// base is the name of the base target, "" for a plan without targets.
func (r *Report) base() string {
	if len(r.Run.Plan.Targets) == 0 {
		return ""
	}
	return r.Run.Plan.Targets[0]
}

// compared lists the targets beside the base.
func (r *Report) compared() []string {
	if len(r.Run.Plan.Targets) == 0 {
		return nil
	}
	return r.Run.Plan.Targets[1:]
}

// of gives the comparisons of a target by group, groups and benchmarks in the
// order in which they first appear.
func (r *Report) of(target string) []dbcanary.Comparison {
	var sorted []dbcanary.Comparison
	for _, group := range r.groupNames() {
		for _, c := range r.Comparisons {
			if c.Target == target && c.Group == group {
				sorted = append(sorted, c)
			}
		}
	}
	return sorted
}

func (r *Report) groupNames() []string {
	var names []string
	seen := map[string]bool{}
	for _, c := range r.Comparisons {
		if !seen[c.Group] {
			seen[c.Group] = true
			names = append(names, c.Group)
		}
	}
	return names
}

// writeAll writes text that was put together in memory, so that a format is
// written whole or not at all.
func writeAll(w io.Writer, text *strings.Builder) error {
	_, err := io.WriteString(w, text.String())
	return err
}
