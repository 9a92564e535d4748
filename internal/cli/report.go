package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/report"
	"github.com/dbcanary/dbcanary/internal/store"
)

// reportCommand are the flags of report.
type reportCommand struct {
	reportOptions
	bases      []string
	benchmarks []string
	targets    []string
}

// The formats of several runs.
const (
	hostsFormat   = "hosts"
	hostsMarkdown = "hosts-md"
)

func newReportCommand(env *Env) *cobra.Command {
	o := &reportCommand{}
	cmd := &cobra.Command{
		Use:   "report [RUN...]",
		Short: "Print the report of a stored run again",
		Long: `report judges the stored trials of a run anew and prints them. RUN is a number of
` + "`dbcanary runs`" + `, the start of a run's uid, or last. docs/REPORTS.md tells which
format is for whom.

With --base another target of the run takes the place of the base; several make
one report against each of them, and share out the chance of a false verdict.

With --format hosts (hosts-md is Markdown) it takes several runs, or the newest one of each host, lists
what differs between them, and prints a table of servers and targets for each
benchmark. Targets of one release stand in one column.`,
		Example: `  dbcanary report
  dbcanary report 3 --format md
  dbcanary report last --format rqps --base mysql@8.0.28 --base mysql@8.0.33
  dbcanary report last --format xlsx -o report.xlsx
  dbcanary report --db all.db --format hosts --benchmark scan,update-index`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	flags := cmd.Flags()
	o.addFlags(flags)
	flags.Lookup("format").Usage += ", " + hostsFormat + ", " + hostsMarkdown
	flags.StringArrayVar(&o.bases, "base", nil, "target that the others are compared with (default: the first of the run); may be given several times")
	flags.StringSliceVar(&o.benchmarks, "benchmark", nil, "with --format hosts: benchmarks by label, name or shell pattern, separated by commas (default: all)")
	flags.StringSliceVar(&o.targets, "target", nil, "with --format hosts: targets by version or name, separated by commas (default: all)")
	return cmd
}

func (o *reportCommand) run(ctx context.Context, env *Env, refs []string) error {
	if err := o.check(refs); err != nil {
		return err
	}
	st, err := store.OpenExisting(ctx, o.db)
	if err != nil {
		return err
	}
	defer st.Close()
	if o.ofHosts() {
		return o.hosts(ctx, env, st, refs)
	}
	ref := "last"
	if len(refs) > 0 {
		ref = refs[0]
	}
	result, err := o.read(ctx, st, ref)
	if err != nil {
		return err
	}
	return o.write(env, result, false)
}

// ofHosts tells whether the report is one of several hosts.
func (o *reportCommand) ofHosts() bool { return o.format == hostsFormat || o.format == hostsMarkdown }

func (o *reportCommand) check(refs []string) error {
	if err := oneOf("--format", o.format, append(report.Formats(), hostsFormat, hostsMarkdown)); err != nil {
		return err
	}
	switch {
	case o.ofHosts() && len(o.bases) > 1:
		return dbcanary.Errorf(dbcanary.CodeUsage, "--format %s takes one --base", o.format)
	case o.ofHosts():
	case len(refs) > 1:
		return dbcanary.Errorf(dbcanary.CodeUsage, "report takes one run, or several with --format %s", hostsFormat)
	case o.benchmarks != nil || o.targets != nil:
		return dbcanary.Errorf(dbcanary.CodeUsage, "--benchmark and --target go with --format %s", hostsFormat)
	default:
		return o.reportOptions.check()
	}
	return nil
}

// hosts prints the tables of several hosts: of the runs named, or the newest of each.
func (o *reportCommand) hosts(ctx context.Context, env *Env, st *store.Store, refs []string) error {
	if len(refs) == 0 {
		runs, err := st.Runs(ctx)
		if err != nil {
			return err
		}
		newest := map[string]int64{}
		for _, run := range runs { // the newest first
			if kept := newest[run.Host.Name]; kept != 0 {
				fmt.Fprintf(env.Stderr, "note: run %d of %s is left out, since run %d is newer; name the runs to choose others\n", run.ID, run.Host.Name, kept)
				continue
			}
			newest[run.Host.Name] = run.ID
			refs = append(refs, strconv.FormatInt(run.ID, 10))
		}
		slices.Reverse(refs) // in the order in which they were stored
	}
	var reports []*report.Report
	for _, ref := range refs {
		one, err := o.read(ctx, st, ref)
		if err != nil {
			return err
		}
		reports = append(reports, one)
	}
	var text bytes.Buffer
	if err := report.Hosts(&text, reports, report.HostOptions{
		Benchmarks: o.benchmarks, Targets: o.targets, Verbose: o.verbose, Markdown: o.format == hostsMarkdown,
	}); err != nil {
		return err
	}
	if o.output != "" {
		return os.WriteFile(o.output, text.Bytes(), 0o666)
	}
	_, err := text.WriteTo(env.Stdout)
	return err
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
	result, err := report.NewAgainst(run, trials, o.bases)
	if err != nil {
		return nil, err
	}
	result.Profiles, err = st.Profiles(ctx, run.ID)
	return result, err
}
