package changepoint

import "math"

// The likelihood ratio against noise that is autocorrelated and has no change.
const (
	ratioThreshold = 19.0
	// ratioPrior is the weight of a normal prior with deviation 1/4 on the
	// autocorrelation, in units of -2 log likelihood: without it a step in a
	// short series passes for strong autocorrelation.
	ratioPrior  = 16.0
	ratioClipAt = 3 // deviations at which both sides are clipped
)

// againstCorrelation compares two explanations of the points around i: a step
// plus first-order autoregressive noise, and such noise alone. It gives twice
// the log likelihood ratio, and the autocorrelation that is left beside the step.
//
// A rank test takes each point as a witness of its own and so sees changes in
// any autocorrelated noise. Correcting it by the autocorrelation beside the
// step alone would not do: the chosen step has taken a part of it away.
func (j *judge) againstCorrelation(from, i, to int) (ratio, lag1 float64) {
	start, end := max(from, i-widePoints), min(to, i+widePoints)
	before, after := j.medians(from, i, to, widePoints)
	deviations := j.pool[:0]
	for k := start; k < end; k++ {
		deviations = append(deviations, math.Abs(j.x[k]-level(k, i, before, after)))
	}
	limit := ratioClipAt * madToSigma * selectMiddle(deviations)
	if limit == 0 { // most values are equal
		limit = ratioClipAt * j.noise
	}
	y := deviations // read no more
	for k := start; k < end; k++ {
		center := level(k, i, before, after)
		y[k-start] = (min(max(j.x[k]-center, -limit), limit) + center - before) / limit
	}
	j.pool = y
	alone, rhoAlone := autoregress(y, 0)
	beside, rhoBeside := autoregress(y, i-start)
	switch {
	case limit == 0, beside <= 0 && alone > 0:
		return math.Inf(1), 0
	case beside <= 0:
		return 0, 0
	}
	ratio = float64(len(y)-1)*math.Log(alone/beside) + ratioPrior*(rhoAlone*rhoAlone-rhoBeside*rhoBeside)
	return ratio, rhoBeside
}

func level(k, i int, before, after float64) float64 {
	if k < i {
		return before
	}
	return after
}

// autoregress fits a first-order autoregression, not negative, to y about the
// means of y[:split] and y[split:]; it gives the residual sum of squares and
// the coefficient.
func autoregress(y []float64, split int) (rss, rho float64) {
	var before float64
	if split > 0 {
		before = mean(y[:split])
	}
	after := mean(y[split:])
	var cross, past, present, previous float64
	for k, v := range y {
		v -= level(k, split, before, after)
		if k > 0 {
			cross += v * previous
			past += previous * previous
			present += v * v
		}
		previous = v
	}
	if past > 0 {
		rho = max(0, cross/past)
	}
	return present - 2*rho*cross + rho*rho*past, rho
}
