package cli

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/plan"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// compareOptions are the flags of compare.
type compareOptions struct {
	runOptions
	suite      string
	benchmarks []string
	tables     int
	tableSize  int
	threads    int
	psMode     string
	budget     time.Duration
	slice      time.Duration
	warmup     time.Duration
	blocks     int
	instances  int
	minEffect  float64
	placement  string
	seed       uint64
}

func newCompareCommand(env *Env) *cobra.Command {
	options := &compareOptions{}
	cmd := &cobra.Command{
		Use:   "compare TARGET TARGET...",
		Short: "Measure targets against the first one and say which benchmarks got slower",
		Long: `compare finds or fetches the builds, starts every target on data directories of
its own, loads the same data, measures in blocks of random order, stores every
trial, and prints the table. The first target is the base.

A target is DBMS@VERSION, DBMS:PATH of an unpacked build, or the DSN of a server
that already runs; "+" adds settings: a built-in overlay, name=value or a file.
` + targetExamples,
		Example: `  dbcanary compare postgres@15 postgres@18
  dbcanary compare mariadb@10.5 mariadb@10.11 mariadb@11.8 mysql@9.7 --time 20m
  dbcanary compare mysql:/opt/mysql-8.0.28 mysql:/opt/mysql-8.0.40+noahi
  dbcanary compare mariadb@10.11 mariadb@10.11+innodb_io_capacity=2000 --benchmarks update-index,insert
  dbcanary compare postgres@17 postgres@18 --gate --format md`,
		Args: atLeast(2, "compare needs a base and at least one more target"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("benchmarks") && len(options.benchmarks) == 0 {
				return dbcanary.Errorf(dbcanary.CodeUsage, "--benchmarks names no benchmark; see `dbcanary workloads list`")
			}
			return compare(cmd.Context(), env, options, args)
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&options.budget, "time", 10*time.Minute, "time for the whole run, load included")
	flags.StringVar(&options.suite, "suite", "quick", "suite of benchmarks: "+strings.Join(suiteNames(), ", "))
	flags.StringSliceVar(&options.benchmarks, "benchmarks", nil, "benchmarks instead of a suite, by label or name, separated by commas")
	flags.IntVar(&options.tables, "tables", 1, "number of tables")
	flags.IntVar(&options.tableSize, "table-size", 100_000, "rows of each table")
	flags.IntVar(&options.threads, "threads", 1, "connections of each target")
	flags.StringVar(&options.psMode, "ps-mode", "prepared", "statements: prepared or text")
	flags.DurationVar(&options.slice, "slice", 0, "measured time of a slice (default: fitted to --time)")
	flags.DurationVar(&options.warmup, "warmup", 0, "time before each slice that is not measured (default: a fifth of a slice)")
	flags.IntVar(&options.blocks, "blocks", 0, "blocks of a benchmark in each instance (default: fitted to --time, at most 3)")
	flags.IntVar(&options.instances, "instances", 0, "most instances of each target (default: as many as fit into --time)")
	flags.Float64Var(&options.minEffect, "min-effect", 2, "smallest change that matters, in percent")
	flags.StringVar(&options.placement, "placement", "", "CPUs of server and client: free, split or same (default: same with one thread, else free)")
	flags.Uint64Var(&options.seed, "seed", 0, "seed of data, keys and order; 0 draws one, which is stored")
	options.runOptions.addFlags(flags)
	completeWith(cmd, "suite", suiteNames())
	completeWith(cmd, "placement", placementNames())
	completeWith(cmd, "ps-mode", []string{"prepared", "text"})
	return cmd
}

const targetExamples = `
  mariadb@10.11            the newest 10.11 that a package or an installed server gives
  mysql@9.7+noahi          with the built-in overlay noahi
  mysql:/opt/mysql-8.0.40  binaries in a folder
  postgres@18+jit=on       with one setting
  postgres://me@db/test    a server that somebody else runs (it is never restarted)`

// compare plans a run, executes it and prints its report.
func compare(ctx context.Context, env *Env, options *compareOptions, args []string) error {
	if err := options.runOptions.check(); err != nil {
		return err
	}
	specs, err := parseTargets(args)
	if err != nil {
		return err
	}
	planned, err := options.plan(specs)
	if err != nil {
		return err
	}
	cost, err := costOf(planned)
	if err != nil {
		return err
	}
	fitted, warnings := plan.Fit(planned, cost)
	subjects, targets, err := resolveTargets(ctx, env, specs)
	if err != nil {
		return err
	}
	store, err := options.openStore(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	run := &dbcanary.Run{
		State: dbcanary.RunRunning, Started: env.Now(), Program: env.Version,
		Plan: fitted, Targets: targets, Problems: append(warnings, unlikeBuilds(targets)...),
	}
	if err := store.CreateRun(ctx, run); err != nil {
		return err
	}
	return execute(ctx, env, &options.runOptions, store, run, subjects)
}

// costOf is what the phases of a run are expected to take.
func costOf(p dbcanary.Plan) (plan.Cost, error) {
	cost := plan.DefaultCost()
	for _, planned := range p.Benchmarks {
		benchmark, err := workload.Find(planned.Label)
		if err != nil {
			return cost, err
		}
		if !benchmark.Single {
			continue
		}
		cost.Singles++
		cost.Single += benchmark.Time
		if benchmark.Time == 0 {
			cost.Unknown++
		}
	}
	return cost, nil
}

// unlikeBuilds warns of targets of one family whose builds come from different
// places: compiler and flags differ then too, and pass for the version's effect.
func unlikeBuilds(targets []dbcanary.Target) []string {
	base := targets[0].Build
	for _, target := range targets[1:] {
		if target.Build.Family == base.Family && target.Build.Provider != base.Provider {
			return []string{fmt.Sprintf("%s comes from %s and %s from %s: their compilers and flags may differ as well as their versions",
				targets[0].Name, base.Provider, target.Name, target.Build.Provider)}
		}
	}
	return nil
}

// plan checks the flags and makes the plan that they ask for.
func (o *compareOptions) plan(specs []dbcanary.TargetSpec) (dbcanary.Plan, error) {
	p := dbcanary.Plan{
		Suite: o.suite, Tables: o.tables, TableSize: o.tableSize, Threads: o.threads, PSMode: o.psMode,
		BudgetNs: int64(o.budget), SliceNs: int64(o.slice), WarmupNs: int64(o.warmup),
		Blocks: o.blocks, Instances: o.instances, MinEffect: o.minEffect / 100, Seed: o.seed,
	}
	for _, spec := range specs {
		p.Targets = append(p.Targets, spec.Name)
	}
	for _, check := range []struct {
		ok   bool
		text string
	}{
		{o.budget > 0, "--time must be above 0"},
		{o.tables > 0, "--tables must be above 0"},
		{o.tableSize >= 1000, "--table-size must be at least 1000"},
		{o.threads > 0, "--threads must be above 0"},
		{o.slice >= 0 && o.warmup >= 0 && o.blocks >= 0 && o.instances >= 0, "--slice, --warmup, --blocks and --instances can't be below 0"},
		{o.minEffect > 0 && o.minEffect < 100, "--min-effect is a percentage between 0 and 100"},
	} {
		if !check.ok {
			return p, dbcanary.Errorf(dbcanary.CodeUsage, "%s", check.text)
		}
	}
	if err := oneOf("--ps-mode", o.psMode, []string{"prepared", "text"}); err != nil {
		return p, err
	}
	var err error
	if p.Placement, err = choosePlacement(o.placement, o.threads); err != nil {
		return p, err
	}
	if p.Benchmarks, err = plannedBenchmarks(o.suite, o.benchmarks); err != nil {
		return p, err
	}
	if len(o.benchmarks) > 0 {
		p.Suite = ""
	}
	if p.Seed == 0 {
		if p.Seed, err = randomSeed(); err != nil {
			return p, err
		}
	}
	return p, nil
}

func randomSeed() (uint64, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return 0, fmt.Errorf("draw a seed: %w", err)
	}
	return binary.LittleEndian.Uint64(random[:]) >> 1, nil // SQLite integers are signed
}

// choosePlacement takes the user's placement, or the one that varies least: with
// one connection, client and server on one CPU (docs/METHOD.md).
func choosePlacement(text string, threads int) (dbcanary.Placement, error) {
	if text == "" {
		if threads == 1 && runtime.NumCPU() > 1 {
			return dbcanary.PlacementSame, nil
		}
		return dbcanary.PlacementFree, nil
	}
	return dbcanary.Placement(text), oneOf("--placement", text, placementNames())
}

func placementNames() []string {
	return []string{string(dbcanary.PlacementFree), string(dbcanary.PlacementSplit), string(dbcanary.PlacementSame)}
}

func suiteNames() []string {
	var names []string
	for _, suite := range workload.Suites() {
		names = append(names, suite.Name)
	}
	return names
}

// plannedBenchmarks gives the benchmarks of a suite, or those named.
func plannedBenchmarks(suiteName string, labels []string) ([]dbcanary.PlannedBenchmark, error) {
	var planned []dbcanary.PlannedBenchmark
	if len(labels) == 0 {
		suite, err := workload.FindSuite(suiteName)
		if err != nil {
			return nil, err
		}
		for _, benchmark := range suite.Benchmarks() {
			planned = append(planned, dbcanary.PlannedBenchmark{Label: benchmark.Label, Group: benchmark.Group})
		}
		return planned, nil
	}
	seen := map[string]bool{}
	for _, label := range labels {
		benchmark, err := workload.Find(strings.TrimSpace(label))
		if err != nil {
			return nil, err
		}
		if !seen[benchmark.Label] {
			planned = append(planned, dbcanary.PlannedBenchmark{Label: benchmark.Label, Group: benchmark.Group})
		}
		seen[benchmark.Label] = true
	}
	return planned, nil
}

// parseTargets reads the targets of a command line and makes their names unique:
// the same target twice is an A/A comparison.
func parseTargets(args []string) ([]dbcanary.TargetSpec, error) {
	var specs []dbcanary.TargetSpec
	seen := map[string]int{}
	for _, arg := range args {
		spec, err := dbcanary.ParseTargetSpec(arg)
		if err != nil {
			return nil, err
		}
		spec = plusInPath(spec)
		seen[spec.Name]++
		if n := seen[spec.Name]; n > 1 {
			spec.Name += repeatMark + strconv.Itoa(n)
		}
		specs = append(specs, spec)
	}
	return specs, nil
}

// plusInPath takes for the path of a build what was read as its overlays, as far
// as there is such a folder: the versions of Debian's packages have a "+".
func plusInPath(spec dbcanary.TargetSpec) dbcanary.TargetSpec {
	if spec.Path == "" {
		return spec
	}
	for n := len(spec.Overlays); n > 0; n-- {
		path := spec.Path + "+" + strings.Join(spec.Overlays[:n], "+")
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			spec.Path, spec.Overlays = path, spec.Overlays[n:]
			break
		}
	}
	return spec
}

// repeatMark stands between the name of a repeated target and its number.
const repeatMark = "#"

// baseName is the target as the user wrote it.
func baseName(name string) string {
	base, number, ok := cutLast(name, repeatMark)
	if _, err := strconv.Atoi(number); !ok || err != nil {
		return name
	}
	return base
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}
