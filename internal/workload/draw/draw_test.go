package draw

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
			var r Source
			r.Reseed(seed)
			const draws = 200000
			observed, expected := make([]float64, n), make([]float64, n)
			for range draws {
				observed[r.UpTo(uint64(n))-1]++
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
	type shape struct {
		draw  Distribution
		below func(x float64) float64
	}
	for name, shape := range map[string]shape{
		"pareto": {Pareto(n, 0.2), func(x float64) float64 { return math.Pow(x, math.Log(0.8)/math.Log(0.2)) }},
		"special": {Special(n), func(x float64) float64 {
			share := 0.25 * normal.CDF(x)
			if x > 0.5 { // the middle lies below
				share += 0.75
			}
			return share
		}},
		"gaussian": {Gaussian(n), normal.CDF},
	} {
		var r Source
		r.Reseed(1)
		// The middle hundredth is cut by the edge of two tenths: cells are moved by a twentieth.
		observed, expected := make([]float64, cells+1), make([]float64, cells+1)
		for range draws {
			id := shape.draw(&r)
			if id < 1 || id > n {
				t.Fatalf("%s: drew %d of 1..%d", name, id, n)
			}
			observed[int((float64(id-1)/n+0.05)*cells)]++
		}
		last := 0.0
		for i := range expected {
			next := 1.0
			if i < cells {
				next = shape.below(float64(i+1)/cells - 0.05)
			}
			expected[i] = (next - last) * draws
			last = next
		}
		for i := range observed {
			// Six standard deviations, and what is lost by taking a sum of 12 for a normal.
			if limit := 6*math.Sqrt(expected[i]) + 0.002*draws; math.Abs(observed[i]-expected[i]) > limit {
				t.Errorf("%s, cell %d: %g of %d draws, expected %.0f", name, i, observed[i], draws, expected[i])
			}
		}
	}
	for i, draw := range []Distribution{Gaussian(1), Pareto(1, 0.2), Special(1), Zipf(1, 0.8), Zipf(1, 1), Zipf(1, 3), Uniform(1)} {
		var r Source
		r.Reseed(2)
		if id := draw(&r); id != 1 {
			t.Errorf("distribution %d drew %d of 1..1", i, id)
		}
	}
}

// TestZipfIsExact compares draws with id^-theta over its sum.
func TestZipfIsExact(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 1000, 100000} {
		for _, theta := range []float64{0.3, 0.8, 1 - 1e-9, 1, 1.2, 2.5} {
			checkZipf(t, n, theta)
		}
	}
}

func checkZipf(t *testing.T, n int, theta float64) {
	t.Helper()
	var r Source
	r.Reseed(uint64(n))
	draw := Zipf(n, theta)
	const draws = 100000
	var sum float64
	for id := 1; id <= n; id++ {
		sum += math.Pow(float64(id), -theta)
	}
	// Cells of ids that are expected at least 20 times: the first ids alone, later ones together.
	var expected []float64
	cell := make([]int, n+1)
	open := 0.0
	for id := 1; id <= n; id++ {
		cell[id] = len(expected)
		open += draws * math.Pow(float64(id), -theta) / sum
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
		id := draw(&r)
		if id < 1 || id > int64(n) {
			t.Fatalf("drew %d of 1..%d", id, n)
		}
		observed[min(cell[id], len(expected)-1)]++
	}
	if len(expected) == 1 {
		return
	}
	if p := chiSquareP(observed, expected); p < rejectBelow {
		t.Errorf("1..%d, theta %g: p = %g", n, theta, p)
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
		p := NewPermutation(n, rapid.Uint64().Draw(t, "seed"))
		seen := make([]bool, n)
		for i := range n {
			at := p.At(i)
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
	p := NewPermutation(n, 1)
	observed, expected := make([]float64, cells), make([]float64, cells)
	for i := range uint64(draws) {
		observed[p.At(i)*cells/n]++
	}
	for i := range expected {
		expected[i] = draws / cells
	}
	if p := chiSquareP(observed, expected); p < rejectBelow {
		t.Errorf("p = %g", p)
	}
}
