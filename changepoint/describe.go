package changepoint

import (
	"math"
	"slices"
)

// locateAll moves each change to where the step fits best between its neighbours.
func (j *judge) locateAll(changes []int) []int {
	moved := slices.Clone(changes)
	for k := range moved {
		from, to := neighbour(moved, k-1, 0), neighbour(moved, k+1, len(j.x))
		moved[k], _, _ = j.locate(from, moved[k], to, 0)
	}
	return moved
}

// locate gives the place near i at which a step between the medians of both
// sides leaves the smallest sum of absolute deviations, and the interval
// [low, high] of places that holds 95 % of the weight exp(-sum/b), where b is
// the mean absolute deviation: the posterior of the place under Laplace noise.
// For noise of autocorrelation rho, b is larger by (1+rho)/(1-rho).
func (j *judge) locate(from, i, to int, rho float64) (best, low, high int) {
	start, end := max(from, i-j.near), min(to, i+j.near)
	before, after := j.medians(from, i, to, j.near)
	// cost[k] is the sum for a change at start+1+k.
	cost := j.pool[:0]
	sum, deviation := 0.0, 0.0
	best = i
	least := math.Inf(1)
	for k := start; k < end; k++ {
		if k > start {
			cost = append(cost, sum)
			if sum < least || sum == least && k == i {
				least, best = sum, k
			}
		}
		sum += math.Abs(j.x[k]-before) - math.Abs(j.x[k]-after)
		deviation += math.Abs(j.x[k] - level(k, i, before, after))
	}
	j.pool = cost
	b := deviation / float64(end-start) * correlationFactor(rho)
	total := 0.0
	for k, c := range cost {
		weight := 0.0
		if d := c - least; d == 0 {
			weight = 1
		} else if b > 0 {
			weight = math.Exp(-d / b)
		}
		cost[k] = weight
		total += weight
	}
	low, high = best, best
	for held := cost[best-start-1]; held < 0.95*total; {
		lower, upper := -1.0, -1.0
		if low-1 > start {
			lower = cost[low-1-start-1]
		}
		if high+1 < end {
			upper = cost[high+1-start-1]
		}
		if lower < 0 && upper < 0 {
			break
		}
		if lower >= upper {
			low--
			held += lower
		} else {
			high++
			held += upper
		}
	}
	return best, low, high
}

// describe makes the report of a confirmed change at i between its neighbours.
func (j *judge) describe(p *points, from, i, to int, e evidence) Change {
	_, low, high := j.locate(from, i, to, e.lag1)
	low, high = min(low, i), max(high, i)
	left, right := j.sides(from, i, to, j.near)
	c := Change{
		Index: p.first[i], LastGood: p.first[low-1], FirstBad: p.first[high],
		LastGoodPosition: p.position[low-1], FirstBadPosition: p.position[high],
		Before: Level{median(left), len(left)}, After: Level{median(right), len(right)},
		State: Confirmed,
		Judged: Judgement{
			Rule: "near", Threshold: nearThreshold + j.strictness, Visible: e.visible,
			Score: math.Abs(e.rank) + math.Log(e.visible), Ratio: e.ratio, Lag1: e.lag1,
		},
	}
	if e.byWide {
		c.Judged.Rule, c.Judged.Threshold = "wide", wideThreshold+j.strictness
		c.Judged.Score = math.Abs(e.wide) + math.Log(e.visible)
	}
	if j.weight != nil {
		wl, wr := j.weightedSides(from, i, to, j.near)
		c.Before.Median, c.After.Median = weightedMedian(wl), weightedMedian(wr)
	}
	c.Size = c.After.Median - c.Before.Median
	c.SizeLow, c.SizeHigh = shiftInterval(left, right, e.lag1)
	c.SizeLow, c.SizeHigh = min(c.SizeLow, c.Size), max(c.SizeHigh, c.Size)
	return c
}

// shiftInterval is the 95 % interval of the shift between two sorted samples:
// the shifts that a two-sided rank-sum test would not reject (Hodges and
// Lehmann 1963), its deviation widened by sqrt((1+rho)/(1-rho)) for noise of
// autocorrelation rho.
func shiftInterval(left, right []float64, rho float64) (low, high float64) {
	n1, n2 := float64(len(left)), float64(len(right))
	differences := make([]float64, 0, len(left)*len(right))
	for _, b := range right {
		for _, a := range left {
			differences = append(differences, b-a)
		}
	}
	width := 1.96 * math.Sqrt(n1*n2*(n1+n2+1)/12*correlationFactor(rho))
	k := int(math.Floor(n1*n2/2 - width))
	if k < 0 {
		return math.Inf(-1), math.Inf(1)
	}
	low = selectNth(differences, k)
	return low, selectNth(differences, len(differences)-1-k)
}

// correlationFactor is how much first-order autoregression of coefficient rho
// raises the variance of a mean of many points.
func correlationFactor(rho float64) float64 {
	rho = min(max(rho, 0), 0.95)
	return (1 + rho) / (1 - rho)
}

// The rule for suspects: the last one to four points.
const (
	tailPoints    = minSegment - 1
	tailReference = 50 // most points of the last level that they are compared with
	tailLeast     = 10 // fewest
	tailThreshold = 4.0
	tailSingle    = 7.0 // for one point, which a long-tailed noise throws far
)

// suspect looks at the last points of the series, after the last change: if
// they are all beyond all points of the level before them, on the same side, and
// the nearest of them by so many deviations, the level may have changed. The
// longest such tail is reported.
func (j *judge) suspect(p *points, from int) (Change, bool) {
	n := len(j.x)
	for size := tailPoints; size >= 1; size-- {
		i := n - size
		if i-from < tailLeast {
			continue
		}
		reference, tail := j.sides(max(from, i-tailReference), i, n, tailReference)
		center := median(reference)
		deviation := spread(reference, center)
		score := 0.0
		switch {
		case tail[0] > reference[len(reference)-1]:
			score = (tail[0] - center) / deviation
		case tail[len(tail)-1] < reference[0]:
			score = (center - tail[len(tail)-1]) / deviation
		}
		threshold := tailThreshold + j.strictness
		if size == 1 {
			threshold = tailSingle + j.strictness
		}
		if !(score >= threshold) {
			continue
		}
		c := Change{
			Index: p.first[i], LastGood: p.first[i-1], FirstBad: p.first[i],
			LastGoodPosition: p.position[i-1], FirstBadPosition: p.position[i],
			Before: Level{center, len(reference)}, After: Level{median(tail), len(tail)}, State: Suspect,
			Judged: Judgement{
				Rule: "tail", Score: score, Threshold: threshold,
				Visible: math.NaN(), Ratio: math.NaN(), Lag1: math.NaN(),
			},
		}
		c.Size = c.After.Median - center
		c.SizeLow, c.SizeHigh = shiftInterval(reference, tail, 0)
		c.SizeLow, c.SizeHigh = min(c.SizeLow, c.Size), max(c.SizeHigh, c.Size)
		return c, true
	}
	return Change{}, false
}

// spread is the deviation of sorted values about their median; if more than
// half of them are equal, the mean absolute deviation, so that one odd value
// among equal ones still counts.
func spread(sorted []float64, center float64) float64 {
	deviations := make([]float64, len(sorted))
	for i, v := range sorted {
		deviations[i] = math.Abs(v - center)
	}
	sum := mean(deviations)
	if mad := madToSigma * selectMiddle(deviations); mad > 0 {
		return mad
	}
	return sum
}

// Shift estimates how far after lies above before: the difference of the
// medians with the 95 % interval of the rank-sum test, infinite if there are too
// few values for one (three on each side are enough). Missing values are left
// out; an empty side gives NaN.
func Shift(before, after []float64) (size, low, high float64) {
	left, right := finite(before), finite(after)
	if len(left) == 0 || len(right) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	slices.Sort(left)
	slices.Sort(right)
	size = median(right) - median(left)
	low, high = shiftInterval(left, right, 0)
	return size, min(low, size), max(high, size)
}

func finite(values []float64) []float64 {
	var kept []float64
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			kept = append(kept, v)
		}
	}
	return kept
}
