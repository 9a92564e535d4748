package changepoint

import (
	"math"
	"slices"
)

// The windows in which candidates are searched.
const (
	windowLength = 50
	windowStep   = windowLength / 2
	coarser      = 4   // each level has a fourth of the points of the one before
	clipAt       = 5   // outliers of a window are clipped at so many deviations
	candidateT   = 2.5 // weakest t of a candidate; the judge decides later
)

// candidates gives the places at which the level may change, sorted. It costs
// time linear in the length of x.
func candidates(x []float64) []int {
	var found []int
	for scale := 1; ; scale *= coarser {
		found = scanWindows(x, scale, found)
		if len(x) < coarser*windowStep {
			break
		}
		x = coarsen(x)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// coarsen replaces each four points by the mean of their middle two, so that a
// single spike does not reach the next level.
func coarsen(x []float64) []float64 {
	y := make([]float64, len(x)/coarser)
	for i := range y {
		four := [coarser]float64(x[i*coarser:])
		slices.Sort(four[:])
		y[i] = middle(four[1], four[2])
	}
	return y
}

// scanWindows appends the changes of all windows of x, in units of the finest level.
func scanWindows(x []float64, scale int, found []int) []int {
	var s windowScan
	for start := 0; start < len(x); {
		last := 0
		for _, i := range s.split(x[start:min(start+windowLength, len(x))]) {
			found = append(found, (start+i)*scale)
			last = max(last, i)
		}
		start += max(last, windowStep)
	}
	return found
}

// windowScan splits a window at its largest CUSUMs.
type windowScan struct {
	sum      [windowLength + 1]float64 // of the clipped values
	square   [windowLength + 1]float64
	values   [windowLength]float64 // scratch
	found    []int
	segments []cusum
}

// cusum is the split of [from, to) with the largest CUSUM.
type cusum struct {
	from, to, index int
	q               float64
}

// split gives the indexes of the changes in window. The split with the largest
// CUSUM of all segments is taken while its t is large enough.
func (s *windowScan) split(window []float64) []int {
	s.load(window)
	s.found = s.found[:0]
	s.segments = append(s.segments[:0], s.search(0, len(window)))
	for {
		best := -1
		for i, g := range s.segments {
			if g.to-g.from > 1 && (best < 0 || g.q > s.segments[best].q) {
				best = i
			}
		}
		if best < 0 {
			return s.found
		}
		g := s.segments[best]
		if !s.passes(g) {
			return s.found
		}
		s.found = append(s.found, g.index)
		s.segments[best] = s.search(g.from, g.index)
		s.segments = append(s.segments, s.search(g.index, g.to))
	}
}

// load keeps sums of the window's values about its median, outliers clipped.
func (s *windowScan) load(window []float64) {
	values := s.values[:copy(s.values[:], window)]
	center := selectMiddle(values)
	for i, v := range values {
		values[i] = math.Abs(v - center)
	}
	limit := clipAt * madToSigma * selectMiddle(values)
	if limit == 0 { // most values are equal
		limit = slices.Max(values)
	}
	for i, v := range window {
		v = min(max(v-center, -limit), limit)
		s.sum[i+1] = s.sum[i] + v
		s.square[i+1] = s.square[i] + v*v
	}
}

func (s *windowScan) search(from, to int) cusum {
	best := cusum{from: from, to: to, index: from + 1, q: -1}
	n := float64(to - from)
	base := s.sum[from]
	mean := (s.sum[to] - base) / n
	for i := from + 1; i < to; i++ {
		a := float64(i - from)
		d := s.sum[i] - base - a*mean
		if q := d * d / (a * (n - a)); q > best.q {
			best.q, best.index = q, i
		}
	}
	best.q *= n
	return best
}

// passes tells whether the t of the split reaches candidateT: q is the sum of
// squares that the split explains.
func (s *windowScan) passes(g cusum) bool {
	n := float64(g.to - g.from)
	sum := s.sum[g.to] - s.sum[g.from]
	total := s.square[g.to] - s.square[g.from] - sum*sum/n
	if n < 3 {
		return g.q > 0
	}
	rest := max(total-g.q, 1e-12*total) // rounding may leave less than nothing
	return g.q > 0 && g.q*(n-2) >= candidateT*candidateT*rest
}
