package exchange

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// ProviderImport is the provider of builds that another tool measured.
const ProviderImport = "import"

// RunOptions say how measurements become runs.
type RunOptions struct {
	Base    string // name of the base; "" for the first target
	Host    string // where it was measured; "" if unknown
	Program string // version of dbcanary
	Now     time.Time
}

// ImportedRun is a run of measurements of other tools, with its trials. It has
// no ID and UID: the store gives them.
type ImportedRun struct {
	Run      dbcanary.Run
	Trials   []dbcanary.Trial
	Profiles []dbcanary.Profile // of stacks that were sampled beside a result
	// Rejected are measurements that do not fit the others, and why.
	Rejected []error
}

// MakeRuns makes runs of measurements that have a benchmark and a target: one of
// all rates, one for each further set of tables in a file, and one for each base that
// ratios are relative to. Each target has
// one instance, and repeats of a benchmark are blocks of it: nobody knows how
// often its server was started, so that verdicts stay inconclusive. Each benchmark
// has the resolution of its coarsest rate. Errors have CodeUsage.
func MakeRuns(measurements []Measurement, opts RunOptions) ([]ImportedRun, error) {
	type key struct {
		base string
		set  int
	}
	byBase := map[key][]Measurement{}
	var bases []key
	for _, m := range measurements {
		k := key{m.Relative, m.Set}
		if byBase[k] == nil {
			bases = append(bases, k)
		}
		byBase[k] = append(byBase[k], m)
	}
	slices.SortStableFunc(bases, func(a, b key) int { // rates first
		return cmp.Compare(min(len(a.base), 1), min(len(b.base), 1))
	})
	if err := checkBase(measurements, opts.Base); err != nil {
		return nil, err
	}
	var runs []ImportedRun
	for _, base := range bases {
		runs = append(runs, makeRun(byBase[base], base.base, opts))
	}
	return runs, nil
}

// runMaker puts one run together.
type runMaker struct {
	run     ImportedRun
	targets map[string]int
	labels  map[string]Measurement // the first of each benchmark
	blocks  map[[2]string]int
	threads bool               // connections differ, so that labels name them
	steps   map[string]float64 // by label, the coarsest of its rates
	latency float64
	tools   []string
}

func makeRun(measurements []Measurement, relative string, opts RunOptions) ImportedRun {
	r := &runMaker{targets: map[string]int{}, labels: map[string]Measurement{}, steps: map[string]float64{}, blocks: map[[2]string]int{}}
	run := &r.run.Run
	run.State, run.Started, run.Ended, run.Program = dbcanary.RunDone, opts.Now, opts.Now, opts.Program
	run.Host.Name = opts.Host
	if run.Host.Name == "" {
		// A name of its own: numbers of machines that nobody named are no series.
		run.Host.Name = "unknown host, import of " + opts.Now.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	if relative != "" {
		run.Host.Name += ", relative to " + publishedTargetName(relative)
	}
	for _, m := range measurements {
		if m.Threads > 0 && run.Plan.Threads == 0 {
			run.Plan.Threads = m.Threads
		}
		r.threads = r.threads || m.Threads > 0 && m.Threads != run.Plan.Threads
	}
	if r.threads {
		run.Plan.Threads = 0
	}
	for _, m := range measurements {
		if err := r.add(m); err != nil {
			r.run.Rejected = append(r.run.Rejected, err)
		}
	}
	r.chooseBase(opts.Base, relative)
	r.conclude(relative)
	run.Host.CPUs = commonCPUs(measurements)
	return r.run
}

// commonCPUs is the number of CPUs that files tell of the host, 0 if none or several.
func commonCPUs(measurements []Measurement) int {
	cpus := 0
	for _, m := range measurements {
		if m.CPUs > 0 && cpus > 0 && m.CPUs != cpus {
			return 0
		}
		cpus = max(cpus, m.CPUs)
	}
	return cpus
}

func (r *runMaker) add(m Measurement) error {
	label, group := canonicalLabel(m.Benchmark)
	if r.threads && m.Threads > 0 {
		label += " threads=" + strconv.Itoa(m.Threads)
	}
	first, ok := r.labels[label]
	if !ok {
		r.labels[label] = m
		r.run.Run.Plan.Benchmarks = append(r.run.Run.Plan.Benchmarks, dbcanary.PlannedBenchmark{Label: label, Group: group})
	} else if first.Unit != m.Unit {
		return seriesError(m.File, m.Line, 0, "benchmark %q is counted in %s here, but in %s in %s:%d: import them apart",
			label, unitName(m.Unit), unitName(first.Unit), first.File, first.Line)
	}
	target := importedTarget(m.Target, m.File, m.Family)
	if _, ok := r.targets[target.Name]; !ok {
		r.targets[target.Name] = len(r.run.Run.Targets)
		r.run.Run.Targets = append(r.run.Run.Targets, target)
	}
	key := [2]string{label, target.Name}
	trial := m.trial(label, target.Name, r.blocks[key])
	trial.Position = r.targets[target.Name]
	if trial.Started.IsZero() {
		trial.Started = r.run.Run.Started
	}
	r.blocks[key]++
	r.run.Trials = append(r.run.Trials, trial)
	if p, ok, err := m.profile(trial); err != nil {
		return err
	} else if ok {
		r.run.Profiles = append(r.run.Profiles, p)
	}
	r.steps[label], r.latency = max(r.steps[label], m.RateStep), max(r.latency, m.LatencyStep)
	if !slices.Contains(r.tools, m.Tool) {
		r.tools = append(r.tools, m.Tool)
	}
	return nil
}

// trial is the measurement as dbcanary stores it; counters that only dbcanary
// takes are unknown.
func (m Measurement) trial(label, target string, block int) dbcanary.Trial {
	m.Metrics = slices.Clone(m.Metrics)
	m.finishMetrics()
	server, client, steal, switches := m.field(fieldServerCPU), m.field(fieldClientCPU), m.field(fieldSteal), m.field(fieldServerSwitches)
	return dbcanary.Trial{
		Benchmark: label, Target: target, Block: block, Started: m.Started,
		ElapsedNs: m.ElapsedNs, Operations: m.Operations, Events: m.Events, Retries: m.Retries,
		Errors: m.Errors, LatencyNs: m.Latency, Histogram: m.Histogram, PerSecond: m.perSecond(),
		ServerCPUNs: server, ClientCPUNs: client, ForeignCPUNs: -1, StealNs: steal,
		ServerContextSwitches: switches, Metrics: m.Metrics,
	}
}

// perSecond gives events by second if the intervals are seconds, else nil: a
// longer interval cannot be divided.
func (m Measurement) perSecond() []int64 {
	var counts []int64
	for i, interval := range m.Intervals {
		if math.Abs(interval.EndS-float64(i+1)) > 0.05 {
			return nil
		}
		counts = append(counts, int64(math.Round(min(interval.Events, 1e15))))
	}
	return counts
}

// canonicalLabel gives the catalogue's label and group of a name, or the name
// itself and no group.
func canonicalLabel(name string) (label, group string) {
	if b, err := workload.Find(name); err == nil {
		return b.Label, b.Group
	}
	return name, ""
}

// isNamed tells whether a user or a table means the target by this name.
func isNamed(target, name string) bool {
	return target == name || target == publishedTargetName(name)
}

// checkBase wants the base to be among the targets.
func checkBase(measurements []Measurement, base string) error {
	if base == "" || len(measurements) == 0 {
		return nil
	}
	var names []string
	for _, m := range measurements {
		name := importedTarget(m.Target, m.File, m.Family).Name
		if isNamed(name, base) {
			return nil
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return dbcanary.Errorf(dbcanary.CodeUsage, "no file is of the base %q%s", base, dbcanary.DidYouMean(base, names))
}

// chooseBase puts the base first: what the user says if the run has it, else what
// the table says, else the first target.
func (r *runMaker) chooseBase(bases ...string) {
	run := &r.run.Run
	at := 0
	for _, base := range bases {
		found := slices.IndexFunc(run.Targets, func(t dbcanary.Target) bool { return isNamed(t.Name, base) })
		if base != "" && found >= 0 {
			at = found
			break
		}
	}
	if len(run.Targets) > 0 {
		target := run.Targets[at]
		run.Targets = slices.Insert(slices.Delete(run.Targets, at, at+1), 0, target)
	}
	for _, t := range run.Targets {
		run.Plan.Targets = append(run.Plan.Targets, t.Name)
	}
}

// conclude says what a reader of a report must know.
func (r *runMaker) conclude(relative string) {
	run := &r.run.Run
	note := func(format string, args ...any) { run.Problems = append(run.Problems, fmt.Sprintf(format, args...)) }
	note("imported from %s: how often a server was started, and in which order, is not known, so every target counts as one instance and no verdict is given",
		strings.Join(r.tools, ", "))
	if relative != "" {
		note("the numbers are ratios to %s, not rates", publishedTargetName(relative))
	}
	if units := r.units(); units != "" {
		note("%s", units)
	}
	run.Plan.MinEffect = 0.02
	coarsest := 0.0
	for i := range run.Plan.Benchmarks {
		b := &run.Plan.Benchmarks[i]
		b.Resolution = r.steps[b.Label]
		coarsest = max(coarsest, b.Resolution)
	}
	if 2*coarsest > run.Plan.MinEffect { // a ratio of two rates moves by the steps of both
		note("rates move in steps of up to %.2g %%, and no change is told that is not twice the step of its benchmark", 100*coarsest)
	}
	if r.latency > 0.002 {
		note("percentiles of latency move in steps of %.2g %%", 100*r.latency)
	}
	run.Plan.Instances, run.Plan.Blocks = 1, 1
	for _, count := range r.blocks {
		run.Plan.Blocks = max(run.Plan.Blocks, count)
	}
}

// units tells of benchmarks whose rate does not count statements.
func (r *runMaker) units() string {
	var parts []string
	for _, b := range r.run.Run.Plan.Benchmarks {
		if unit := r.labels[b.Label].Unit; unit != "" && !slices.Contains(parts, unit) {
			parts = append(parts, unit)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "rates count " + strings.Join(parts, " or ") + " where the tool counts no statements"
}
