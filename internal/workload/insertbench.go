package workload

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload/insertbench"
)

// InsertBenchmark is the name of the suite of the Insert Benchmark, and what the
// names of its steps begin with: "insert-benchmark.l.i0".
const InsertBenchmark = "insert-benchmark"

func insertBenchmarkKind() kind {
	return kind{
		prefix: InsertBenchmark, parameters: []string{"rows", "i1", "i2", "secs", "clients"},
		find: func(name string, parameters map[string]string) (Benchmark, error) {
			sizes, err := insertSizes(parameters)
			if err != nil {
				return Benchmark{}, err
			}
			list := insertBenchmarks(sizes)
			for _, b := range list {
				if b.Name == name {
					return b, nil
				}
			}
			return Benchmark{}, dbcanary.Errorf(dbcanary.CodeUsage, "unknown benchmark %q%s", name, dbcanary.DidYouMean(name, names(list)))
		},
		suite: func(parameters map[string]string) (Suite, error) {
			sizes, err := insertSizes(parameters)
			if err != nil {
				return Suite{}, err
			}
			return insertSuite(sizes), nil
		},
	}
}

// insertSizes reads the sizes, numbers with K or M at their end if need be.
func insertSizes(parameters map[string]string) (insertbench.Params, error) {
	sizes := insertbench.Usual()
	for name, into := range map[string]*int{
		"rows": &sizes.Rows, "i1": &sizes.Rows1, "i2": &sizes.Rows2, "secs": &sizes.Seconds, "clients": &sizes.Clients,
	} {
		text, ok := parameters[name]
		if !ok {
			continue
		}
		unit := 1
		if digits, ok := strings.CutSuffix(text, "M"); ok {
			text, unit = digits, 1_000_000
		} else if digits, ok := strings.CutSuffix(text, "K"); ok {
			text, unit = digits, 1_000
		}
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return sizes, dbcanary.Errorf(dbcanary.CodeUsage, "%s=%s is no whole number, such as 500K or 30M", name, parameters[name])
		}
		*into = int(n) * unit
	}
	return sizes, sizes.Check()
}

// sized is a name with the sizes that are not the usual ones.
func sized(name string, p insertbench.Params) string {
	usual := insertbench.Usual()
	for _, size := range []struct {
		name        string
		value, same int
	}{
		{"rows", p.Rows, usual.Rows},
		{"i1", p.Rows1, usual.Rows1},
		{"i2", p.Rows2, usual.Rows2},
		{"secs", p.Seconds, usual.Seconds},
		{"clients", p.Clients, usual.Clients},
	} {
		if size.value != size.same {
			name += fmt.Sprintf(" %s=%d", size.name, size.value)
		}
	}
	return name
}

func insertSuite(p insertbench.Params) Suite {
	suite := Suite{
		Name: sized(InsertBenchmark, p),
		Doc:  "the ten steps of the Insert Benchmark; \"insert-benchmark rows=30M i1=40M i2=10M secs=1800\" is the published size for a small server",
	}
	for _, b := range insertBenchmarks(p) {
		suite.Steps = append(suite.Steps, in(b.Group, b.Label)...)
	}
	return suite
}

// The groups of the steps.
const (
	insertGroup = "inserts"
	queryGroup  = "queries"
)

func insertBenchmarks(p insertbench.Params) []Benchmark {
	var list []Benchmark
	for i, step := range insertbench.Steps() {
		name := InsertBenchmark + "." + step.Name
		b := Benchmark{
			Name: name, Label: sized(name, p), Group: insertGroup, Doc: step.Doc,
			Differs: "dateandtime is a second after that of the row before, not the time of day, so that tables are equal on all targets; sequences of PostgreSQL have no cache, for the same reason.",
			Dataset: InsertBenchmark,
			Program: func(ctx context.Context, env Env) (Work, error) { return openInsertBenchmark(ctx, env, p, i) },
			Threads: p.Clients, Background: step.Background(p), Single: true, Events: int64(step.Events(p)),
			Not:   map[dbcanary.Family]string{dbcanary.SQLite: "it has one writer: inserts and deletes on connections of their own would wait for each other"},
			Shown: func() string { return strings.Join(step.Example(), "\n") + "\n" },
		}
		if step.Queries() {
			b.Group = queryGroup
			b.Time = time.Duration(p.Seconds) * time.Second
			b.Differs += fmt.Sprintf(" A step ends after its time also where the inserts lag behind. It counts only if they reach %.0f %% of their rate.", 100*insertbench.Sustained)
		}
		list = append(list, b)
	}
	return list
}

// insertProgress is the Insert Benchmark on one copy of the data.
type insertProgress struct {
	mu    sync.Mutex
	bench *insertbench.Bench
	run   *insertbench.Run // step under way
}

// insertWork is the work of one worker; the first one ends the step for all.
type insertWork struct {
	insertbench.Worker
	progress *insertProgress
	admin    *sql.DB
	first    bool
}

func openInsertBenchmark(ctx context.Context, env Env, p insertbench.Params, step int) (Work, error) {
	progress := Shared(env.State, InsertBenchmark, func() *insertProgress { return new(insertProgress) })
	progress.mu.Lock()
	defer progress.mu.Unlock()
	if env.Worker == 0 {
		if err := progress.begin(ctx, env, p, step); err != nil {
			return nil, err
		}
	}
	// As published: MySQL gets text, PostgreSQL prepared statements.
	prepared := env.Family == dbcanary.Postgres && env.PSMode != Text
	worker, err := progress.run.Worker(ctx, env.Worker, env.Conn, prepared)
	if err != nil {
		return nil, err
	}
	return &insertWork{Worker: worker, progress: progress, admin: env.Admin, first: env.Worker == 0}, nil
}

// begin readies the tables for a step. The debt of the inserts is paid before the
// first queries.
func (i *insertProgress) begin(ctx context.Context, env Env, p insertbench.Params, step int) error {
	if i.bench == nil || i.bench.Params != p {
		i.bench = insertbench.New(p, env.Family, env.Data.Seed)
	}
	again := !i.bench.Continues(step)
	i.run = nil
	if again {
		if err := i.bench.Reset(ctx, env.Conn, step); err != nil {
			return err
		}
	}
	steps := insertbench.Steps()
	if steps[step].Queries() && (again || !steps[step-1].Queries()) {
		if err := Settle(ctx, env.Admin, env.Family); err != nil && !errors.Is(err, ErrUnsettled) {
			return err
		}
	}
	i.run = i.bench.Start(step)
	return nil
}

// Finish implements Finisher.
func (w *insertWork) Finish(ctx context.Context, trial *dbcanary.Trial) error {
	if !w.first {
		return nil
	}
	return w.progress.run.Finish(ctx, w.admin, trial)
}

// insertData are no tables: the first step creates them.
type insertData struct{}

func (insertData) Name() string { return InsertBenchmark }

func (insertData) Load(context.Context, Loading) error { return nil }

func (insertData) Warm(context.Context, *sql.DB, dbcanary.Family, Data) error { return nil }

// SizeBytes is that of the usual sizes; others are in labels, which it doesn't know.
func (insertData) SizeBytes(Data) int64 { return 100 << 20 }
