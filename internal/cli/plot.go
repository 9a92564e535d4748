package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/exchange"
	"github.com/dbcanary/dbcanary/internal/plot"
	"github.com/dbcanary/dbcanary/internal/report"
	"github.com/dbcanary/dbcanary/internal/store"
)

// plotOptions are the flags of plot.
type plotOptions struct {
	db, output, base string
	from, to         float64
	chart            report.ChartOptions
}

func newPlotCommand(env *Env) *cobra.Command {
	o := &plotOptions{}
	cmd := &cobra.Command{
		Use:   "plot [RUN|FILE...]",
		Short: "Draw charts as SVG or PNG: bars, lines over releases, intervals, metric against metric",
		Long: `plot draws a stored run, or files: results of other tools as import reads them, or
series as detect reads them. The name of the output says whether it is SVG or PNG.

  bars       a bar for each benchmark and target, a panel for each group
  lines      a line for each benchmark over the targets, in the order of the run,
             or over the positions of a series
  intervals  each ratio with its interval and verdict
  scatter    one metric against another, a point for each benchmark and target

--metric takes ` + strings.Join(report.ChartMetrics(), ", ") + `,
or any metric that was probed (docs/METRICS.md); scatter takes two, the first across.
An axis that --y-from or --y-to cut shows by a mark and a number what lies beyond.`,
		Example: `  dbcanary plot last --chart bars --y-from 0.70 -o bars.svg
  dbcanary plot 3 --chart lines --benchmark 'update-*,scan' -o releases.png
  dbcanary plot --chart intervals --target mysql@9.7 -o intervals.svg
  dbcanary plot --chart scatter --metric cpu,qps -o cost.png
  dbcanary plot nightly.csv -o nightly.svg`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("y-from") {
				o.from = math.NaN()
			}
			if !cmd.Flags().Changed("y-to") {
				o.to = math.NaN()
			}
			return o.run(cmd.Context(), env, args, cmd.Flags().Changed("chart"))
		},
	}
	flags := cmd.Flags()
	addStoreFlag(flags, &o.db)
	flags.StringVarP(&o.output, "output", "o", "", "file to write: NAME.svg or NAME.png, or - for SVG on the standard output")
	flags.StringVar(&o.chart.Kind, "chart", "bars", "kind of chart: "+strings.Join(report.ChartKinds(), ", "))
	flags.StringSliceVar(&o.chart.Metrics, "metric", nil, "metric, for scatter two separated by a comma (default: qps; for scatter cpu,qps)")
	flags.StringSliceVar(&o.chart.Benchmarks, "benchmark", nil, "benchmarks by label, name or shell pattern, separated by commas (default: all)")
	flags.StringSliceVar(&o.chart.Targets, "target", nil, "targets by name or version, separated by commas (default: all)")
	flags.StringVar(&o.base, "base", "", "target that the others are compared with (default: the first of the run)")
	flags.Float64Var(&o.from, "y-from", 0, "where the axis of values begins (default: 0 for bars, else what the values need)")
	flags.Float64Var(&o.to, "y-to", 0, "where the axis of values ends (default: what the values need)")
	flags.StringVar(&o.chart.Title, "title", "", "title (default: what the chart shows)")
	completeWith(cmd, "chart", report.ChartKinds())
	return cmd
}

func (o *plotOptions) run(ctx context.Context, env *Env, args []string, kindGiven bool) error {
	write, err := o.check()
	if err != nil {
		return err
	}
	scene, err := o.scene(ctx, env, args, kindGiven)
	if err != nil {
		return err
	}
	var drawn bytes.Buffer // so that an error leaves the file as it is
	if err := write(scene, &drawn); err != nil {
		return err
	}
	if o.output == "-" {
		_, err := drawn.WriteTo(env.Stdout)
		return err
	}
	return os.WriteFile(o.output, drawn.Bytes(), 0o666)
}

// check checks the flags and gives what writes the output.
func (o *plotOptions) check() (func(*plot.Scene, *bytes.Buffer) error, error) {
	if err := oneOf("--chart", o.chart.Kind, report.ChartKinds()); err != nil {
		return nil, err
	}
	if o.to <= o.from || math.IsInf(o.from, 0) || math.IsInf(o.to, 0) {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "--y-from %v and --y-to %v are no axis", o.from, o.to)
	}
	o.chart.From, o.chart.To = o.from, o.to
	switch {
	case o.output == "-", strings.EqualFold(filepath.Ext(o.output), ".svg"):
		return func(s *plot.Scene, b *bytes.Buffer) error { return s.WriteSVG(b) }, nil
	case strings.EqualFold(filepath.Ext(o.output), ".png"):
		return func(s *plot.Scene, b *bytes.Buffer) error { return s.WritePNG(b) }, nil
	case o.output == "":
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "plot needs a file to write: -o NAME.svg or -o NAME.png")
	}
	return nil, dbcanary.Errorf(dbcanary.CodeUsage, "--output %s: the name ends in neither .svg nor .png", o.output)
}

// scene draws a run of the store, or files.
func (o *plotOptions) scene(ctx context.Context, env *Env, args []string, kindGiven bool) (*plot.Scene, error) {
	if !isFiles(args) {
		run, trials, err := o.stored(ctx, args)
		if err != nil {
			return nil, err
		}
		return o.draw(run, trials)
	}
	series, err := o.readSeries(args)
	if err == nil {
		if kindGiven && o.chart.Kind != "lines" {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%s is a series and has no targets: it is drawn as --chart lines", args[0])
		}
		return report.SeriesChart(series, o.chart)
	}
	run, trials, resultsErr := o.results(ctx, env, args)
	if resultsErr != nil {
		return nil, errors.Join(resultsErr, fmt.Errorf("nor is it a series: %w", err))
	}
	return o.draw(run, trials)
}

// isFiles tells whether the arguments are files and not a run.
func isFiles(args []string) bool {
	if len(args) == 0 {
		return false
	}
	_, err := os.Stat(args[0])
	return len(args) > 1 || err == nil || !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(args[0], "./=")
}

func (o *plotOptions) stored(ctx context.Context, args []string) (dbcanary.Run, []dbcanary.Trial, error) {
	st, err := store.OpenExisting(ctx, o.db)
	if err != nil {
		return dbcanary.Run{}, nil, err
	}
	defer st.Close()
	ref := "last"
	if len(args) > 0 {
		ref = args[0]
	}
	run, err := st.Run(ctx, ref)
	if err != nil {
		return dbcanary.Run{}, nil, err
	}
	trials, err := st.Trials(ctx, run.ID)
	return run, trials, err
}

func (o *plotOptions) draw(run dbcanary.Run, trials []dbcanary.Trial) (*plot.Scene, error) {
	var bases []string
	if o.base != "" {
		bases = []string{o.base}
	}
	judged, err := report.NewAgainst(run, trials, bases)
	if err != nil {
		return nil, err
	}
	return judged.Chart(o.chart)
}

// readSeries reads files of series.
func (o *plotOptions) readSeries(args []string) (exchange.SeriesFile, error) {
	var all []exchange.SeriesFile
	for _, name := range args {
		content, err := os.ReadFile(name)
		if err != nil {
			return exchange.SeriesFile{}, dbcanary.Errorf(dbcanary.CodeUsage, "%w", err)
		}
		one, err := exchange.ReadSeries(name, content, exchange.SeriesOptions{})
		if err != nil {
			return exchange.SeriesFile{}, err
		}
		all = append(all, one)
	}
	return exchange.JoinSeries(all), nil
}

// results reads results of other tools as one run.
func (o *plotOptions) results(ctx context.Context, env *Env, args []string) (dbcanary.Run, []dbcanary.Trial, error) {
	files, err := exchange.ReadFiles(ctx, args, exchange.FileOptions{Stdin: env.Stdin})
	if err != nil {
		return dbcanary.Run{}, nil, err
	}
	runs, err := exchange.MakeRuns(files.Measurements, exchange.RunOptions{Program: env.Version, Now: env.Now()})
	if err != nil {
		return dbcanary.Run{}, nil, err
	}
	rejected := files.Rejected
	for _, run := range runs {
		rejected = append(rejected, run.Rejected...)
	}
	switch {
	case len(rejected) > 0:
		return dbcanary.Run{}, nil, rejected[0] // a chart has no room to say what is missing
	case len(runs) != 1:
		return dbcanary.Run{}, nil, dbcanary.Errorf(dbcanary.CodeUsage, "the files hold %d runs and a chart shows one: import them and choose", len(runs))
	}
	return runs[0].Run, runs[0].Trials, nil
}
