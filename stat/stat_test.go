package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// TestDegenerate holds the answers that the package comment promises.
func TestDegenerate(t *testing.T) {
	intervals := map[string]func([]float64, float64) Interval{
		"TInterval":          TInterval,
		"SignedRankInterval": SignedRankInterval,
		"ClusterBootstrap": func(x []float64, level float64) Interval {
			clusters := make([][]float64, len(x))
			for i, value := range x {
				clusters[i] = []float64{value}
			}
			return ClusterBootstrap(clusters, level, 100, 1)
		},
		"TwoLevel": func(x []float64, level float64) Interval {
			clusters := make([][]float64, len(x))
			for i, value := range x {
				clusters[i] = []float64{value}
			}
			return TwoLevel(clusters, level).Interval
		},
	}
	for name, interval := range intervals {
		for _, test := range []struct {
			what     string
			x        []float64
			level    float64
			estimate float64
			n        int
			endless  bool
		}{
			{"nothing", nil, 0.95, nan, 0, true},
			{"no finite value", []float64{nan, inf, -inf}, 0.95, nan, 0, true},
			{"one value", []float64{3}, 0.95, 3, 1, true},
			{"one value and NaN", []float64{nan, 3}, 0.95, 3, 1, true},
			{"level 0", []float64{1, 2, 3}, 0, 2, 3, true},
			{"level 1", []float64{1, 2, 3}, 1, 2, 3, true},
			{"level NaN", []float64{1, 2, 3}, nan, 2, 3, true},
			{"all equal", []float64{2, 2, 2, 2, 2, 2, 2}, 0.95, 2, 7, false},
		} {
			got := interval(test.x, test.level)
			if !(got.Estimate == test.estimate || math.IsNaN(got.Estimate) && math.IsNaN(test.estimate)) || got.N != test.n {
				t.Errorf("%s of %s: estimate %v of %d, want %v of %d", name, test.what, got.Estimate, got.N, test.estimate, test.n)
			}
			if endless := math.IsInf(got.Low, -1) && math.IsInf(got.High, 1); endless != test.endless {
				t.Errorf("%s of %s: [%v, %v]", name, test.what, got.Low, got.High)
			}
			if !test.endless && (got.Low != 2 || got.High != 2) {
				t.Errorf("%s of %s: [%v, %v]", name, test.what, got.Low, got.High)
			}
			if len(got.Warnings) == 0 || got.Assumption == "" {
				t.Errorf("%s of %s: warnings %q, assumption %q", name, test.what, got.Warnings, got.Assumption)
			}
		}
	}
	for name, test := range map[string]Test{
		"signed rank of nothing": SignedRank(nil, 0.95), "signed rank of zeros": SignedRank([]float64{0, 0, 0}, 0.95),
		"sign flip of nothing": SignFlip(nil, 0.95, 0, 1), "sign flip of one": SignFlip([]float64{5}, 0.95, 0, 1),
		"permutation of nothing": Permutation(nil, []float64{1, 2}, 0.95, 0, 1), "t of one": TTest(TInterval([]float64{5}, 0.95)),
		"equivalence of one":       TOST(TInterval([]float64{0}, 0.95), -1, 1).Test,
		"equivalence of no margin": TOST(TInterval([]float64{0, 0.1}, 0.95), 1, 1).Test,
	} {
		if test.P != 1 || test.Reject() {
			t.Errorf("%s: p = %v", name, test.P)
		}
	}
	for _, x := range [][]float64{nil, {nan}, {inf}} {
		for name, value := range map[string]float64{
			"mean": Mean(x), "median": Median(x), "variance": Variance(x), "mad": MAD(x), "hl": HodgesLehmann(x), "quantile": Quantile([]float64{1}, 2),
		} {
			if !math.IsNaN(value) {
				t.Errorf("%s of %v = %v", name, x, value)
			}
		}
	}
	for _, ratio := range LogRatios([]float64{0, 1, -1, inf, nan}, []float64{1, 0, 1, 1, 1}) {
		if !math.IsNaN(ratio) {
			t.Errorf("log ratio %v", ratio)
		}
	}
}

func TestSmallestSampleThatCanReject(t *testing.T) {
	for n := 1; n <= 8; n++ {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i + 1)
		}
		test := SignedRank(x, 0.95)
		// All of n signs agree with chance 2/2^n.
		if want := 2 / math.Pow(2, float64(n)); math.Abs(test.P-want) > 1e-12 || math.Abs(test.MinP-want) > 1e-12 {
			t.Errorf("n = %d: p = %v, least %v, want %v", n, test.P, test.MinP, want)
		}
		if warned := slices.Contains(test.Warnings, warnMinimumP); warned != (n < 6) {
			t.Errorf("n = %d: warned %v", n, warned)
		}
		if endless := math.IsInf(SignedRankInterval(x, 0.95).High, 1); endless != (n < 6) {
			t.Errorf("n = %d: endless %v", n, endless)
		}
	}
}

func TestLargeSamplesAgreeWithExact(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, 18)
	for i := range x {
		x[i] = random.NormFloat64() + 0.4
	}
	exact, sampled := SignFlip(x[:16], 0.95, 0, 1), SignFlip(x, 0.95, 20000, 1)
	if !exact.Exact || sampled.Exact {
		t.Fatal("16 values are enumerated, 18 are sampled")
	}
	near(t, "sampled sign flip", sampled.P, TTest(TInterval(x, 0.95)).P, 0.5)
	if again := SignFlip(x, 0.95, 20000, 1); again.P != sampled.P {
		t.Error("the same seed gives another answer")
	}
	small := Permutation(x[:6], x[6:12], 0.95, 0, 1)
	large := Permutation(x[:9], x[9:], 0.95, 20000, 1)
	if !small.Exact || large.Exact || !(large.P > 0 && large.P <= 1) {
		t.Errorf("%+v %+v", small, large)
	}
}

func TestHodgesLehmannStandsUpToOutliers(t *testing.T) {
	if got := HodgesLehmann([]float64{1, 1.1, 0.9, 1.05, 0.95, 1.02, 0.98, 1000, -5000}); math.Abs(got-1) > 0.1 {
		t.Errorf("%v", got)
	}
}

func TestEffectiveSamples(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	make2 := func(shared float64, k, n int) [][]float64 {
		samples, common := make([][]float64, k), make([]float64, n)
		for j := range common {
			common[j] = random.NormFloat64()
		}
		for i := range samples {
			samples[i] = make([]float64, n)
			for j := range samples[i] {
				samples[i][j] = math.Sqrt(shared)*common[j] + math.Sqrt(1-shared)*random.NormFloat64()
			}
		}
		return samples
	}
	mean := func(shared float64, n int) float64 {
		sum := 0.0
		for range 50 {
			sum += EffectiveSamples(make2(shared, 32, n)) / 50
		}
		return sum
	}
	if got := mean(0, 8); got < 20 || got > 32 {
		t.Errorf("32 independent samples are worth %v", got)
	}
	if got := mean(1, 8); math.Abs(got-1) > 1e-9 {
		t.Errorf("32 equal samples are worth %v", got)
	}
	if got := mean(0.5, 8); got < 2 || got > 8 { // 32/(1+31/4) = 3.7
		t.Errorf("32 samples with correlation 1/2 are worth %v", got)
	}
	if got := EffectiveSamples([][]float64{{1, 2}, {2, 1}, {nan, 3}, nil}); math.Abs(got-2/1.1) > 1e-12 {
		t.Errorf("two replicates: %v", got)
	}
	if got := EffectiveSamples(nil); got != 0 {
		t.Errorf("nothing is worth %v", got)
	}
}

func TestModerateDegenerate(t *testing.T) {
	m := Moderate([]float64{nan, inf, -1, 4}, []float64{3, 3, 3, 0}, 0)
	if m.N != 0 || len(m.Warnings) == 0 {
		t.Errorf("%+v", m)
	}
	for i := range m.Variance {
		if !math.IsNaN(m.Variance[i]) || m.DF[i] != 0 {
			t.Errorf("variance %v with %v degrees of freedom", m.Variance[i], m.DF[i])
		}
	}
	if m = Moderate([]float64{4}, []float64{3}, 0); m.Variance[0] != 4 || m.DF[0] != 3 || len(m.Warnings) == 0 {
		t.Errorf("one stands alone: %+v", m)
	}
	if m = Moderate([]float64{0, 0, 0}, []float64{3, 3, 3}, 0); m.Variance[1] != 0 || m.DF[1] != 3 {
		t.Errorf("zeros stay zero: %+v", m)
	}
	m = Moderate([]float64{1, 1, 1, 1, nan}, []float64{4, 4, 4, 4, 0}, 10)
	if m.Prior != 1 || !math.IsInf(m.PriorDF, 1) || m.DF[0] != 10 || m.Variance[4] != 1 || m.DF[4] != 10 {
		t.Errorf("alike: %+v", m)
	}
	m = Moderate([]float64{1, 1.1, 0.9, 1, 1.2, 0.8, 40}, repeat(4, 7), 0)
	if m.Outlier[0] || m.Guarded[6] < 30 {
		t.Errorf("one varies far more: %+v", m)
	}
}

func TestPower(t *testing.T) {
	d := Design{SD: 0.02, Alpha: 0.05}
	if got := d.Power(0, 8); math.Abs(got-0.05) > 1e-4 {
		t.Errorf("without an effect the power is the level, not %v", got)
	}
	if got := d.Power(0.02, 1); got != 0 {
		t.Errorf("one value has power %v", got)
	}
	if got := d.MinDetectable(1, 0.8); !math.IsInf(got, 1) {
		t.Errorf("one value can show %v", got)
	}
	if got := (Design{SD: nan, Alpha: 0.05}).Power(1, 5); !math.IsNaN(got) {
		t.Errorf("no design has power %v", got)
	}
	if n, ok := d.SampleSize(0, 0.8, 1000); ok {
		t.Errorf("no effect is shown by %d", n)
	}
	n, ok := d.NeededToExclude(0.01, 1000)
	if !ok || tQuantile(0.975, float64(n-1))*0.02/math.Sqrt(float64(n)) > 0.01 || tQuantile(0.975, float64(n-2))*0.02/math.Sqrt(float64(n-1)) <= 0.01 {
		t.Errorf("%d, %v is not the smallest", n, ok)
	}
}

// Properties that hold for any input.

func values(t *rapid.T) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(-10, 10), 0, 30).Draw(t, "x")
}

func TestIntervalsHoldTheirEstimate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, level := values(t), rapid.Float64Range(0.5, 0.999).Draw(t, "level")
		original := slices.Clone(x)
		for _, i := range []Interval{TInterval(x, level), SignedRankInterval(x, level), TwoLevel([][]float64{x, x}, level).Interval} {
			if !math.IsNaN(i.Estimate) && !i.Contains(i.Estimate) || i.Level != level {
				t.Fatalf("%+v", i)
			}
		}
		for _, p := range []float64{SignedRank(x, level).P, SignFlip(x[:min(len(x), 10)], level, 0, 1).P, TTest(TInterval(x, level)).P} {
			if !(p >= 0 && p <= 1) {
				t.Fatalf("p = %v", p)
			}
		}
		if !slices.Equal(x, original) {
			t.Fatal("the input was changed")
		}
	})
}

func TestMirroredValuesGiveMirroredAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-10, 10), 6, 20).Draw(t, "x")
		y := make([]float64, len(x))
		for i := range x {
			y[i] = -x[i]
		}
		a, b := SignedRankInterval(x, 0.95), SignedRankInterval(y, 0.95)
		if math.Abs(a.Low+b.High) > 1e-12 || math.Abs(a.Estimate+b.Estimate) > 1e-12 {
			t.Fatalf("%+v %+v", a, b)
		}
		if p, q := SignedRank(x, 0.95).P, SignedRank(y, 0.95).P; math.Abs(p-q) > 1e-12 {
			t.Fatalf("p = %v and %v", p, q)
		}
	})
}

func TestAdjustedP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 40).Draw(t, "p")
		holm, bh := Holm(append(p, nan)), BenjaminiHochberg(p)
		if !math.IsNaN(holm[len(p)]) {
			t.Fatal("NaN must stay")
		}
		for i := range p {
			if !(p[i] <= bh[i] && bh[i] <= holm[i]+1e-12 && holm[i] <= 1 && holm[i] <= p[i]*float64(len(p))+1e-12) {
				t.Fatalf("p %v, Benjamini-Hochberg %v, Holm %v of %d", p[i], bh[i], holm[i], len(p))
			}
			for j := range p {
				if p[i] < p[j] && (holm[i] > holm[j] || bh[i] > bh[j]) {
					t.Fatal("the order must stay")
				}
			}
		}
	})
}

func TestMoreValuesMorePower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Design{SD: rapid.Float64Range(0.001, 0.1).Draw(t, "sd"), Alpha: rapid.Float64Range(0.001, 0.1).Draw(t, "alpha")}
		effect, n := rapid.Float64Range(0.001, 0.1).Draw(t, "effect"), rapid.IntRange(2, 40).Draw(t, "n")
		if a, b := d.Power(effect, n), d.Power(effect, n+1); a > b+1e-3 || a < 0 || b > 1+1e-9 {
			t.Fatalf("power %v with %d, %v with one more", a, n, b)
		}
		if got := d.Power(d.MinDetectable(n, 0.8), n); math.Abs(got-0.8) > 1e-5 {
			t.Fatalf("power of the least detectable effect is %v", got)
		}
	})
}

// TestNominalLevels holds each method to its level on values it is made for.
func TestNominalLevels(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	const runs = 1500
	covered := map[string]int{}
	for range runs {
		x, clusters := make([]float64, 12), make([][]float64, 12)
		for i := range x {
			x[i] = random.NormFloat64()
			clusters[i] = []float64{x[i], x[i] + 0.1*random.NormFloat64(), x[i] + 0.1*random.NormFloat64()}
		}
		for name, interval := range map[string]Interval{
			"t": TInterval(x, 0.95), "signed rank": SignedRankInterval(x, 0.95), "two levels": TwoLevel(clusters, 0.95).Interval,
			"bootstrap": ClusterBootstrap(clusters, 0.95, 200, random.Uint64()),
		} {
			if interval.Contains(0) {
				covered[name]++
			}
		}
	}
	for name, count := range covered {
		// The error of 1,500 runs is 0.6 %; the bootstrap of a median leans to the safe side.
		if share := float64(count) / runs; share < 0.93 || share > 0.985 {
			t.Errorf("%s covers %.3f", name, share)
		}
	}
}
