package workload

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
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

func TestUniformIsUniform(t *testing.T) {
	for _, n := range []int{2, 7, 100, 1000} {
		for seed := range uint64(5) {
			var r random
			r.reseed(seed)
			const draws = 200000
			observed, expected := make([]float64, n), make([]float64, n)
			for range draws {
				observed[r.upTo(uint64(n))-1]++
			}
			for i := range expected {
				expected[i] = float64(draws) / float64(n)
			}
			if p := chiSquareP(observed, expected); p < rejectBelow {
				t.Errorf("1..%d, seed %d: p = %g", n, seed, p)
			}
		}
	}
}

// TestSysbenchDistributions compares draws with the probabilities that follow
// from the formulas, in tenths of the range.
func TestSysbenchDistributions(t *testing.T) {
	const n, draws, cells = 1000, 200000, 10
	// The mean of 12 uniforms is near normal: its variance is 1/12 of theirs, 1/12.
	normal := distuv.Normal{Mu: 0.5, Sigma: 1.0 / 12}
	below := map[Keys]func(x float64) float64{
		Pareto: func(x float64) float64 { return math.Pow(x, math.Log(0.8)/math.Log(0.2)) },
		Special: func(x float64) float64 {
			share := 0.25 * normal.CDF(x)
			if x > 0.5 { // the middle lies below
				share += 0.75
			}
			return share
		},
		Gaussian: normal.CDF,
	}
	for keys, cdf := range below {
		var r random
		r.reseed(1)
		draw := newDistribution(keys, n)
		// The middle hundredth is cut by the edge of two tenths: cells are moved by a twentieth.
		observed, expected := make([]float64, cells+1), make([]float64, cells+1)
		for range draws {
			id := draw(&r)
			if id < 1 || id > n {
				t.Fatalf("%s: drew %d of 1..%d", keys, id, n)
			}
			observed[int((float64(id-1)/n+0.05)*cells)]++
		}
		last := 0.0
		for i := range expected {
			next := 1.0
			if i < cells {
				next = cdf(float64(i+1)/cells - 0.05)
			}
			expected[i] = (next - last) * draws
			last = next
		}
		for i := range observed {
			// Six standard deviations, and what is lost by taking a sum of 12 for a normal.
			if limit := 6*math.Sqrt(expected[i]) + 0.002*draws; math.Abs(observed[i]-expected[i]) > limit {
				t.Errorf("%s, cell %d: %g of %d draws, expected %.0f", keys, i, observed[i], draws, expected[i])
			}
		}
	}
	for _, keys := range []Keys{Gaussian, Pareto, Special, Zipf, Uniform} {
		var r random
		r.reseed(2)
		if id := newDistribution(keys, 1)(&r); id != 1 {
			t.Errorf("%s drew %d of 1..1", keys, id)
		}
	}
}

// TestZipfIsExact compares draws with id^-theta over its sum.
func TestZipfIsExact(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 1000, 100000} {
		var r random
		r.reseed(uint64(n))
		z := newZipf(n)
		const draws = 400000
		var sum float64
		for id := 1; id <= n; id++ {
			sum += math.Pow(float64(id), -zipfTheta)
		}
		// Cells of ids that are expected at least 20 times: the first ids alone, later ones together.
		var expected []float64
		cell := make([]int, n+1)
		open := 0.0
		for id := 1; id <= n; id++ {
			cell[id] = len(expected)
			open += draws * math.Pow(float64(id), -zipfTheta) / sum
			if open >= 20 {
				expected = append(expected, open)
				open = 0
			}
		}
		if open > 0 {
			expected[len(expected)-1] += open
		}
		observed := make([]float64, len(expected))
		for range draws {
			id := z.draw(&r)
			if id < 1 || id > int64(n) {
				t.Fatalf("drew %d of 1..%d", id, n)
			}
			observed[min(cell[id], len(expected)-1)]++
		}
		if len(expected) == 1 {
			continue
		}
		if p := chiSquareP(observed, expected); p < rejectBelow {
			t.Errorf("1..%d: p = %g", n, p)
		}
	}
}

func TestChiSquareSeesABias(t *testing.T) {
	observed := []float64{1050, 1000, 950, 1000, 1000, 1100, 900}
	expected := []float64{1000, 1000, 1000, 1000, 1000, 1000, 1000}
	if p := chiSquareP(observed, expected); p > 0.01 {
		t.Errorf("p = %g", p)
	}
}

func TestPermutationHitsEachOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 5000).Draw(t, "n")
		p := newPermutation(n, rapid.Uint64().Draw(t, "seed"))
		seen := make([]bool, n)
		for i := range n {
			at := p.at(i)
			if at >= n || seen[at] {
				t.Fatalf("position %d of %d gives %d, which is out of range or was there", i, n, at)
			}
			seen[at] = true
		}
	})
}

// TestPermutationIsRandom: no run of positions stays in one part of the table.
func TestPermutationIsRandom(t *testing.T) {
	const n, cells, draws = 1_000_000, 50, 20000
	p := newPermutation(n, 1)
	observed, expected := make([]float64, cells), make([]float64, cells)
	for i := range uint64(draws) {
		observed[p.at(i)*cells/n]++
	}
	for i := range expected {
		expected[i] = draws / cells
	}
	if p := chiSquareP(observed, expected); p < rejectBelow {
		t.Errorf("p = %g", p)
	}
}

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
