package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary/changepoint"
)

// Group is the changes of several series that came at one position.
type Group struct {
	At      string
	Members []Member // the largest relative change first
}

// Member is a change and the series that it is of.
type Member struct {
	Finding *Finding
	Change  *Change
}

// groups puts changes together whose intervals share a position: again and
// again the position that explains most changes takes them, the one that most of
// them name themselves if several do.
func groups(findings []Finding) []Group {
	var open []Member
	for i := range findings {
		for k := range findings[i].Changes {
			open = append(open, Member{&findings[i], &findings[i].Changes[k]})
		}
	}
	var all []Group
	for len(open) > 0 {
		at := mostShared(open)
		g := Group{At: at}
		var rest []Member
		for _, m := range open {
			if m.covers(at) {
				g.Members = append(g.Members, m)
			} else {
				rest = append(rest, m)
			}
		}
		slices.SortStableFunc(g.Members, func(a, b Member) int { return cmp.Compare(b.magnitude(), a.magnitude()) })
		all, open = append(all, g), rest
	}
	order := labelOrder(findings)
	slices.SortStableFunc(all, func(a, b Group) int { return order[a.At] - order[b.At] })
	return all
}

func (m Member) covers(label string) bool {
	for i := m.Change.lastGood + 1; i <= m.Change.firstBad; i++ {
		if m.Finding.Positions[i].Label == label {
			return true
		}
	}
	return false
}

// magnitude is the relative size, infinite if the level before is 0.
func (m Member) magnitude() float64 {
	size, _, _ := m.Change.Relative()
	if math.IsNaN(size) {
		return math.Inf(1)
	}
	return math.Abs(size)
}

func mostShared(open []Member) string {
	type votes struct{ covered, named, first int }
	count := map[string]*votes{}
	for k, m := range open {
		for i := m.Change.lastGood + 1; i <= m.Change.firstBad; i++ {
			label := m.Finding.Positions[i].Label
			v := count[label]
			if v == nil {
				v = &votes{first: k}
				count[label] = v
			}
			v.covered++
			if i == m.Change.at {
				v.named++
			}
		}
	}
	best, most := "", &votes{first: len(open)}
	for label, v := range count {
		if c := cmp.Or(cmp.Compare(v.covered, most.covered), cmp.Compare(v.named, most.named),
			cmp.Compare(most.first, v.first), cmp.Compare(best, label)); best == "" || c > 0 {
			best, most = label, v
		}
	}
	return best
}

// labelOrder gives each label a place: that of the series that has it first,
// relative to its length, so that series of different starts go together.
func labelOrder(findings []Finding) map[string]int {
	order := map[string]int{}
	for _, f := range findings {
		last := -1
		for _, p := range f.Positions {
			place, ok := order[p.Label]
			if !ok {
				place = last + 1
				order[p.Label] = place
			}
			last = max(last, place)
		}
	}
	return order
}

// Headline is the group in one line: "8.0.30: 12 benchmarks slower, scan most, -11 %".
func (g Group) Headline() string {
	var parts []string
	for _, word := range []string{"slower", "worse", "up", "down", "faster", "better"} {
		var members []Member
		for _, m := range g.Members {
			if m.Change.Word == word {
				members = append(members, m)
			}
		}
		if len(members) > 0 {
			parts = append(parts, countNames(members)+" "+word+", "+most(members))
		}
	}
	text := shortLabel(g.At) + ": " + strings.Join(parts, "; ")
	if marks := g.marks(); len(marks) > 0 {
		text += " (" + strings.Join(marks, "; ") + ")"
	}
	return text
}

// countNames says how many of what: benchmarks, metrics of one benchmark, or series of both.
func countNames(members []Member) string {
	benchmarks, metrics := map[string]bool{}, map[string]bool{}
	for _, m := range members {
		benchmarks[m.Finding.Series.Benchmark] = true
		metrics[m.Finding.Series.Metric] = true
	}
	switch {
	case len(members) == 1:
		return name(members[0].Finding.Series)
	case len(benchmarks) == len(members):
		return plural(len(members), "benchmark")
	case len(benchmarks) == 1 && len(metrics) == len(members):
		return plural(len(members), "metric") + " of " + members[0].Finding.Series.Benchmark
	case len(metrics) == 1:
		return fmt.Sprintf("%s (%s)", plural(len(benchmarks), "benchmark"), plural(len(members), "series"))
	}
	return fmt.Sprintf("%s of %s", plural(len(members), "series"), plural(len(benchmarks), "benchmark"))
}

func most(members []Member) string {
	if len(members) == 1 {
		return sizeText(members[0].Change.Change)
	}
	largest := members[0] // they are sorted
	text := name(largest.Finding.Series)
	if !slices.ContainsFunc(members, func(m Member) bool { return m.Finding.Series.Benchmark != largest.Finding.Series.Benchmark }) {
		text = largest.Finding.Series.Metric
	} else if !slices.ContainsFunc(members, func(m Member) bool { return m.Finding.Series.Metric != largest.Finding.Series.Metric }) {
		text = largest.Finding.Series.Benchmark
	}
	return text + " most, " + sizeText(largest.Change.Change)
}

// marks says what is common to the members or holds for some: suspects, known, environment.
func (g Group) marks() []string {
	var marks []string
	suspects, fresh := 0, 0
	var known, environment []string
	for _, m := range g.Members {
		if m.Change.State == changepoint.Suspect {
			suspects++
		}
		if m.Change.Known == nil {
			fresh++
		} else if text := m.Change.Known.summary(); !slices.Contains(known, text) {
			known = append(known, text)
		}
		for _, text := range m.Change.Environment {
			if !slices.Contains(environment, text) {
				environment = append(environment, text)
			}
		}
	}
	if suspects == len(g.Members) {
		marks = append(marks, "suspect")
	} else if suspects > 0 {
		marks = append(marks, fmt.Sprintf("%d suspect", suspects))
	}
	for _, text := range environment {
		marks = append(marks, "environment: "+text)
	}
	marks = append(marks, known...)
	if fresh > 0 && fresh < len(g.Members) {
		marks = append(marks, fmt.Sprintf("%d new", fresh))
	}
	return marks
}
