package verdict

import (
	"slices"

	"github.com/dbcanary/dbcanary"
)

// Looks gives the numbers of instances after which a run of at most so many
// instances is judged, so that time goes where doubt is: after 3, then whenever
// there are some 60 % more, and at the end. Few looks cost little: each gets an
// equal share of the error (Options.Looks = len(Looks(most))).
func Looks(most int) []int {
	var looks []int
	for next := 3; next < most; next += max(2, next*3/5) {
		looks = append(looks, next)
	}
	if most >= 2 {
		looks = append(looks, most)
	}
	return looks
}

// Doubtful gives the benchmarks that are inconclusive for any target, in the
// order of the comparisons: those that are worth another instance.
func Doubtful(comparisons []dbcanary.Comparison) []string {
	var labels []string
	for _, c := range comparisons {
		if c.Verdict == dbcanary.Inconclusive && !slices.Contains(labels, c.Benchmark) {
			labels = append(labels, c.Benchmark)
		}
	}
	return labels
}
