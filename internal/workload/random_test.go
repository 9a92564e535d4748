package workload

import (
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// chiSquareP gives the probability of a chi-square at least as large as that of
// observed against expected counts, each of at least five.
func chiSquareP(observed, expected []float64) float64 {
	var chi2 float64
	for i := range observed {
		chi2 += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i]
	}
	return 1 - distuv.ChiSquared{K: float64(len(observed) - 1)}.CDF(chi2)
}

// rejectBelow makes a right generator fail one of the fixed seeds once in 10^5.
const rejectBelow = 1e-5

// TestDistributionsOfSessions: tables and starts of spans are uniform.
func TestDistributionsOfSessions(t *testing.T) {
	data := Data{Tables: 5, TableSize: 1000, Seed: 1}
	tables, starts := make([]float64, 5), make([]float64, 1000-100+1)
	s := bind(t, "range-covered-pk", &fakeConn{}, data, BindOptions{})
	const draws = 100000
	for range draws {
		if _, err := s.Run(); err != nil {
			t.Fatal(err)
		}
		tables[s.table]++
		starts[s.key-1]++
	}
	for _, cells := range [][]float64{tables, starts} {
		expected := make([]float64, len(cells))
		for i := range expected {
			expected[i] = draws / float64(len(cells))
		}
		if p := chiSquareP(cells, expected); p < rejectBelow {
			t.Errorf("%d cells: p = %g", len(cells), p)
		}
	}
}
