package cli

import (
	"bytes"
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/report"
	"github.com/dbcanary/dbcanary/internal/store"
)

// flameOptions are the flags of flame.
type flameOptions struct {
	db, output string
	report.FlameOptions
}

func newFlameCommand(env *Env) *cobra.Command {
	o := &flameOptions{}
	cmd := &cobra.Command{
		Use:   "flame [RUN]",
		Short: "Draw flame graphs of sampled stacks, and what differs between two targets",
		Long: `flame draws the stacks that profiling slices sampled (compare --profile) or import
read as a flame graph: SVG that opens in a browser alone. With --base it draws both
targets, each function in red where an operation costs more on the target and in
blue where it costs less, so that what only one of them does is seen as well.

  svg     the drawing
  folded  a line for each stack with its count; with --base two counts
  pprof   a profile that go tool pprof and speedscope open
  tree    the tree of calls as text

RUN is a number of ` + "`dbcanary runs`" + `, the start of a run's uid, or last.`,
		Example: `  dbcanary flame last --benchmark scan --target mysql@9.7 -o scan.svg
  dbcanary flame 3 --benchmark scan --base mysql@8.4 --target mysql@9.7 -o diff.svg
  dbcanary flame --benchmark scan --target postgres@18 --format pprof -o scan.pb.gz
  dbcanary flame --benchmark scan --target postgres@18 --sampler gdb --format folded`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return dbcanary.Errorf(dbcanary.CodeUsage, "flame takes one run")
			}
			return o.run(cmd.Context(), env, args)
		},
	}
	flags := cmd.Flags()
	addStoreFlag(flags, &o.db)
	flags.StringVarP(&o.output, "output", "o", "", "file to write to, instead of the terminal")
	flags.StringVar(&o.Format, "format", "svg", "what to write: "+strings.Join(report.FlameFormats(), ", "))
	flags.StringVar(&o.Benchmark, "benchmark", "", "benchmark by its label (default: the only one with stacks)")
	flags.StringVar(&o.Target, "target", "", "target by its name (default: the only one with stacks)")
	flags.StringVar(&o.Base, "base", "", "target to compare with, for svg and folded")
	flags.StringVar(&o.Sampler, "sampler", "", "sampler, where there are several (default: perf)")
	completeWith(cmd, "format", report.FlameFormats())
	return cmd
}

func (o *flameOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := oneOf("--format", o.Format, report.FlameFormats()); err != nil {
		return err
	}
	width, _ := env.StdoutSize()
	if o.Format == "pprof" && o.output == "" && width > 0 {
		return dbcanary.Errorf(dbcanary.CodeUsage, "a pprof profile is no text for a terminal: write it to a file with -o NAME.pb.gz")
	}
	st, err := store.OpenExisting(ctx, o.db)
	if err != nil {
		return err
	}
	defer st.Close()
	ref := "last"
	if len(args) > 0 {
		ref = args[0]
	}
	run, err := st.Run(ctx, ref)
	if err != nil {
		return err
	}
	result := report.New(run, nil)
	if result.Profiles, err = st.Profiles(ctx, run.ID); err != nil {
		return err
	}
	var text bytes.Buffer // so that an error leaves the file as it is
	if err := result.Flame(&text, o.FlameOptions); err != nil {
		return err
	}
	if o.output != "" {
		return os.WriteFile(o.output, text.Bytes(), 0o666)
	}
	_, err = env.Stdout.Write(text.Bytes())
	return err
}
