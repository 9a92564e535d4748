package stat

import (
	"math"
	"slices"
)

// Interval is an estimate with a confidence interval.
type Interval struct {
	Estimate   float64
	Low        float64
	High       float64
	Level      float64 // nominal: 0.95
	N          int     // values, or clusters where the function says so
	DF         float64 // degrees of freedom of a t interval; +Inf for the normal, NaN if there are none
	SE         float64 // standard error of the estimate; NaN if the method has none
	Assumption string
	Warnings   []string
}

// Exp turns an interval of logarithms into one of ratios. SE stays on the log scale.
func (i Interval) Exp() Interval {
	i.Estimate, i.Low, i.High = math.Exp(i.Estimate), math.Exp(i.Low), math.Exp(i.High)
	return i
}

// Contains tells whether x lies within the interval, ends included.
func (i Interval) Contains(x float64) bool { return i.Low <= x && x <= i.High }

// Test is the result of a test of a null hypothesis.
type Test struct {
	Statistic  float64
	P          float64 // two-sided unless the function says otherwise
	MinP       float64 // the smallest p that this many values can give
	Level      float64 // confidence level asked for: 0.95 rejects at p <= 0.05
	N          int     // values used
	Exact      bool    // p is exact, not an approximation
	Assumption string
	Warnings   []string
}

// Reject tells whether the null hypothesis is rejected at the level.
func (t Test) Reject() bool { return validLevel(t.Level) && t.P <= 1-t.Level }

// The warnings that several functions give.
const (
	warnNone     = "no values"
	warnOne      = "one value gives no interval"
	warnDropped  = "values that are not finite were dropped"
	warnEqual    = "all values are equal, so the spread is unknown and the interval has no width"
	warnLevel    = "the level must lie between 0 and 1"
	warnTies     = "tied values"
	warnZeros    = "zeros were dropped"
	warnFew      = "fewer than 10 clusters: the bootstrap interval is approximate"
	warnMinimumP = "too few values to reject at this level whatever they are"
)

func validLevel(level float64) bool { return level > 0 && level < 1 }

// noInterval is the answer when an interval can't be given.
func noInterval(estimate, level float64, n int, assumption string, warnings ...string) Interval {
	return Interval{
		Estimate: estimate, Low: math.Inf(-1), High: math.Inf(1), Level: level,
		N: n, DF: math.NaN(), SE: math.NaN(), Assumption: assumption, Warnings: warnings,
	}
}

// Finite gives the finite values of x, in a new slice, and how many were dropped.
func Finite(x []float64) (kept []float64, dropped int) {
	kept = make([]float64, 0, len(x))
	for _, value := range x {
		if math.IsNaN(value) || math.IsInf(value, 0) {
			dropped++
			continue
		}
		kept = append(kept, value)
	}
	return kept, dropped
}

func finiteOrWarn(x []float64) (values []float64, warnings []string) {
	values, dropped := Finite(x)
	if dropped > 0 {
		warnings = append(warnings, warnDropped)
	}
	return values, warnings
}

// LogRatios gives log(x[i]/base[i]) for every i up to the shorter length. A
// pair of which one is not positive and finite gives NaN, which the functions
// of this package drop with a warning.
func LogRatios(x, base []float64) []float64 {
	ratios := make([]float64, min(len(x), len(base)))
	for i := range ratios {
		ratios[i] = math.NaN()
		if x[i] > 0 && base[i] > 0 && !math.IsInf(x[i], 0) && !math.IsInf(base[i], 0) {
			ratios[i] = math.Log(x[i]) - math.Log(base[i])
		}
	}
	return ratios
}

// Mean gives the arithmetic mean of the finite values; NaN if there are none.
func Mean(x []float64) float64 {
	sum, n := 0.0, 0
	for _, value := range x {
		if !math.IsNaN(value) && !math.IsInf(value, 0) {
			sum += value
			n++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// Variance gives the sample variance (divisor n-1) of the finite values by the
// two-pass formula; NaN for fewer than two.
func Variance(x []float64) float64 {
	values, _ := Finite(x)
	if len(values) < 2 {
		return math.NaN()
	}
	mean, sum := Mean(values), 0.0
	for _, value := range values {
		sum += (value - mean) * (value - mean)
	}
	return sum / float64(len(values)-1)
}

// Quantile gives the p-quantile of the finite values by linear interpolation
// between order statistics, type 7 of Hyndman and Fan (1996), "Sample Quantiles
// in Statistical Packages"; the default of R and NumPy. NaN for no values or p
// outside [0, 1].
func Quantile(x []float64, p float64) float64 {
	values, _ := Finite(x)
	if len(values) == 0 || !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	slices.Sort(values)
	return sortedQuantile(values, p)
}

func sortedQuantile(sorted []float64, p float64) float64 {
	h := p * float64(len(sorted)-1)
	i := int(h)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// Median gives the median of the finite values; NaN if there are none.
func Median(x []float64) float64 { return Quantile(x, 0.5) }

// MAD gives the median absolute deviation from the median times 1.4826, which
// makes it estimate the standard deviation of normal values; NaN for no values.
func MAD(x []float64) float64 {
	values, _ := Finite(x)
	center := Median(values)
	for i, value := range values {
		values[i] = math.Abs(value - center)
	}
	return 1.482602218505602 * Median(values)
}

// HodgesLehmann gives the median of the Walsh averages (x[i]+x[j])/2, i <= j,
// of the finite values: Hodges and Lehmann (1963), "Estimates of Location Based
// on Rank Tests". It is nearly as efficient as the mean on normal values and
// stands up to 29 % of outliers. Time and memory grow with the square of the
// number of values. NaN for no values.
func HodgesLehmann(x []float64) float64 {
	values, _ := Finite(x)
	if len(values) == 0 {
		return math.NaN()
	}
	return sortedQuantile(walshAverages(values), 0.5)
}

// walshAverages gives the n(n+1)/2 averages, sorted.
func walshAverages(values []float64) []float64 {
	averages := make([]float64, 0, len(values)*(len(values)+1)/2)
	for i, a := range values {
		for _, b := range values[i:] {
			averages = append(averages, a/2+b/2)
		}
	}
	slices.Sort(averages)
	return averages
}
