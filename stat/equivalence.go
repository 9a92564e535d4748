package stat

import "math"

// TTest gives the two-sided p of "the mean is 0" for an interval that has a
// standard error and degrees of freedom (TInterval, TIntervalKnown, TwoLevel).
// Without them p = 1; with a standard error of 0, p is 0 unless the estimate is 0.
func TTest(i Interval) Test {
	test := Test{Statistic: math.NaN(), P: 1, Level: i.Level, N: i.N, Assumption: i.Assumption, Warnings: i.Warnings}
	if math.IsNaN(i.SE) || math.IsNaN(i.DF) || math.IsNaN(i.Estimate) {
		test.MinP = 1
		return warnMinP(test)
	}
	test.Exact = true
	test.P = min(1, 2*tailBeyond(math.Abs(i.Estimate), i.SE, i.DF))
	if i.SE > 0 {
		test.Statistic = i.Estimate / i.SE
	}
	return test
}

// tailBeyond is P(T > distance/se).
func tailBeyond(distance, se, df float64) float64 {
	if se > 0 {
		return tTail(distance/se, df)
	}
	switch {
	case distance > 0:
		return 0
	case distance < 0:
		return 1
	}
	return 0.5
}

// Equivalence is the result of TOST.
type Equivalence struct {
	Test              // one-sided: the larger of the two p
	Low, High float64 // the margins
}

// TOST gives the two one-sided t tests of "the mean lies outside (low, high)"
// (Schuirmann (1987), "A Comparison of the Two One-Sided Tests Procedure and the
// Power Approach"). Reject tells that equivalence is shown at the interval's
// level: p <= 1-level, the same as the interval at 2 level - 1 lying within the
// margins. A mean without a standard error is never equivalent (p = 1).
func TOST(mean Interval, low, high float64) Equivalence {
	result := Equivalence{
		Test: Test{Statistic: math.NaN(), P: 1, Level: mean.Level, N: mean.N, Assumption: mean.Assumption, Warnings: mean.Warnings},
		Low:  low, High: high,
	}
	if math.IsNaN(mean.SE) || math.IsNaN(mean.DF) || math.IsNaN(mean.Estimate) || !(low < high) {
		result.MinP = 1
		return result
	}
	result.Exact = true
	result.P = max(tailBeyond(mean.Estimate-low, mean.SE, mean.DF), tailBeyond(high-mean.Estimate, mean.SE, mean.DF))
	if mean.SE > 0 {
		result.Statistic = min(mean.Estimate-low, high-mean.Estimate) / mean.SE
	}
	return result
}
