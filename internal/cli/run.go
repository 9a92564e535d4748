package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/lab"
	"github.com/dbcanary/dbcanary/internal/planfile"
	"github.com/dbcanary/dbcanary/internal/store"
)

func newRunCommand(env *Env) *cobra.Command {
	options := &compareOptions{file: planfile.Default()}
	cmd := &cobra.Command{
		Use:   "run PLAN.yaml",
		Short: "Measure what a plan file says, as compare does",
		Long: `run executes a plan file: compare with its targets and flags written down. A flag
that is given goes before the key of the same name; docs/format/plan.md explains
the keys.

A plan that does not fit into memory, disk or time is refused with the arithmetic
and a plan that would fit.`,
		Example: `  dbcanary run plan.yaml --dry-run
  dbcanary run plan.yaml
  dbcanary run plan.yaml --time 20m --format rqps`,
		Args: onePlan("run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := options.named(cmd.Flags()); err != nil {
				return err
			}
			p, specs, err := options.read(args[0], cmd.Flags())
			if err != nil {
				return err
			}
			return measure(cmd.Context(), env, options, p, specs)
		},
	}
	options.addFlags(cmd)
	return cmd
}

func onePlan(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return dbcanary.Errorf(dbcanary.CodeUsage, "%s takes one plan file; `dbcanary plan init plan.yaml` writes one", command)
		}
		return nil
	}
}

// read reads a plan file, lets the flags that were given go before its keys, and
// gives the plan and its targets. Every problem of both is told at once.
func (o *compareOptions) read(name string, flags *pflag.FlagSet) (dbcanary.Plan, []dbcanary.TargetSpec, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return dbcanary.Plan{}, nil, dbcanary.Errorf(dbcanary.CodeUsage, "read the plan: %w", err)
	}
	flagged := o.file
	var keys []string
	flags.Visit(func(flag *pflag.Flag) { keys = append(keys, flag.Name) })
	file, source := planfile.Read(name, text)
	file.Override(flagged, keys)
	o.file = file
	p, specs, problems := file.Plan()
	return p, specs, planfile.Tell(source, problems, keys)
}

// dryRun prints what a run would do. It asks no network and starts nothing.
func dryRun(ctx context.Context, env *Env, options *compareOptions, p dbcanary.Plan, specs []dbcanary.TargetSpec) error {
	outline, err := options.outline(ctx, env, p, specs)
	if err != nil {
		return err
	}
	return outline.Write(env.Stdout, "")
}

func (o *compareOptions) outline(ctx context.Context, env *Env, p dbcanary.Plan, specs []dbcanary.TargetSpec) (*planfile.Outline, error) {
	room, err := lab.HostRoom(o.workDir(env))
	if err != nil {
		return nil, err
	}
	outline, err := planfile.NewOutline(p, specs, o.file.Adaptive, room)
	if err != nil {
		return nil, err
	}
	cache := newCache(env)
	for _, spec := range specs {
		text, err := whence(ctx, cache, spec)
		if err != nil {
			return nil, err
		}
		outline.Builds = append(outline.Builds, text)
	}
	outline.Warnings = append(outline.Warnings, o.otherHost()...)
	return outline, o.expect(ctx, outline)
}

// expect tells what a plan would find by the newest A/A run of this host in the store,
// if there is one.
func (o *compareOptions) expect(ctx context.Context, outline *planfile.Outline) error {
	if _, err := os.Stat(o.db); err != nil {
		return nil
	}
	st, err := store.OpenExisting(ctx, o.db)
	if err != nil {
		return err
	}
	defer st.Close()
	runs, err := st.Runs(ctx)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("read the name of this host: %w", err)
	}
	for _, run := range runs { // the newest first
		if run.Host.Name != host || !outline.LikeNoise(run) {
			continue
		}
		trials, err := st.Trials(ctx, run.ID)
		if err != nil {
			return err
		}
		outline.Expect(run, trials)
		return nil
	}
	return nil
}

// whence says where the binaries of a target are, or that they are not here.
func whence(ctx context.Context, cache interface {
	Here(context.Context, dbcanary.TargetSpec) (dbcanary.Build, bool, error)
}, spec dbcanary.TargetSpec,
) (string, error) {
	if spec.DSN != "" {
		return "a server that already runs", nil
	}
	found, ok, err := cache.Here(ctx, spec)
	switch {
	case spec.Path != "" && (err != nil || !ok):
		return "not on this host", nil
	case err != nil:
		return "", err
	case !ok:
		return "to be fetched", nil
	case spec.Version == "" && spec.Path == "" && spec.Family != dbcanary.SQLite:
		return fmt.Sprintf("%s (%s) is here; a newer one would be fetched", found.Version, found.Provider), nil
	}
	return fmt.Sprintf("%s (%s)", found.Version, found.Provider), nil
}
