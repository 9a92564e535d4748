package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/stat"
)

// page is docs/CALIBRATION.md before it is written.
type page struct {
	strings.Builder
	results     []result
	against     []against
	effects     []shownEffect
	spreads     []spread
	parts       []parts
	pools       []recorded
	simulated   []simulated
	grid        []gridCell
	simulations int
}

// newPage computes everything from what is stored: the same store gives the same page.
func newPage(results []result, simulations int) *page {
	p := &page{
		results: results, simulations: simulations,
		against: againstThemselves(results), effects: shownEffects(results), spreads: spreads(results), pools: recordedNoise(results),
	}
	p.parts = varianceParts(p.spreads)
	var group sync.WaitGroup
	group.Go(func() { p.grid = simulateGrid(simulations) })
	ofPools := make([][]simulated, len(p.pools))
	for i, pool := range p.pools {
		group.Go(func() { ofPools[i] = simulateRecorded(pool, simulations) })
	}
	group.Wait()
	p.simulated = slices.Concat(ofPools...)
	return p
}

// line writes a formatted line.
func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", args...)
}

// table writes the head of a table.
func (p *page) table(columns ...string) {
	p.line("| %s |", strings.Join(columns, " | "))
	p.line("|%s", strings.Repeat("---|", len(columns)))
}

func (p *page) row(cells ...string) { p.line("| %s |", strings.Join(cells, " | ")) }

func (p *page) markdown() string {
	p.line("# Calibration\n")
	p.line("What the verdicts of dbcanary are worth, measured on real servers. `make calibrate` measures and writes this page; no number\n" +
		"on it is written by hand, and a claim that does not hold says so. [METHOD.md](METHOD.md) has the method, [STATISTICS.md](STATISTICS.md) the formulas.\n")
	p.claims()
	p.host()
	p.againstThemselves()
	p.knownEffects()
	p.quick()
	p.variance()
	p.recordedSimulation()
	p.gridSimulation()
	p.commands()
	return p.String()
}

func (p *page) claims() {
	p.line("## What is claimed\n")
	p.table("claim", "found", "")
	for _, c := range []claim{
		p.claimAgainst(), p.claimEffects(), p.claimUntouched(), p.claimQuick(), p.claimVariance(), p.claimSuites(), p.claimPower(), p.claimCoverage(true), p.claimCoverage(false),
	} {
		p.row(c.text, c.found, "**"+c.state+"**")
	}
	p.line("")
}

func (p *page) host() {
	p.line("## Host and versions\n")
	if len(p.results) == 0 {
		p.line("Nothing is measured.\n")
		return
	}
	first, last := p.results[0].run, p.results[0].run
	builds, programs := map[string]bool{}, map[string]bool{}
	for _, r := range p.results {
		if r.run.Started.Before(first.Started) {
			first = r.run
		}
		if r.run.Started.After(last.Started) {
			last = r.run
		}
		programs[r.run.Program] = true
		for _, target := range r.run.Targets {
			builds[fmt.Sprintf("%s %s (%s)", target.Build.Family, target.Build.Version, target.Build.Provider)] = true
		}
	}
	const day = "2006-01-02 15:04"
	p.line("Measured from %s to %s UTC: %s, with dbcanary %s.\n", first.Started.UTC().Format(day), last.Ended.UTC().Format(day),
		count(len(p.results), "run"), strings.Join(sorted(programs), ", "))
	h := last.Host
	p.line("- %s, %s, %.1f GiB, %s", h.CPU, count(h.CPUs, "CPU"), float64(h.MemoryBytes)/(1<<30), orUnknown(h.Virtual, "no hypervisor told"))
	p.line("- %s, Linux %s, data on %s", h.OS, h.Kernel, h.Filesystem)
	p.line("- %s\n", strings.Join(sorted(builds), ", "))
}

func (p *page) againstThemselves() {
	p.line("## Targets against themselves\n")
	if len(p.against) == 0 {
		p.line("Not measured.\n")
		return
	}
	p.line("Suite, sizes and looks as `compare` has them unless told; the same target on both sides. A run is false if any of its verdicts is\n" +
		"`faster` or `slower`, on QPS or on CPU per statement.\n")
	p.table("target", "runs", "false runs", "verdicts on QPS: same", "inconclusive", "false", "half-width of intervals, median", "90th percentile", "instances", "minutes of a run")
	for _, a := range p.against {
		wrong := a.verdicts - a.same - a.inconclusive
		p.row(a.target, fmt.Sprint(a.runs), fmt.Sprint(a.falseRuns), share(a.same, a.verdicts), share(a.inconclusive, a.verdicts), fmt.Sprint(wrong),
			percent(stat.Median(a.halfWidths)), percent(stat.Quantile(a.halfWidths, 0.9)), decimal(stat.Median(a.instances)), decimal(stat.Median(a.took)))
	}
	p.line("")
	for _, a := range p.against {
		for _, f := range a.wrong {
			p.line("- false: run %s, `%s`, %s: %s, ratio %s", f.run, f.benchmark, f.metric, f.verdict, estimate(f.estimate))
		}
	}
	p.line("")
}

func (p *page) knownEffects() {
	p.line("## Known effects\n")
	if len(p.effects) == 0 {
		p.line("Not measured.\n")
		return
	}
	p.table("change", "base", "benchmark", "must be", "verdict", "QPS", "CPU per statement", "instances", "")
	for _, s := range p.effects {
		want := "same"
		if s.mustDiffer {
			want = string(s.want)
		}
		c := s.comparison
		p.row(s.about, s.base, "`"+c.Benchmark+"`", want, string(c.Verdict), estimate(c.QPSRatio), estimate(c.CPURatio), fmt.Sprint(c.Instances), s.outcome())
	}
	p.line("\n`query` is `SELECT 1`. What a benchmark that must be `same` says otherwise is FALSE if it claims a change, and else no verdict.\n")
}

func (p *page) quick() {
	p.line("## Time until verdicts are clear\n")
	runs := of(partQuick, p.results)
	if len(runs) == 0 {
		p.line("Not measured.\n")
		return
	}
	for _, r := range runs {
		p.line("%s, quick suite, defaults, load included; the run took %s.\n", r.Name, minutes(r.run.Ended.Sub(r.run.Started)))
		p.table("benchmark", "QPS", "verdict", "effect of 10 % or more", "clear after")
		for _, c := range clearTimes(r) {
			after := "-"
			if c.after > 0 {
				after = minutes(c.after)
			}
			p.row("`"+c.comparison.Benchmark+"`", estimate(c.comparison.QPSRatio), string(c.comparison.Verdict), yes(c.isLarge()), after)
		}
		p.line("")
	}
}

func (p *page) variance() {
	p.line("## Where the variance comes from\n")
	if len(p.spreads) == 0 {
		p.line("Not measured.\n")
		return
	}
	p.line("Each target against itself, all benchmarks in all instances. The variance of a block's log ratio has two levels: blocks of one pair of\n" +
		"starts, and pairs of starts (one-way random effects). What pairs of starts differ by less when address-space randomisation is off for\n" +
		"servers and client is the share of the layout.\n")
	p.table("target", "benchmark", "within an instance", "between instances, layout", "between instances, rest", "sd within", "sd between, layout random", "sd between, layout fixed", "instances random, fixed")
	for _, s := range p.parts {
		p.row(s.target, "`"+s.benchmark+"`", ofAll(s.within), ofAll(s.layout), ofAll(s.between), percent(s.random.block), percent(s.random.instance), percent(s.fixed.instance),
			fmt.Sprintf("%d, %d", s.random.instances, s.fixed.instances))
	}
	p.line("\nA variance from n pairs of starts is itself known to about a factor of 1 ± √(2/(n−1)); a share of 0 %% means less than chance shows.\n")
	p.line("### Placement\n")
	p.line("One connection; `same` has client and servers on one CPU, `split` on different ones, `free` leaves them to the scheduler.\n")
	p.table("target", "benchmark", "placement, layout", "QPS", "sd of a slice's rate", "sd of a block's ratio", "sd of pairs of starts", "instances")
	for _, target := range p.spreads {
		p.row(target.target, "`"+target.benchmark+"`", target.setup, fmt.Sprintf("%.0f", target.qps), percent(target.slice), percent(target.block), percent(target.instance), fmt.Sprint(target.instances))
	}
	p.line("")
}

func (p *page) recordedSimulation() {
	p.line("## Simulation on recorded noise\n")
	if len(p.simulated) == 0 {
		p.line("No A/A run is recorded.\n")
		return
	}
	p.line("Suites of %d benchmarks composed of the instances of the A/A runs above: each start is one recorded pair of starts, drawn whole with\n"+
		"replacement, with all its benchmarks and its blocks; groups of as many benchmarks as the recorded suite has are drawn apart. They are judged\n"+
		"by the product's own code with the looks that it has in a run of so many instances, where what is clear is measured no further. %s a cell,\n"+
		"a fifth of that for power; the standard error of a rate of 5 %% is %s.\n", suiteSize, count(p.simulations, "suite"), percent(math.Sqrt(0.05*0.95/float64(p.simulations))))
	for _, pool := range p.pools {
		how := "drawn as they were recorded"
		if !pool.isEnough() {
			how = fmt.Sprintf("too few: instead normal deviates as wide as what was recorded (parametric); it takes %d of each benchmark", enough)
		}
		p.line("- %s: %s, %s; load %s s, a start %s s, a benchmark %s s in an instance of both targets", pool.target, count(len(pool.instances), "recorded instance"), how,
			decimal(pool.load), decimal(pool.start), decimal(pool.benchmark))
	}
	p.line("")
	p.table("noise of", "instances", "minutes", "suites with a false verdict", "coverage of 95 % intervals", "3 % slower found", "5 % slower found", "unchanged decided")
	for _, s := range p.simulated {
		p.row(s.target, fmt.Sprint(s.instances), decimal(s.minutes), percent(s.unchanged.Wrong), percent(s.unchanged.Covered), ofAll(s.slower[0.03]), ofAll(s.slower[0.05]), ofAll(s.unchanged.Settled))
	}
	p.line("\nInstances are those that everything gets if nothing is clear early. Every fourth benchmark is slower; decided are unchanged benchmarks with\na verdict.\n")
}

func (p *page) gridSimulation() {
	p.line("## Intervals over a grid of variances\n")
	p.line("Parametric: machines whose starts and slices vary as named, suites of %d unchanged benchmarks, three blocks, judged once; %s a cell.\n", suiteSize, count(p.simulations, "suite"))
	p.table("machine", "instances", "coverage of 95 % intervals", "suites with a false verdict")
	for _, cell := range p.grid {
		p.row(cell.machine.Name, fmt.Sprint(cell.instances), percent(cell.outcome.Covered), percent(cell.outcome.Wrong))
	}
	p.line("")
}

func (p *page) commands() {
	p.line("## Commands\n")
	p.line("`make calibrate` measures what its store has not yet and writes this page; `make calibrate ARGS=-report` writes it again from the store. The\nruns are these:\n")
	p.line("```")
	var seen []string
	times := map[string]int{}
	for _, r := range p.results {
		command := r.command("dbcanary")
		if times[command] == 0 {
			seen = append(seen, command)
		}
		times[command]++
	}
	for _, command := range seen {
		if n := times[command]; n > 1 {
			command += fmt.Sprintf("  # %d times", n)
		}
		p.line("%s", command)
	}
	p.line("```")
}

func sorted(set map[string]bool) []string {
	var list []string
	for text := range set {
		list = append(list, text)
	}
	slices.Sort(list)
	return list
}

func orUnknown(text, unknown string) string {
	if text == "" {
		return unknown
	}
	return text
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(of))
}

// ofAll is a share in whole percent, "-" if it is unknown.
func ofAll(fraction float64) string {
	if math.IsNaN(fraction) {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*fraction)
}

func percent(fraction float64) string {
	switch {
	case math.IsNaN(fraction) || math.IsInf(fraction, 0):
		return "-"
	case fraction < 0.01:
		return fmt.Sprintf("%.2f %%", 100*fraction)
	}
	return fmt.Sprintf("%.1f %%", 100*fraction)
}

func decimal(value float64) string {
	if math.IsNaN(value) {
		return "-"
	}
	return fmt.Sprintf("%.1f", value)
}

func minutes(d time.Duration) string { return fmt.Sprintf("%.1f min", d.Minutes()) }

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func estimate(e dbcanary.Estimate) string {
	switch {
	case math.IsNaN(e.Ratio):
		return "-"
	case math.IsInf(e.High, 0):
		return fmt.Sprintf("%.3f", e.Ratio)
	}
	return fmt.Sprintf("%.3f (%.3f–%.3f)", e.Ratio, e.Low, e.High)
}
