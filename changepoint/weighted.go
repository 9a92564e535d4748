package changepoint

import (
	"cmp"
	"math"
	"slices"
)

// weightedSides is sides for a series with weights.
func (j *judge) weightedSides(from, i, to, size int) (left, right []weighted) {
	both := make([]weighted, 0, 2*size)
	start, end := max(from, i-size), min(to, i+size)
	for k := start; k < end; k++ {
		both = append(both, weighted{j.x[k], j.weight[k]})
	}
	left, right = both[:i-start], both[i-start:]
	byValue := func(a, b weighted) int { return cmp.Compare(a.value, b.value) }
	slices.SortFunc(left, byValue)
	slices.SortFunc(right, byValue)
	return left, right
}

// weightedRankZ is rankZ with pairs that count as the product of their
// weights. With A, B the sums of weights and A2, B2 the sums of their squares,
// the variance of the pair count is (A²·B2 + B²·A2 + A2·B2)/3, which is
// n1·n2·(n1+n2+1)/3 for weights of 1.
func weightedRankZ(left, right []weighted) float64 {
	sumLeft, squareLeft := weights(left)
	sumRight, squareRight := weights(right)
	u, below := 0.0, 0.0
	a, b := 0, 0
	for a < len(left) || b < len(right) {
		v := math.Inf(1)
		if a < len(left) {
			v = left[a].value
		}
		if b < len(right) {
			v = min(v, right[b].value)
		}
		before := below
		for ; a < len(left) && left[a].value == v; a++ {
			below += left[a].weight
		}
		for ; b < len(right) && right[b].value == v; b++ {
			u += right[b].weight * (before - (sumLeft - below))
		}
	}
	return u / math.Sqrt((sumLeft*sumLeft*squareRight+sumRight*sumRight*squareLeft+squareLeft*squareRight)/3)
}

func weights(values []weighted) (sum, squares float64) {
	for _, v := range values {
		sum += v.weight
		squares += v.weight * v.weight
	}
	return sum, squares
}

func weightedMean(values []weighted) float64 {
	total, _ := weights(values)
	sum := 0.0
	for _, v := range values {
		sum += v.value * (v.weight / total)
	}
	return sum
}
