package planfile

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/plan"
	"github.com/dbcanary/dbcanary/internal/verdict"
	"github.com/dbcanary/dbcanary/internal/workload"
	"github.com/dbcanary/dbcanary/internal/workload/own"
)

// Outline is what is known of a run before anything is fetched or started.
type Outline struct {
	Plan     dbcanary.Plan // fitted
	Warnings []string
	Cost     plan.Cost
	Room     plan.Room
	Need     plan.Need
	Datasets []workload.Dataset
	Builds   []string // by target: where its binaries are, or would come from
	specs    []dbcanary.TargetSpec
	found    string // what would be found, by the noise of an earlier run; "" if that is not known
}

// CostOf is what the phases of a run are expected to take.
func CostOf(p dbcanary.Plan) (plan.Cost, error) {
	cost := plan.DefaultCost()
	finder, err := own.NewFinder(p.Workloads)
	if err != nil {
		return cost, err
	}
	for _, planned := range p.Benchmarks {
		benchmark, err := finder.Find(planned.Label)
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

// NewOutline fits a plan into its budget and works out what it takes of a room; it
// refuses one that does not fit into either, with what would fit. Warnings say what was
// given up. An adaptive plan is judged while it goes on.
func NewOutline(p dbcanary.Plan, specs []dbcanary.TargetSpec, adaptive bool, room plan.Room) (*Outline, error) {
	o := &Outline{Plan: p, Room: room, specs: specs}
	var err error
	if o.Cost, err = CostOf(p); err != nil {
		return nil, err
	}
	finder, err := own.NewFinder(p.Workloads)
	if err != nil {
		return nil, err
	}
	var benchmarks []workload.Benchmark
	for _, planned := range p.Benchmarks {
		benchmark, err := finder.Find(planned.Label)
		if err != nil {
			return nil, err
		}
		benchmarks = append(benchmarks, benchmark)
	}
	if o.Datasets, err = workload.DatasetsOf(benchmarks); err != nil {
		return nil, err
	}
	if err := plan.Check(p, o.Cost, room, o.dataBytes); err != nil {
		return nil, err
	}
	o.Plan, o.Warnings = plan.Fit(p, o.Cost)
	if adaptive && !p.Classic() {
		o.Plan.Looks = looks(o.Plan, specs, o.Cost)
	}
	o.Need = plan.Needs(o.Plan, room, o.dataBytes)
	return o, nil
}

func (o *Outline) dataBytes(tableSize int) int64 {
	var size int64
	for _, dataset := range o.Datasets {
		size += dataset.SizeBytes(workload.Data{Tables: o.Plan.Tables, TableSize: tableSize, Seed: o.Plan.Seed})
	}
	return size
}

// Instances is how many instances of each target are expected.
func (o *Outline) Instances() int {
	for _, spec := range o.specs {
		if spec.DSN != "" {
			return 1 // a server that somebody else runs is not restarted
		}
	}
	return plan.Expected(o.Plan, o.Cost)
}

// Write prints what a run would do, step by step, each line after a prefix.
func (o *Outline) Write(w io.Writer, prefix string) error {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, prefix+format+"\n", args...) }
	p := o.Plan
	line("Targets")
	for i, name := range p.Targets {
		note := ""
		if i == 0 && len(p.Bases) == 0 || slices.Contains(p.Bases, name) {
			note = ", base"
		}
		line("  %s: %s%s", name, o.Builds[i], note)
	}
	line("Benchmarks")
	for _, group := range groupsOf(p.Benchmarks) {
		line("  %s: %s", group.Key, strings.Join(group.Value, ", "))
	}
	var names []string
	for _, dataset := range o.Datasets {
		names = append(names, dataset.Name())
	}
	line("Data")
	loaded := "loaded once and copied for each instance"
	if p.Classic() {
		loaded = "loaded anew for each instance"
	}
	line("  %s: %s of %d rows, some %s for each target, %s",
		strings.Join(names, ", "), countText(p.Tables, "table"), p.TableSize, bytesText(o.Need.DataBytes), loaded)
	if o.Need.Servers > 0 {
		o.room(line)
	}
	if p.Classic() {
		o.classicSteps(line)
	} else {
		o.steps(line)
	}
	if o.found != "" {
		line("Smallest change that %s", o.found)
	}
	for _, warning := range o.Warnings {
		line("Warning: %s", warning)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// room says what the servers that are started take of the host.
func (o *Outline) room(line func(string, ...any)) {
	line("  disk: %s of %s free in %s", bytesText(o.Need.DiskBytes), bytesText(o.Room.DiskBytes), o.Room.Dir)
	cached := "the data fits into it"
	if !o.Need.Cached() {
		cached = "the data does not fit into it, so what is measured depends on the disk"
	}
	share := fmt.Sprintf("each of %d servers", o.Need.Servers)
	if o.Plan.Classic() {
		share = "one server at a time"
	}
	line("  memory: %s of %s available for %s; %s", bytesText(o.Need.ServerBytes), bytesText(o.Room.MemoryBytes), share, cached)
}

func (o *Outline) steps(line func(string, ...any)) {
	p, instances := o.Plan, o.Instances()
	load := plan.Duration(p, o.Cost, 0)
	round := plan.RoundDuration(p, o.Cost)
	line("Steps")
	line("  1. find or fetch %d builds (not part of the time)", len(p.Targets))
	line("  2. for each target: initialise, start, load, settle, stop: about %s in all", rounded(load))
	often := "about " + countText(instances, "time")
	if o.Cost.Unknown > 0 {
		often = "as often as fits, at least once"
	}
	line("  3. %s, all targets at once: copy the data, start, warm the caches;", often)
	if sliced := len(p.Benchmarks) - o.Cost.Singles; sliced > 0 {
		line("     %s of %s, a slice of %s for each target in random order;", countText(sliced, "benchmark"), countText(p.Blocks, "block"), time.Duration(p.SliceNs))
	}
	if o.Cost.Singles > 0 {
		line("     %s once for each target, as long as the work takes;", countText(o.Cost.Singles, "benchmark"))
	}
	if o.Cost.Unknown > 0 {
		line("     stop")
	} else {
		line("     stop: about %s", rounded(round))
	}
	if len(p.Looks) > 0 {
		line("     After %s instances it is judged: what is clear is measured no further.", verdict.LooksText(p.Looks, "and"))
	}
	if o.Cost.Unknown > 0 {
		line("  4. %d comparisons", len(p.Benchmarks)*(len(p.Targets)-1))
		line("Expected time: up to %s", short(p.BudgetNs))
		return
	}
	slices := (len(p.Benchmarks) - o.Cost.Singles) * len(p.Targets) * p.Blocks * instances
	most := ""
	if len(p.Looks) > 0 {
		most = "up to "
	}
	line("  4. %s%d slices give %d comparisons", most, slices, len(p.Benchmarks)*(len(p.Targets)-1))
	if n := len(p.Profile) * len(p.Targets) * (len(p.Benchmarks) - o.Cost.Singles); n > 0 {
		line("  5. %s after the first instance, of some 8s each (not part of the time)", countText(n, "profiling slice"))
	}
	expected := load + time.Duration(instances)*round
	if p.BudgetNs > 0 {
		line("Expected time: %s of %s", rounded(min(expected, time.Duration(p.BudgetNs))), short(p.BudgetNs))
	} else {
		line("Expected time: %s", rounded(expected))
	}
}

// groupsOf gives the labels of benchmarks by group, in the order of the plan.
func groupsOf(planned []dbcanary.PlannedBenchmark) (groups []groupLabels) {
	for _, one := range planned {
		at := slices.IndexFunc(groups, func(g groupLabels) bool { return g.Key == one.Group })
		if at < 0 {
			at = len(groups)
			groups = append(groups, groupLabels{Key: one.Group})
		}
		groups[at].Value = append(groups[at].Value, one.Label)
	}
	return groups
}

type groupLabels struct {
	Key   string
	Value []string
}

// countText is a number with its noun.
func countText(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// rounded is a time in seconds.
func rounded(d time.Duration) string { return short(int64(d.Round(time.Second))) }

func bytesText(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
