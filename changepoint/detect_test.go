package changepoint

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var nan = math.NaN()

// step makes noise of deviation 1 about 100 with a step at each index of at.
func step(n int, size float64, at ...int) []float64 {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	x := make([]float64, n)
	level := 100.0
	for i := range x {
		if slices.Contains(at, i) {
			level += size
			size = -size
		}
		x[i] = level + r.NormFloat64()
	}
	return x
}

// failer is what *testing.T and *rapid.T have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func detected(t failer, s Series) Result {
	t.Helper()
	result, err := Detect(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func indexes(changes []Change) []int {
	var all []int
	for _, c := range changes {
		all = append(all, c.Index)
	}
	return all
}

func TestDetectReportsTheStep(t *testing.T) {
	t.Parallel()
	result := detected(t, Series{Values: step(120, 10, 70)})
	if diff := cmp.Diff([]int{70}, indexes(result.Changes)); diff != "" {
		t.Fatalf("indexes (-want +got):\n%s", diff)
	}
	c := result.Changes[0]
	if c.State != Confirmed || c.LastGood >= 70 || c.FirstBad < 70 || c.FirstBad-c.LastGood > 3 {
		t.Errorf("state %s, last good %d, first bad %d", c.State, c.LastGood, c.FirstBad)
	}
	if !(c.SizeLow <= 10 && 10 <= c.SizeHigh && c.SizeHigh-c.SizeLow < 3) {
		t.Errorf("size %v in [%v, %v], want 10 in a narrow interval", c.Size, c.SizeLow, c.SizeHigh)
	}
	if size, low, high := c.Relative(); math.Abs(size-0.1) > 0.02 || low > size || high < size {
		t.Errorf("relative size %v in [%v, %v], want 0.1", size, low, high)
	}
	if c.Judged.Score < c.Judged.Threshold || c.Judged.Ratio < ratioThreshold || c.Judged.String() == "" {
		t.Errorf("judged %+v", c.Judged)
	}
	if math.Abs(result.Noise-1) > 0.3 {
		t.Errorf("noise %v, want about 1", result.Noise)
	}
}

func TestDetectLastPoints(t *testing.T) {
	t.Parallel()
	for after := range 8 {
		x := step(60, 0)
		for i := 60 - after; i < 60; i++ {
			x[i] += 12
		}
		changes := detected(t, Series{Values: x}).Changes
		switch {
		case after == 0 && len(changes) != 0:
			t.Errorf("nothing after: %+v", changes)
		case after >= 1 && (len(changes) != 1 || changes[0].Index != 60-after):
			t.Errorf("%d points after: %+v, want a change at %d", after, changes, 60-after)
		case after >= 1 && after < 5 && changes[0].State != Suspect:
			t.Errorf("%d points after: %s, want a suspect", after, changes[0].State)
		case after >= 5 && changes[0].State != Confirmed:
			t.Errorf("%d points after: %s, want it confirmed", after, changes[0].State)
		}
	}
}

// TestDetectIgnores holds shapes that are no change of level.
func TestDetectIgnores(t *testing.T) {
	t.Parallel()
	with := func(change func(x []float64)) []float64 {
		x := step(200, 0)
		change(x)
		return x
	}
	for name, x := range map[string][]float64{
		"constant":          slices.Repeat([]float64{5}, 100),
		"zeros":             make([]float64, 100),
		"one point":         {3},
		"nine points":       {1, 1, 1, 1, 9, 9, 9, 9, 9},
		"spikes":            with(func(x []float64) { x[40], x[90], x[91], x[150] = 500, 900, -900, 1e9 }),
		"spike at start":    with(func(x []float64) { x[0] = 1e6 }),
		"alternating":       with(func(x []float64) { odd(x, 30) }),
		"growing deviation": with(func(x []float64) { grow(x) }),
	} {
		for _, c := range detected(t, Series{Values: x}).Changes {
			if c.State == Confirmed {
				t.Errorf("%s: confirmed %+v", name, c)
			}
		}
	}
}

func odd(x []float64, size float64) {
	for i := range x {
		x[i] += size * float64(i%2)
	}
}

func grow(x []float64) {
	for i := range x {
		x[i] = 100 + (x[i]-100)*(1+float64(i)/40)
	}
}

// TestDetectExactValues takes values without noise, such as instruction counts.
func TestDetectExactValues(t *testing.T) {
	t.Parallel()
	x := append(slices.Repeat([]float64{1000}, 30), slices.Repeat([]float64{1001}, 30)...)
	changes := detected(t, Series{Values: x}).Changes
	if len(changes) != 1 || changes[0].Index != 30 || changes[0].LastGood != 29 || changes[0].FirstBad != 30 ||
		changes[0].State != Confirmed || changes[0].Size != 1 {
		t.Errorf("%+v, want one confirmed change of 1 at 30", changes)
	}
}

func TestDetectInputContract(t *testing.T) {
	t.Parallel()
	x := step(100, 10, 50)
	want := detected(t, Series{Values: x}).Changes

	withGaps := slices.Clone(x)
	withGaps = slices.Insert(withGaps, 20, nan, math.Inf(1), math.Inf(-1))
	gaps := detected(t, Series{Values: withGaps})
	if gaps.Dropped != 3 || gaps.Points != 100 || len(gaps.Changes) != 1 || gaps.Changes[0].Index != 53 {
		t.Errorf("missing values: %+v, want the change at 53 and 3 dropped", gaps)
	}

	weights := slices.Repeat([]float64{2.5}, 100)
	if diff := cmp.Diff(want, detected(t, Series{Values: x, Weights: weights}).Changes); diff != "" {
		t.Errorf("equal weights change the answer (-none +equal):\n%s", diff)
	}

	var repeated Series
	for i, v := range x {
		for _, d := range []float64{-0.5, 0, 0.5} {
			repeated.Values = append(repeated.Values, v+d)
			repeated.Positions = append(repeated.Positions, float64(10*i)) // positions with gaps
		}
	}
	joined := detected(t, repeated)
	if joined.Points != 100 || joined.Repeats != 200 || len(joined.Changes) != 1 ||
		joined.Changes[0].Index != 150 || joined.Changes[0].Before.Median != want[0].Before.Median {
		t.Errorf("repeats: %+v, want the change at index 150 and the same levels as %+v", joined, want)
	}

	// Weight 0 is missing; small weights count less.
	spoilt := slices.Clone(x)
	weights = slices.Repeat([]float64{1}, 100)
	for i := 10; i < 90; i += 10 {
		spoilt[i], weights[i] = 500, 0
	}
	result := detected(t, Series{Values: spoilt, Weights: weights})
	if result.Dropped != 8 || len(result.Changes) != 1 || max(result.Changes[0].Index-50, 50-result.Changes[0].Index) > 2 {
		t.Errorf("weights of 0: %+v", result)
	}
	weights[50] = 0.5 // unequal: the weighted path
	result = detected(t, Series{Values: x, Weights: weights})
	if len(result.Changes) != 1 || max(result.Changes[0].Index-50, 50-result.Changes[0].Index) > 2 {
		t.Errorf("unequal weights: %+v", result)
	}
}

func TestDetectRefuses(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]Series{
		"unsorted":        {Values: []float64{1, 2, 3}, Positions: []float64{1, 3, 2}},
		"positions":       {Values: []float64{1, 2, 3}, Positions: []float64{1, 2}},
		"weights":         {Values: []float64{1, 2, 3}, Weights: []float64{1, 2}},
		"negative weight": {Values: []float64{1, 2, 3}, Weights: []float64{1, -1, 1}},
		"NaN weight":      {Values: []float64{1, 2, 3}, Weights: []float64{1, nan, 1}},
		"NaN position":    {Values: []float64{1, 2, 3}, Positions: []float64{1, nan, 3}},
	} {
		for method, find := range map[string]func(Series, Options) (Result, error){"Detect": Detect, "Analyze": Analyze} {
			if result, err := find(s, Options{}); err == nil {
				t.Errorf("%s of %s: %+v, want an error", method, name, result)
			}
		}
	}
	for _, values := range [][]float64{nil, {nan, nan}} {
		if _, err := Detect(Series{Values: values}, Options{}); !errors.Is(err, ErrNoValues) {
			t.Errorf("Detect(%v): %v, want %v", values, err, ErrNoValues)
		}
	}
	for _, opts := range []Options{{Near: 2}, {Strictness: nan}, {MinRelative: -1}} {
		if _, err := Detect(Series{Values: []float64{1}}, opts); err == nil {
			t.Errorf("options %+v are taken", opts)
		}
	}
}

// drawSeries draws a history of whole numbers, so that shifts and powers of
// two are exact: levels, noise, spikes and runs of equal values.
func drawSeries(t *rapid.T) []float64 {
	var x []float64
	for range rapid.IntRange(1, 4).Draw(t, "levels") {
		level := rapid.IntRange(-1000, 1000).Draw(t, "level")
		noise := rapid.IntRange(0, 100).Draw(t, "noise")
		for range rapid.IntRange(1, 60).Draw(t, "points") {
			x = append(x, float64(level+rapid.IntRange(-noise, noise).Draw(t, "value")))
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "spikes") {
		x[rapid.IntRange(0, len(x)-1).Draw(t, "where")] = float64(rapid.IntRange(-100_000, 100_000).Draw(t, "spike"))
	}
	return x
}

func TestDetectEquivariance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := drawSeries(t)
		shift := float64(rapid.IntRange(-5000, 5000).Draw(t, "shift"))
		factor := math.Ldexp(1, rapid.SampledFrom([]int{-900, -3, 1, 8, 900}).Draw(t, "exponent"))
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = v * factor
		}
		want := detected(t, Series{Values: x})
		got := detected(t, Series{Values: y})
		if diff := cmp.Diff(indexes(want.Changes), indexes(got.Changes)); diff != "" {
			t.Fatalf("scaled by %v (-want +got):\n%s", factor, diff)
		}
		for i, c := range got.Changes {
			if c.Size != want.Changes[i].Size*factor || c.State != want.Changes[i].State {
				t.Fatalf("scaled by %v: change %+v, unscaled %+v", factor, c, want.Changes[i])
			}
		}
		for i, v := range x {
			y[i] = shift - v
		}
		got = detected(t, Series{Values: y})
		if diff := cmp.Diff(confirmed(want.Changes), confirmed(got.Changes)); diff != "" {
			t.Fatalf("shifted by %v and turned over (-want +got):\n%s", shift, diff)
		}
	})
}

func confirmed(changes []Change) []int {
	var all []int
	for _, c := range changes {
		if c.State == Confirmed {
			all = append(all, c.Index)
		}
	}
	return all
}

// TestDetectReversed holds clear steps: windows start at the left, so that
// marginal changes may differ when a series is read backwards.
func TestDetectReversed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.IntRange(0, 100).Draw(t, "start")
		var x []float64
		var want []int
		level := 100.0
		for k := range rapid.IntRange(1, 5).Draw(t, "levels") {
			if k > 0 {
				want = append(want, len(x))
				level += 30
			}
			for range rapid.IntRange(20, 80).Draw(t, "points") {
				// A pattern and no noise, which in rare cases has a change of its own.
				x = append(x, level+float64((start+7*len(x))%11)/11)
			}
		}
		if diff := cmp.Diff(want, confirmed(detected(t, Series{Values: x}).Changes)); diff != "" {
			t.Fatalf("forwards (-want +got):\n%s", diff)
		}
		n := len(x)
		slices.Reverse(x)
		var back []int
		for _, i := range slices.Backward(want) {
			back = append(back, n-i)
		}
		if diff := cmp.Diff(back, confirmed(detected(t, Series{Values: x}).Changes)); diff != "" {
			t.Fatalf("backwards (-want +got):\n%s", diff)
		}
	})
}

// checkResult holds what every result promises.
func checkResult(t *testing.T, s Series, result Result) {
	last := 0
	for k, c := range result.Changes {
		if !(0 <= c.LastGood && c.LastGood < c.Index && c.Index <= c.FirstBad && c.FirstBad < len(s.Values) && c.Index > last) {
			t.Errorf("change %d of %d values: %+v after index %d", k, len(s.Values), c, last)
		}
		if c.State == Suspect && k != len(result.Changes)-1 {
			t.Errorf("suspect %d is not the last of %d", k, len(result.Changes))
		}
		if !(c.SizeLow <= c.Size && c.Size <= c.SizeHigh) {
			t.Errorf("size %v is not in [%v, %v]", c.Size, c.SizeLow, c.SizeHigh)
		}
		last = c.Index
	}
}

func FuzzDetect(f *testing.F) {
	f.Add([]byte{1, 2, 3, 200, 201, 202, 255}, uint8(0))
	f.Add(append(slices.Repeat([]byte{10, 11}, 20), slices.Repeat([]byte{90, 91}, 20)...), uint8(3))
	special := []float64{nan, math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0, math.Copysign(0, -1)}
	f.Fuzz(func(t *testing.T, data []byte, mode uint8) {
		s := Series{}
		for i, b := range data {
			v := float64(b)
			if int(b) >= 256-len(special) {
				v = special[255-int(b)]
			}
			s.Values = append(s.Values, v)
			if mode&1 != 0 {
				s.Positions = append(s.Positions, float64(i/(1+int(mode>>4))))
			}
			if mode&2 != 0 {
				s.Weights = append(s.Weights, float64(b%7))
			}
		}
		for _, find := range []func(Series, Options) (Result, error){Detect, Analyze} {
			result, err := find(s, Options{})
			if err == nil && result.Method == "history" {
				checkResult(t, s, result)
			}
		}
		_, _ = EDivisive(s.Values, DefaultEDivisive())
	})
}
