package changepoint

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// EDivisiveOptions are the parameters of Apache Otava, with Otava's names and
// meaning.
type EDivisiveOptions struct {
	Window       int     // length of a window in points, at least 2; Otava's default is 50
	MaxPValue    float64 // largest p of a change; Otava's default is 0.001
	MinMagnitude float64 // smallest relative change, 0.05 for 5 %; Otava's default is 0
}

// DefaultEDivisive gives Otava 0.8.0's own defaults. They report a change in
// most series in which a human sees none; a MaxPValue of 1e-6 does better.
func DefaultEDivisive() EDivisiveOptions {
	return EDivisiveOptions{Window: 50, MaxPValue: 0.001}
}

// EDivisiveChange is a change point as Otava reports it.
type EDivisiveChange struct {
	Index         int     // first point after the change
	Before, After float64 // means of the segments on both sides
	// StdBefore and StdAfter are population standard deviations (divided by n),
	// as Otava computes them.
	StdBefore, StdAfter float64
	PValue              float64 // of a pooled-variance t-test; not a true p, since the split was chosen to be the best
}

// magnitude is the larger of the relative changes seen from the left and from the right.
func (c EDivisiveChange) magnitude() float64 {
	forward, backward := 0.0, 0.0
	if c.Before != 0 {
		forward = c.After/c.Before - 1
	}
	if c.After != 0 {
		backward = c.Before/c.After - 1
	}
	return math.Max(math.Abs(forward), math.Abs(backward))
}

// EDivisive finds change points by E-divisive means as Apache Otava 0.8.0 does
// it: the energy statistic over all pairs (split, end) in windows that overlap
// by half, a pooled-variance t-test as the stopping rule, and backward
// elimination over the whole series. Indexes, means and deviations are Otava's
// own; it is here for users who come from there, Detect is the better judge.
//
// A NaN is a missing value and takes the value before it (at the start: the
// one after it), as Otava treats a missing value. An infinite value, or no
// value at all, is an error.
//
// Sources: Matteson and James, A Nonparametric Approach for Multiple Change
// Point Analysis of Multivariate Data (2014); Fleming et al., Hunter: Using
// Change Point Detection to Hunt for Performance Regressions (2023).
func EDivisive(values []float64, opts EDivisiveOptions) ([]EDivisiveChange, error) {
	if opts.Window < 2 {
		return nil, fmt.Errorf("the window is %d points, it must be 2 or more", opts.Window)
	}
	if !(opts.MaxPValue > 0 && opts.MaxPValue < 1) {
		return nil, fmt.Errorf("the largest p is %v, it must lie between 0 and 1", opts.MaxPValue)
	}
	if !(opts.MinMagnitude >= 0) {
		return nil, fmt.Errorf("the smallest magnitude is %v, it must not be negative", opts.MinMagnitude)
	}
	series, err := fillMissing(values)
	if err != nil {
		return nil, err
	}
	weak := splitInWindows(series, opts.Window, firstPassPValue(opts.MaxPValue))
	return mergeWeak(weak, series, opts), nil
}

func firstPassPValue(p float64) float64 {
	switch {
	case p < 0.05:
		return p * 10
	case p < 0.5:
		return p * 2
	}
	return p
}

func fillMissing(values []float64) ([]float64, error) {
	series := make([]float64, len(values))
	copy(series, values)
	first := -1
	for i, v := range series {
		if math.IsInf(v, 0) {
			return nil, fmt.Errorf("value %d is infinite", i)
		}
		switch {
		case !math.IsNaN(v) && first < 0:
			first = i
		case math.IsNaN(v) && first >= 0:
			series[i] = series[i-1]
		}
	}
	if first < 0 {
		return nil, errors.New("the series has no values")
	}
	for i := range first {
		series[i] = series[first]
	}
	return series, nil
}

// splitInWindows finds the weak change points: each accepted within its
// window, their statistics then taken between their neighbours.
func splitInWindows(series []float64, window int, maxP float64) []EDivisiveChange {
	var found []int // sorted; a window starts at or after the last change of the one before, so no repeats but at its start
	var energy energyWindow
	step := window / 2
	for start := 0; start < len(series); {
		end := min(start+window, len(series))
		fresh := energy.split(series[start:end], maxP)
		next := start + step
		if len(fresh) > 0 {
			next = max(next, start+fresh[len(fresh)-1])
		}
		for _, i := range fresh {
			found = insertSorted(found, start+i)
		}
		start = next
	}
	changes := make([]EDivisiveChange, len(found))
	for i := range found {
		changes[i] = compareSides(series, neighbour(found, i-1, 0), found[i], neighbour(found, i+1, len(series)))
	}
	return changes
}

func neighbour(sorted []int, i, otherwise int) int {
	if i < 0 || i >= len(sorted) {
		return otherwise
	}
	return sorted[i]
}

func insertSorted(sorted []int, v int) []int {
	i := len(sorted)
	for i > 0 && sorted[i-1] > v {
		i--
	}
	if i > 0 && sorted[i-1] == v {
		return sorted
	}
	sorted = append(sorted, 0)
	copy(sorted[i+1:], sorted[i:])
	sorted[i] = v
	return sorted
}

// mergeWeak deletes the weakest change until all that are left pass: first by
// the largest p, then by the smallest magnitude.
func mergeWeak(changes []EDivisiveChange, series []float64, opts EDivisiveOptions) []EDivisiveChange {
	for len(changes) > 0 {
		weakest := 0
		for i, c := range changes {
			if c.PValue > changes[weakest].PValue {
				weakest = i
			}
		}
		if changes[weakest].PValue < opts.MaxPValue {
			weakest = 0
			for i, c := range changes {
				if c.magnitude() < changes[weakest].magnitude() {
					weakest = i
				}
			}
			if changes[weakest].magnitude() > opts.MinMagnitude {
				return changes
			}
		}
		changes = append(changes[:weakest], changes[weakest+1:]...)
		// Otava recomputes the two changes after the deleted one; the one before
		// it keeps the statistics that it had.
		for i := weakest; i <= weakest+1 && i < len(changes); i++ {
			from, to := 0, len(series)
			if i > 0 {
				from = changes[i-1].Index
			}
			if i+1 < len(changes) {
				to = changes[i+1].Index
			}
			changes[i] = compareSides(series, from, changes[i].Index, to)
		}
	}
	return changes
}

// compareSides does Otava's t-test between series[from:index] and
// series[index:to]: pooled variance, from deviations that were divided by n.
func compareSides(series []float64, from, index, to int) EDivisiveChange {
	left, right := series[from:index], series[index:to]
	c := EDivisiveChange{Index: index, PValue: 1}
	c.Before, c.StdBefore = meanAndStd(left)
	c.After, c.StdAfter = meanAndStd(right)
	n1, n2 := float64(len(left)), float64(len(right))
	if df := n1 + n2 - 2; df > 0 {
		variance := ((n1-1)*c.StdBefore*c.StdBefore + (n2-1)*c.StdAfter*c.StdAfter) / df
		t := (c.Before - c.After) / math.Sqrt(variance*(1/n1+1/n2))
		c.PValue = twoSidedT(t, df)
	}
	return c
}

func twoSidedT(t, df float64) float64 {
	switch {
	case math.IsNaN(t): // no difference and no variance
		return math.NaN()
	case math.IsInf(t, 0):
		return 0
	}
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.CDF(-math.Abs(t))
}

func meanAndStd(values []float64) (mean, std float64) {
	n := float64(len(values))
	mean = pairwiseSum(values, func(v float64) float64 { return v }) / n
	if len(values) < 2 {
		return mean, 0
	}
	ss := pairwiseSum(values, func(v float64) float64 { return (v - mean) * (v - mean) })
	return mean, math.Sqrt(ss / n)
}

// pairwiseSum adds f(v) in the order in which NumPy adds, so that sums that are
// equal there are equal here: eight running sums in blocks of up to 128, then halves.
func pairwiseSum(values []float64, f func(float64) float64) float64 {
	n := len(values)
	if n < 8 {
		sum := 0.0
		for _, v := range values {
			sum += f(v)
		}
		return sum
	}
	if n > 128 {
		half := n / 2
		half -= half % 8
		return pairwiseSum(values[:half], f) + pairwiseSum(values[half:], f)
	}
	var r [8]float64
	for j := range 8 {
		r[j] = f(values[j])
	}
	i := 8
	for ; i < n-n%8; i += 8 {
		for j := range 8 {
			r[j] += f(values[i+j])
		}
	}
	sum := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	for ; i < n; i++ {
		sum += f(values[i])
	}
	return sum
}
