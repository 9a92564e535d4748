package workload

import (
	"fmt"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload/insertbench"
	"github.com/dbcanary/dbcanary/internal/workload/sqlbench"
)

// Suite is an ordered list of benchmarks and of the steps around them.
type Suite struct {
	Name  string
	Doc   string
	Steps []SuiteStep
}

// SuiteStep is a benchmark, a warm-up or maintenance.
type SuiteStep struct {
	Label  string // of the benchmark; "" for maintenance: the debt of writes is paid, see Settle
	Group  string // what the benchmark is summed up in; "" if it is not reported, such as a warm-up
	Settle bool   // maintenance

	// Of the classic mode, which alone runs what is not reported.
	Time     time.Duration // published, where a benchmark has not that of its kind
	PerTable bool          // has as many connections as there are tables
}

// Slices is how long a benchmark of the suite is measured, where 1 is as long as the
// published ones that read.
func (s SuiteStep) Slices(b Benchmark) float64 {
	if s.Time > 0 {
		return slicesOf(s.Time)
	}
	return b.Slices()
}

// Benchmarks lists the benchmarks that are reported, in order, each in the group of the suite.
func (s Suite) Benchmarks() []Benchmark {
	var list []Benchmark
	for _, step := range s.Steps {
		if step.Group == "" {
			continue
		}
		b, err := Find(step.Label)
		if err != nil {
			panic(err) // a suite of ours names a benchmark that isn't there: a test holds that none does
		}
		b.Group = step.Group
		list = append(list, b)
	}
	return list
}

// Suites lists every suite, the default one first.
func Suites() []Suite {
	return []Suite{
		{Name: "quick", Doc: "ten benchmarks, reads first: the default of compare", Steps: quick()},
		{Name: "sysbench-32", Doc: "the 32 microbenchmarks of the reports since 2025, in four groups", Steps: sysbench32()},
		{Name: "sysbench-42", Doc: "the 42 microbenchmarks of the reports of 2020 to 2024, reads before and after the writes, in five groups", Steps: sysbench42()},
		sqlBenchSuite(sqlbench.Quick),
		insertSuite(insertbench.Usual()),
		{Name: "slap", Doc: "point queries and range scans of a small table at 1, 4 and 32 connections, by index and storage engine: the reports on low concurrency", Steps: slapSuite()},
		{Name: "scenarios", Doc: "what is reported after upgrades and the published suites don't see: long lists, plans, sorting, catalogues, logins, contention", Steps: scenarioSuite()},
		{Name: "oltp-sweep", Doc: "read-only and point queries over 1 to 256 connections, as in bug reports", Steps: sweepSuite()},
	}
}

// slapSuite runs each query of each engine at each number of connections.
func slapSuite() []SuiteStep {
	var steps []SuiteStep
	for _, b := range slap() {
		for _, threads := range []int{1, 4, 32} {
			steps = append(steps, in(b.Group, fmt.Sprintf("%s threads=%d", b.label(), threads))...)
		}
	}
	return steps
}

// scenarioSuite runs every scenario but the soak, which takes its own time; the
// cold one first.
func scenarioSuite() []SuiteStep {
	var cold, others []SuiteStep
	for _, b := range scenarios() {
		switch {
		case b.Cold:
			cold = append(cold, in(b.Group, b.label())...)
		case b.Name != "soak":
			others = append(others, in(b.Group, b.label())...)
		}
	}
	return append(cold, others...)
}

// sweepSuite has the numbers of connections of the published one, after its warm-up.
func sweepSuite() []SuiteStep {
	steps := warm("read-only.warm range=100 threads=24", 600*time.Second)
	for _, name := range []string{"read-only range=100", "point-query"} {
		for _, threads := range []int{1, 4, 16, 24, 32, 48, 64, 128, 256} {
			steps = append(steps, in(name, fmt.Sprintf("%s threads=%d", name, threads))...)
		}
	}
	return steps
}

// FindSuite gives the suite of that name, or an error with dbcanary.CodeUsage.
func FindSuite(name string) (Suite, error) {
	if suite, ok, err := suiteOfKind(strings.TrimSpace(name)); ok {
		return suite, err
	}
	var names []string
	for _, suite := range Suites() {
		if suite.Name == name {
			return suite, nil
		}
		names = append(names, suite.Name)
	}
	return Suite{}, dbcanary.Errorf(dbcanary.CodeUsage, "unknown suite %q%s", name, dbcanary.DidYouMean(name, names))
}

// in makes the steps of benchmarks that are reported in one group.
func in(group string, labels ...string) []SuiteStep {
	var steps []SuiteStep
	for _, label := range labels {
		steps = append(steps, SuiteStep{Label: label, Group: group})
	}
	return steps
}

// unreported makes the steps of benchmarks whose result no group has.
func unreported(labels ...string) []SuiteStep { return in("", labels...) }

// warm makes the step of a warm-up that lasts so long.
func warm(label string, length time.Duration) []SuiteStep {
	return []SuiteStep{{Label: label, Time: length}}
}

// warmTables makes the step of the warm-up after the load.
func warmTables(label string) []SuiteStep { return []SuiteStep{{Label: label, PerTable: true}} }

func settle() []SuiteStep { return []SuiteStep{{Settle: true}} }

func join(parts ...[]SuiteStep) []SuiteStep {
	var steps []SuiteStep
	for _, part := range parts {
		steps = append(steps, part...)
	}
	return steps
}

func quick() []SuiteStep {
	return join(
		in(Point, "point-query", "random-points range=100"),
		in(Range1, "range-covered-pk", "range-notcovered-si", "scan"),
		in(Range2, "read-only range=100"),
		in(Writes, "update-index", "update-nonindex", "write-only", "insert"),
	)
}

func sysbench32() []SuiteStep {
	return join(
		warmTables("point-query.warm"), settle(),
		warm("scan.warmpre", time.Minute),
		unreported("point-query.pre", "range-notcovered-si.pre"),
		in(Writes, allWrites()...), settle(),
		warm("scan.warm", time.Minute),
		in(Range1, "scan"),
		in(Range2, "read-only range=10", "read-only range=100", "read-only range=10000", "read-only-simple",
			"read-only-sum", "read-only-order", "read-only-distinct", "read-only-count"),
		in(Point, "point-query", "random-points range=10", "random-points range=100", "random-points range=1000",
			"hot-points", "points-covered-pk", "points-notcovered-pk"),
		in(Range1, "range-covered-pk", "range-notcovered-pk"),
		unreported("points-covered-si.warm"),
		in(Point, "points-covered-si", "points-notcovered-si"),
		in(Range1, "range-covered-si", "range-notcovered-si"),
		in(Writes, "delete", "insert"),
	)
}

// allWrites are the writes that leave the number of rows as it is, in the published order.
func allWrites() []string {
	return []string{
		"update-inlist", "update-index", "update-nonindex", "update-one", "update-zipf",
		"write-only", "read-write range=10", "read-write range=100",
	}
}

func sysbench42() []SuiteStep {
	const point1, point2 = "point-1", "point-2"
	return join(
		warmTables("point-query.warm"), settle(),
		in(point1, "point-query.pre"),
		in(point2, "random-points.pre range=10", "random-points.pre range=100", "random-points.pre range=1000"),
		in(Range2, "read-only.pre range=10", "read-only.pre range=100", "read-only.pre range=10000"),
		in(point1, "points-covered-pk.pre", "points-notcovered-pk.pre", "points-covered-si.pre", "points-notcovered-si.pre"),
		in(Range1, "range-covered-pk.pre", "range-notcovered-pk.pre", "range-covered-si.pre", "range-notcovered-si.pre"),
		in(Writes, allWrites()...), settle(),
		in(Range2, "read-only range=10", "read-only range=100", "read-only range=10000"),
		in(point1, "point-query"),
		in(point2, "random-points range=10", "random-points range=100", "random-points range=1000"),
		in(point1, "hot-points", "points-covered-pk", "points-notcovered-pk", "points-covered-si", "points-notcovered-si"),
		in(Range1, "range-covered-pk", "range-notcovered-pk", "range-covered-si", "range-notcovered-si", "scan"),
		in(Writes, "delete", "insert"),
	)
}
