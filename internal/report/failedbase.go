package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// measuredOn tells of each target on which benchmarks it has a slice that counts.
func (r *Report) measuredOn() map[string]map[string]bool {
	measured := map[string]map[string]bool{}
	for _, one := range r.Instances {
		if measured[one.Target] == nil {
			measured[one.Target] = map[string]bool{}
		}
		measured[one.Target][one.Benchmark] = true
	}
	return measured
}

// withoutBase lists the benchmarks of which only other targets than the base have a
// slice that counts, though it should have one too.
func (r *Report) withoutBase() []string {
	measured := r.measuredOn()
	var without []string
	for _, b := range r.Run.Plan.Benchmarks {
		others := slices.ContainsFunc(r.compared(), func(target string) bool { return measured[target][b.Label] })
		if others && !measured[r.base()][b.Label] && r.Run.Plan.Applies(b.Label, r.base()) {
			without = append(without, b.Label)
		}
	}
	return without
}

// baseFailed tells that others were measured and the base was not at all.
func (r *Report) baseFailed() bool {
	return len(r.measuredOn()[r.base()]) == 0 && len(r.withoutBase()) > 0
}

// Note says that there are no ratios to a base, or not to all of it, since it failed,
// why, and how to compare with another target; "" if that is not so.
func (r *Report) Note() string {
	var notes []string
	for _, view := range r.views() {
		if note := view.baseNote(r); note != "" {
			notes = append(notes, note)
		}
	}
	return strings.Join(notes, " ")
}

// baseNote is the note of one base of the whole report.
func (r *Report) baseNote(whole *Report) string {
	without, dropped, text := r.withoutBase(), r.droppedBase(), ""
	switch {
	case len(r.Instances) == 0:
		return "" // nothing was measured: the base is no exception
	case r.baseFailed():
		text = fmt.Sprintf("The base %s failed, so nothing is compared with it", r.base())
	case len(without) > 0:
		text = fmt.Sprintf("The base %s failed on %s, so nothing is compared with it there", r.base(), benchmarksText(without))
	case dropped != "":
		text = fmt.Sprintf("The base %s was dropped before the end, and what came after is compared with nothing", r.base())
	default:
		return ""
	}
	if reason := r.failureOfBase(without); reason != "" {
		text += ": " + reason
	}
	return strings.TrimSuffix(text, ".") + ". " + whole.otherBase(without)
}

func (r *Report) droppedBase() string {
	for _, t := range r.Run.Targets {
		if t.Name == r.base() {
			return t.Dropped
		}
	}
	return ""
}

// failureOfBase says why the base has no slice that counts of some benchmarks.
func (r *Report) failureOfBase(benchmarks []string) string {
	if dropped := r.droppedBase(); dropped != "" {
		return dropped
	}
	counts, most := map[string]int{}, ""
	for i := range r.trials {
		t := &r.trials[i]
		if t.Void == "" || t.Target != r.base() || !slices.Contains(benchmarks, t.Benchmark) {
			continue
		}
		if counts[t.Void]++; counts[t.Void] > counts[most] {
			most = t.Void
		}
	}
	return most
}

// otherBase offers the target that has been measured on most of some benchmarks, of
// those that are no base yet and have something to be compared with; no benchmarks
// stand for all.
func (r *Report) otherBase(benchmarks []string) string {
	measured := r.measuredOn()
	common := func(a, b string) (count int) {
		for label := range measured[a] {
			if measured[b][label] && (len(benchmarks) == 0 || slices.Contains(benchmarks, label)) {
				count++
			}
		}
		return count
	}
	bases := map[string]bool{}
	for _, view := range r.views() {
		bases[view.base()] = true
	}
	best, most := "", 0
	for _, candidate := range r.Run.Plan.Targets {
		if bases[candidate] {
			continue
		}
		count := 0
		for _, other := range r.Run.Plan.Targets {
			if other != candidate && !bases[other] {
				count += common(candidate, other)
			}
		}
		if count > most {
			best, most = candidate, count
		}
	}
	if best == "" {
		return "No two other targets have a slice of the same benchmark that counts, so no other base can be offered: measure again."
	}
	return fmt.Sprintf("`dbcanary report %d --base %s` compares the others with each other.", r.Run.ID, argument(best))
}

// plainArgument is what no shell reads as anything but itself.
var plainArgument = regexp.MustCompile(`^[A-Za-z0-9@%+=:,./_-]+$`)

// argument quotes a name for a shell, if it needs that.
func argument(name string) string {
	if plainArgument.MatchString(name) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// benchmarksText names benchmarks, the first few of many.
func benchmarksText(labels []string) string {
	const most = 3
	if len(labels) <= most {
		return strings.Join(labels, ", ")
	}
	return fmt.Sprintf("%s (%s, …)", countText(len(labels), "benchmark", "benchmarks"), strings.Join(labels[:most], ", "))
}

// notCompared is the sentence of a target whose base failed.
func (r *Report) notCompared(target string) string {
	return fmt.Sprintf("%s was not compared: the base %s failed", target, r.base())
}
