package changepoint

import (
	"math"
	"slices"
)

// The rule by which a change is judged; doc.go states it, docs/CHANGEPOINT.md
// gives the reasons, the cross-validation and the simulations behind each number.
const (
	nearPoints    = 25  // most points of each side that the near rule looks at
	nearThreshold = 2.2 // of rank z + ln(step/range)
	widePoints    = 200
	wideThreshold = 7.0
	minSegment    = 5 // points that a level must have

	plotPoints = 500 // to both sides of a change: the plot in which it must be seen
	plotNoise  = 80  // the plot is at most so many noise deviations high, so that one wild value hides little

	madToSigma = 1.4826 // makes the median absolute deviation a standard deviation for normal noise
	blockSize  = 50     // points whose extremes are kept together
)

// judge weighs the evidence for changes in one series.
type judge struct {
	x          []float64
	weight     []float64
	near       int
	strictness float64
	noise      float64
	low, high  []float64 // extremes of each block of blockSize points
	left       []float64 // scratch
	right      []float64
	pool       []float64
}

// evidence is what is known about a change at one place between its neighbours.
type evidence struct {
	rank      float64 // rank-sum z of the near points
	step      float64 // the smaller of the differences of medians and means, with its sign
	visible   float64 // |step| / height of the plot
	wide      float64 // rank-sum z of the wide points; NaN if it was not needed
	ratio     float64 // log likelihood ratio against autocorrelated noise; NaN if it was not needed
	lag1      float64 // autocorrelation of the noise; NaN if it was not needed
	byWide    bool    // the wide rule decided
	margin    float64 // negative fails, larger is surer
	leftSize  int     // points that rank looked at
	rightSize int
}

func newJudge(p *points, near int, strictness float64) *judge {
	j := &judge{x: p.x, weight: p.weight, near: near, strictness: strictness}
	j.noise = noiseOf(p.x)
	blocks := (len(p.x) + blockSize - 1) / blockSize
	j.low, j.high = make([]float64, blocks), make([]float64, blocks)
	for b := range blocks {
		block := p.x[b*blockSize : min((b+1)*blockSize, len(p.x))]
		j.low[b], j.high[b] = slices.Min(block), slices.Max(block)
	}
	return j
}

// noiseOf estimates the standard deviation of the noise from the differences
// of neighbours, which a change of level hardly moves: their median, or their
// mean if more than half of them are 0.
func noiseOf(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	differences := make([]float64, len(x)-1)
	sum := 0.0
	for i := range differences {
		differences[i] = math.Abs(x[i+1]/2 - x[i]/2) // halves do not overflow
		sum += differences[i] / float64(len(differences))
	}
	if m := 2 * madToSigma * selectMiddle(differences) / math.Sqrt2; m > 0 {
		return m
	}
	return 2 * sum
}

// height is that of the plot around point i.
func (j *judge) height(i int) float64 {
	from, to := max(0, i-plotPoints)/blockSize, min(len(j.x)-1, i+plotPoints)/blockSize
	low, high := j.low[from], j.high[from]
	for b := from + 1; b <= to; b++ {
		low, high = min(low, j.low[b]), max(high, j.high[b])
	}
	return min(high-low, plotNoise*j.noise)
}

// sides copies up to size points of each side of i within [from, to), sorted.
func (j *judge) sides(from, i, to, size int) (left, right []float64) {
	j.left = append(j.left[:0], j.x[max(from, i-size):i]...)
	j.right = append(j.right[:0], j.x[i:min(to, i+size)]...)
	slices.Sort(j.left)
	slices.Sort(j.right)
	return j.left, j.right
}

// medians gives the medians of up to size points of each side of i.
func (j *judge) medians(from, i, to, size int) (before, after float64) {
	j.left = append(j.left[:0], j.x[max(from, i-size):i]...)
	j.right = append(j.right[:0], j.x[i:min(to, i+size)]...)
	return selectMiddle(j.left), selectMiddle(j.right)
}

// nearEvidence looks at the near points only; its margin may still be saved by
// the wide rule or spoilt by the likelihood ratio. Segments shorter than least fail.
func (j *judge) nearEvidence(from, i, to, least int) evidence {
	e := evidence{wide: math.NaN(), ratio: math.NaN(), lag1: math.NaN()}
	if j.weight == nil {
		left, right := j.sides(from, i, to, j.near)
		e.rank = rankZ(left, right)
		e.step = commonStep(median(right)-median(left), mean(right)-mean(left))
		e.leftSize, e.rightSize = len(left), len(right)
	} else {
		left, right := j.weightedSides(from, i, to, j.near)
		e.rank = weightedRankZ(left, right)
		e.step = commonStep(weightedMedian(right)-weightedMedian(left), weightedMean(right)-weightedMean(left))
		e.leftSize, e.rightSize = len(left), len(right)
	}
	if min(i-from, to-i) < least {
		// Fails before any longer segment does, the smallest step first; a step
		// counts by the squares that it explains, but a spike not by its height.
		n1, n2 := float64(e.leftSize), float64(e.rightSize)
		e.margin = min(math.Abs(e.step)/j.noise, clipAt)*math.Sqrt(n1*n2/(n1+n2)) - 100
		return e
	}
	if e.step == 0 {
		e.margin = math.Abs(e.rank) - 10
		return e
	}
	e.visible = math.Abs(e.step) / j.height(i)
	e.margin = math.Abs(e.rank) + math.Log(e.visible) - nearThreshold - j.strictness
	return e
}

// coarse is the evidence for a candidate whose place is not yet exact.
func (j *judge) coarse(from, i, to int) evidence {
	return j.nearEvidence(from, i, to, minSegment-2)
}

// evidence judges a change at i between the changes from and to.
func (j *judge) evidence(from, i, to int) evidence {
	e := j.nearEvidence(from, i, to, minSegment)
	if e.step == 0 || min(i-from, to-i) < minSegment {
		return e
	}
	if e.margin < 0 && max(i-from, to-i) > j.near {
		e.wide = j.wideZ(from, i, to)
		if wide := math.Abs(e.wide) + math.Log(e.visible) - wideThreshold - j.strictness; wide > e.margin {
			e.margin, e.byWide = wide, true
		}
	}
	if e.margin >= 0 {
		e.ratio, e.lag1 = j.againstCorrelation(from, i, to)
		if e.ratio < ratioThreshold {
			e.margin = e.ratio/ratioThreshold - 1
		}
	}
	return e
}

func (j *judge) wideZ(from, i, to int) float64 {
	if j.weight == nil {
		return rankZ(j.sides(from, i, to, widePoints))
	}
	return weightedRankZ(j.weightedSides(from, i, to, widePoints))
}

// commonStep is the smaller of two estimates of a step, 0 if they disagree
// about its direction. The medians alone jump with bimodal noise, the means
// alone with a spike.
func commonStep(medians, means float64) float64 {
	switch {
	case medians*means <= 0 && !(medians > 0 && means > 0) && !(medians < 0 && means < 0):
		return 0
	case math.Abs(means) < math.Abs(medians):
		return means
	}
	return medians
}

// rankZ is the rank-sum z-score between sorted samples, positive if right is
// larger. The variance is that without ties, which is larger than the one with
// them: heavily rounded values must show more than others.
func rankZ(left, right []float64) float64 {
	u := 0.0 // pairs with right larger minus pairs with left larger
	a, b := 0, 0
	for a < len(left) && b < len(right) {
		v := min(left[a], right[b])
		startA, startB := a, b
		for a < len(left) && left[a] == v {
			a++
		}
		for b < len(right) && right[b] == v {
			b++
		}
		u += float64(b-startB) * float64(startA-(len(left)-a))
	}
	u += float64(len(right)-b) * float64(len(left))
	n1, n2 := float64(len(left)), float64(len(right))
	return u / math.Sqrt(n1*n2*(n1+n2+1)/3)
}

func mean(values []float64) float64 {
	sum, n := 0.0, float64(len(values))
	for _, v := range values {
		sum += v / n
	}
	return sum
}

// selectMiddle is the median of values, which it reorders.
func selectMiddle(values []float64) float64 {
	n := len(values)
	upper := selectNth(values, n/2)
	if n%2 == 1 {
		return upper
	}
	return middle(slices.Max(values[:n/2]), upper)
}

// selectNth moves the k-th smallest value to values[k], no larger ones before
// it and no smaller ones after it, and gives it. Expected time is linear.
func selectNth(values []float64, k int) float64 {
	low, high := 0, len(values)-1
	for low < high {
		a, b, c := values[low], values[middleIndex(low, high)], values[high]
		pivot := max(min(a, b), min(max(a, b), c))
		i, m := low, high
		for i <= m {
			for values[i] < pivot {
				i++
			}
			for values[m] > pivot {
				m--
			}
			if i <= m {
				values[i], values[m] = values[m], values[i]
				i++
				m--
			}
		}
		switch {
		case k <= m:
			high = m
		case k >= i:
			low = i
		default:
			return values[k]
		}
	}
	return values[k]
}

func middleIndex(low, high int) int { return low + (high-low)/2 }
