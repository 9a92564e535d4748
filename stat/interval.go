package stat

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// tQuantile is the p-quantile of Student's t; the normal for very many degrees of freedom.
func tQuantile(p, df float64) float64 {
	if df > 1e7 {
		return distuv.UnitNormal.Quantile(p)
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
}

// tTail is P(T > t).
func tTail(t, df float64) float64 {
	if df > 1e7 {
		return distuv.UnitNormal.Survival(t)
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.CDF(-t)
}

// TInterval gives the mean of x with Student's t interval,
// mean +/- t(n-1) s/sqrt(n).
func TInterval(x []float64, level float64) Interval {
	values, warnings := finiteOrWarn(x)
	interval := TIntervalKnown(Mean(values), Variance(values), len(values), float64(len(values)-1), level)
	interval.Warnings = append(warnings, interval.Warnings...)
	return interval
}

// TIntervalKnown gives a t interval for a mean of n values whose variance was
// estimated, with df degrees of freedom, from these and other values (see
// Moderate): mean +/- t(df) sqrt(variance/n).
func TIntervalKnown(mean, variance float64, n int, df, level float64) Interval {
	const assumption = "independent values, mean near normal, variance as estimated"
	switch {
	case n <= 0 || math.IsNaN(mean):
		return noInterval(math.NaN(), level, 0, assumption, warnNone)
	case !(df > 0) || math.IsNaN(variance) || math.IsInf(variance, 0) || variance < 0:
		return noInterval(mean, level, n, assumption, warnOne)
	case !validLevel(level):
		return noInterval(mean, level, n, assumption, warnLevel)
	}
	se := math.Sqrt(variance / float64(n))
	half := tQuantile((1+level)/2, df) * se
	interval := Interval{
		Estimate: mean, Low: mean - half, High: mean + half, Level: level,
		N: n, DF: df, SE: se, Assumption: assumption,
	}
	if variance == 0 {
		interval.Warnings = append(interval.Warnings, warnEqual)
	}
	return interval
}

// SignedRankInterval gives the Hodges-Lehmann estimate with the interval that
// inverts the Wilcoxon signed-rank test: the k-th smallest and k-th largest
// Walsh averages, k-1 being the largest w with P(W <= w) <= (1-level)/2
// (Hollander, Wolfe and Chicken (2014), "Nonparametric Statistical Methods",
// 3rd ed., section 3.3). Exact up to 200 values without ties; conservative
// with ties; normal approximation above. With too few values for the level
// (fewer than 6 at 0.95) the interval is infinite, with a warning.
func SignedRankInterval(x []float64, level float64) Interval {
	const assumption = "independent values, symmetric distribution"
	values, warnings := finiteOrWarn(x)
	n := len(values)
	switch {
	case n == 0:
		return noInterval(math.NaN(), level, 0, assumption, append(warnings, warnNone)...)
	case !validLevel(level):
		return noInterval(HodgesLehmann(values), level, n, assumption, append(warnings, warnLevel)...)
	}
	averages := walshAverages(values)
	estimate := sortedQuantile(averages, 0.5)
	if n == 1 {
		return noInterval(estimate, level, n, assumption, append(warnings, warnOne)...)
	}
	below := signedRankQuantile(n, (1-level)/2)
	if below < 0 {
		return noInterval(estimate, level, n, assumption, append(warnings, warnMinimumP)...)
	}
	interval := Interval{
		Estimate: estimate, Low: averages[below], High: averages[len(averages)-1-below],
		Level: level, N: n, DF: math.NaN(), SE: math.NaN(), Assumption: assumption, Warnings: warnings,
	}
	if interval.Low == interval.High {
		interval.Warnings = append(interval.Warnings, warnEqual)
	} else if hasTies(values) {
		interval.Warnings = append(interval.Warnings, warnTies)
	}
	return interval
}

// signedRankQuantile gives the largest w with P(W <= w) <= p, or -1.
func signedRankQuantile(n int, p float64) int {
	if n > exactSignedRank {
		size := float64(n)
		mean := size * (size + 1) / 4
		sd := math.Sqrt(size * (size + 1) * (2*size + 1) / 24)
		return int(math.Floor(mean + sd*distuv.UnitNormal.Quantile(p) - 0.5))
	}
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	sum := 0.0
	for w, probability := range subsetSums(ranks) {
		sum += probability
		if sum > p*(1+1e-12) {
			return w - 1
		}
	}
	return -1
}

func hasTies(values []float64) bool {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return true
		}
	}
	return false
}

// ClusterBootstrap gives the median of the clusters' medians with a percentile
// bootstrap interval that resamples whole clusters, since values of one cluster
// are not independent (Davison and Hinkley (1997), "Bootstrap Methods and their
// Application", section 3.8). The percentiles are widened for few clusters as
// in Hesterberg (2015), "What Teachers Should Know About the Bootstrap":
// alpha/2' = Phi(-sqrt(n/(n-1)) t(alpha/2, n-1)). N counts clusters
// that have a finite value; the same seed gives the same answer. Fewer than one
// resample counts as 1,000.
func ClusterBootstrap(clusters [][]float64, level float64, resamples int, seed uint64) Interval {
	const assumption = "independent clusters that stand for all clusters"
	var warnings []string
	values := make([]float64, 0, len(clusters))
	dropped := 0
	for _, cluster := range clusters {
		kept, lost := Finite(cluster)
		dropped += lost
		if len(kept) > 0 {
			values = append(values, Median(kept))
		}
	}
	if dropped > 0 {
		warnings = append(warnings, warnDropped)
	}
	n := len(values)
	switch {
	case n == 0:
		return noInterval(math.NaN(), level, 0, assumption, append(warnings, warnNone)...)
	case n == 1:
		return noInterval(values[0], level, 1, assumption, append(warnings, warnOne)...)
	case !validLevel(level):
		return noInterval(Median(values), level, n, assumption, append(warnings, warnLevel)...)
	}
	if resamples < 1 {
		resamples = 1000
	}
	random := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	medians, sample := make([]float64, resamples), make([]float64, n)
	for i := range medians {
		for j := range sample {
			sample[j] = values[random.IntN(n)]
		}
		slices.Sort(sample)
		medians[i] = sortedQuantile(sample, 0.5)
	}
	slices.Sort(medians)
	size := float64(n)
	tail := distuv.UnitNormal.CDF(math.Sqrt(size/(size-1)) * tQuantile((1-level)/2, size-1))
	interval := Interval{
		Estimate: Median(values), Low: sortedQuantile(medians, tail), High: sortedQuantile(medians, 1-tail),
		Level: level, N: n, DF: math.NaN(), SE: math.Sqrt(Variance(medians)), Assumption: assumption, Warnings: warnings,
	}
	if n < 10 {
		interval.Warnings = append(interval.Warnings, warnFew)
	}
	if slices.Min(values) == slices.Max(values) {
		interval.Warnings = append(interval.Warnings, warnEqual)
	}
	return interval
}
