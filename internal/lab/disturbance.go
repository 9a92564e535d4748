package lab

import (
	"fmt"
	"slices"

	"github.com/dbcanary/dbcanary"
)

// A slice is disturbed if the rest of the host took much more CPU time in it than
// is normal for its benchmark in this run: the median of the slices so far plus a
// margin, which is a share of one CPU or three times the spread. By benchmark,
// since after writes the kernel and the servers write pages out, which belongs to
// them. On a host that is always busy that is normal, and its slices count: it
// widens the intervals instead.
const (
	disturbanceMargin = 0.15 // of a CPU
	disturbanceSpread = 3.0  // median absolute deviations, scaled to a standard deviation
	normalSlices      = 10   // slices of a benchmark before what is normal is known
	changedMargin     = 0.25 // of a CPU, between the halves of a run
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
	return fmt.Sprintf("other work took %.2f CPUs, normally %.2f for this benchmark", share, normal)
}

// changedLoad says whether the host did much more, or less, beside the second half
// of the slices than beside the first, or "": what was measured early then
// compares badly with what was measured late.
func changedLoad(shares []float64) string {
	if len(shares) < 2*normalSlices {
		return ""
	}
	first, second := median(shares[:len(shares)/2]), median(shares[len(shares)/2:])
	if max(first-second, second-first) <= changedMargin {
		return ""
	}
	return fmt.Sprintf("the host did not stay as it was: other work took %.2f CPUs in the first half of the slices and %.2f in the second", first, second)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
