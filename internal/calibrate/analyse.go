package main

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/verdict"
	"github.com/dbcanary/dbcanary/stat"
)

func (r result) comparisons() []dbcanary.Comparison {
	return verdict.Compare(r.run.Plan, r.trials, verdict.Options{MinEffect: r.run.Plan.MinEffect})
}

// falseVerdict is a change that was claimed where nothing differs.
type falseVerdict struct {
	run       string // name of the measurement
	benchmark string
	metric    string // "QPS", "CPU per statement"
	verdict   dbcanary.Verdict
	estimate  dbcanary.Estimate
}

// falseVerdicts lists those of comparisons between equal targets, by both witnesses.
func falseVerdicts(name string, comparisons []dbcanary.Comparison) []falseVerdict {
	var list []falseVerdict
	for _, c := range comparisons {
		if c.Verdict.Differs() {
			list = append(list, falseVerdict{name, c.Benchmark, "QPS", c.Verdict, c.QPSRatio})
		}
		if c.CPUVerdict.Differs() {
			list = append(list, falseVerdict{name, c.Benchmark, "CPU per statement", c.CPUVerdict, c.CPURatio})
		}
	}
	return list
}

// against is what the A/A runs of a target came to.
type against struct {
	target             string
	runs, falseRuns    int
	verdicts           int // on QPS
	same, inconclusive int
	halfWidths         []float64 // of intervals of the ratio of QPS
	instances          []float64 // of each run
	took               []float64 // minutes of each run
	wrong              []falseVerdict
}

// againstThemselves sums the A/A runs up by target, in the order of their first runs;
// a run counts once however many of its verdicts are false.
func againstThemselves(results []result) []against {
	var list []against
	for _, r := range of(partAA, results) {
		target := r.run.Plan.Targets[0]
		at := slices.IndexFunc(list, func(a against) bool { return a.target == target })
		if at < 0 {
			at = len(list)
			list = append(list, against{target: target})
		}
		a := &list[at]
		comparisons := r.comparisons()
		wrong := falseVerdicts(r.Name, comparisons)
		a.runs++
		a.wrong = append(a.wrong, wrong...)
		if len(wrong) > 0 {
			a.falseRuns++
		}
		most := 0
		for _, c := range comparisons {
			a.verdicts++
			switch c.Verdict {
			case dbcanary.Same:
				a.same++
			case dbcanary.Inconclusive:
				a.inconclusive++
			}
			if width := (c.QPSRatio.High - c.QPSRatio.Low) / 2; !math.IsNaN(width) && !math.IsInf(width, 0) {
				a.halfWidths = append(a.halfWidths, width)
			}
			most = max(most, c.Instances)
		}
		a.instances, a.took = append(a.instances, float64(most)), append(a.took, r.run.Ended.Sub(r.run.Started).Minutes())
	}
	return list
}

// shownEffect is what a benchmark of a known effect came to.
type shownEffect struct {
	effect
	comparison dbcanary.Comparison
	mustDiffer bool
}

// outcome says whether the verdict is the one that is known to be right.
func (s shownEffect) outcome() string {
	v := s.comparison.Verdict
	switch {
	case s.mustDiffer && v == s.want:
		return "found"
	case s.mustDiffer && v.Differs():
		return "WRONG SIGN"
	case s.mustDiffer:
		return "not found"
	case v == dbcanary.Same:
		return "same"
	case v.Differs():
		return "FALSE"
	}
	return "no verdict"
}

// shownEffects gives what the runs of effects came to, in the order of the table.
func shownEffects(results []result) []shownEffect {
	var list []shownEffect
	runs := of(partEffects, results)
	for _, e := range effects() {
		at := slices.IndexFunc(runs, func(r result) bool { return r.Name == e.name() })
		if at < 0 {
			continue
		}
		for _, c := range runs[at].comparisons() {
			list = append(list, shownEffect{effect: e, comparison: c, mustDiffer: slices.Contains(e.shown, c.Benchmark)})
		}
	}
	return list
}

// spread is how much a benchmark varies in a setup.
type spread struct {
	target, setup, benchmark string
	qps                      float64 // median of the base
	slice                    float64 // sd of the log rate of a slice within a start
	block, instance          float64 // sds of the log ratio within and between pairs of starts
	instances                int
}

// spreads fits the two levels to the runs of the variance part.
func spreads(results []result) []spread {
	var list []spread
	for _, r := range of(partVariance, results) {
		target := r.run.Plan.Targets[0]
		for _, v := range verdict.Variations(r.run.Plan, r.trials) {
			fit := stat.TwoLevel(v.Ratios, verdict.DefaultLevel)
			list = append(list, spread{
				target: target, setup: strings.TrimPrefix(r.Name, target+" "), benchmark: v.Comparison.Benchmark, qps: v.Comparison.QPS,
				slice: v.Slice, block: math.Sqrt(fit.Within), instance: math.Sqrt(fit.Between), instances: fit.N,
			})
		}
	}
	return list
}

// parts is the variance of a block's log ratio, split by where it comes from.
type parts struct {
	target, benchmark       string
	within, between, layout float64 // shares, which add up to 1; between is what a fixed layout leaves
	random, fixed           spread
}

// varianceParts compares starts with randomised and with fixed address space: what
// they differ by less without randomisation is the layout's share.
func varianceParts(list []spread) []parts {
	var all []parts
	for _, random := range list {
		if random.setup != layoutRandom {
			continue
		}
		at := slices.IndexFunc(list, func(s spread) bool {
			return s.setup == layoutFixed && s.target == random.target && s.benchmark == random.benchmark
		})
		if at < 0 {
			continue
		}
		p := parts{target: random.target, benchmark: random.benchmark, random: random, fixed: list[at]}
		within, between := random.block*random.block, random.instance*random.instance
		rest := min(between, p.fixed.instance*p.fixed.instance)
		total := within + between
		p.within, p.between, p.layout = within/total, rest/total, (between-rest)/total
		all = append(all, p)
	}
	return all
}

// cleared is when a benchmark had its verdict in a run.
type cleared struct {
	comparison dbcanary.Comparison
	after      time.Duration // since the run began, load included; 0 without a verdict
}

// large is the effect that the promise about time is for.
const large = 0.10

// isLarge tells whether the effect is, as far as the run can tell.
func (c cleared) isLarge() bool {
	ratio := c.comparison.QPSRatio.Ratio
	return math.Abs(math.Log(ratio)) >= -math.Log1p(-large)
}

// clearTimes tells when each benchmark of a run first had a verdict: at a look, or at
// the end.
func clearTimes(r result) []cleared {
	var list []cleared
	for _, c := range r.comparisons() {
		one := cleared{comparison: c}
		if c.Verdict != dbcanary.Inconclusive {
			one.after = r.run.Ended.Sub(r.run.Started)
			for _, look := range r.run.Plan.Looks {
				if slices.Contains(verdict.Clear(r.run.Plan, r.trials, look, nil), c.Benchmark) {
					one.after = min(one.after, endOf(r, look))
					break
				}
			}
		}
		list = append(list, one)
	}
	return list
}

// endOf is when the first so many instances had ended, since the run began.
func endOf(r result, instances int) time.Duration {
	var end time.Time
	for i := range r.trials {
		t := &r.trials[i]
		if ended := t.Started.Add(time.Duration(t.ElapsedNs)); t.Instance < instances && ended.After(end) {
			end = ended
		}
	}
	return end.Sub(r.run.Started)
}
