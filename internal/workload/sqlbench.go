package workload

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload/sqlbench"
)

// SQLBench is the name of the suite of sql-bench, and what the names of its
// benchmarks begin with: "sql-bench.insert.select_key".
const SQLBench = "sql-bench"

func sqlBenchKind() kind {
	return kind{
		prefix: SQLBench, parameters: []string{"scale"},
		find: func(name string, parameters map[string]string) (Benchmark, error) {
			scale, err := sqlBenchScale(parameters)
			if err != nil {
				return Benchmark{}, err
			}
			for _, test := range sqlbench.Tests() {
				for i := range test.Operations {
					if sqlBenchName(test, i) == name {
						return sqlBenchmark(test, i, scale), nil
					}
				}
			}
			return Benchmark{}, dbcanary.Errorf(dbcanary.CodeUsage, "unknown benchmark %q%s", name, dbcanary.DidYouMean(name, names(sqlBenchmarks(scale))))
		},
		suite: func(parameters map[string]string) (Suite, error) {
			scale, err := sqlBenchScale(parameters)
			if err != nil {
				return Suite{}, err
			}
			return sqlBenchSuite(scale), nil
		},
	}
}

func sqlBenchScale(parameters map[string]string) (sqlbench.Scale, error) {
	text, ok := parameters["scale"]
	if !ok {
		return sqlbench.Quick, nil
	}
	scale, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, dbcanary.Errorf(dbcanary.CodeUsage, "scale=%s is no number", text)
	}
	return sqlbench.Scale(scale), sqlbench.Scale(scale).Check()
}

// scaled is a name with the scale where that is not the usual one.
func scaled(name string, scale sqlbench.Scale) string {
	if scale == sqlbench.Quick {
		return name
	}
	return fmt.Sprintf("%s scale=%g", name, float64(scale))
}

func sqlBenchSuite(scale sqlbench.Scale) Suite {
	suite := Suite{
		Name: scaled(SQLBench, scale),
		Doc: fmt.Sprintf("the nine tests of sql-bench in order, on one connection, at %g of the published size; \"sql-bench scale=1\" is that",
			float64(scale)),
	}
	for _, b := range sqlBenchmarks(scale) {
		suite.Steps = append(suite.Steps, in(b.Group, b.Label)...)
	}
	return suite
}

// sqlBenchmarks makes a benchmark of each operation of each test.
func sqlBenchmarks(scale sqlbench.Scale) []Benchmark {
	var list []Benchmark
	for _, test := range sqlbench.Tests() {
		for i := range test.Operations {
			list = append(list, sqlBenchmark(test, i, scale))
		}
	}
	return list
}

func sqlBenchName(test sqlbench.Test, i int) string {
	return SQLBench + "." + test.Name + "." + test.Operations[i].Name
}

func sqlBenchmark(test sqlbench.Test, i int, scale sqlbench.Scale) Benchmark {
	operation, name := test.Operations[i], sqlBenchName(test, i)
	return Benchmark{
		Name: name, Label: scaled(name, scale), Group: test.Name,
		Doc:     operation.Doc,
		Differs: operation.Differs,
		Dataset: SQLBench,
		Program: func(ctx context.Context, env Env) (Work, error) {
			return openSQLBench(ctx, env, test, i, scale)
		},
		Threads: 1, Single: true, Events: int64(operation.Events(scale)),
		Not:   operation.Not,
		Shown: func() string { return sqlBenchShown(operation) },
	}
}

// sqlBenchShown is the SQL of the first event.
func sqlBenchShown(operation sqlbench.Operation) string {
	var out strings.Builder
	for i, statement := range operation.Example(dbcanary.MySQL) {
		if i == 5 {
			out.WriteString("…\n")
			break
		}
		out.WriteString(statement + "\n")
	}
	if out.Len() == 0 {
		out.WriteString("(no statement)\n")
	}
	return out.String()
}

// sqlBenchProgress is how far a copy of the data has come in a test.
type sqlBenchProgress struct {
	mu    sync.Mutex
	test  string
	scale sqlbench.Scale
	next  int // operation that can go on with the tables as they are; -1 for none
}

type sqlBenchWork struct {
	*sqlbench.Runner
	world    *sqlbench.World
	admin    *sql.DB
	label    string
	progress *sqlBenchProgress
	index    int
}

func openSQLBench(ctx context.Context, env Env, test sqlbench.Test, index int, scale sqlbench.Scale) (Work, error) {
	progress := Shared(env.State, SQLBench, func() *sqlBenchProgress { return &sqlBenchProgress{next: -1} })
	progress.mu.Lock()
	defer progress.mu.Unlock()
	world := &sqlbench.World{Family: env.Family, Scale: scale, Seed: env.Data.Seed}
	after := index > 0 && progress.next >= 0 && progress.test == test.Name && progress.scale == scale
	for ; after && progress.next < index; progress.next++ {
		// An operation that makes no sense here was passed over.
		if test.Operations[progress.next].Not[env.Family] == "" {
			after = false
			break
		}
	}
	after = after && progress.next == index
	progress.test, progress.scale, progress.next = test.Name, scale, -1
	if err := test.Prepare(ctx, env.Conn, world, index, after); err != nil {
		return nil, err
	}
	runner, err := sqlbench.NewRunner(ctx, test.Operations[index], world, env.Conn, env.Connect)
	if err != nil {
		return nil, err
	}
	label := test.Name + "." + test.Operations[index].Name
	return &sqlBenchWork{Runner: runner, world: world, admin: env.Admin, label: label, progress: progress, index: index}, nil
}

// Reseed implements Work: the statements depend on the seed of the data alone.
func (w *sqlBenchWork) Reseed(uint64) {}

// Run implements Work.
func (w *sqlBenchWork) Run() (statements int, err error) {
	if w.Left() == 0 {
		return 0, ErrDone
	}
	return w.Runner.Run()
}

// Finish implements Finisher: it checks what the operation left.
func (w *sqlBenchWork) Finish(ctx context.Context, _ *dbcanary.Trial) error {
	if left := w.Left(); left > 0 {
		return fmt.Errorf("%s: %d events were not run", w.label, left)
	}
	if err := w.Check(ctx, w.admin, w.world); err != nil {
		return fmt.Errorf("%s: %w", w.label, err)
	}
	w.progress.mu.Lock()
	defer w.progress.mu.Unlock()
	w.progress.next = w.index + 1
	return nil
}

// sqlBenchData are no tables: the tests create theirs.
type sqlBenchData struct{}

func (sqlBenchData) Name() string { return SQLBench }

func (sqlBenchData) Load(context.Context, Loading) error { return nil }

func (sqlBenchData) Warm(context.Context, *sql.DB, dbcanary.Family, Data) error { return nil }

// SizeBytes is that of the quick scale: the tables of create take the most.
func (sqlBenchData) SizeBytes(Data) int64 { return 200 << 20 }
