package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary"
)

// atLeast wants n arguments or more.
func atLeast(n int, message string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < n {
			return dbcanary.Errorf(dbcanary.CodeUsage, "%s", message)
		}
		return nil
	}
}

// oneOf wants value among names.
func oneOf(flag, value string, names []string) error {
	for _, name := range names {
		if value == name {
			return nil
		}
	}
	return dbcanary.Errorf(dbcanary.CodeUsage, "unknown %s %q%s", flag, value, dbcanary.DidYouMean(value, names))
}

// duration is a flag that tells 0 from not given, which leaves it nil.
type duration struct{ to **time.Duration }

func (d duration) String() string {
	if d.to == nil || *d.to == nil {
		return ""
	}
	return (*d.to).String()
}

func (d duration) Set(text string) error {
	parsed, err := time.ParseDuration(text)
	if err == nil {
		*d.to = &parsed
	}
	return err
}

func (duration) Type() string { return "duration" }

// completeWith lets the shell complete a flag from fixed names.
func completeWith(cmd *cobra.Command, flag string, names []string) {
	// The error is about a flag that does not exist, which no test lets pass.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}
