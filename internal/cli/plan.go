package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/planfile"
)

func newPlanCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plan",
		Short:   "Write, check and show plan files",
		Example: "  dbcanary plan init plan.yaml mysql@8.4 mysql@9.7\n  dbcanary plan check plan.yaml\n  dbcanary plan show plan.yaml",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return dbcanary.Errorf(dbcanary.CodeUsage, "unknown command %q for %q%s", args[0], cmd.CommandPath(),
				dbcanary.DidYouMean(args[0], commandNames(cmd)))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPlanInitCommand(env), newPlanCheckCommand(env), newPlanShowCommand(env))
	return cmd
}

func newPlanInitCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:     "init FILE [TARGET...]",
		Short:   "Write a plan file that explains every key and its default",
		Example: "  dbcanary plan init plan.yaml\n  dbcanary plan init plan.yaml mariadb@10.11 mariadb@11.8 mysql@9.7",
		Args:    atLeast(1, "plan init needs the name of the file to write"),
		RunE: func(_ *cobra.Command, args []string) error {
			return initPlan(env, args[0], args[1:])
		},
	}
}

// initPlan writes a file that is not there yet.
func initPlan(env *Env, name string, targets []string) (err error) {
	text, err := planfile.Init(targets)
	if err != nil {
		return err
	}
	file, source := planfile.Read(name, []byte(text))
	_, _, problems := file.Plan()
	if err := planfile.Tell(source, problems, []string{"targets"}); err != nil {
		return err
	}
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return dbcanary.Errorf(dbcanary.CodeUsage, "%s is there already; plan init overwrites nothing", name)
	}
	if err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := out.WriteString(text); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	_, err = fmt.Fprintf(env.Stdout, "wrote %s; see: dbcanary plan show %s\n", name, name)
	return err
}

func newPlanCheckCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Tell every mistake of a plan file, with line and column",
		Long: `check reads a plan file and tells all its problems at once. Builds need not be on
this host, and what the plan takes of one is not asked: see plan show.`,
		Example: "  dbcanary plan check plan.yaml",
		Args:    onePlan("plan check"),
		RunE: func(cmd *cobra.Command, args []string) error {
			options := &compareOptions{}
			p, _, err := options.read(args[0], cmd.LocalNonPersistentFlags())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(env.Stdout, "%s: %d targets, %d benchmarks\n", args[0], len(p.Targets), len(p.Benchmarks))
			return err
		},
	}
}

func newPlanShowCommand(env *Env) *cobra.Command {
	options := &compareOptions{}
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Print a plan with every default filled in, its steps, sizes and time on this host",
		Long: `show prints the plan with every default filled in, as a plan file, after what it
takes of this host in comments. It fetches and starts nothing, and refuses a plan
that does not fit into memory, disk or time, with one that would.`,
		Example: "  dbcanary plan show plan.yaml\n  dbcanary plan show plan.yaml --data-dir /mnt/nvme",
		Args:    onePlan("plan show"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showPlan(cmd.Context(), env, options, cmd, args[0])
		},
	}
	addStoreFlag(cmd.Flags(), &options.db)
	cmd.Flags().StringVar(&options.dataDir, "data-dir", "", "where data directories will be made (default: below the cache directory)")
	return cmd
}

func showPlan(ctx context.Context, env *Env, options *compareOptions, cmd *cobra.Command, name string) error {
	p, specs, err := options.read(name, cmd.LocalNonPersistentFlags())
	if err != nil {
		return err
	}
	outline, err := options.outline(ctx, env, p, specs)
	if err != nil {
		return err
	}
	if err := outline.Write(env.Stdout, "# "); err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout)
	return planfile.Write(env.Stdout, options.file, outline.Plan, outline.Instances())
}
