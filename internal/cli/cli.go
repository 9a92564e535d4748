// Package cli is the command line of dbcanary: one file per command, each a
// constructor over an injected Env. Commands parse, call the rooms that do the
// work, and print; they hold no logic of their own.
package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dbcanary/dbcanary"
)

// Run runs one command line and gives the exit code: see dbcanary.ExitCode.
func Run(ctx context.Context, env *Env, args []string) int {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	env.interrupts = &interrupts{stop: make(chan struct{})}
	defer env.interrupts.watch(env.Signals, cancel)()

	begun := false
	root := NewRoot(env)
	root.PersistentPreRun = func(*cobra.Command, []string) { begun = true }
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if errors.Is(err, syscall.EPIPE) {
		return dbcanary.ExitCode(err) // nobody reads what we would say
	}
	if cause := context.Cause(ctx); cause != nil && dbcanary.ErrorCode(err) == dbcanary.CodeFailed {
		err = cause
	}
	var typed *dbcanary.Error
	if !begun && !errors.As(err, &typed) {
		err = dbcanary.Errorf(dbcanary.CodeUsage, "%w", err)
	}
	fmt.Fprintf(env.Stderr, "dbcanary: %s\n", err)
	return dbcanary.ExitCode(err)
}

// NewRoot makes the whole command tree over env.
func NewRoot(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "dbcanary",
		Short: "Tell whether a database got slower",
		Long: `dbcanary runs the same work against builds and settings of MySQL, MariaDB,
PostgreSQL and SQLite, and says which got slower, by how much and how sure it is.

Exit codes: 0 done, 1 failed, 2 usage or configuration, 130 interrupted;
with --gate also 3 a target is slower, 4 it can't tell.`,
		Example: `  dbcanary compare postgres@15 postgres@18 --time 3m
  dbcanary compare mariadb@10.11 mariadb@10.11+noahi
  dbcanary report last`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return dbcanary.Errorf(dbcanary.CodeUsage, "unknown command %q%s", args[0],
				dbcanary.DidYouMean(args[0], commandNames(cmd)))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		newCompareCommand(env),
		newRunCommand(env),
		newPlanCommand(env),
		newNoiseCommand(env),
		newBenchCommand(env),
		newResumeCommand(env),
		newImportCommand(env),
		newMergeCommand(env),
		newRunsCommand(env),
		newReportCommand(env),
		newFlameCommand(env),
		newPlotCommand(env),
		newDetectCommand(env),
		newWorkloadsCommand(env),
		newBuildsCommand(env),
		newDoctorCommand(env),
		newVersionCommand(env),
	)
	return root
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// flagError adds the nearest flags to the error about an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		var names []string
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, "--"+flag.Name) })
		text = fmt.Sprintf("unknown flag --%s for %q%s", name, cmd.CommandPath(), dbcanary.DidYouMean("--"+name, names))
	}
	return dbcanary.Errorf(dbcanary.CodeUsage, "%s", text)
}
