package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Design is what power depends on: a two-sided t test of a mean of n values.
type Design struct {
	SD    float64 // standard deviation of one value (an instance's log ratio)
	Alpha float64 // two-sided: 0.05, or 0.05/32 when 32 are compared
	// PooledDF gives the degrees of freedom of the variance at n values; nil
	// stands for n-1.
	PooledDF func(n int) float64
}

func (d Design) df(n int) float64 {
	if d.PooledDF != nil {
		return d.PooledDF(n)
	}
	return float64(n - 1)
}

func (d Design) valid() bool {
	return d.SD >= 0 && !math.IsInf(d.SD, 0) && d.Alpha > 0 && d.Alpha < 1
}

// Power gives the chance that the test of n values rejects when the true mean is
// effect: that of the noncentral t beyond the critical value, both sides,
// P(|Z + lambda| > t(alpha/2) sqrt(V/df)), lambda = effect sqrt(n)/sd, V ~
// chi-square (Cohen (1988), "Statistical Power Analysis", chapter 2; the
// integral over V by Simpson's rule). 0 if there are no degrees of freedom, NaN
// if the design makes no sense.
func (d Design) Power(effect float64, n int) float64 {
	if !d.valid() || math.IsNaN(effect) {
		return math.NaN()
	}
	if n < 1 {
		return 0
	}
	df := d.df(n)
	if !(df > 0) {
		return 0
	}
	if d.SD == 0 {
		if effect == 0 {
			return d.Alpha
		}
		return 1
	}
	return d.rejection(n)(effect)
}

// rejection gives the power at n values as a function of the effect, with what
// does not depend on the effect worked out once. It needs SD > 0 and df > 0.
func (d Design) rejection(n int) func(effect float64) float64 {
	df := d.df(n)
	critical := tQuantile(1-d.Alpha/2, df)
	scales, weights := chiGrid(df)
	return func(effect float64) float64 {
		lambda := math.Abs(effect) * math.Sqrt(float64(n)) / d.SD
		power := 0.0
		for i, scale := range scales {
			power += weights[i] * (normalCDF(lambda-critical*scale) + normalCDF(-lambda-critical*scale))
		}
		return power
	}
}

func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// chiGrid gives points and weights to average a function of sqrt(V/df), V ~
// chi-square with df, by Simpson's rule.
func chiGrid(df float64) (scales, weights []float64) {
	if df > 1e5 {
		return []float64{1}, []float64{1}
	}
	const steps = 160 // even
	chi := distuv.ChiSquared{K: df}
	width := 8 / math.Sqrt(2*df)
	low, high, total := max(0, 1-width), 1+width, 0.0
	for i := range steps + 1 {
		// With few degrees of freedom the critical value is so large that what
		// counts lies close to 0; cubes put the points there.
		u := float64(i) / steps
		scale, slope := low+(high-low)*u, 1.0
		if low == 0 {
			scale, slope = high*u*u*u, 3*u*u
		}
		simpson := 2.0
		switch {
		case i == 0 || i == steps:
			simpson = 1
		case i%2 == 1:
			simpson = 4
		}
		if scale == 0 {
			continue // the slope is 0 there
		}
		// The density of sqrt(V/df) is that of V times dV/dscale = 2 df scale.
		weight := simpson * slope * scale * chi.Prob(df*scale*scale)
		scales, weights, total = append(scales, scale), append(weights, weight), total+weight
	}
	for i := range weights {
		weights[i] /= total
	}
	return scales, weights
}

// MinDetectable gives the smallest true effect (of either sign) that n values
// show with the given power (0.8), to a relative 1e-6. +Inf if there are no
// degrees of freedom, NaN if the design makes no sense.
func (d Design) MinDetectable(n int, power float64) float64 {
	if !d.valid() || !(power > 0 && power < 1) {
		return math.NaN()
	}
	if n < 1 || !(d.df(n) > 0) {
		return math.Inf(1)
	}
	if power <= d.Alpha || d.SD == 0 {
		return 0
	}
	rejection := d.rejection(n)
	short := func(effect float64) float64 { return power - rejection(effect) }
	low, high := 0.0, d.SD
	below, above := short(low), short(high)
	for above > 0 {
		low, below = high, above
		high *= 2
		above = short(high)
	}
	// The Illinois variant of false position (Dowell and Jarratt (1971), BIT 11):
	// an end that stays twice counts half, so that both close in.
	for moved := 0; high-low > 1e-6*high; {
		middle := high - above*(high-low)/(above-below)
		if !(middle > low && middle < high) {
			middle = (low + high) / 2
		}
		if now := short(middle); now > 0 {
			if low, below = middle, now; moved == -1 {
				above /= 2
			}
			moved = -1
		} else {
			if high, above = middle, now; moved == 1 {
				below /= 2
			}
			moved = 1
		}
	}
	return high
}

// SampleSize gives the smallest n, at most most, that shows the effect with the
// given power; ok is false if most does not suffice or the design makes no sense.
func (d Design) SampleSize(effect, power float64, most int) (n int, ok bool) {
	if !d.valid() || !(power > 0 && power < 1) || !(math.Abs(effect) > 0) {
		return 0, false
	}
	return smallest(most, func(n int) bool { return d.Power(effect, n) >= power })
}

// NeededToExclude gives the smallest n, at most most, at which a mean that stays
// where it is now, a distance away from a border, has a two-sided interval that
// no longer reaches the border: t(alpha/2) sd/sqrt(n) <= distance. It answers
// "how many more would settle it" from the estimate at hand, so it holds with a
// chance of about one half; ask Power for more.
func (d Design) NeededToExclude(distance float64, most int) (n int, ok bool) {
	if !d.valid() || !(distance > 0) {
		return 0, false
	}
	return smallest(most, func(n int) bool {
		df := d.df(n)
		return df > 0 && tQuantile(1-d.Alpha/2, df)*d.SD <= distance*math.Sqrt(float64(n))
	})
}

// smallest gives the smallest n in [1, most] for which the rising condition holds.
func smallest(most int, enough func(int) bool) (n int, ok bool) {
	if most < 1 || !enough(most) {
		return 0, false
	}
	low, high := 0, most
	for high-low > 1 {
		if middle := (low + high) / 2; enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}
