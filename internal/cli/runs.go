package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/planfile"
	"github.com/dbcanary/dbcanary/internal/report"
	"github.com/dbcanary/dbcanary/internal/store"
)

func newRunsCommand(env *Env) *cobra.Command {
	var db string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "runs",
		Short:   "List the runs in the store, newest first",
		Example: "  dbcanary runs\n  dbcanary runs --db results/dbcanary.db --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listRuns(cmd.Context(), env, db, asJSON)
		},
	}
	addStoreFlag(cmd.Flags(), &db)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func listRuns(ctx context.Context, env *Env, db string, asJSON bool) error {
	st, err := store.OpenExisting(ctx, db)
	if err != nil {
		return err
	}
	defer st.Close()
	runs, err := st.Runs(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env, runs)
	}
	counts, err := st.TrialCounts(ctx)
	if err != nil {
		return err
	}
	return report.Runs(env.Stdout, runs, counts)
}

func newResumeCommand(env *Env) *cobra.Command {
	options := &runOptions{}
	cmd := &cobra.Command{
		Use:   "resume RUN [DSN...]",
		Short: "Go on with a run that was interrupted or killed",
		Long: `resume measures what is left of a run's plan and keeps its trials. A target that
is a DSN with a password must be given again: passwords are not stored.`,
		Example: "  dbcanary resume last\n  dbcanary resume 3",
		Args:    atLeast(1, "resume needs a run: see `dbcanary runs`"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return resume(cmd.Context(), env, options, args[0], args[1:])
		},
	}
	options.addFlags(cmd.Flags())
	return cmd
}

func resume(ctx context.Context, env *Env, options *runOptions, ref string, dsns []string) error {
	if err := options.check(); err != nil {
		return err
	}
	st, err := store.OpenExisting(ctx, options.db)
	if err != nil {
		return err
	}
	defer st.Close()
	run, err := st.Run(ctx, ref)
	if err != nil {
		return err
	}
	specs, err := specsOf(run, dsns)
	if err != nil {
		return err
	}
	subjects, targets, err := resolveTargets(ctx, env, specs)
	if err != nil {
		return err
	}
	for i := range targets {
		if err := sameBuild(run.Targets[i].Build, targets[i].Build); err != nil {
			return err
		}
	}
	if err := st.Claim(ctx, run.ID); err != nil {
		return err
	}
	// A target that was dropped gets another chance: what stopped it may be mended.
	run.Targets, run.State = targets, dbcanary.RunRunning
	return execute(ctx, env, options, st, &run, subjects)
}

// specsOf parses the targets of a stored run; dsns replace those whose password is needed.
func specsOf(run dbcanary.Run, dsns []string) ([]dbcanary.TargetSpec, error) {
	given := map[string]dbcanary.TargetSpec{}
	for _, dsn := range dsns {
		spec, err := dbcanary.ParseTargetSpec(dsn)
		if err != nil {
			return nil, err
		}
		given[spec.Name] = spec
	}
	var specs []dbcanary.TargetSpec
	for _, name := range run.Plan.Targets {
		text := planfile.BaseName(name)
		spec, ok := given[text]
		if !ok {
			var err error
			if spec, err = planfile.ParseTarget(text); err != nil {
				return nil, err
			}
		}
		spec.Name = name
		specs = append(specs, spec)
	}
	return specs, nil
}

// sameBuild refuses to go on with other binaries: their trials don't mix.
func sameBuild(before, now dbcanary.Build) error {
	if before.Provider == "dsn" || (before.Version == now.Version && before.Checksum == now.Checksum) {
		return nil
	}
	return dbcanary.Errorf(dbcanary.CodeFailed,
		"the run was measured with %s %s (%s, %s) and the name now gives %s (%s, %s): start a new run",
		before.Family, before.Version, before.Origin, before.Checksum, now.Version, now.Origin, now.Checksum)
}
