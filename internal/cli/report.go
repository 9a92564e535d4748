package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary/internal/report"
	"github.com/dbcanary/dbcanary/internal/store"
)

// reportCommand are the flags of report.
type reportCommand struct {
	reportOptions
	bases []string
}

func newReportCommand(env *Env) *cobra.Command {
	o := &reportCommand{}
	cmd := &cobra.Command{
		Use:   "report [RUN]",
		Short: "Print the report of a stored run again",
		Long: `report judges the stored trials of a run anew and prints them. RUN is a number of
` + "`dbcanary runs`" + `, the start of a run's uid, or last. docs/REPORTS.md tells which
format is for whom.

With --base another target of the run takes the place of the base; several make
one report against each of them, and share out the chance of a false verdict.`,
		Example: `  dbcanary report
  dbcanary report 3 --format md
  dbcanary report last --format rqps --base mysql@8.0.28 --base mysql@8.0.33
  dbcanary report last --format xlsx -o report.xlsx`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref := "last"
			if len(args) > 0 {
				ref = args[0]
			}
			return o.print(cmd.Context(), env, ref)
		},
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().StringArrayVar(&o.bases, "base", nil, "target that the others are compared with (default: the first of the run); may be given several times")
	return cmd
}

func (o *reportCommand) print(ctx context.Context, env *Env, ref string) error {
	if err := o.check(); err != nil {
		return err
	}
	st, err := store.OpenExisting(ctx, o.db)
	if err != nil {
		return err
	}
	defer st.Close()
	result, err := o.read(ctx, st, ref)
	if err != nil {
		return err
	}
	return o.write(env, result, false)
}

// read judges a stored run.
func (o *reportCommand) read(ctx context.Context, st *store.Store, ref string) (*report.Report, error) {
	run, err := st.Run(ctx, ref)
	if err != nil {
		return nil, err
	}
	trials, err := st.Trials(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	return report.NewAgainst(run, trials, o.bases)
}
