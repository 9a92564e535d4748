package report

import (
	"fmt"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// headline says in one sentence how a target did, verdict words first.
func (r *Report) headline(target string) string {
	all := r.of(target)
	if len(all) == 0 {
		return fmt.Sprintf("%s was not compared: the plan has no benchmarks", target)
	}
	if r.baseFailed() {
		return r.notCompared(target)
	}
	counts := map[dbcanary.Verdict]int{}
	extremes := map[dbcanary.Verdict]dbcanary.Comparison{}
	for _, c := range all {
		counts[c.Verdict]++
		most, seen := extremes[c.Verdict]
		if !seen || c.Verdict == dbcanary.Slower && c.QPSRatio.Ratio < most.QPSRatio.Ratio ||
			c.Verdict == dbcanary.Faster && c.QPSRatio.Ratio > most.QPSRatio.Ratio {
			extremes[c.Verdict] = c
		}
	}
	base := r.base()
	var lead string
	var rest []dbcanary.Verdict
	switch {
	case counts[dbcanary.Slower] > 0:
		lead = fmt.Sprintf("%s is slower than %s %s", target, base, inMost(extremes[dbcanary.Slower], counts, len(all)))
		rest = []dbcanary.Verdict{dbcanary.Faster, dbcanary.Same, dbcanary.Inconclusive}
	case counts[dbcanary.Faster] > 0:
		lead = fmt.Sprintf("%s is faster than %s %s", target, base, inMost(extremes[dbcanary.Faster], counts, len(all)))
		rest = []dbcanary.Verdict{dbcanary.Same, dbcanary.Inconclusive}
	case counts[dbcanary.Same] > 0:
		lead = fmt.Sprintf("%s is the same as %s %s", target, base, share(counts[dbcanary.Same], len(all)))
		rest = []dbcanary.Verdict{dbcanary.Inconclusive}
	default:
		return fmt.Sprintf("%s against %s is inconclusive %s", target, base, share(len(all), len(all)))
	}
	var others []string
	for _, v := range rest {
		if counts[v] > 0 {
			others = append(others, fmt.Sprintf("%d %s", counts[v], v))
		}
	}
	if len(others) == 0 {
		return lead
	}
	return lead + "; " + strings.Join(others, ", ")
}

// inMost says in how many benchmarks, and in which one most: "in 4 of 10
// benchmarks (update-index most, -12 %)".
func inMost(most dbcanary.Comparison, counts map[dbcanary.Verdict]int, all int) string {
	count := counts[most.Verdict]
	if count == 1 {
		return fmt.Sprintf("%s (%s, %s)", share(1, all), most.Benchmark, changeText(most.QPSRatio.Ratio))
	}
	return fmt.Sprintf("%s (%s most, %s)", share(count, all), most.Benchmark, changeText(most.QPSRatio.Ratio))
}

func share(count, all int) string {
	switch {
	case all == 1:
		return "in the only benchmark"
	case count == all && all == 2:
		return "in both benchmarks"
	case count == all:
		return fmt.Sprintf("in all %d benchmarks", all)
	}
	return fmt.Sprintf("in %d of %d benchmarks", count, all)
}

// headlines gives the sentences of all bases.
func (r *Report) headlines() []string {
	lines := r.ownHeadlines()
	for _, further := range r.Further {
		lines = append(lines, further.sentences(r)...)
	}
	return lines
}

// ownHeadlines gives those of one base, and what is wrong with the run as a whole
// before them.
func (r *Report) ownHeadlines() []string {
	if len(r.compared()) == 0 {
		return []string{"There is nothing to compare: the run has fewer than two targets."}
	}
	if r.Noise.Slices == r.Noise.Void {
		return append([]string{"No slice was measured that counts."}, r.sentences(r)...)
	}
	return r.sentences(r)
}

// sentences gives the sentence of each target in the order of the plan, after what is
// wrong with the base; if that failed, there is no more to say. whole is the report
// against all bases.
func (r *Report) sentences(whole *Report) []string {
	var lines []string
	if note := r.baseNote(whole); note != "" {
		lines = append(lines, note)
	}
	if r.baseFailed() {
		return lines
	}
	dropped := map[string]bool{}
	for _, target := range r.Run.Targets {
		dropped[target.Name] = target.Dropped != ""
	}
	for _, target := range r.compared() {
		text := r.headline(target)
		if dropped[target] {
			text += "; it was dropped before the end"
		}
		lines = append(lines, text+".")
	}
	return lines
}

// stateNote says what the reader of an unfinished run must know.
func (r *Report) stateNote() string {
	switch r.Run.State {
	case dbcanary.RunRunning:
		return "The run is still going on; this is what it has measured so far."
	case dbcanary.RunInterrupted:
		return fmt.Sprintf("The run was interrupted; dbcanary resume %d goes on with it.", r.Run.ID)
	case dbcanary.RunFailed:
		return fmt.Sprintf("The run failed; dbcanary resume %d tries to go on with it.", r.Run.ID)
	}
	return ""
}
