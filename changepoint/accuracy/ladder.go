package main

import (
	"math/rand/v2"

	"github.com/dbcanary/dbcanary/changepoint"
)

// ladders measures the two levels of a release ladder, and how often a step of
// one version in the middle is found: 100 % with 2 % between instances.
func (r *report) ladders(repeats int) {
	r.printf("Release ladders, 2 %% between instances: share flagged (confirmed) without a change; share that find a step of 5 %% and of 3 %% within one version, confirmed\n\n")
	for _, shape := range [][2]int{{5, 3}, {5, 5}, {10, 3}, {10, 5}, {10, 10}, {30, 5}, {60, 5}} {
		random := rand.New(rand.NewPCG(uint64(shape[0]), uint64(shape[1])))
		flagged, confirmed := 0, 0
		found := [2]int{}
		for range repeats {
			for _, c := range ladderChanges(random, shape, 0) {
				flagged++
				if c.State == changepoint.Confirmed {
					confirmed++
				}
				break
			}
			for k, step := range []float64{5, 3} {
				for _, c := range ladderChanges(random, shape, step) {
					if c.State == changepoint.Confirmed && max(c.Index-shape[0]/2, shape[0]/2-c.Index) <= 1 {
						found[k]++
						break
					}
				}
			}
		}
		n := float64(repeats)
		r.printf("%2d versions of %2d instances: %.4f (%.4f); %.3f %.3f\n", shape[0], shape[1],
			float64(flagged)/n, float64(confirmed)/n, float64(found[0])/n, float64(found[1])/n)
	}
	r.printf("\n")
}

func ladderChanges(random *rand.Rand, shape [2]int, step float64) []changepoint.Change {
	versions := make([][]float64, shape[0])
	for i := range versions {
		level := base
		if i >= shape[0]/2 {
			level += step
		}
		for range shape[1] {
			versions[i] = append(versions[i], level+sigma*random.NormFloat64())
		}
	}
	result, err := changepoint.Ladder(versions, changepoint.Options{})
	if err != nil {
		panic(err) // the values are finite
	}
	return result.Changes
}
