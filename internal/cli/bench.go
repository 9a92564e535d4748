package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/bench"
	"github.com/dbcanary/dbcanary/internal/load"
	"github.com/dbcanary/dbcanary/internal/planfile"
	"github.com/dbcanary/dbcanary/internal/report"
	"github.com/dbcanary/dbcanary/internal/workload"
	"github.com/dbcanary/dbcanary/internal/workload/own"
)

// benchOptions are the flags of bench.
type benchOptions struct {
	bench.Options
	dsn            string
	connectTimeout seconds
	time, warmup   seconds
	interval       seconds
	arrivals       string
	percentiles    []float64
	histogram      onOff
	secondary      onOff
	asJSON         bool
	sysbench       sysbenchOptions
	own            planfile.File // only the keys of own work
}

func newBenchCommand(env *Env) *cobra.Command {
	o := &benchOptions{connectTimeout: seconds(10 * time.Second), time: seconds(10 * time.Second)}
	cmd := &cobra.Command{
		Use:   "bench BENCHMARK [prepare|run|cleanup]",
		Short: "Put load on one server, as sysbench does: make the tables, run, drop them",
		Long: `bench runs one benchmark on a server that already runs and prints what came of it.
It works in the database of the DSN on tables sbtest1, sbtest2, … of sysbench's
shape: prepare makes them and touches none that is there, cleanup drops them and
nothing of another shape. run is the default.

sysbench's names and options are taken as well, so that a script written for it
runs when its first word is changed:

  sysbench oltp_read_only --mysql-user=root --threads=8 --time=60 run
  dbcanary bench oltp_read_only --mysql-user=root --threads=8 --time=60 run

docs/BENCH.md lists what is taken, what changes nothing and what is refused. To
learn whether one server is slower than another use compare: one run of bench
says nothing about noise.`,
		Example: `  dbcanary bench point-query prepare --dsn mysql://me:secret@127.0.0.1/test --tables 4
  dbcanary bench point-query --dsn mysql://me:secret@127.0.0.1/test --tables 4 --threads 1,4,16,64
  dbcanary bench "read-only range=10" --dsn postgres://me@/test?host=/run/postgresql --rate 500
  dbcanary bench point-query cleanup --dsn mysql://me:secret@127.0.0.1/test --tables 4
  dbcanary bench pgbench prepare --pgbench tpcb-like --pgbench-scale 10 --dsn postgres://me@/test`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 || len(args) == 2 {
				return nil
			}
			return dbcanary.Errorf(dbcanary.CodeUsage, "bench takes a benchmark and one of %s; quote a label with a space: \"read-only range=100\"", strings.Join(benchActions(), ", "))
		},
		ValidArgsFunction: cobra.FixedCompletions(bench.Names(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.execute(cmd.Context(), env, args, cmd.Flags().Changed)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func benchActions() []string { return []string{"prepare", "run", "cleanup"} }

func (o *benchOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SetNormalizeFunc(normalizeBench)
	flags.StringVar(&o.dsn, "dsn", "", "server and database: mysql://user:password@host:3306/db or postgres://…")
	flags.IntSliceVar(&o.Threads, "threads", []int{1}, "connections; several numbers make a sweep: 1,4,16,64")
	flags.Var(&o.time, "time", "measured time of each number of connections, 0 to let --events decide")
	flags.Int64Var(&o.Events, "events", 0, "most events, 0 for no limit")
	flags.Var(&o.warmup, "warmup", "time before, that is not measured")
	flags.Float64Var(&o.Rate, "rate", 0, "events per second of an open loop, 0 for a closed loop")
	flags.StringVar(&o.arrivals, "arrivals", "poisson", "arrivals of the open loop: poisson or constant")
	flags.IntVar(&o.Data.Tables, "tables", 1, "number of tables")
	flags.IntVar(&o.Data.TableSize, "table-size", 10_000, "rows of each table")
	flags.Var(&o.secondary, "secondary", "tables have a secondary index on id in place of the primary key")
	flags.Var(&o.interval, "report-interval", "time between lines of intermediate results, 0 for none")
	flags.Float64SliceVar(&o.percentiles, "percentiles", []float64{95, 50, 99}, "percentiles of the latency; the first one is shown for intervals")
	flags.Var(&o.histogram, "histogram", "show the histogram of the latency")
	flags.StringVar(&o.PSMode, "ps-mode", workload.Prepared, "statements: prepared or text")
	flags.Uint64Var(&o.Seed, "seed", 0, "seed of keys and arrivals (default: random; it is shown)")
	flags.IntVar(&o.Reconnect, "reconnect", 0, "events after which a connection is closed and opened anew, 0 for never; the login is part of the last one")
	flags.Var(&o.connectTimeout, "connect-timeout", "longest time that a login may take")
	flags.BoolVar(&o.asJSON, "json", false, "print JSON: docs/format/bench.md")
	for _, name := range []string{"histogram", "secondary"} {
		flags.Lookup(name).NoOptDefVal = "on"
	}
	addOwnFlags(flags, &o.own)
	o.sysbench.addFlags(flags)
	completeWith(cmd, "ps-mode", []string{workload.Prepared, workload.Text})
	completeWith(cmd, "arrivals", []string{"poisson", "constant"})
}

// execute does what the command line asks for.
func (o *benchOptions) execute(ctx context.Context, env *Env, args []string, changed func(string) bool) error {
	action := "run"
	if len(args) == 2 {
		action = args[1]
	}
	if err := oneOf("command of bench", action, benchActions()); err != nil {
		return err
	}
	notes, err := o.resolve(args[0], changed)
	if err != nil {
		return err
	}
	if action != "run" {
		notes = nil // they are about what runs
	}
	for _, note := range notes {
		fmt.Fprintf(env.Stderr, "dbcanary: note: %s\n", note)
	}
	dsn, err := o.sysbench.serverDSN(o.dsn, args[0], changed)
	if err != nil {
		return err
	}
	server, err := bench.Connect(ctx, dsn, time.Duration(o.connectTimeout))
	if err != nil {
		return err
	}
	// After the work is done or has failed a bad goodbye is no news.
	defer func() { _ = server.Close() }()
	switch action {
	case "prepare":
		return o.prepare(ctx, env, server)
	case "cleanup":
		if o.Benchmark.Tables != nil {
			dropped, err := server.CleanupOwn(ctx, o.Benchmark.Tables)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(env.Stdout, "dropped %s\n", strings.Join(dropped, ", "))
			return err
		}
		dropped, err := server.Cleanup(ctx, o.Data.Tables)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(env.Stdout, "dropped %d of the tables sbtest1 to sbtest%d\n", len(dropped), o.Data.Tables)
		return err
	}
	return o.run(ctx, env, server, args[0])
}

// resolve turns the flags into the options of a run, and gives what the user
// should know about options that change nothing.
func (o *benchOptions) resolve(name string, changed func(string) bool) (notes []string, err error) {
	if notes, err = o.sysbench.check(changed); err != nil {
		return nil, err
	}
	mix, err := o.sysbench.mix(changed)
	if err != nil {
		return nil, err
	}
	benchmark, unused, err := o.find(name, mix)
	if err != nil {
		return nil, err
	}
	for _, option := range unused {
		notes = append(notes, fmt.Sprintf("%s changes nothing for %s", option, name))
	}
	if bench.IsSysbench(name) && mix.RandType == "" {
		notes = append(notes, "keys are uniform, as with sysbench 1.1; the default of sysbench 1.0 is --rand-type=special")
	}
	o.Benchmark = benchmark
	o.Time, o.Warmup, o.IntervalEvery = time.Duration(o.time), time.Duration(o.warmup), time.Duration(o.interval)
	o.Data.Secondary = bool(o.secondary)
	if mode, ok := map[string]string{"auto": workload.Prepared, "disable": workload.Text}[o.PSMode]; ok {
		o.PSMode = mode // sysbench's words
	}
	if err := oneOf("--ps-mode", o.PSMode, []string{workload.Prepared, workload.Text}); err != nil {
		return nil, err
	}
	if err := oneOf("--arrivals", o.arrivals, []string{"poisson", "constant"}); err != nil {
		return nil, err
	}
	o.Poisson = o.arrivals == "poisson"
	for _, percent := range o.percentiles {
		if !(percent > 0 && percent <= 100) {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "--percentiles %g is not above 0 and at most 100", percent)
		}
	}
	if len(o.percentiles) == 0 {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "--percentiles names none")
	}
	if o.connectTimeout <= 0 {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "--connect-timeout must be above 0")
	}
	if o.Seed == 0 {
		if o.Seed, err = randomSeed(); err != nil {
			return nil, err
		}
	}
	return notes, o.Check()
}

// find gives the benchmark of a name: of the user's own work, or of the catalogue.
func (o *benchOptions) find(name string, mix bench.Mix) (workload.Benchmark, []string, error) {
	workloads, err := o.own.Own().Read()
	if err != nil {
		return workload.Benchmark{}, nil, err
	}
	finder, err := own.NewFinder(workloads)
	if err != nil {
		return workload.Benchmark{}, nil, err
	}
	if b, ok := finder.Short(name); ok {
		return b, nil, nil
	}
	if len(workloads) > 0 {
		b, err := finder.Find(name)
		return b, nil, err
	}
	return bench.Find(name, mix)
}

func (o *benchOptions) prepare(ctx context.Context, env *Env, server *bench.Server) error {
	parallel := leastLoaders
	for _, threads := range o.Threads {
		parallel = max(parallel, min(threads, maxLoaders))
	}
	data := o.Data
	data.Seed = o.Seed
	started := env.Now()
	if o.Benchmark.Tables != nil {
		if err := server.PrepareOwn(ctx, o.Benchmark.Tables, data, parallel); err != nil {
			return err
		}
		_, err := fmt.Fprintf(env.Stdout, "made and loaded the tables of %s in %s %s, %s, in %.1f s\n",
			o.Benchmark.Label, server.Family, server.Version, server.Address, env.Now().Sub(started).Seconds())
		return err
	}
	if err := server.Prepare(ctx, data, parallel, nil); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.Stdout, "made and loaded %d tables of %d rows in %s %s, %s, in %.1f s\n",
		data.Tables, data.TableSize, server.Family, server.Version, server.Address, env.Now().Sub(started).Seconds())
	return err
}

// A load has a few connections at least, whatever the run has, and not too many,
// since more only wait for each other.
const leastLoaders, maxLoaders = 4, 16

// run measures and prints: one block for one number of connections, a table for several.
func (o *benchOptions) run(ctx context.Context, env *Env, server *bench.Server, name string) error {
	shown := report.BenchOptions{Percentiles: o.percentiles, Histogram: bool(o.histogram)}
	out := env.Stdout
	if o.asJSON {
		out = io.Discard
	}
	result := &bench.Result{Options: o.Options, Name: name, Program: env.Version, Server: server.Identity, Started: env.Now()}
	sweep := len(o.Threads) > 1
	err := report.BenchHead(out, result)
	if sweep && err == nil {
		err = report.BenchTable(out, result, nil, shown)
	}
	if err != nil {
		return err
	}
	var printing error
	result.Options.Interval = func(p load.Progress) {
		printing = errors.Join(printing, report.BenchInterval(out, o.Benchmark, p, o.percentiles[0]))
	}
	steps, err := server.Run(ctx, result.Options, func(step bench.Step) {
		if sweep {
			printing = errors.Join(printing, report.BenchTable(out, result, &step, shown))
			return
		}
		printing = errors.Join(printing, report.BenchStep(out, result, step, shown))
	})
	result.Steps = steps
	if o.asJSON {
		printing = errors.Join(printing, report.WriteBenchJSON(env.Stdout, result, shown))
	}
	if err != nil {
		return err
	}
	return printing
}
