package changepoint

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// The levels of a ladder: the chance that a ladder without a change shows one.
const (
	ladderConfirmed = 0.01
	ladderSuspect   = 0.05
)

// ErrNoRepeats is the error for a ladder without two instances of any version.
var ErrNoRepeats = errors.New("no version has two instances: measure each version several times")

// Ladder finds the changes of a release ladder: for each version, in order,
// one value of each of its instances (starts of the server), usually the median of
// what was measured in it. The instance is the unit of replication: feeding
// every sample as if it were an instance makes almost any ladder look broken.
//
// The versions are cut into levels by least squares with a price per change.
// A change is then judged by the t of the two levels beside it, with the variance
// between instances pooled over all versions and a Bonferroni factor for the
// places where it could have been; the weakest is deleted until all pass. It is
// confirmed if the ladder would show such a change by chance in 1 % of cases,
// suspect for 5 %. Positive values are compared by their logarithms.
//
// NaN and infinite values are left out. A version without values takes part in
// no level; the interval of a change spans it. Index, LastGood and FirstBad of a
// Change are versions, from 0. Fewer than two versions have no changes.
func Ladder(versions [][]float64, opts Options) (Result, error) {
	if err := opts.check(); err != nil {
		return Result{}, err
	}
	l, result := readLadder(versions)
	if len(l.version) == 0 {
		return Result{}, ErrNoValues
	}
	if len(l.version) < 2 {
		return result, nil
	}
	if l.freedom == 0 {
		return Result{}, fmt.Errorf("ladder of %d versions: %w", len(l.version), ErrNoRepeats)
	}
	result.Noise = math.Sqrt(l.variance)
	if l.log {
		result.Noise *= math.Abs(l.center)
	}
	cuts := l.prune(l.cut(l.critical(ladderSuspect)), ladderSuspect)
	for k, i := range cuts {
		from, to := neighbour(cuts, k-1, 0), neighbour(cuts, k+1, len(l.version))
		c := l.describe(from, i, to)
		if size, _, _ := c.Relative(); !(math.Abs(size) < opts.MinRelative) {
			result.Changes = append(result.Changes, c)
		}
	}
	return result, nil
}

// ladder is the versions that have values.
type ladder struct {
	version  []int // in the caller's list
	values   [][]float64
	n        []float64 // instances
	mean     []float64 // of logarithms, if log
	log      bool
	center   float64 // median of all values
	variance float64 // between instances, pooled
	freedom  float64
	// Sums over the versions before each one: instances, instances times mean, times mean squared.
	sumN, sumMean, sumSquare []float64
}

func readLadder(versions [][]float64) (*ladder, Result) {
	l := &ladder{log: true}
	result := Result{Method: "ladder"}
	var all []float64
	for i, values := range versions {
		var kept []float64
		for _, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				result.Dropped++
				continue
			}
			kept = append(kept, v)
			l.log = l.log && v > 0
		}
		if len(kept) > 0 {
			l.version, l.values = append(l.version, i), append(l.values, kept)
			all = append(all, kept...)
		}
	}
	result.Points = len(l.version)
	result.Repeats = len(all) - len(l.version)
	if len(all) > 0 {
		l.center = selectMiddle(all)
	}
	l.fit()
	return l, result
}

// fit computes means, the pooled variance and the running sums.
func (l *ladder) fit() {
	squares := 0.0
	l.sumN, l.sumMean, l.sumSquare = []float64{0}, []float64{0}, []float64{0}
	origin := 0.0
	for k, values := range l.values {
		y := slices.Clone(values)
		if l.log {
			for i, v := range y {
				y[i] = math.Log(v)
			}
		}
		if k == 0 {
			origin = y[0] // keeps the squares small
		}
		for i := range y {
			y[i] -= origin
		}
		m, n := mean(y), float64(len(y))
		for _, v := range y {
			squares += (v - m) * (v - m)
		}
		l.n, l.mean = append(l.n, n), append(l.mean, m)
		l.freedom += n - 1
		l.sumN = append(l.sumN, l.sumN[k]+n)
		l.sumMean = append(l.sumMean, l.sumMean[k]+n*m)
		l.sumSquare = append(l.sumSquare, l.sumSquare[k]+n*m*m)
	}
	if l.freedom > 0 {
		l.variance = squares / l.freedom
	}
}

// cost is the sum of squares of the version means of [from, to) about their common mean.
func (l *ladder) cost(from, to int) float64 {
	n := l.sumN[to] - l.sumN[from]
	m := l.sumMean[to] - l.sumMean[from]
	return max(0, l.sumSquare[to]-l.sumSquare[from]-m*m/n)
}

// critical is the t that a change must reach for the ladder's level.
func (l *ladder) critical(level float64) float64 {
	places := float64(ladderFactor * (len(l.version) - 1))
	return l.student().Quantile(1 - level/places/2)
}

// ladderFactor is how many times more places than V-1 the choice of both
// neighbouring levels is worth; by simulation, see docs/CHANGEPOINT.md.
const ladderFactor = 2

func (l *ladder) student() distuv.StudentsT {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: l.freedom}
}

// cut gives the cheapest division into levels at a price of t² variances per change.
func (l *ladder) cut(t float64) []int {
	n := len(l.version)
	price := t * t * l.variance
	best, from := make([]float64, n+1), make([]int, n+1)
	best[0] = -price
	for to := 1; to <= n; to++ {
		best[to] = math.Inf(1)
		for i := range to {
			if c := best[i] + price + l.cost(i, to); c < best[to] {
				best[to], from[to] = c, i
			}
		}
	}
	var cuts []int
	for i := from[n]; i > 0; i = from[i] {
		cuts = append(cuts, i)
	}
	slices.Reverse(cuts)
	return cuts
}

// prune deletes the change with the smallest t until all are significant.
func (l *ladder) prune(cuts []int, level float64) []int {
	needed := l.critical(level)
	for len(cuts) > 0 {
		weakest, least := 0, math.Inf(1)
		for k, i := range cuts {
			from, to := neighbour(cuts, k-1, 0), neighbour(cuts, k+1, len(l.version))
			difference, _, t := l.contrast(from, i, to)
			if step := l.level(i, to).Median - l.level(from, i).Median; difference*step <= 0 {
				t = 0 // a few wild instances moved the mean, not the level
			}
			if t = math.Abs(t); t < least {
				weakest, least = k, t
			}
		}
		if least >= needed {
			return cuts
		}
		cuts = slices.Delete(cuts, weakest, weakest+1)
	}
	return cuts
}

// contrast is the difference of the levels of [i, to) and [from, i), its
// standard error, and their quotient.
func (l *ladder) contrast(from, i, to int) (difference, deviation, t float64) {
	n1, n2 := l.sumN[i]-l.sumN[from], l.sumN[to]-l.sumN[i]
	difference = (l.sumMean[to]-l.sumMean[i])/n2 - (l.sumMean[i]-l.sumMean[from])/n1
	deviation = math.Sqrt(l.variance * (1/n1 + 1/n2))
	if difference == 0 {
		return 0, deviation, 0
	}
	return difference, deviation, difference / deviation
}

func (l *ladder) describe(from, i, to int) Change {
	difference, deviation, t := l.contrast(from, i, to)
	// A place whose cost is within 3.84 variances of the least is not excluded at 95 %.
	low, high := i, i
	least := l.cost(from, i) + l.cost(i, to)
	for k := from + 1; k < to; k++ {
		if l.cost(from, k)+l.cost(k, to) <= least+3.84*l.variance {
			low, high = min(low, k), max(high, k)
		}
	}
	before, after := l.level(from, i), l.level(i, to)
	c := Change{
		Index: l.version[i], LastGood: l.version[low-1], FirstBad: l.version[high],
		Before: before, After: after, Size: after.Median - before.Median, State: Suspect,
		Judged: Judgement{
			Rule: "ladder", Score: math.Abs(t), Threshold: l.critical(ladderConfirmed),
			Visible: math.NaN(), Ratio: math.NaN(), Lag1: math.NaN(),
		},
	}
	c.LastGoodPosition, c.FirstBadPosition = float64(c.LastGood), float64(c.FirstBad)
	if math.Abs(t) >= c.Judged.Threshold {
		c.State = Confirmed
	} else {
		c.Judged.Threshold = l.critical(ladderSuspect)
	}
	half := l.student().Quantile(0.975) * deviation
	c.SizeLow, c.SizeHigh = difference-half, difference+half
	if l.log {
		c.SizeLow, c.SizeHigh = before.Median*math.Expm1(c.SizeLow), before.Median*math.Expm1(c.SizeHigh)
	}
	c.SizeLow, c.SizeHigh = min(c.SizeLow, c.Size), max(c.SizeHigh, c.Size)
	return c
}

// level is the median of all instances of the versions [from, to).
func (l *ladder) level(from, to int) Level {
	all := slices.Concat(l.values[from:to]...)
	return Level{Median: selectMiddle(all), Points: len(all)}
}

// ladderPositions is the most positions that Analyze takes for a ladder.
const ladderPositions = 60

// Analyze looks at the shape of the data and takes the method for it: Ladder
// for 2 to 60 positions, at least half of which have two or more values; Detect
// for all others. Indexes of the changes are those of Series.Values, and
// positions those of Series.Positions, with both. Ladder makes no use of
// weights, except that a value of weight 0 is missing.
func Analyze(s Series, opts Options) (Result, error) {
	if err := s.check(); err != nil {
		return Result{}, err
	}
	versions, first := byPosition(s)
	repeated := 0
	for _, values := range versions {
		if len(values) > 1 {
			repeated++
		}
	}
	if len(versions) < 2 || len(versions) > ladderPositions || 2*repeated < len(versions) {
		return Detect(s, opts)
	}
	result, err := Ladder(versions, opts)
	for k := range result.Changes {
		c := &result.Changes[k]
		c.Index, c.LastGood, c.FirstBad = first[c.Index], first[c.LastGood], first[c.FirstBad]
		c.LastGoodPosition, c.FirstBadPosition = s.position(c.LastGood), s.position(c.FirstBad)
	}
	result.Dropped = len(s.Values) - result.Points - result.Repeats
	return result, err
}

// byPosition gives the values of each position that has one, and the index of its first.
func byPosition(s Series) (versions [][]float64, first []int) {
	for i, v := range s.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) || s.Weights != nil && s.Weights[i] == 0 {
			continue
		}
		last := len(versions) - 1
		if last >= 0 && s.position(first[last]) == s.position(i) {
			versions[last] = append(versions[last], v)
			continue
		}
		versions, first = append(versions, []float64{v}), append(first, i)
	}
	return versions, first
}
