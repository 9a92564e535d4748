package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// outlierTail is the chance below which a variance is taken to be no member of
// the family that the others form.
const outlierTail = 0.05

// Moderated is the result of Moderate.
type Moderated struct {
	Variance []float64 // best for each sample, for intervals; NaN where neither it nor the others tell
	Guarded  []float64 // never below Variance nor, where the family was used, below the sample's own: for verdicts
	DF       []float64 // degrees of freedom that go with both; 0 where they are NaN
	Outlier  []bool    // too large for the family, so it stands alone

	Prior   float64 // variance of the family; NaN if it can't be told
	PriorDF float64 // how alike the family is: +Inf for equal variances, 0 if nothing is known

	N          int // samples that have a variance
	Assumption string
	Warnings   []string
}

// Moderate makes variances that few values each estimate more certain by letting
// them borrow from each other: each becomes (d0 s0^2 + d s^2)/(d0 + d) with
// d0 + d degrees of freedom, where s0^2 and d0 describe the family, a scaled
// inverse chi-square fitted to the moments of log s^2 (Smyth (2004), "Linear
// Models and Empirical Bayes Methods for Assessing Differential Expression in
// Microarray Experiments", section 6.2). Alike variances give d0 = +Inf, full
// pooling; s0^2 is then the pooled mean square. Very unlike ones give a small d0.
//
// Families of real machines are no inverse chi-squares, so belief in them is bounded:
//   - a sample borrows at most 2 d degrees of freedom (d^2 for d < 2): little
//     while it has few values of its own to contradict the family;
//   - a variance too large for the family (upper tail below 5 %) keeps its own
//     value and degrees of freedom, in the spirit of Phipson et al. (2016),
//     "Robust Hyperparameter Estimation Protects Against Hypervariable Genes";
//   - Guarded moves s0^2 towards the mean square q of the family (without the too
//     large ones), to s0^2 (q/s0^2)^(2/d) if that is more and all the way to q for
//     d <= 2, and is never below the sample's own variance. It keeps the rate of
//     false rejections when a tenth to a quarter of the samples vary several times
//     more than the rest, where Variance alone does not (docs/STATISTICS.md).
//
// mostDF bounds the degrees of freedom, since samples that share causes hold
// less information than their number suggests (see EffectiveSamples); 0 or less
// stands for the sum of dfs. A variance that is not finite or negative, or with
// no degrees of freedom, takes no part and gets the family's.
func Moderate(variances, dfs []float64, mostDF float64) Moderated {
	n := len(variances)
	m := Moderated{
		Variance: make([]float64, n), Guarded: make([]float64, n), DF: make([]float64, n), Outlier: make([]bool, n),
		Prior: math.NaN(), Assumption: "normal values; variances of one family",
	}
	var known, own []float64
	sum := 0.0
	for i := range variances {
		if df := usableDF(variances, dfs, i); df > 0 {
			known, own = append(known, variances[i]), append(own, df)
			sum += df
		}
	}
	m.N = len(known)
	if mostDF <= 0 {
		mostDF = sum
	}
	square := math.NaN()
	switch m.N {
	case 0:
		m.Warnings = append(m.Warnings, warnNone)
	case 1:
		m.Warnings = append(m.Warnings, "one variance has nothing to borrow from")
	default:
		m.Prior, m.PriorDF = fitFamily(known, own)
		square = m.meanSquare(variances, dfs)
	}
	for i, variance := range variances {
		df := usableDF(variances, dfs, i)
		borrowed := min(m.PriorDF, df*df, 2*df)
		switch {
		case df == 0 && m.PriorDF == 0:
			m.Variance[i], m.Guarded[i] = math.NaN(), math.NaN()
		case df == 0:
			m.Variance[i], m.Guarded[i], m.DF[i] = m.Prior, max(m.Prior, square), min(m.PriorDF, mostDF)
		case borrowed == 0 || m.Outlier[i]:
			m.Variance[i], m.Guarded[i], m.DF[i] = variance, variance, df
		default:
			guard := m.Prior * math.Pow(max(1, square/m.Prior), min(1, 2/df))
			m.Variance[i] = (borrowed*m.Prior + df*variance) / (borrowed + df)
			m.Guarded[i] = max(variance, (borrowed*guard+df*variance)/(borrowed+df))
			m.DF[i] = max(df, min(borrowed+df, mostDF))
		}
	}
	return m
}

// usableDF gives the degrees of freedom of a variance that can be used, else 0.
func usableDF(variances, dfs []float64, i int) float64 {
	if i >= len(dfs) || !(dfs[i] > 0) || !(variances[i] >= 0) || math.IsInf(variances[i], 0) {
		return 0
	}
	return dfs[i]
}

// meanSquare marks the variances that are too large for the family and gives the
// mean square of the others.
func (m *Moderated) meanSquare(variances, dfs []float64) float64 {
	squares, total := 0.0, 0.0
	for i, variance := range variances {
		df := usableDF(variances, dfs, i)
		if df == 0 || m.PriorDF == 0 {
			continue
		}
		if m.Outlier[i] = tooLarge(variance/m.Prior, df, m.PriorDF); !m.Outlier[i] {
			squares, total = squares+df*variance, total+df
		}
	}
	if total == 0 {
		return m.Prior
	}
	return squares / total
}

func tooLarge(ratio, df, priorDF float64) bool {
	if priorDF > 1e6 {
		return distuv.ChiSquared{K: df}.Survival(ratio*df) < outlierTail
	}
	return distuv.F{D1: df, D2: priorDF}.Survival(ratio) < outlierTail
}

// fitFamily gives s0^2 and d0 from the mean and variance of log s^2.
func fitFamily(variances, dfs []float64) (prior, priorDF float64) {
	// A variance of 0 comes from equal values; its logarithm would swamp the rest.
	floor := Median(variances) * 1e-5
	if floor == 0 {
		floor = slices.Max(variances) * 1e-5
	}
	if floor == 0 {
		return 0, 0
	}
	e, noise := make([]float64, len(variances)), 0.0
	weighted, total := 0.0, 0.0
	for i, variance := range variances {
		half := dfs[i] / 2
		e[i] = math.Log(max(variance, floor)) - mathext.Digamma(half) + math.Log(half)
		noise += trigamma(half) / float64(len(variances))
		weighted, total = weighted+dfs[i]*variance, total+dfs[i]
	}
	mean, excess := Mean(e), Variance(e)-noise
	if excess <= 0 {
		return weighted / total, math.Inf(1)
	}
	half := inverseTrigamma(excess)
	return math.Exp(mean + mathext.Digamma(half) - math.Log(half)), 2 * half
}

// trigamma is the second derivative of log Gamma, the Hurwitz zeta function at 2.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// inverseTrigamma solves trigamma(y) = x by Newton's method on 1/trigamma, which
// is nearly linear (Smyth (2004), appendix).
func inverseTrigamma(x float64) float64 {
	switch {
	case x > 1e7:
		return 1 / math.Sqrt(x)
	case x < 1e-6:
		return 1 / x
	}
	y := 0.5 + 1/x
	for range 50 {
		value := trigamma(y)
		slope := -2 * mathext.Zeta(3, y)
		step := value * (1 - value/x) / slope
		y += step
		if -step/y < 1e-10 {
			break
		}
	}
	return y
}

// EffectiveSamples tells how many independent samples k samples are worth when
// their variances are pooled. samples[i][j] is sample i in replicate j (a
// benchmark in an instance), NaN where it was not measured. A cause that all
// samples of a replicate share makes their variances rise and fall together:
// the variance of the mean of k variances is then that of k/(1+(k-1) r2)
// independent ones, with r2 the mean squared correlation of two samples. It is
// estimated from all pairs with at least 3 common replicates, minus the 1/(n-1)
// that n independent pairs give by chance. With fewer replicates nothing can be
// learned and r2 = 0.1 is assumed.
func EffectiveSamples(samples [][]float64) float64 {
	k := 0
	sum, weight := 0.0, 0.0
	for i, a := range samples {
		if values, _ := Finite(a); len(values) < 2 {
			continue
		}
		k++
		for _, b := range samples[:i] {
			if squared, n := squaredCorrelation(a, b); n >= 3 {
				chance := 1 / float64(n-1)
				sum += (squared - chance)
				weight += 1 - chance
			}
		}
	}
	if k == 0 {
		return 0
	}
	shared := unknownSharing
	if weight > 0 {
		shared = min(1, max(0, sum/weight))
	}
	return float64(k) / (1 + float64(k-1)*shared)
}

// unknownSharing is the mean squared correlation between samples that is assumed
// while there are too few replicates to see it.
const unknownSharing = 0.1

// squaredCorrelation gives Pearson's r^2 over replicates that both have, and
// their number; a sample without spread does not correlate.
func squaredCorrelation(a, b []float64) (squared float64, n int) {
	var sumA, sumB float64
	for j := range min(len(a), len(b)) {
		if both := a[j] + b[j]; !math.IsNaN(both) && !math.IsInf(both, 0) {
			sumA, sumB, n = sumA+a[j], sumB+b[j], n+1
		}
	}
	if n < 3 {
		return 0, n
	}
	meanA, meanB := sumA/float64(n), sumB/float64(n)
	var aa, bb, ab float64
	for j := range min(len(a), len(b)) {
		if both := a[j] + b[j]; !math.IsNaN(both) && !math.IsInf(both, 0) {
			da, db := a[j]-meanA, b[j]-meanB
			aa, bb, ab = aa+da*da, bb+db*db, ab+da*db
		}
	}
	if aa == 0 || bb == 0 {
		return 0, 0
	}
	return ab * ab / (aa * bb), n
}
