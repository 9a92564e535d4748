package changepoint

import (
	"errors"
	"fmt"
	"math"
	"sort"
)

// Series is measured values in the order of their positions.
type Series struct {
	Values []float64
	// Positions are commit numbers, build numbers or times; equal ones are
	// repeats. Nil stands for 0, 1, 2 and so on.
	Positions []float64
	// Weights say how much each value counts, such as the number of samples
	// behind it; only their ratios matter. Nil stands for equal weights.
	Weights []float64
}

// ErrNoValues is the error for a series without a finite value of positive weight.
var ErrNoValues = errors.New("the series has no values")

// points is a series made ready: one finite value per position.
type points struct {
	x        []float64
	weight   []float64 // nil if all are equal
	first    []int     // index in Series.Values of the first value of each point
	position []float64
	dropped  int // values that were missing
	repeats  int // values that were joined to another of the same position
}

// check reports what is wrong with the shape of the series.
func (s Series) check() error {
	if s.Positions != nil && len(s.Positions) != len(s.Values) {
		return fmt.Errorf("%d positions for %d values", len(s.Positions), len(s.Values))
	}
	if s.Weights != nil && len(s.Weights) != len(s.Values) {
		return fmt.Errorf("%d weights for %d values", len(s.Weights), len(s.Values))
	}
	for i, p := range s.Positions {
		if math.IsNaN(p) || math.IsInf(p, 0) {
			return fmt.Errorf("position %d is %v", i, p)
		}
		if i > 0 && p < s.Positions[i-1] {
			return fmt.Errorf("position %d is %v, after %v: sort the series by position first", i, p, s.Positions[i-1])
		}
	}
	for i, w := range s.Weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("weight %d is %v, it must be 0 or more", i, w)
		}
	}
	return nil
}

func (s Series) position(i int) float64 {
	if s.Positions == nil {
		return float64(i)
	}
	return s.Positions[i]
}

// points joins the values of each position. An error means that the series
// cannot be read or has no values.
func (s Series) points() (*points, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	p := &points{}
	n := len(s.Values)
	p.x, p.position = make([]float64, 0, n), make([]float64, 0, n)
	p.first = make([]int, 0, n)
	if s.Weights != nil {
		p.weight = make([]float64, 0, n)
	}
	var same []weighted
	for i := 0; i < n; {
		end := i + 1
		for s.Positions != nil && end < n && s.Positions[end] == s.Positions[i] {
			end++
		}
		same = same[:0]
		first := i
		for ; i < end; i++ {
			v, w := s.Values[i], 1.0
			if s.Weights != nil {
				w = s.Weights[i]
			}
			if math.IsNaN(v) || math.IsInf(v, 0) || w == 0 {
				p.dropped++
				continue
			}
			same = append(same, weighted{v, w})
		}
		if len(same) > 0 {
			p.add(same, first, s.position(first))
		}
	}
	if len(p.x) == 0 {
		return nil, ErrNoValues
	}
	p.tidyWeights()
	return p, nil
}

func (p *points) add(same []weighted, first int, position float64) {
	sum := 0.0
	for _, v := range same {
		sum += v.weight
	}
	x := same[0].value
	if len(same) > 1 {
		sort.Slice(same, func(i, j int) bool { return same[i].value < same[j].value })
		x = weightedMedian(same)
		p.repeats += len(same) - 1
	}
	if p.weight == nil && len(same) > 1 { // the first repeat of an unweighted series
		p.weight = make([]float64, len(p.x), cap(p.x))
		for i := range p.weight {
			p.weight[i] = 1
		}
	}
	p.x, p.position, p.first = append(p.x, x), append(p.position, position), append(p.first, first)
	if p.weight != nil {
		p.weight = append(p.weight, sum)
	}
}

// tidyWeights scales the weights to a mean of 1, and drops them if all are equal.
func (p *points) tidyWeights() {
	equal, sum := true, 0.0
	for _, w := range p.weight {
		equal = equal && w == p.weight[0]
		sum += w
	}
	if equal || math.IsInf(sum, 0) {
		p.weight = nil
		return
	}
	mean := sum / float64(len(p.weight))
	for i := range p.weight {
		p.weight[i] /= mean
	}
}

// weighted is a value and how much it counts.
type weighted struct{ value, weight float64 }

// weightedMedian is the value at which half of the weight of the sorted values
// is reached, or the middle of two if it is reached exactly between them.
func weightedMedian(sorted []weighted) float64 {
	total := 0.0
	for _, v := range sorted {
		total += v.weight
	}
	sum := 0.0
	for i, v := range sorted {
		sum += v.weight
		switch {
		case 2*sum > total:
			return v.value
		case 2*sum == total && i+1 < len(sorted):
			return middle(v.value, sorted[i+1].value)
		}
	}
	return sorted[len(sorted)-1].value
}

// median is the median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	return middle(sorted[(n-1)/2], sorted[n/2])
}

// middle does not overflow, unlike (a+b)/2.
func middle(a, b float64) float64 { return a/2 + b/2 }
