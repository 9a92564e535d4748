package cli

import (
	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/planfile"
)

func newNoiseCommand(env *Env) *cobra.Command {
	options := &compareOptions{file: planfile.Default()}
	cmd := &cobra.Command{
		Use:   "noise TARGET",
		Short: "Measure a target against itself: how noisy this host is, and what a run can find",
		Long: `noise compares a target with itself, in the way of compare but without stopping at
what is clear. It prints for each benchmark how much slices, blocks and server
starts vary, which verdicts were false, and the smallest change that 5, 10 and 20
starts would find.

The run is stored. plan show and --dry-run tell what a plan would find by the newest
such run of this host in the store; dbcanary report RUN --format noise prints one again.`,
		Example: "  dbcanary noise postgres@18\n  dbcanary noise mariadb@11.8 --suite sysbench-32 --time 30m",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return dbcanary.Errorf(dbcanary.CodeUsage, "noise takes one target: it is measured against itself")
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := options.named(cmd.Flags()); err != nil {
				return err
			}
			if !cmd.Flags().Changed("format") {
				options.format = "noise"
			}
			options.file.Adaptive = false
			return compare(cmd.Context(), env, options, []string{args[0], args[0]})
		},
	}
	options.addFlags(cmd)
	for _, name := range []string{"adaptive", "base", "gate", "mode"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	return cmd
}
