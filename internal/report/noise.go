package report

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/dbcanary/dbcanary"
)

// Noise tells how the slices of a run went.
type Noise struct {
	Slices       int           // all, void ones included
	Void         int           // that don't count
	VoidReasons  []ReasonCount // most frequent first
	MinInstances int           // fewest instances with a valid slice over the targets that have any
	MaxInstances int
}

// ReasonCount is how many slices were void for a reason, without its numbers.
type ReasonCount struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

var numbers = regexp.MustCompile(`[0-9]+([.,][0-9]+)*`)

func noiseOf(trials []dbcanary.Trial) Noise {
	noise := Noise{Slices: len(trials)}
	reasons := map[string]int{}
	instances := map[string]map[int]bool{}
	for _, trial := range trials {
		if trial.Void != "" {
			noise.Void++
			reasons[numbers.ReplaceAllString(trial.Void, "#")]++
			continue
		}
		if instances[trial.Target] == nil {
			instances[trial.Target] = map[int]bool{}
		}
		instances[trial.Target][trial.Instance] = true
	}
	for reason, count := range reasons {
		noise.VoidReasons = append(noise.VoidReasons, ReasonCount{reason, count})
	}
	slices.SortFunc(noise.VoidReasons, func(a, b ReasonCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	for _, seen := range instances {
		if noise.MinInstances == 0 || len(seen) < noise.MinInstances {
			noise.MinInstances = len(seen)
		}
		noise.MaxInstances = max(noise.MaxInstances, len(seen))
	}
	return noise
}
