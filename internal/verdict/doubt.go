package verdict

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// Looks gives the numbers of instances after which a run of about so many instances
// is judged while it goes on, so that time goes where doubt is: after 3, then
// whenever there are some 60 % more. The last look, at the end, is not among them.
// Few looks cost little.
func Looks(expected int) []int {
	var looks []int
	for next := 3; next < expected; next += max(2, next*3/5) {
		looks = append(looks, next)
	}
	return looks
}

// LooksText lists looks for a reader: "3, 5 or 8" with "or" before the last.
func LooksText(looks []int, before string) string {
	var text strings.Builder
	for i, look := range looks {
		switch {
		case i == 0:
		case i == len(looks)-1:
			text.WriteString(" " + before + " ")
		default:
			text.WriteString(", ")
		}
		text.WriteString(strconv.Itoa(look))
	}
	return text.String()
}

// Clear gives the benchmarks that need no further instance after so many: those
// that had a verdict for every target at the last of the plan's looks until then.
// It depends on the trials alone, so that a run that was interrupted goes on as it
// would have. What was clear and is no longer at a later look is measured again.
// Doubt about targets that were dropped does not count.
func Clear(plan dbcanary.Plan, trials []dbcanary.Trial, instances int, dropped []string) []string {
	last := 0
	for _, look := range plan.Looks {
		if look <= instances {
			last = max(last, look)
		}
	}
	if last == 0 {
		return nil
	}
	before := make([]dbcanary.Trial, 0, len(trials))
	for i := range trials {
		if trials[i].Instance < last {
			before = append(before, trials[i])
		}
	}
	var labels, doubtful []string
	for _, c := range Compare(plan, before, Options{early: true}) {
		if !slices.Contains(labels, c.Benchmark) {
			labels = append(labels, c.Benchmark)
		}
		if c.Verdict == dbcanary.Inconclusive && !slices.Contains(dropped, c.Target) {
			doubtful = append(doubtful, c.Benchmark)
		}
	}
	return slices.DeleteFunc(labels, func(label string) bool { return slices.Contains(doubtful, label) })
}
