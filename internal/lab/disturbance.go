package lab

import (
	"fmt"
	"slices"

	"github.com/dbcanary/dbcanary"
)

// A slice is disturbed if the rest of the host took much more CPU time in it than
// is normal in this run: the median of the slices so far plus a margin, which is
// a share of one CPU or three times the spread. On a host that is always busy that
// is normal, and its slices count: it widens the intervals instead.
const (
	disturbanceMargin = 0.15 // of a CPU
	disturbanceSpread = 3.0  // median absolute deviations, scaled to a standard deviation
	normalSlices      = 10   // slices before what is normal is known
	madToSD           = 1.4826
)

// otherCPUs is how many CPUs did something else during the slice, -1 if unknown.
func otherCPUs(trial *dbcanary.Trial) float64 {
	if trial.ForeignCPUNs < 0 || trial.StealNs < 0 || trial.ElapsedNs <= 0 {
		return -1
	}
	return float64(trial.ForeignCPUNs+trial.StealNs) / float64(trial.ElapsedNs)
}

// disturbance says why a slice is disturbed, or "". before are the shares of the
// slices so far, disturbed ones too: a median does not mind a few.
func disturbance(share float64, before []float64) string {
	if share < 0 || len(before) < normalSlices {
		return ""
	}
	normal := median(before)
	deviations := make([]float64, len(before))
	for i, other := range before {
		deviations[i] = max(other-normal, normal-other)
	}
	margin := max(disturbanceMargin, disturbanceSpread*madToSD*median(deviations))
	if share <= normal+margin {
		return ""
	}
	return fmt.Sprintf("other work took %.2f CPUs, normally %.2f in this run", share, normal)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
