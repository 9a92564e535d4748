package workload

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/load"
)

// Open makes the work of one worker: a Session of the steps, or what the Program
// of the benchmark makes. Reseed is to be called before the first Run. It fails with
// dbcanary.CodeUsage if the benchmark is not applicable or an option is wrong.
func (b Benchmark) Open(ctx context.Context, env Env) (Work, error) {
	if env.State == nil {
		env.State = new(State)
	}
	if err := env.Data.Check(); err != nil {
		return nil, err
	}
	if reason := b.NotApplicable(env.Family, env.Data); reason != "" {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "benchmark %q does not run on %s: %s", b.Label, env.Family, reason)
	}
	if b.Program == nil {
		return b.Bind(ctx, env.Conn, env.Family, env.Data, BindOptions{PSMode: env.PSMode, State: env.State, Worker: env.Worker})
	}
	work, err := b.Program(ctx, env)
	if err != nil {
		return nil, fmt.Errorf("benchmark %q: %w", b.Label, err)
	}
	return work, nil
}

// Workers is how many connections the benchmark has where a plan asks for so many,
// those in the background too.
func (b Benchmark) Workers(threads int) int {
	if b.Threads > 0 {
		threads = b.Threads
	}
	return threads + b.Background
}

// Multiplexes tells whether the work waits for nothing but answers on its own
// connection, so that workers may share a thread.
func (b Benchmark) Multiplexes() bool { return b.Program == nil || b.AnswersOnly }

// SingleOptions is how the one slice of a Single benchmark is run. An event of it,
// such as one that builds an index, may last long.
func (b Benchmark) SingleOptions() load.Options {
	return load.Options{Time: b.Time, Events: b.Events, Exact: b.Events > 0, OverrunLimit: time.Hour}
}

// defaultDataset is what benchmarks run on that name none.
const defaultDataset = "sbtest"

// Datasets lists every dataset, the default one first.
func Datasets() []Dataset {
	return []Dataset{sbtest{}, slapTables{}, shop{}, unanalyzed{}, catalog{}, sqlBenchData{}, insertData{}}
}

// DatasetsOf lists the datasets that benchmarks run on, each once, in the order of
// Datasets. A name that is none is an error with dbcanary.CodeUsage.
func DatasetsOf(benchmarks []Benchmark) ([]Dataset, error) {
	wanted := map[string]bool{}
	var own []Dataset
	for _, b := range benchmarks {
		if b.Tables == nil {
			wanted[b.datasetName()] = true
		} else if !slices.ContainsFunc(own, func(d Dataset) bool { return d.Name() == b.Tables.Name() }) {
			own = append(own, b.Tables)
		}
	}
	list := slices.DeleteFunc(Datasets(), func(d Dataset) bool { return !wanted[d.Name()] })
	if len(list) < len(wanted) {
		var names []string
		for _, d := range Datasets() {
			names = append(names, d.Name())
		}
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "a benchmark runs on a dataset that is not there; there are %q", names)
	}
	return append(list, own...), nil
}

func (b Benchmark) datasetName() string {
	if b.Dataset == "" {
		return defaultDataset
	}
	return b.Dataset
}

// sbtest are the tables of sysbench.
type sbtest struct{}

func (sbtest) Name() string { return defaultDataset }

func (sbtest) Load(ctx context.Context, l Loading) error {
	return Load(ctx, l.Connect, l.Family, l.Data, l.Parallel, l.Progress)
}

func (sbtest) Warm(ctx context.Context, admin *sql.DB, _ dbcanary.Family, data Data) error {
	return Warm(ctx, admin, data)
}

// sbtestRowBytes is what a row takes with its indexes: some 230 bytes, and air.
const sbtestRowBytes = 300

func (sbtest) SizeBytes(data Data) int64 { return data.Rows() * sbtestRowBytes }
