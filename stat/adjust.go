package stat

import (
	"math"
	"slices"
)

// Holm gives p-values adjusted so that rejecting those <= alpha keeps the chance
// of any false rejection at alpha, whatever the dependence: Holm (1979), "A
// Simple Sequentially Rejective Multiple Test Procedure". The smallest of m is
// multiplied by m, the next by m-1 and so on, never below an earlier one, never
// above 1. A NaN stays NaN and does not count towards m.
func Holm(p []float64) []float64 {
	adjusted, order := ordered(p)
	highest := 0.0
	for rank, i := range order {
		highest = max(highest, min(1, p[i]*float64(len(order)-rank)))
		adjusted[i] = highest
	}
	return adjusted
}

// BenjaminiHochberg gives p-values adjusted so that rejecting those <= alpha
// keeps the expected share of false ones among the rejections at alpha, for
// independent or positively dependent tests: Benjamini and Hochberg (1995),
// "Controlling the False Discovery Rate". A NaN stays NaN and does not count.
func BenjaminiHochberg(p []float64) []float64 {
	adjusted, order := ordered(p)
	lowest := 1.0
	for rank := len(order) - 1; rank >= 0; rank-- {
		i := order[rank]
		// The quotient first: it is at least 1, so no rounding takes the product below p.
		lowest = min(lowest, p[i]*(float64(len(order))/float64(rank+1)))
		adjusted[i] = lowest
	}
	return adjusted
}

// ordered gives a slice of NaN and the indices of the p that are numbers, smallest p first.
func ordered(p []float64) (adjusted []float64, order []int) {
	adjusted = make([]float64, len(p))
	for i, value := range p {
		adjusted[i] = math.NaN()
		if !math.IsNaN(value) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	return adjusted, order
}
