package bench

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// aliases maps the names of sysbench's scripts to ours.
func aliases() map[string]string {
	return map[string]string{
		"oltp_delete":           "delete",
		"oltp_insert":           "insert",
		"oltp_point_select":     "point-query",
		"oltp_read_only":        "read-only",
		"oltp_read_write":       "read-write",
		"oltp_update_index":     "update-index",
		"oltp_update_non_index": "update-nonindex",
		"oltp_write_only":       "write-only",
		"select_random_points":  randomPoints,
	}
}

// randomPoints is the one script of sysbench's that no benchmark of the catalogue equals.
const randomPoints = "select_random_points"

// others are sysbench's scripts and tests that there is no counterpart for.
func others() map[string]string {
	const system = "it measures the machine and not a database; use sysbench itself"
	return map[string]string{
		"bulk_insert":          "tables that grow by one connection each are not to be had; insert is near",
		"select_random_ranges": "several ranges in one statement are not to be had; range-covered-si is near",
		"fileio":               system,
		"cpu":                  system,
		"memory":               system,
		"threads":              system,
		"mutex":                system,
	}
}

// Names lists what bench can run: our names, then sysbench's.
func Names() []string {
	var names []string
	for _, label := range workload.Labels() {
		name, _, _ := strings.Cut(label, " ")
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return append(names, slices.Sorted(maps.Keys(aliases()))...)
}

// IsSysbench tells whether a name is one of sysbench's scripts, whose defaults then hold.
func IsSysbench(name string) bool { return aliases()[scriptName(name)] != "" }

// scriptName drops what a path to a script has around its name.
func scriptName(name string) string { return strings.TrimSuffix(path.Base(name), ".lua") }

// Mix changes what an event consists of, as sysbench's options of the same names
// do. A nil field is the script's default.
type Mix struct {
	PointSelects, SimpleRanges, SumRanges, OrderRanges, DistinctRanges *int
	IndexUpdates, NonIndexUpdates, DeleteInserts                       *int
	RangeSize, RandomPoints                                            *int
	RangeSelects                                                       *bool // false for no range at all
	SkipTrx                                                            bool  // every statement in autocommit
	RandType                                                           string
}

// Find gives the benchmark of one of our labels or of sysbench's names, changed
// by mix, and the options of mix that make no difference to it. Errors have
// dbcanary.CodeUsage.
func Find(name string, mix Mix) (b workload.Benchmark, unused []string, err error) {
	script := scriptName(name)
	if reason := others()[script]; reason != "" {
		return b, nil, dbcanary.Errorf(dbcanary.CodeUsage, "sysbench's %s has no counterpart: %s", script, reason)
	}
	label := name
	if ours := aliases()[script]; ours != "" {
		label = ours
	}
	if label == randomPoints {
		b = selectRandomPoints()
	} else if b, err = workload.Find(label); err != nil {
		if len(dbcanary.Nearest(name, Names())) > 0 {
			err = dbcanary.Errorf(dbcanary.CodeUsage, "unknown benchmark %q%s", name, dbcanary.DidYouMean(name, Names()))
		}
		return b, nil, err
	}
	if unused, err = mix.apply(&b); err != nil {
		return b, nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, unused, nil
}

func selectRandomPoints() workload.Benchmark {
	return workload.Benchmark{
		Name: randomPoints, Label: randomPoints, Group: workload.Point, Range: 10, Keys: workload.Uniform,
		Steps: []workload.Step{{
			SQL:  "SELECT id, k, c, pad FROM {table} WHERE k IN ({list})",
			Args: []workload.Arg{workload.KeyList}, Answer: workload.ListRowsByK,
		}},
	}
}

// apply changes b and gives the options that make no difference.
func (m Mix) apply(b *workload.Benchmark) (unused []string, err error) {
	size, option := m.RangeSize, "--range-size"
	if b.Name == randomPoints {
		size, option = m.RandomPoints, "--random-points"
	}
	switch {
	case size == nil:
	case b.Range == 0:
		unused = append(unused, option)
	case *size < 1 || *size > maxRange:
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%s %d is not from 1 to %d", option, *size, maxRange)
	default:
		b.Range = *size
		if b.Name != randomPoints {
			b.Label = fmt.Sprintf("%s range=%d", b.Name, *size)
		}
	}
	rest, err := m.count(b)
	if err != nil {
		return nil, err
	}
	if m.SkipTrx {
		if !b.Transaction {
			rest = append(rest, "--skip-trx")
		}
		b.Transaction = false
	}
	return append(unused, rest...), m.distribute(b)
}

const maxRange = 10000

// part is a kind of statement in a script, with how many there are of it.
type part struct {
	option string
	times  *int
	steps  int // a row is deleted and inserted again in two
	ranges bool
}

// parts lists the kinds of statements of a benchmark in the order of its steps;
// nil if their numbers can't be changed.
func (m Mix) parts(b *workload.Benchmark) []part {
	reads := []part{
		{"--point-selects", m.PointSelects, 1, false},
		{"--simple-ranges", m.SimpleRanges, 1, true},
		{"--sum-ranges", m.SumRanges, 1, true},
		{"--order-ranges", m.OrderRanges, 1, true},
		{"--distinct-ranges", m.DistinctRanges, 1, true},
	}
	writes := []part{
		{"--index-updates", m.IndexUpdates, 1, false},
		{"--non-index-updates", m.NonIndexUpdates, 1, false},
		{"--delete-inserts", m.DeleteInserts, 2, false},
	}
	switch b.Name {
	case "read-only":
		return reads
	case "read-write":
		return append(reads, writes...)
	case "write-only":
		return writes
	}
	return nil
}

// count sets how many statements of each kind an event has.
func (m Mix) count(b *workload.Benchmark) (unused []string, err error) {
	parts := m.parts(b)
	known := map[string]bool{}
	var steps []workload.Step
	at, writes := 0, false
	for _, p := range parts {
		known[p.option] = true
		group := b.Steps[at : at+p.steps]
		at += p.steps
		times := max(1, group[0].Times)
		if p.times != nil {
			times = *p.times
		}
		if times < 0 || times > maxTimes {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%s %d is not from 0 to %d", p.option, times, maxTimes)
		}
		if p.ranges && m.RangeSelects != nil && !*m.RangeSelects {
			times = 0
		}
		steps = append(steps, repeat(group, times)...)
		writes = writes || times > 0 && b.Writes && group[0].Answer == workload.AtMostOne
	}
	if parts != nil {
		if len(steps) == 0 {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "no statement is left of the event")
		}
		b.Steps, b.Writes = steps, writes
	}
	every := m.parts(&workload.Benchmark{Name: "read-write"})
	for _, p := range every {
		if p.times != nil && !known[p.option] {
			unused = append(unused, p.option)
		}
	}
	if m.RangeSelects != nil && !known["--simple-ranges"] {
		unused = append(unused, "--range-selects")
	}
	return unused, nil
}

const maxTimes = 10000

// repeat gives the steps so many times, all on the table of the first one, as in
// sysbench's scripts.
func repeat(group []workload.Step, times int) []workload.Step {
	if times == 0 {
		return nil
	}
	if len(group) == 1 {
		step := group[0]
		step.Times = times
		return []workload.Step{step}
	}
	var steps []workload.Step
	for n := range times {
		for _, step := range group {
			step.SameTable = step.SameTable || n > 0
			steps = append(steps, step)
		}
	}
	return steps
}

// randTypes are sysbench's names of distributions.
func randTypes() map[string]workload.Keys {
	return map[string]workload.Keys{
		"uniform": workload.Uniform, "zipfian": workload.Zipf, "gaussian": workload.Gaussian,
		"pareto": workload.Pareto, "special": workload.Special,
	}
}

// distribute sets how ids, and the starts of ranges, are drawn.
func (m Mix) distribute(b *workload.Benchmark) error {
	if m.RandType == "" {
		return nil
	}
	keys, ok := randTypes()[m.RandType]
	if !ok {
		names := slices.Sorted(maps.Keys(randTypes()))
		return dbcanary.Errorf(dbcanary.CodeUsage, "unknown --rand-type %q%s", m.RandType, dbcanary.DidYouMean(m.RandType, names))
	}
	if !slices.Contains(slices.Collect(maps.Values(randTypes())), b.Keys) {
		return dbcanary.Errorf(dbcanary.CodeUsage, "--rand-type makes no sense for a benchmark whose keys are %q", b.Keys)
	}
	b.Keys = keys
	return nil
}
