package cli

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/lab"
	"github.com/dbcanary/dbcanary/internal/planfile"
	"github.com/dbcanary/dbcanary/internal/probe"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// compareOptions are the flags of compare and run.
type compareOptions struct {
	runOptions
	file   planfile.File
	dryRun bool
}

func newCompareCommand(env *Env) *cobra.Command {
	options := &compareOptions{file: planfile.Default()}
	cmd := &cobra.Command{
		Use:   "compare TARGET TARGET...",
		Short: "Measure targets against the first one and say which benchmarks got slower",
		Long: `compare finds or fetches the builds, starts every target on data directories of
its own, loads the same data, measures in blocks of random order, stores every
trial, and prints the table. The first target is the base.

A target is DBMS@VERSION, DBMS:PATH of an unpacked build, or the DSN of a server
that already runs; "+" adds settings: a built-in overlay, name=value or a file.
` + targetExamples + `

The flags are also the keys of a plan file: see ` + "`dbcanary plan init`" + `.`,
		Example: `  dbcanary compare postgres@15 postgres@18
  dbcanary compare mariadb@10.5 mariadb@10.11 mariadb@11.8 mysql@9.7 --time 20m
  dbcanary compare mysql:/opt/mysql-8.0.28 mysql:/opt/mysql-8.0.40+noahi
  dbcanary compare mariadb@10.11 mariadb@10.11+innodb_io_capacity=2000 --benchmarks update-index,insert
  dbcanary compare postgres@17 postgres@18 --pgbench tpcb-like --pgbench-scale 10
  dbcanary compare postgres@17 postgres@18 --gate --format md`,
		Args: atLeast(2, "compare needs a base and at least one more target"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := options.named(cmd.Flags()); err != nil {
				return err
			}
			return compare(cmd.Context(), env, options, args)
		},
	}
	options.addFlags(cmd)
	return cmd
}

// addFlags adds the keys of a plan file as flags, and those of the commands that measure.
func (o *compareOptions) addFlags(cmd *cobra.Command) {
	flags, f := cmd.Flags(), &o.file
	flags.StringVar(&f.Mode, "mode", f.Mode, "paired: all targets at once, over many starts; classic: one after the other, each benchmark once for the published seconds, with the published quirks and no verdict")
	flags.Var(duration{&f.Time}, "time", fmt.Sprintf("time for the whole run, load included (default: %s; in the classic mode the published seconds)", planfile.DefaultTime))
	flags.StringVar(&f.Suite, "suite", f.Suite, "suite of benchmarks: "+strings.Join(suiteNames(), ", "))
	flags.StringSliceVar(&f.Benchmarks, "benchmarks", nil, "benchmarks instead of a suite, by label or name, separated by commas")
	flags.StringSliceVar(&f.Base, "base", nil, "target that the others are compared with (default: the first); may be given several times")
	addOwnFlags(flags, f)
	flags.IntVar(&f.Tables, "tables", f.Tables, "number of tables")
	flags.IntVar(&f.TableSize, "table-size", f.TableSize, "rows of each table")
	flags.IntSliceVar(&f.Threads, "threads", f.Threads, "connections of each target; several numbers run each benchmark with each")
	flags.StringVar(&f.PSMode, "ps-mode", f.PSMode, "statements: "+strings.Join(planfile.PSModes(), " or "))
	flags.DurationVar(&f.Slice, "slice", 0, "measured time of a slice, in the classic mode of one that reads (default: fitted to --time)")
	flags.DurationVar(&f.Warmup, "warmup", 0, "time before each slice that is not measured (default: a fifth of a slice)")
	flags.IntVar(&f.Blocks, "blocks", 0, "blocks of a benchmark in each instance (default: fitted to --time, at most 3)")
	flags.IntVar(&f.Instances, "instances", 0, "most instances of each target (default: as many as fit into --time)")
	flags.StringSliceVar(&f.MinEffect, "min-effect", f.MinEffect, "smallest change that matters, in percent; also BENCHMARK=PERCENT or GROUP=PERCENT")
	flags.BoolVar(&f.Adaptive, "adaptive", f.Adaptive, "measure no further what has a clear verdict, so that time goes where doubt is")
	flags.StringVar(&f.Placement, "placement", "", "CPUs of server and client: free, split or same (default: same with one thread, else free; in the classic mode free)")
	flags.Uint64Var(&f.Seed, "seed", 0, "seed of data, keys and order; 0 draws one, which is stored")
	flags.StringSliceVar(&f.Profile, "profile", nil, "what slices apart from the measured ones show: "+strings.Join(dbcanary.ProfileKinds(), ", ")+" or all; once a run, not within --time")
	flags.StringVar(&f.Waits, "waits", "", "wait events for --profile waits: names with *, separated by commas (default: "+probe.DefaultWaits+")")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print steps, sizes and the expected time, and start and fetch nothing")
	o.runOptions.addFlags(flags)
	completeWith(cmd, "suite", suiteNames())
	completeWith(cmd, "mode", planfile.Modes())
	completeWith(cmd, "placement", planfile.Placements())
	completeWith(cmd, "ps-mode", planfile.PSModes())
	completeWith(cmd, "profile", append(dbcanary.ProfileKinds(), planfile.AllProfiles))
}

// named wants a name after a flag that takes names.
func (o *compareOptions) named(flags *pflag.FlagSet) error {
	if flags.Changed("benchmarks") && len(o.file.Benchmarks) == 0 {
		return dbcanary.Errorf(dbcanary.CodeUsage, "--benchmarks names no benchmark; see `dbcanary workloads list`")
	}
	return nil
}

// addOwnFlags adds the flags by which users bring their own work.
func addOwnFlags(flags *pflag.FlagSet, f *planfile.File) {
	flags.StringSliceVar(&f.Workload, "workload", nil, "YAML file of own work, instead of a suite or beside --benchmarks: docs/format/workload.md")
	flags.StringSliceVar(&f.Pgbench, "pgbench", nil, "pgbench scripts, FILE or FILE@WEIGHT, or tpcb-like, simple-update, select-only, on the tables of pgbench -i")
	flags.IntVar(&f.Scale, "pgbench-scale", 0, "scale of pgbench's tables (default: 1)")
	flags.StringSliceVar(&f.Define, "define", nil, "NAME=VALUE, a variable of the pgbench scripts")
	flags.StringVar(&f.Query, "query", "", "statements to run, or a file of them, as mysqlslap takes them")
	flags.StringVar(&f.Create, "create", "", "statements that make the tables of --query, or a file of them (default: it runs on sbtest1, …)")
	flags.StringVar(&f.Delimiter, "delimiter", "", "between the statements of --query and --create (default: \";\")")
}

const targetExamples = `
  mariadb@10.11            the newest 10.11 that a package or an installed server gives
  mysql@9.7+noahi          with the built-in overlay noahi
  mysql:/opt/mysql-8.0.40  binaries in a folder
  postgres@18+jit=on       with one setting
  postgres://me@db/test    a server that somebody else runs (it is never restarted)`

// compare measures the targets of a command line.
func compare(ctx context.Context, env *Env, options *compareOptions, args []string) error {
	for _, arg := range args {
		options.file.Targets = append(options.file.Targets, planfile.Targets{Name: arg})
	}
	p, specs, problems := options.file.Plan()
	if err := planfile.TellFlags(problems); err != nil {
		return err
	}
	return measure(ctx, env, options, p, specs)
}

// measure executes a plan and prints its report; with --dry-run it prints what it would do.
func measure(ctx context.Context, env *Env, options *compareOptions, p dbcanary.Plan, specs []dbcanary.TargetSpec) error {
	if err := options.runOptions.check(); err != nil {
		return err
	}
	if options.dryRun {
		return dryRun(ctx, env, options, p, specs)
	}
	room, err := lab.HostRoom(options.workDir(env))
	if err != nil {
		return err
	}
	// Before anything is fetched: a plan that does not fit is told at once.
	outline, err := planfile.NewOutline(p, specs, options.file.Adaptive, room)
	if err != nil {
		return err
	}
	fitted, warnings := outline.Plan, outline.Warnings
	if fitted.Seed == 0 {
		if fitted.Seed, err = randomSeed(); err != nil {
			return err
		}
	}
	subjects, targets, err := resolveTargets(ctx, env, specs)
	if err != nil {
		return err
	}
	store, err := options.openStore(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	warnings = append(warnings, options.otherHost()...)
	run := &dbcanary.Run{
		State: dbcanary.RunRunning, Started: env.Now(), Program: env.Version,
		Plan: fitted, Targets: targets, Problems: append(warnings, unlikeBuilds(targets)...),
	}
	if err := store.CreateRun(ctx, run); err != nil {
		return err
	}
	return execute(ctx, env, &options.runOptions, store, run, subjects)
}

// otherHost warns if the plan is for other hosts than this one.
func (o *compareOptions) otherHost() []string {
	name, err := os.Hostname()
	if err != nil || len(o.file.Hosts) == 0 || slices.Contains(o.file.Hosts, name) {
		return nil
	}
	return []string{fmt.Sprintf("the plan is for %s and this host is %s: its sizes and times may not suit", strings.Join(o.file.Hosts, ", "), name)}
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

func randomSeed() (uint64, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return 0, fmt.Errorf("draw a seed: %w", err)
	}
	return binary.LittleEndian.Uint64(random[:]) >> 1, nil // SQLite integers are signed
}

func suiteNames() []string {
	var names []string
	for _, suite := range workload.Suites() {
		names = append(names, suite.Name)
	}
	return names
}
