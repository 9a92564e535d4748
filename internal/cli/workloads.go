package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/planfile"
	"github.com/dbcanary/dbcanary/internal/workload"
	"github.com/dbcanary/dbcanary/internal/workload/own"
)

func newWorkloadsCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "workloads",
		Aliases: []string{"workload"},
		Short:   "List the benchmarks and suites, and show what one does",
		Example: "  dbcanary workloads list\n  dbcanary workloads show \"read-only range=100\"",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return dbcanary.Errorf(dbcanary.CodeUsage, "unknown command %q for %q%s", args[0], cmd.CommandPath(),
				dbcanary.DidYouMean(args[0], commandNames(cmd)))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newWorkloadsListCommand(env), newWorkloadsShowCommand(env))
	return cmd
}

func newWorkloadsListCommand(env *Env) *cobra.Command {
	var asJSON bool
	var brought planfile.File
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the suites and the benchmarks",
		Example: "  dbcanary workloads list\n  dbcanary workloads list --json\n  dbcanary workloads list --workload shop.yaml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			finder, err := ownFinder(brought)
			if err != nil {
				return err
			}
			if asJSON {
				return writeWorkloadsJSON(env.Stdout, finder.Own())
			}
			return writeWorkloads(env.Stdout, finder.Own())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	addOwnFlags(cmd.Flags(), &brought)
	return cmd
}

// ownFinder finds the benchmarks that a user brings, and those of the catalogue.
func ownFinder(brought planfile.File) (*own.Finder, error) {
	workloads, err := brought.Own().Read()
	if err != nil {
		return nil, err
	}
	return own.NewFinder(workloads)
}

// listed are the benchmarks that a user brings, or else those of the catalogue.
func listed(brought []workload.Benchmark) []workload.Benchmark {
	if len(brought) > 0 {
		return brought
	}
	return workload.Catalogue()
}

func writeWorkloads(out io.Writer, brought []workload.Benchmark) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SUITE\tBENCHMARKS\tWHAT IT IS")
	for _, suite := range workload.Suites() {
		fmt.Fprintf(table, "%s\t%d\t%s\n", suite.Name, len(suite.Benchmarks()), suite.Doc)
	}
	// A tabwriter keeps its first error for Flush.
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(table, "\nBENCHMARK\tGROUP\tSTATEMENTS\tWHAT IT DOES")
	for _, benchmark := range listed(brought) {
		statements := "-" // a program decides
		if benchmark.Program == nil {
			statements = strconv.Itoa(benchmark.Statements())
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", benchmark.Label, benchmark.Group, statements, benchmark.Doc+notOn(benchmark))
	}
	return table.Flush()
}

// notOn names the families on which the benchmark makes no sense; show has the reasons.
func notOn(b workload.Benchmark) string {
	var families []string
	for _, family := range dbcanary.Families() {
		if b.Not[family] != "" {
			families = append(families, string(family))
		}
	}
	if len(families) == 0 {
		return ""
	}
	return " Not on " + strings.Join(families, ", ") + "."
}

// suiteJSON and benchmarkJSON are the output of list --json.
type suiteJSON struct {
	Name       string   `json:"name"`
	Doc        string   `json:"doc"`
	Benchmarks []string `json:"benchmarks"`
}

type benchmarkJSON struct {
	Label      string `json:"label"`
	Group      string `json:"group"`
	Published  string `json:"published"`
	Statements int    `json:"statements"`
	Writes     bool   `json:"writes"`
	Doc        string `json:"doc"`
	Differs    string `json:"differs,omitempty"`

	NotApplicable map[dbcanary.Family]string `json:"not_applicable,omitempty"` // with the reason
}

func writeWorkloadsJSON(out io.Writer, brought []workload.Benchmark) error {
	var list struct {
		Suites     []suiteJSON     `json:"suites"`
		Benchmarks []benchmarkJSON `json:"benchmarks"`
	}
	for _, suite := range workload.Suites() {
		entry := suiteJSON{Name: suite.Name, Doc: suite.Doc}
		for _, benchmark := range suite.Benchmarks() {
			entry.Benchmarks = append(entry.Benchmarks, benchmark.Label)
		}
		list.Suites = append(list.Suites, entry)
	}
	for _, b := range listed(brought) {
		list.Benchmarks = append(list.Benchmarks, benchmarkJSON{
			b.Label, b.Group, b.PublishedName(), b.Statements(), b.Writes, b.Doc, b.Differs, b.Not,
		})
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(list)
}

func newWorkloadsShowCommand(env *Env) *cobra.Command {
	var brought planfile.File
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show what a benchmark or a suite does",
		Long: `show prints what a benchmark does: its SQL with keys and answers, transaction,
statements per event, group, and how it differs from the published one; or the
steps of a suite in order.`,
		Example: "  dbcanary workloads show update-zipf\n  dbcanary workloads show \"read-only range=10000\"\n  dbcanary workloads show sysbench-32",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return dbcanary.Errorf(dbcanary.CodeUsage, "workloads show takes one name; quote a label with a space: \"read-only range=100\"")
		},
		ValidArgsFunction: cobra.FixedCompletions(workloadNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			return showWorkload(env.Stdout, brought, args[0])
		},
	}
	addOwnFlags(cmd.Flags(), &brought)
	return cmd
}

func workloadNames() []string { return append(suiteNames(), workload.Labels()...) }

func showWorkload(out io.Writer, brought planfile.File, name string) error {
	finder, err := ownFinder(brought)
	if err != nil {
		return err
	}
	if b, ok := finder.Short(name); ok {
		_, err := fmt.Fprintf(out, "%s\n%s", b.Label, b.Describe())
		return err
	}
	suite, suiteErr := workload.FindSuite(name)
	if suiteErr == nil {
		_, err := fmt.Fprintf(out, "%s\n%s", suite.Name, suite.Describe())
		return err
	}
	benchmark, err := workload.Find(name)
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n%s", benchmark.Label, benchmark.Describe())
		return err
	}
	if len(dbcanary.Nearest(name, suiteNames())) > 0 {
		return suiteErr
	}
	return err
}
