package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/changepoint"
	"github.com/dbcanary/dbcanary/internal/exchange"
	"github.com/dbcanary/dbcanary/internal/history"
	"github.com/dbcanary/dbcanary/internal/store"
)

// detectOptions are the flags of detect.
type detectOptions struct {
	db, format, known, delimiter string
	gate, verbose                bool
	minEffect                    float64
	series                       exchange.SeriesOptions
	history                      history.Options
}

func detectFormats() []string { return []string{"text", "md", "json"} }

func newDetectCommand(env *Env) *cobra.Command {
	o := &detectOptions{}
	cmd := &cobra.Command{
		Use:   "detect [FILE...]",
		Short: "Tell when benchmarks got slower: change points over releases or commits",
		Long: `detect finds where the level of a series shifts. Without a file it looks at the
store: each benchmark and metric of each host and config, over the builds in
version order. Files are CSV (Otava's, or any other with a header), JSON of
Nyrkiö, github-action-benchmark or Bencher, or Go benchmark results; files of one
position each become a history. A file "-" is the standard input.

A change is confirmed, or suspect if fewer than five points follow it. Changes that
are known are kept in ` + history.KnownName + ` beside the data; see
docs/CHANGEPOINT.md. With --gate the exit code is 3 if a change for the worse is
confirmed and not known, 4 if one is suspect, came when the environment changed
too, or if a series could not be judged.`,
		Example: `  dbcanary detect
  dbcanary detect --db results/dbcanary.db --metric qps --since 8.0.30
  dbcanary detect nightly.csv --column p99 --time date --label commit --gate
  dbcanary detect results/*.json --format md`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args, cmd.Flags().Changed("db"))
		},
	}
	o.addFlags(cmd.Flags())
	completeWith(cmd, "format", detectFormats())
	completeWith(cmd, "method", history.Methods())
	return cmd
}

func (o *detectOptions) addFlags(flags *pflag.FlagSet) {
	addStoreFlag(flags, &o.db)
	flags.StringVar(&o.format, "format", "text", "format of the output: text, md or json")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "show every position of a series with changes")
	flags.BoolVar(&o.gate, "gate", false, "exit with 3 if a new change for the worse is confirmed, with 4 if one is suspect")
	flags.StringVar(&o.known, "changes", "", "file of known changes (default: "+history.KnownName+" beside the data)")
	flags.StringVar(&o.history.Since, "since", "", "leave out changes before this position or time")
	flags.StringSliceVar(&o.history.Benchmarks, "benchmark", nil, "benchmarks, by name or shell pattern, separated by commas")
	flags.StringSliceVar(&o.history.Metrics, "metric", nil, "metrics, by name or shell pattern, separated by commas")
	flags.Float64Var(&o.minEffect, "min-effect", 0, "smallest change that matters, in percent")
	flags.StringSliceVar(&o.series.Columns, "column", nil, "columns of a CSV with metrics, separated by commas (default: all with numbers)")
	flags.StringVar(&o.series.Time, "time", "", "column of a CSV with the time (default: by its name)")
	flags.StringVar(&o.series.Label, "label", "", "column of a CSV that names the position (default: commit, version, build or the like)")
	flags.StringSliceVar(&o.series.Environment, "environment", nil, "columns of a CSV with kernel, host, compiler and the like (default: by their names)")
	flags.StringVar(&o.delimiter, "delimiter", "", "delimiter of a CSV (default: comma, semicolon or tab, by its first line)")
	flags.StringVar(&o.history.Method, "method", "auto", "auto (by the shape of the data), history, ladder, or otava")
	flags.Float64Var(&o.history.Detect.Strictness, "strictness", 0, "add this to the thresholds: more reports less")
	otava := changepoint.DefaultEDivisive()
	flags.IntVar(&o.history.Otava.Window, "otava-window", otava.Window, "with --method otava: points of a window")
	flags.Float64Var(&o.history.Otava.MaxPValue, "otava-max-pvalue", otava.MaxPValue, "with --method otava: largest p")
	flags.Float64Var(&o.history.Otava.MinMagnitude, "otava-min-magnitude", otava.MinMagnitude, "with --method otava: smallest relative change")
}

func (o *detectOptions) check() error {
	if err := oneOf("--format", o.format, detectFormats()); err != nil {
		return err
	}
	if err := oneOf("--method", o.history.Method, history.Methods()); err != nil {
		return err
	}
	if o.delimiter != "" {
		r, size := utf8.DecodeRuneInString(o.delimiter)
		if o.delimiter == `\t` {
			r, size = '\t', len(o.delimiter)
		}
		if size != len(o.delimiter) || r == '"' || r == '\n' || r == '\r' || r == utf8.RuneError {
			return dbcanary.Errorf(dbcanary.CodeUsage, "--delimiter %q is not one character", o.delimiter)
		}
		o.series.Delimiter = r
	}
	if !(o.minEffect >= 0) {
		return dbcanary.Errorf(dbcanary.CodeUsage, "--min-effect %v must not be negative", o.minEffect)
	}
	o.history.Detect.MinRelative = o.minEffect / 100
	return nil
}

func (o *detectOptions) run(ctx context.Context, env *Env, files []string, dbGiven bool) error {
	if err := o.check(); err != nil {
		return err
	}
	if len(files) > 0 && dbGiven {
		return dbcanary.Errorf(dbcanary.CodeUsage, "detect takes files or --db, not both")
	}
	series, beside, err := o.read(ctx, env, files)
	if err != nil {
		return err
	}
	known, err := o.readKnown(beside)
	if err != nil {
		return err
	}
	report, err := history.New(series, known, o.history)
	if err != nil {
		return err
	}
	if err := o.write(env, report); err != nil {
		return err
	}
	return o.judge(report)
}

// read reads the series, and tells the folder in which the data lies.
func (o *detectOptions) read(ctx context.Context, env *Env, files []string) (exchange.SeriesFile, string, error) {
	if len(files) == 0 {
		st, err := store.OpenExisting(ctx, o.db)
		if err != nil {
			return exchange.SeriesFile{}, "", err
		}
		defer st.Close()
		series, err := history.FromStore(ctx, st)
		return series, filepath.Dir(o.db), err
	}
	var all []exchange.SeriesFile
	for _, name := range files {
		content, err := readFile(env, name)
		if err != nil {
			return exchange.SeriesFile{}, "", dbcanary.Errorf(dbcanary.CodeUsage, "%w", err)
		}
		one, err := exchange.ReadSeries(name, content, o.series)
		if err != nil {
			return exchange.SeriesFile{}, "", err
		}
		all = append(all, one)
	}
	return exchange.JoinSeries(all), filepath.Dir(files[0]), nil
}

func readFile(env *Env, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(env.Stdin)
	}
	return os.ReadFile(name)
}

// readKnown reads the known changes; only a file that was asked for must be there.
func (o *detectOptions) readKnown(beside string) (*history.KnownFile, error) {
	name := o.known
	if name == "" {
		name = filepath.Join(beside, history.KnownName)
	}
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && o.known == "" {
		return nil, nil
	}
	if err != nil {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%w", err)
	}
	return history.ParseKnown(name, content)
}

func (o *detectOptions) write(env *Env, report *history.Report) error {
	switch o.format {
	case "json":
		return report.WriteJSON(env.Stdout)
	case "md":
		return report.WriteMarkdown(env.Stdout)
	}
	width, _ := env.StdoutSize()
	return report.WriteText(env.Stdout, history.TextOptions{Width: width, Verbose: o.verbose})
}

// judge makes the exit code of a gate.
func (o *detectOptions) judge(report *history.Report) error {
	if !o.gate {
		return nil
	}
	confirmed, suspects := report.Judge()
	what := func(n int) string {
		if n == 1 {
			return "1 change"
		}
		return fmt.Sprintf("%d changes", n)
	}
	switch {
	case confirmed > 0:
		return dbcanary.Errorf(dbcanary.CodeRegression, "gate: %s for the worse, confirmed and new", what(confirmed))
	case suspects > 0:
		return dbcanary.Errorf(dbcanary.CodeInconclusive, "gate: %s for the worse can't be told from a spike or from a change of the environment: measure again", what(suspects))
	}
	if problems := report.Unjudged(); problems > 0 {
		return dbcanary.Errorf(dbcanary.CodeInconclusive, "gate: %d of %d series could not be judged", problems, len(report.Findings))
	}
	return nil
}
