package planfile

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload"
	"github.com/dbcanary/dbcanary/internal/workload/own"
)

// PSModes and Placements are the values of ps-mode and placement.
func PSModes() []string { return []string{"prepared", "text"} }

// Placements lists the values of placement.
func Placements() []string {
	return []string{string(dbcanary.PlacementFree), string(dbcanary.PlacementSplit), string(dbcanary.PlacementSame)}
}

// checker collects the problems of a file.
type checker struct {
	file     File
	own      *own.Finder // of benchmarks, those of the user too
	problems []Problem
}

// key adds what is wrong with a key: "must be above 0".
func (c *checker) key(key, format string, args ...any) {
	c.problems = append(c.problems, Problem{Path: key, Text: fmt.Sprintf(format, args...), Key: true})
}

// value adds what is wrong with a value, in words of its own.
func (c *checker) value(path, format string, args ...any) {
	problem := Problem{Path: path, Text: fmt.Sprintf(format, args...)}
	if !slices.Contains(c.problems, problem) {
		c.problems = append(c.problems, problem)
	}
}

// Plan makes the plan that is asked for, with the targets that it measures in its
// order. Slices, blocks and instances that nobody chose are left at 0, as is a seed.
// The plan is only good if there are no problems.
func (f File) Plan() (dbcanary.Plan, []dbcanary.TargetSpec, []Problem) {
	c := &checker{file: f}
	c.numbers()
	specs, bases := c.bases(c.specs())
	p := dbcanary.Plan{
		Suite: f.Suite, Bases: bases, Tables: f.Tables, TableSize: f.TableSize, PSMode: f.PSMode,
		SliceNs: int64(f.Slice), WarmupNs: int64(f.Warmup),
		Blocks: f.Blocks, Instances: f.Instances, Seed: f.Seed,
		Profile: c.profile(), Waits: f.Waits,
	}
	if len(f.Threads) > 0 {
		p.Threads = slices.Max(f.Threads)
	}
	for _, spec := range specs {
		p.Targets = append(p.Targets, spec.Name)
	}
	p.Placement = c.placement(p.Threads)
	p.Workloads = c.workloads()
	p.Benchmarks = c.benchmarks()
	if len(f.Benchmarks) > 0 || c.onlyOwn() {
		p.Suite = ""
	}
	c.groups(p.Benchmarks)
	p.MinEffect = c.minEffects(p.Benchmarks)
	p.Steps = c.steps(p.Benchmarks)
	p.Benchmarks = c.atThreads(p.Benchmarks)
	c.mode(&p)
	return p, specs, c.problems
}

func (c *checker) numbers() {
	f := c.file
	for _, check := range []struct {
		ok        bool
		key, text string
	}{
		{f.Time == nil || *f.Time > 0, "time", "must be above 0"},
		{f.Tables > 0, "tables", "must be above 0"},
		{f.Tables <= 10_000, "tables", "must be at most 10000"},
		{f.TableSize >= 1000, "table-size", "must be at least 1000"},
		{f.TableSize <= 1<<30, "table-size", "must be at most 2^30"},
		{len(f.Threads) > 0, "threads", "must be a number"},
		{f.Slice >= 0, "slice", "can't be below 0"},
		{f.Warmup >= 0, "warmup", "can't be below 0"},
		{f.Blocks >= 0, "blocks", "can't be below 0"},
		{f.Blocks <= 1000, "blocks", "must be at most 1000"},
		{f.Instances >= 0, "instances", "can't be below 0"},
		{f.Instances <= 10_000, "instances", "must be at most 10000"},
	} {
		if !check.ok {
			c.key(check.key, "%s", check.text)
		}
	}
	for i, threads := range f.Threads {
		if threads < 1 || threads > 10_000 {
			c.key("threads", "must be from 1 to 10000, not %d", threads)
		}
		if slices.Contains(f.Threads[:i], threads) {
			c.key("threads", "has %d twice", threads)
		}
	}
	c.oneOf("ps-mode", f.PSMode, PSModes())
	c.oneOf("mode", f.Mode, Modes())
}

func (c *checker) oneOf(key, value string, names []string) {
	if !slices.Contains(names, value) {
		c.key(key, "can't be %q%s", value, dbcanary.DidYouMean(value, names))
	}
}

// placement is the user's, or the one that varies least: with one connection,
// client and server on one CPU (docs/METHOD.md).
func (c *checker) placement(threads int) dbcanary.Placement {
	if c.file.Placement == "" {
		if c.file.Mode == classic {
			return dbcanary.PlacementFree // as in the published reports
		}
		if threads == 1 && runtime.NumCPU() > 1 {
			return dbcanary.PlacementSame
		}
		return dbcanary.PlacementFree
	}
	c.oneOf("placement", c.file.Placement, Placements())
	return dbcanary.Placement(c.file.Placement)
}

// AllProfiles stands for every kind of profile.
const AllProfiles = "all"

// profile gives the kinds of profiles that are asked for, each once.
func (c *checker) profile() []string {
	names := append(dbcanary.ProfileKinds(), AllProfiles)
	var kinds []string
	for i, kind := range c.file.Profile {
		if !slices.Contains(names, kind) {
			c.value(fmt.Sprintf("profile[%d]", i), "profile can't show %q%s", kind, dbcanary.DidYouMean(kind, names))
		}
		if kind == AllProfiles {
			return dbcanary.ProfileKinds()
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	if c.file.Waits != "" && !slices.Contains(kinds, dbcanary.ProfileWaits) {
		c.key("waits", "chooses among the waits of a profile: ask for waits with --profile or the key profile as well")
	}
	return kinds
}

// workloads reads and checks those of the user.
func (c *checker) workloads() []dbcanary.OwnWorkload {
	list, err := c.file.Own().Read()
	c.own = &own.Finder{}
	if err == nil {
		var finder *own.Finder
		if finder, err = own.NewFinder(list); err == nil {
			c.own = finder
		}
	}
	if err != nil {
		c.value("workload", "%s", err)
	}
	return list
}

// onlyOwn tells whether the benchmarks are the user's: they stand in the place of
// the usual suite, and beside another one or a list.
func (c *checker) onlyOwn() bool {
	return len(c.own.Own()) > 0 && len(c.file.Benchmarks) == 0 && c.file.Suite == Default().Suite
}

// benchmarks gives those of the suite, or those named, each once.
func (c *checker) benchmarks() []dbcanary.PlannedBenchmark {
	var list []workload.Benchmark
	if len(c.file.Benchmarks) == 0 {
		list = c.own.Own()
	}
	if len(c.file.Benchmarks) == 0 && !c.onlyOwn() {
		suite, err := workload.FindSuite(c.file.Suite)
		if err != nil {
			c.value("suite", "%s", err)
			return nil
		}
		list = append(list, suite.Benchmarks()...)
	}
	for i, label := range c.file.Benchmarks {
		benchmark, err := c.own.Find(label)
		if err != nil {
			c.value(fmt.Sprintf("benchmarks[%d]", i), "%s", err)
			continue
		}
		list = append(list, benchmark)
	}
	var planned []dbcanary.PlannedBenchmark
	seen := map[string]bool{}
	for _, benchmark := range list {
		if !seen[benchmark.Label] {
			planned = append(planned, dbcanary.PlannedBenchmark{Label: benchmark.Label, Group: benchmark.Group})
		}
		seen[benchmark.Label] = true
	}
	return planned
}

// labels gives the labels of planned benchmarks and the groups they are in.
func labels(planned []dbcanary.PlannedBenchmark) (labels, groups []string) {
	for _, p := range planned {
		labels = append(labels, p.Label)
		if !slices.Contains(groups, p.Group) {
			groups = append(groups, p.Group)
		}
	}
	return labels, groups
}

// groups puts benchmarks into the groups of the file; the others keep theirs.
func (c *checker) groups(planned []dbcanary.PlannedBenchmark) {
	known, _ := labels(planned)
	in := map[string]string{}
	for _, group := range c.file.Groups {
		path := "groups." + group.Key
		if strings.TrimSpace(group.Key) == "" {
			c.value(path, "a group has no name")
		}
		for i, label := range group.Value {
			where := fmt.Sprintf("%s[%d]", path, i)
			benchmark, err := c.own.Find(label)
			at := slices.Index(known, benchmark.Label)
			switch {
			case err != nil:
				c.value(where, "%s", err)
			case at < 0:
				c.value(where, "%q is none of the plan's benchmarks%s", label, dbcanary.DidYouMean(label, known))
			case in[benchmark.Label] != "":
				c.value(where, "%q is in group %s already", label, in[benchmark.Label])
			default:
				in[benchmark.Label] = group.Key
				planned[at].Group = group.Key
			}
		}
	}
}

// minEffects gives the smallest change that matters and sets those of benchmarks
// and groups that have one of their own: "2", "scan=5", "writes=10", in percent.
func (c *checker) minEffects(planned []dbcanary.PlannedBenchmark) float64 {
	known, groups := labels(planned)
	var all float64
	ofBenchmark := map[string]bool{} // a benchmark's own goes before its group's
	for _, text := range c.file.MinEffect {
		name, number := "", text
		at := strings.LastIndex(text, "=") // labels have "=" too: read-only range=100=5
		named := at >= 0
		if named {
			name, number = strings.TrimSpace(text[:at]), text[at+1:]
		}
		percent, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(number), "%"), 64)
		if err != nil || !(percent > 0 && percent < 100) {
			c.key("min-effect", "is a percentage between 0 and 100, also as BENCHMARK=PERCENT or GROUP=PERCENT, not %q", text)
			continue
		}
		if !named {
			all = percent / 100
			continue
		}
		benchmark, err := c.own.Find(name)
		if at := slices.Index(known, benchmark.Label); err == nil && at >= 0 {
			planned[at].MinEffect, ofBenchmark[benchmark.Label] = percent/100, true
			continue
		}
		if !slices.Contains(groups, name) {
			c.key("min-effect", "names %q, which is neither a benchmark nor a group of the plan%s", name, dbcanary.DidYouMean(name, append(known, groups...)))
			continue
		}
		for i := range planned {
			if planned[i].Group == name && !ofBenchmark[planned[i].Label] {
				planned[i].MinEffect = percent / 100
			}
		}
	}
	if all == 0 {
		all = 0.02
	}
	return all
}

// atThreads repeats each benchmark for each number of connections, in groups of
// their own, unless it decides that number itself.
func (c *checker) atThreads(planned []dbcanary.PlannedBenchmark) []dbcanary.PlannedBenchmark {
	var list []dbcanary.PlannedBenchmark
	for _, one := range planned {
		for _, suffix := range c.threadsOf(one.Label) {
			at := one
			at.Label, at.Group = one.Label+suffix, one.Group+suffix
			list = append(list, at)
		}
	}
	return list
}

// threadsOf gives what comes after the label of a benchmark for each number of
// connections; "" alone if it decides that number itself, or there is but one.
func (c *checker) threadsOf(label string) []string {
	if len(c.file.Threads) < 2 {
		return []string{""}
	}
	benchmark, err := c.own.Find(label)
	if err != nil || benchmark.Threads > 0 || benchmark.Program != nil {
		return []string{""}
	}
	var suffixes []string
	for _, threads := range c.file.Threads {
		suffixes = append(suffixes, fmt.Sprintf(" threads=%d", threads))
	}
	return suffixes
}
