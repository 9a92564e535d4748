package stat

import "math"

// TwoLevelFit is a one-way random-effects model: value = mean + cluster effect
// + residual.
type TwoLevelFit struct {
	Interval         // of the mean; N counts clusters
	Between  float64 // variance of the cluster effects; 0 if the clusters differ no more than their values do
	Within   float64 // variance of values in a cluster; NaN if no cluster has two values
	Values   int     // finite values
}

// TwoLevel fits the one-way random-effects model to values in clusters (blocks
// in instances). The variance components are those of the analysis of variance
// (Searle, Casella and McCulloch (1992), "Variance Components", chapter
// 3, with n0 for unequal clusters); the mean is the mean of the cluster means with
// a t interval on clusters-1 degrees of freedom, which is exact for clusters of
// equal size and stays near the level for unequal ones (Burdick and Graybill
// (1992), "Confidence Intervals on Variance Components"). Clusters
// without a finite value do not count.
func TwoLevel(clusters [][]float64, level float64) TwoLevelFit {
	var means, sizes []float64
	within, total, dropped := 0.0, 0.0, 0
	for _, cluster := range clusters {
		values, lost := Finite(cluster)
		dropped += lost
		if len(values) == 0 {
			continue
		}
		mean := Mean(values)
		for _, value := range values {
			within += (value - mean) * (value - mean)
		}
		means, sizes, total = append(means, mean), append(sizes, float64(len(values))), total+float64(len(values))
	}
	fit := TwoLevelFit{Interval: TInterval(means, level), Between: math.NaN(), Within: math.NaN(), Values: int(total)}
	fit.Assumption = "independent clusters, cluster means near normal"
	if dropped > 0 {
		fit.Warnings = append(fit.Warnings, warnDropped)
	}
	k := float64(len(means))
	if total > k {
		fit.Within = within / (total - k)
	}
	if k < 2 {
		return fit
	}
	grand, squares := 0.0, 0.0
	for i, size := range sizes {
		grand += size * means[i] / total
		squares += size * size
	}
	between := 0.0
	for i, size := range sizes {
		between += size * (means[i] - grand) * (means[i] - grand) / (k - 1)
	}
	residual := fit.Within
	if math.IsNaN(residual) {
		residual = 0 // one value each: the components can't be told apart
	}
	n0 := (total - squares/total) / (k - 1)
	fit.Between = max(0, (between-residual)/n0)
	return fit
}
