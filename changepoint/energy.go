package changepoint

// energyWindow finds the change points of one short window. It keeps its
// matrices from window to window.
type energyWindow struct {
	n        int
	distance []float64 // n x n: |x_i - x_j|
	row      []float64 // n x n: row[t][k] = sum of distance[t][t+1..k]
	column   []float64 // column[t] = sum of distance[0..t-1][t]
	// Of the segment that is searched:
	above []float64 // above[k] = sum over t of row[t][k] for the t up to the split
	below []float64
	inner []float64 // inner[t] = sum of the pair distances within the points up to t
}

// bestSplit is the split of [from, to) with the largest energy.
type bestSplit struct {
	from, to, index int
	q               float64
}

// split gives the indexes of the changes in window, sorted. The best split
// over all segments is accepted while its t-test says so; the first that is
// not ends the search.
func (e *energyWindow) split(window []float64, maxP float64) []int {
	e.load(window)
	var found []int
	segments := []bestSplit{e.search(0, len(window))}
	for {
		best := -1
		for i, s := range segments {
			if s.to-s.from > 1 && (best < 0 || s.q > segments[best].q) {
				best = i
			}
		}
		if best < 0 {
			return found
		}
		s := segments[best]
		if !(compareSides(window, s.from, s.index, s.to).PValue <= maxP) {
			return found
		}
		found = insertSorted(found, s.index)
		segments[best] = e.search(s.from, s.index)
		right := e.search(s.index, s.to)
		segments = append(segments, bestSplit{})
		copy(segments[best+2:], segments[best+1:])
		segments[best+1] = right
	}
}

func (e *energyWindow) load(window []float64) {
	n := len(window)
	e.n = n
	if cap(e.distance) < n*n {
		e.distance, e.row = make([]float64, n*n), make([]float64, n*n)
		e.column, e.inner = make([]float64, n), make([]float64, n)
		e.above, e.below = make([]float64, n), make([]float64, n*n)
	}
	e.distance, e.row, e.column = e.distance[:n*n], e.row[:n*n], e.column[:n]
	clear(e.column)
	for i, x := range window {
		sum := 0.0
		for j := i + 1; j < n; j++ {
			d := x - window[j]
			if d < 0 {
				d = -d
			}
			e.distance[i*n+j] = d
			sum += d
			e.row[i*n+j] = sum
			e.column[j] += d
		}
	}
}

// search gives the split t of [from, to) that maximises, over all ends k,
//
//	Q(t, k) = 2/(a+b) between - 2b/((a+b)(a-1)) left - 2a/((a+b)(b-1)) right
//
// where a = t-from, b = k-t, and between, left and right are sums of the
// distances of pairs across and inside [from, t) and [t, k). The sums run in
// the order of Otava's, so that ties fall the same way.
func (e *energyWindow) search(from, to int) bestSplit {
	best := bestSplit{from: from, to: to, index: from + 1}
	if to-from < 2 {
		return best
	}
	n := e.n
	sum := 0.0
	for t := from + 1; t < to; t++ {
		v := 0.0
		for i := range from {
			v += e.distance[i*n+t]
		}
		sum += e.column[t] - v
		e.inner[t] = sum
	}
	// below[t][k] = sum over s from k-1 down to t of row[s][k].
	for k := from + 1; k < to; k++ {
		sum := 0.0
		for t := k - 1; t > from; t-- {
			sum += e.row[t*n+k]
			e.below[t*n+k] = sum
		}
	}
	clear(e.above[from:to])
	first := true
	for t := from + 1; t < to; t++ {
		a := float64(t - from)
		left := 0.0
		if t-1 > from {
			left = e.inner[t-1]
		}
		for k := t; k < to; k++ { // the right side is [t, k]
			e.above[k] += e.row[(t-1)*n+k]
			b := float64(k + 1 - t)
			q := 2 / (a + b) * (e.above[k] - left)
			if a > 1 {
				q -= 2 * b / ((a + b) * (a - 1)) * left
			}
			if b > 1 {
				q -= 2 * a / ((a + b) * (b - 1)) * e.below[t*n+k]
			}
			if first || q > best.q {
				best.q, best.index, first = q, t, false
			}
		}
	}
	return best
}
