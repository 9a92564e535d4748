package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/store"
)

func newMergeCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "merge OUT STORE...",
		Short: "Join the stores of several hosts into one",
		Long: `merge takes the runs of every store into the store OUT, which is made if there is
none, so that report --format hosts and detect see all hosts. The stores stay as
they are.

A run is known by its uid: merging again adds only what is new, and brings runs up
to date that went on since. Runs get new numbers, which are printed. A run that is
in OUT with other trials is refused and named, and the exit code is 1; so is a
store that cannot be read. All others are merged.`,
		Example: `  dbcanary merge all.db beelink.db pn53.db socket2.db
  dbcanary report --db all.db --format hosts --benchmark scan`,
		Args: atLeast(2, "merge needs the store to write and at least one to read"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return merge(cmd.Context(), env, args[0], args[1:])
		},
	}
}

func merge(ctx context.Context, env *Env, out string, sources []string) error {
	for _, source := range sources {
		if sameFile(out, source) {
			return dbcanary.Errorf(dbcanary.CodeUsage, "%s is the store to write and one to read: name another one first", source)
		}
	}
	into, err := store.Open(ctx, out)
	if err != nil {
		return err
	}
	defer into.Close()
	failed := 0
	for _, source := range sources {
		refused, err := mergeOne(ctx, env, into, source)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			fmt.Fprintf(env.Stderr, "dbcanary: %s\n", err)
			refused = 1
		}
		failed += refused
	}
	if failed > 0 {
		return dbcanary.Errorf(dbcanary.CodeFailed, "%d of the runs or stores were not merged, see above", failed)
	}
	return nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// mergeOne merges one store and tells what became of its runs.
func mergeOne(ctx context.Context, env *Env, into *store.Store, source string) (refused int, err error) {
	from, err := store.OpenExisting(ctx, source)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	merged, err := into.Merge(ctx, from)
	if err != nil {
		return 0, err
	}
	if len(merged) == 0 {
		fmt.Fprintf(env.Stdout, "%s: there are no runs in it\n", source)
	}
	for _, one := range merged {
		what := fmt.Sprintf("run %d of %s (%s, %d trials)", one.Run.ID, one.Run.Host.Name, strings.Join(one.Run.Plan.Targets, " "), one.Trials)
		if one.Outcome == store.MergeRefused {
			refused++
			fmt.Fprintf(env.Stderr, "dbcanary: %s: %s is refused, run %d is kept: %s\n", source, what, one.ID, one.Reason)
			continue
		}
		fmt.Fprintf(env.Stdout, "%s: %s is %s\n", source, what, outcomeText(one))
		if one.Run.State == dbcanary.RunRunning {
			fmt.Fprintf(env.Stdout, "note: it still goes on there; merge again when it is done\n")
		}
	}
	return refused, nil
}

func outcomeText(one store.MergedRun) string {
	switch one.Outcome {
	case store.MergeAdded:
		return fmt.Sprintf("added as run %d", one.ID)
	case store.MergeUpdated:
		return fmt.Sprintf("brought up to date as run %d", one.ID)
	}
	return fmt.Sprintf("there already as run %d", one.ID)
}
