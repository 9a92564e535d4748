package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build"
	"github.com/dbcanary/dbcanary/internal/ui"
)

func newBuildsCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "builds",
		Short: "List, find, fetch, add and remove the binaries that targets are made of",
		Long: `builds shows and changes the cache of DBMS builds. A target that is measured is
fetched when it is first needed, so these commands are for what else you want:
to see what there is, to fetch before a machine goes offline, to free space.

Servers come from Debian's packages (mysql, mariadb; with apt-get and the mirror
of your own configuration, unpacked without root), from npm (postgres), from a
folder that you name, or are installed on this machine already. The cache lies
in the user's cache directory, for root in /var/cache/dbcanary, and where
DBCANARY_CACHE says if that is set.`,
		Example: "  dbcanary builds find postgres\n  dbcanary builds fetch mysql@9.7 mariadb@10.11\n  dbcanary builds list",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return dbcanary.Errorf(dbcanary.CodeUsage, "unknown command %q%s", "builds "+args[0],
				dbcanary.DidYouMean(args[0], commandNames(cmd)))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newBuildsListCommand(env), newBuildsFindCommand(env), newBuildsFetchCommand(env),
		newBuildsAddCommand(env), newBuildsRemoveCommand(env),
	)
	return cmd
}

func newBuildsListCommand(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the builds in the cache",
		Example: "  dbcanary builds list\n  dbcanary builds list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			entries, err := newCache(env).List(cmd.Context())
			if err != nil {
				return err
			}
			return printEntries(env, entries, asJSON)
		},
	}
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newBuildsFindCommand(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "find [TARGET...]",
		Short: "Show what a target can mean: in the cache, installed, or to be fetched",
		Long: `find lists the builds that match, the newest first; without a target all of
them. A target that is measured means the newest one that is cached or
installed, else the newest one that is available.`,
		Example: "  dbcanary builds find postgres@15\n  dbcanary builds find mysql mariadb --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{string(dbcanary.MySQL), string(dbcanary.MariaDB), string(dbcanary.Postgres), string(dbcanary.SQLite)}
			}
			return findBuilds(cmd.Context(), env, args, asJSON)
		},
	}
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newBuildsFetchCommand(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "fetch TARGET...",
		Short: "Fetch the newest build that a target can mean",
		Long: `fetch asks the providers and brings the newest build that matches, even if an
older one is cached or installed. From then on the target means the new one.`,
		Example: "  dbcanary builds fetch mysql@9.7 mariadb@10.11\n  dbcanary builds fetch postgres@15.4",
		Args:    atLeast(1, "fetch needs a target, such as postgres@18"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return fetchBuilds(cmd.Context(), env, args, asJSON)
		},
	}
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newBuildsAddCommand(env *Env) *cobra.Command {
	var name string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "add DBMS:PATH",
		Short: "Make an unpacked or self-made build known by its version and a name",
		Long: `add notes a build that lies in a folder of yours and leaves it there. A target
may then be written with its version or with its name after the "@".`,
		Example: "  dbcanary builds add mysql:/opt/mysql-8.0.28\n  dbcanary builds add postgres:/home/me/pgsql --name my-patch\n  dbcanary compare postgres@18 postgres@my-patch",
		Args:    exactlyOne("add needs one build, such as mysql:/opt/mysql-8.0.28"),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := dbcanary.ParseTargetSpec(args[0])
			if err != nil {
				return err
			}
			if spec.Path == "" || len(spec.Overlays) > 0 {
				return dbcanary.Errorf(dbcanary.CodeUsage, "%q is no build in a folder; write DBMS:PATH, such as mysql:/opt/mysql-8.0.28", spec.Name)
			}
			entry, err := newCache(env).Add(cmd.Context(), spec.Family, spec.Path, name)
			if err != nil {
				return err
			}
			return printEntries(env, []build.Entry{entry}, asJSON)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the build (default: made of DBMS and version)")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newBuildsRemoveCommand(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "remove NAME...",
		Short: "Remove builds from the cache",
		Long: `remove takes the names that "builds list" shows. A build that was added stays
where it is and is only forgotten.`,
		Example: "  dbcanary builds remove postgres-15.4.0-beta.9-npm",
		Args:    atLeast(1, "remove needs the name of a build; \"dbcanary builds list\" shows them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cache := newCache(env)
			for _, name := range args {
				if err := cache.Remove(cmd.Context(), name); err != nil {
					return err
				}
				if !asJSON {
					fmt.Fprintf(env.Stdout, "removed %s\n", name)
				}
			}
			if asJSON {
				return printJSON(env, map[string][]string{"removed": args})
			}
			return nil
		},
	}
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func addJSONFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON: see docs/format/builds.md")
}

// exactlyOne wants one argument.
func exactlyOne(message string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return dbcanary.Errorf(dbcanary.CodeUsage, "%s", message)
		}
		return nil
	}
}

func findBuilds(ctx context.Context, env *Env, targets []string, asJSON bool) error {
	cache := newCache(env)
	specs, err := parseBuilds(targets)
	if err != nil {
		return err
	}
	found, problems := []build.Candidate{}, []string{}
	progress := ui.NewFetch(env.Stderr, env.StderrSize, env.Now)
	defer progress.Close()
	for _, spec := range specs {
		candidates, err := cache.Find(ctx, spec, progress.Event)
		if err != nil && (len(candidates) == 0 || ctx.Err() != nil) {
			return err
		}
		if err != nil {
			problems = append(problems, strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		found = append(found, candidates...)
	}
	progress.Close()
	if asJSON {
		return printJSON(env, map[string]any{"builds": found, "problems": problems})
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "BUILD\tSTATE\tPROVIDER\tORIGIN")
	for _, candidate := range found {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", buildText(candidate.Build), candidate.State, candidate.Provider, candidate.Origin)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, problem := range problems {
		fmt.Fprintf(env.Stderr, "note: the list is not complete: %s\n", problem)
	}
	return nil
}

func fetchBuilds(ctx context.Context, env *Env, targets []string, asJSON bool) error {
	cache := newCache(env)
	specs, err := parseBuilds(targets)
	if err != nil {
		return err
	}
	fetched := make([]dbcanary.Build, 0, len(specs))
	progress := ui.NewFetch(env.Stderr, env.StderrSize, env.Now)
	defer progress.Close()
	for _, spec := range specs {
		got, err := cache.Fetch(ctx, spec, progress.Event)
		if err != nil {
			return err
		}
		fetched = append(fetched, got)
	}
	progress.Close()
	if asJSON {
		return printJSON(env, map[string]any{"builds": fetched})
	}
	for _, got := range fetched {
		fmt.Fprintf(env.Stdout, "%s\n  %s: %s\n  %s\n  %s\n", buildText(got), got.Provider, got.Origin, got.Checksum, got.Dir)
	}
	return nil
}

// parseBuilds reads targets of which only the build counts.
func parseBuilds(targets []string) ([]dbcanary.TargetSpec, error) {
	specs := make([]dbcanary.TargetSpec, 0, len(targets))
	for _, target := range targets {
		spec, err := dbcanary.ParseTargetSpec(target)
		if err != nil {
			return nil, err
		}
		if spec.DSN != "" || len(spec.Overlays) > 0 {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%q is no build; write it as postgres@18, without settings", spec.Name)
		}
		specs = append(specs, spec)
	}
	return specs, nil
}

func printEntries(env *Env, entries []build.Entry, asJSON bool) error {
	if asJSON {
		return printJSON(env, map[string]any{"builds": append([]build.Entry{}, entries...)})
	}
	if len(entries) == 0 {
		_, err := fmt.Fprintln(env.Stdout, `no builds in the cache; "dbcanary builds find" shows what can be fetched`)
		return err
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tBUILD\tMB\tPROVIDER\tORIGIN")
	for _, entry := range entries {
		size := "-"
		if entry.SizeBytes > 0 {
			size = fmt.Sprintf("%.0f", float64(entry.SizeBytes)/1e6)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", entry.Name, buildText(entry.Build), size, entry.Provider, entry.Origin)
	}
	return table.Flush()
}

func buildText(b dbcanary.Build) string { return string(b.Family) + "@" + b.Version }

func printJSON(env *Env, value any) error {
	encoder := json.NewEncoder(env.Stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
