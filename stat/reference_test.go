package stat

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// near compares with a relative tolerance, absolute below 1e-6.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1e-6, math.Abs(want))) && got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// scipyReference is testdata/reference.json, made by testdata/reference.py.
type scipyReference struct {
	Samples map[string][]float64
	One     map[string]map[string]float64
	P       float64 `json:"permutation_p"`
	Power   []struct {
		Effect, SD, Alpha, DF, Power float64
		N                            int
	}
	T      []struct{ P, DF, Q float64 }
	Groups struct {
		Values          [][]float64
		Between, Within float64
	}
}

func TestAgainstSciPy(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var want scipyReference
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if len(want.One) != 4 || len(want.Power) != 6 || len(want.T) != 18 {
		t.Fatalf("%d samples, %d powers, %d quantiles", len(want.One), len(want.Power), len(want.T))
	}
	for name, one := range want.One {
		x := want.Samples[name]
		interval, rank, flip := TInterval(x, 0.95), SignedRank(x, 0.95), SignFlip(x, 0.95, 0, 1)
		for key, got := range map[string]float64{
			"mean": Mean(x), "variance": Variance(x), "median": Median(x), "q30": Quantile(x, 0.3), "mad": MAD(x), "hl": HodgesLehmann(x),
			"t_p": TTest(interval).P, "t_low": interval.Low, "t_high": interval.High,
			"w": rank.Statistic, "w_p": rank.P, "flip_p": flip.P, "tost_p": TOST(interval, -0.02, 0.02).P,
		} {
			near(t, name+" "+key, got, one[key], 1e-7)
		}
		if !rank.Exact || !flip.Exact {
			t.Errorf("%s: a small sample has an exact test", name)
		}
	}
	permutation := Permutation(want.Samples["five"], want.Samples["small"], 0.95, 0, 1)
	near(t, "permutation", permutation.P, want.P, 1e-9)
	for _, q := range want.T {
		near(t, "t quantile", tQuantile(q.P, q.DF), q.Q, 1e-7)
	}
	for _, p := range want.Power {
		design := Design{SD: p.SD, Alpha: p.Alpha, PooledDF: func(int) float64 { return p.DF }}
		near(t, "power", design.Power(p.Effect, p.N), p.Power, 1e-5)
	}
	fit := TwoLevel(want.Groups.Values, 0.95)
	near(t, "between", fit.Between, want.Groups.Between, 1e-9)
	near(t, "within", fit.Within, want.Groups.Within, 1e-9)
}

// rReference reads testdata/reference_r.txt, made by testdata/reference.R.
func rReference(t *testing.T) map[string][]float64 {
	t.Helper()
	text, err := os.ReadFile("testdata/reference_r.txt")
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]float64{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		for _, field := range fields[1:] {
			value, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			values[fields[0]] = append(values[fields[0]], value)
		}
	}
	return values
}

func TestAgainstR(t *testing.T) {
	want := rReference(t)
	p := []float64{0.01, 0.04, 0.03, 0.005, 0.2, 0.04}
	for i, got := range Holm(p) {
		near(t, "Holm", got, want["holm"][i], 1e-12)
	}
	for i, got := range BenjaminiHochberg(p) {
		near(t, "Benjamini-Hochberg", got, want["bh"][i], 1e-12)
	}
	for name, x := range map[string][]float64{
		"twelve_interval": {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30, -0.34, -1.2, 0.77},
		"small_interval":  {0.011, -0.004, 0.023, 0.017, 0.002, 0.031, -0.009, 0.014},
	} {
		got := SignedRankInterval(x, 0.95)
		near(t, name, got.Estimate, want[name][0], 1e-9)
		near(t, name+" low", got.Low, want[name][1], 1e-9)
		near(t, name+" high", got.High, want[name][2], 1e-9)
	}
	sine, ties := make([]float64, 250), make([]float64, 250)
	for i := range sine {
		sine[i] = math.Sin(float64(i+1)) + 0.1
		ties[i] = math.RoundToEven(sine[i]*10) / 10
	}
	for name, x := range map[string][]float64{"sine_p": sine, "sine_ties_p": ties} {
		got := SignedRank(x, 0.95)
		near(t, name+" statistic", got.Statistic, want[name][0], 1e-9)
		near(t, name, got.P, want[name][1], 1e-9)
	}
	power := want["power_t"]
	design := Design{SD: 0.02, Alpha: 0.05}
	near(t, "power", design.Power(0.02, 10), power[0], 1e-4)
	if n, ok := design.SampleSize(0.015, 0.8, 100); !ok || n != int(math.Ceil(power[1])) {
		t.Errorf("sample size %d, %v, want %v rounded up", n, ok, power[1])
	}
	near(t, "min detectable", design.MinDetectable(8, 0.8), power[2], 1e-4)
	post := Moderate(want["unlike"], repeat(4, len(want["unlike"])), 0)
	for i, got := range post.Variance {
		near(t, "limma's squeezeVar", got, want["unlike_post"][i], 1e-9)
	}
	for _, name := range []string{"alike", "unlike"} {
		prior, df := fitFamily(want[name], repeat(4, len(want[name])))
		near(t, name+" prior", prior, want[name+"_prior"][0], 1e-9)
		near(t, name+" df", df, want[name+"_prior"][1], 1e-9)
	}
}

func repeat(value float64, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = value
	}
	return values
}
