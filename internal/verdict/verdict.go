// Package verdict turns the trials of a run into comparisons with verdicts, and
// comparisons into verdicts of groups. It is pure: the same trials give the same
// answer, so that every old run can be reported again.
//
// The steps are those of docs/METHOD.md, the formulas and the measured error
// rates are in docs/STATISTICS.md:
//
//	slice     rate = operations / elapsed, cost = server CPU time / operations
//	block     log ratio of the target to the base
//	instance  median of its blocks
//	benchmark mean over instances; variance between instances moderated over the
//	          benchmarks of the run and target (stat.Moderate); t interval
//	run       p-values adjusted by Holm over all benchmarks and targets, so that
//	          at most 5 % of runs in which nothing changed hold any false verdict
//
// The instance is the unit of replication: blocks of one instance share its
// memory layout and can't tell a slow build from an unlucky start.
package verdict

import (
	"math"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/stat"
)

// The defaults of Options.
const (
	DefaultLevel     = 0.95
	DefaultMinEffect = 0.02
)

// Options are what the user may choose.
type Options struct {
	Level        float64            // of intervals and, over the whole run, of verdicts; DefaultLevel unless within (0, 1)
	MinEffect    float64            // smallest change that matters: 0.02 is 2 %; 0 takes the plan's, or DefaultMinEffect
	PerBenchmark map[string]float64 // smallest change that matters by benchmark label; wins over the plan's for the benchmark, and that over MinEffect
	// Bases is against how many bases the run is reported: each gets an equal share
	// of the error (Bonferroni). 0 and 1 stand for one.
	Bases int

	early bool // one of the looks of the plan before the last
}

func (o Options) level() float64 {
	if o.Level > 0 && o.Level < 1 {
		return o.Level
	}
	return DefaultLevel
}

// earlyShare of the error goes to the looks of a run before its last one, in equal
// parts: little, so that only what is clear stops early and the last look has
// nearly the power of a single one.
const earlyShare = 0.2

// verdictLevel is the level at which a run decides. If it was judged while it went
// on, the last look has what the others left; shares add up to the whole error
// (Bonferroni), and the last one is the largest, so that what stopped early has a
// verdict at the end too.
func (o Options) verdictLevel(plan dbcanary.Plan) float64 {
	share := 1 / float64(max(1, o.Bases))
	switch looks := len(plan.Looks); {
	case o.early:
		share *= earlyShare / float64(max(1, looks))
	case looks > 0:
		share *= 1 - earlyShare
	}
	return 1 - (1-o.level())*share
}

// minEffect is the smallest change that matters, and never finer than rates that
// came with a resolution can show: a ratio moves by the steps of both.
func (o Options) minEffect(plan dbcanary.Plan, benchmark dbcanary.PlannedBenchmark) float64 {
	finest := min(0.99, 2*benchmark.Resolution)
	for _, effect := range []float64{o.PerBenchmark[benchmark.Label], benchmark.MinEffect, o.MinEffect, plan.MinEffect} {
		if effect > 0 && effect < 1 {
			return max(finest, effect)
		}
	}
	return max(finest, DefaultMinEffect)
}

// metric is what is estimated of one comparison: QPS or CPU per operation.
type metric struct {
	centers  []float64     // median block log ratio by instance, NaN where an instance has no block
	interval stat.Interval // on the log scale, at the reported level
	se       float64       // standard error that verdicts go by: guarded, never below interval.SE
	outlier  bool          // varies more than the other benchmarks
	family   float64       // variance of the other benchmarks; NaN if unknown
	p        float64       // two-sided, of "no change"; NaN without an interval
	adjusted float64       // Holm over the run
}

// subject is a comparison while it is worked on.
type subject struct {
	dbcanary.Comparison
	apart bool // target and base were not measured side by side
	pairs pairs
	qps   metric
	cpu   metric
}

// Compare judges every target against the base, plan.Targets[0], on every
// benchmark of the plan: one comparison for each, benchmarks in plan order and
// targets in plan order within, also where nothing was measured, but not where the
// benchmark is not applicable to the target or to the base. Trials of
// targets and benchmarks that the plan does not name are ignored, void trials
// are counted and otherwise ignored; of several valid trials of one slice the
// last counts.
func Compare(plan dbcanary.Plan, trials []dbcanary.Trial, options Options) []dbcanary.Comparison {
	if len(plan.Targets) < 2 {
		return nil
	}
	subjects := judge(plan, trials, options)
	comparisons := make([]dbcanary.Comparison, len(subjects))
	for i, s := range subjects {
		s.conclude(options.verdictLevel(plan), len(subjects))
		comparisons[i] = s.Comparison
	}
	return comparisons
}

// judge estimates all comparisons of a plan.
func judge(plan dbcanary.Plan, trials []dbcanary.Trial, options Options) []*subject {
	index := indexTrials(trials)
	subjects := make([]*subject, 0, len(plan.Benchmarks)*(len(plan.Targets)-1))
	for _, benchmark := range plan.Benchmarks {
		if !plan.Applies(benchmark.Label, plan.Targets[0]) {
			continue
		}
		for _, target := range plan.Targets[1:] {
			if !plan.Applies(benchmark.Label, target) {
				continue
			}
			s := &subject{apart: plan.Classic(), Comparison: dbcanary.Comparison{
				Benchmark: benchmark.Label, Group: benchmark.Group, Target: target, Base: plan.Targets[0],
				Level: options.level(), MinEffect: options.minEffect(plan, benchmark),
			}}
			s.pairs = index.pairs(benchmark.Label, plan.Targets[0], target)
			subjects = append(subjects, s)
		}
	}
	for _, target := range plan.Targets[1:] {
		var same []*subject
		for _, s := range subjects {
			if s.Target == target {
				same = append(same, s)
			}
		}
		estimate(same, options.level(), func(s *subject) *metric { return &s.qps }, func(b block) float64 { return b.qps })
		estimate(same, options.level(), func(s *subject) *metric { return &s.cpu }, func(b block) float64 { return b.cpu })
	}
	adjust(subjects, func(s *subject) *metric { return &s.qps })
	adjust(subjects, func(s *subject) *metric { return &s.cpu })
	return subjects
}

// estimate fills one metric of the comparisons of one target.
func estimate(subjects []*subject, level float64, of func(*subject) *metric, value func(block) float64) {
	centers := make([][]float64, len(subjects))
	for i, s := range subjects {
		centers[i] = s.pairs.centers(value)
	}
	for i, m := range combine(centers, level) {
		*of(subjects[i]) = m
	}
}

// combine estimates each benchmark from its instances, centers[benchmark][instance];
// the benchmarks lend each other their variance.
func combine(centers [][]float64, level float64) []metric {
	metrics := make([]metric, len(centers))
	variances, dfs := make([]float64, len(centers)), make([]float64, len(centers))
	perSample := 0.0
	for i, center := range centers {
		values, _ := stat.Finite(center)
		variances[i], dfs[i] = stat.Variance(values), float64(len(values)-1)
		perSample += max(0, dfs[i]) / float64(len(centers))
	}
	moderated := stat.Moderate(variances, dfs, perSample*stat.EffectiveSamples(centers))
	for i, center := range centers {
		m := &metrics[i]
		values, _ := stat.Finite(center)
		m.centers, m.outlier, m.family = center, moderated.Outlier[i], moderated.Prior
		df := moderated.DF[i]
		if len(values) < 2 {
			df = 0 // one start says nothing about the next, whatever other benchmarks say
		}
		m.interval = stat.TIntervalKnown(stat.Mean(values), moderated.Variance[i], len(values), df, level)
		m.p, m.se = math.NaN(), math.NaN()
		if df > 0 {
			guarded := m.interval
			guarded.SE = math.Sqrt(moderated.Guarded[i] / float64(len(values)))
			m.se, m.p = guarded.SE, stat.TTest(guarded).P
		}
	}
	return metrics
}

// adjust fills the adjusted p of one metric over all comparisons of the run.
func adjust(subjects []*subject, of func(*subject) *metric) {
	p := make([]float64, len(subjects))
	for i, s := range subjects {
		p[i] = of(s).p
	}
	for i, adjusted := range stat.Holm(p) {
		of(subjects[i]).adjusted = adjusted
	}
}

// judge gives the verdict of a metric for which more is better.
func (m metric) judge(minEffect, verdictLevel float64) dbcanary.Verdict {
	low, high := math.Log1p(-minEffect), math.Log1p(minEffect)
	switch estimate := m.interval.Estimate; {
	case math.IsNaN(m.p):
		return dbcanary.Inconclusive
	case m.adjusted <= 1-verdictLevel && estimate >= high:
		return dbcanary.Faster
	case m.adjusted <= 1-verdictLevel && estimate <= low:
		return dbcanary.Slower
	case m.within(low, high, verdictLevel):
		return dbcanary.Same
	}
	return dbcanary.Inconclusive
}

// leastSpread of a logarithm is what counters and clocks of nanoseconds can show:
// starts of a real server differ by more.
const leastSpread = 1e-9

// leastInstances carry a verdict. What two starts differ by says next to nothing of
// what starts differ by, and a burst of other work is easily in both.
const leastInstances = 3

// isCopied tells that every instance gave the same ratio, so that nothing shows how
// much starts differ: numbers were rounded or copied.
func (m metric) isCopied() bool { return m.interval.N > 1 && m.se < leastSpread }

func opposite(v dbcanary.Verdict) dbcanary.Verdict {
	switch v {
	case dbcanary.Faster:
		return dbcanary.Slower
	case dbcanary.Slower:
		return dbcanary.Faster
	}
	return v
}

// within tells whether the interval at the level lies within the margins, which
// is two one-sided tests at half the error each.
func (m metric) within(low, high, level float64) bool {
	return stat.TOST(withLevel(m.interval, (1+level)/2), low, high).Reject()
}

func withLevel(interval stat.Interval, level float64) stat.Interval {
	interval.Level = level
	return interval
}

func (m metric) ratio() dbcanary.Estimate {
	e := m.interval.Exp()
	if math.IsNaN(e.Estimate) {
		return dbcanary.Estimate{Ratio: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	if m.isCopied() {
		return dbcanary.Estimate{Ratio: e.Estimate, Low: 0, High: math.Inf(1)}
	}
	return dbcanary.Estimate{Ratio: e.Estimate, Low: e.Low, High: e.High}
}

// conclude fills what the report shows from the metrics.
func (s *subject) conclude(verdictLevel float64, family int) {
	s.QPSRatio, s.CPURatio = s.qps.ratio(), s.cpu.ratio()
	s.QPS, s.BaseQPS = s.pairs.medians(func(b block) (float64, float64) { return b.targetQPS, b.baseQPS })
	s.CPUUs, s.BaseCPU = s.pairs.medians(func(b block) (float64, float64) { return b.targetCPU, b.baseCPU })
	if s.pairs.blocks() == 0 {
		s.QPS, s.BaseQPS, s.CPUUs, s.BaseCPU = s.pairs.alone.targetQPS, s.pairs.alone.baseQPS, s.pairs.alone.targetCPU, s.pairs.alone.baseCPU
	}
	s.Instances, s.Blocks, s.VoidSlices = s.qps.interval.N, s.pairs.blocks(), s.pairs.void
	s.Verdict = s.judge(s.qps, verdictLevel)
	if !math.IsNaN(s.cpu.interval.Estimate) {
		s.CPUVerdict = opposite(s.judge(s.cpu, verdictLevel)) // more CPU is worse
	}
	design := s.design(verdictLevel, family)
	s.MinDetectable = s.minDetectable(design)
	s.Reason = s.reason(design, verdictLevel)
	if s.apart {
		s.withhold()
	}
	s.Warnings = s.warnings()
}

// judge gives the verdict of a metric, unless what was measured can't carry one.
func (s *subject) judge(m metric, verdictLevel float64) dbcanary.Verdict {
	if m.interval.N < leastInstances || m.isCopied() || s.pairs.mostlyVoid() {
		return dbcanary.Inconclusive
	}
	return m.judge(s.MinEffect, verdictLevel)
}

// design is the test that the first, strictest step of Holm makes.
func (s *subject) design(verdictLevel float64, family int) stat.Design {
	interval := s.qps.interval
	return stat.Design{
		SD:    s.qps.se * math.Sqrt(float64(interval.N)),
		Alpha: (1 - verdictLevel) / float64(max(1, family)),
		PooledDF: func(n int) float64 {
			return interval.DF * float64(n-1) / float64(max(1, interval.N-1))
		},
	}
}

// minDetectable gives the change that would get a verdict in four runs of five.
func (s *subject) minDetectable(design stat.Design) float64 {
	if math.IsNaN(s.qps.p) || s.qps.se == 0 {
		return math.NaN()
	}
	return detectable(design, s.qps.interval.N, s.MinEffect)
}
