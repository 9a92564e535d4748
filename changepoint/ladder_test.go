package changepoint

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// makeLadder draws k instances of each of v versions: level 100, deviation 2
// between instances, and steps[i] added from version i on.
func makeLadder(r *rand.Rand, v, k int, steps map[int]float64) [][]float64 {
	versions := make([][]float64, v)
	level := 100.0
	for i := range versions {
		level += steps[i]
		for range k {
			versions[i] = append(versions[i], level+2*r.NormFloat64())
		}
	}
	return versions
}

// TestLadderFalseAlarms holds the two stated levels on ladders without a
// change, with three standard errors of the simulation to spare.
func TestLadderFalseAlarms(t *testing.T) {
	t.Parallel()
	const count = 2000
	for _, shape := range [][2]int{{2, 2}, {5, 3}, {10, 2}, {10, 5}, {30, 3}, {60, 5}} {
		r := rand.New(rand.NewPCG(1, uint64(shape[0]*100+shape[1])))
		suspects, confirmed := 0, 0
		for range count {
			result, err := Ladder(makeLadder(r, shape[0], shape[1], nil), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Changes) > 0 {
				suspects++
			}
			for _, c := range result.Changes {
				if c.State == Confirmed {
					confirmed++
					break
				}
			}
		}
		t.Logf("%d versions of %d: flagged %.4f, confirmed %.4f", shape[0], shape[1], float64(suspects)/count, float64(confirmed)/count)
		if suspects > count*5/100+29 || confirmed > count/100+13 {
			t.Errorf("%d versions of %d: %d flagged and %d confirmed of %d", shape[0], shape[1], suspects, confirmed, count)
		}
	}
}

func TestLadderFindsSteps(t *testing.T) {
	t.Parallel()
	const count = 300
	for _, test := range []struct {
		v, k  int
		step  float64 // in deviations between instances
		share float64 // found within one version, confirmed
	}{
		{10, 5, 2.5, 0.9}, {10, 3, 2.5, 0.6}, {10, 10, 1.5, 0.9}, {30, 5, 2.5, 0.9}, {60, 3, 2.5, 0.9},
	} {
		r := rand.New(rand.NewPCG(2, uint64(test.v*100+test.k)))
		found, covered := 0, 0
		for range count {
			at := 1 + r.IntN(test.v-1)
			result, err := Ladder(makeLadder(r, test.v, test.k, map[int]float64{at: 2 * test.step}), Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range result.Changes {
				if c.State == Confirmed && max(c.Index-at, at-c.Index) <= 1 {
					found++
					if c.LastGood < at && at <= c.FirstBad && c.SizeLow <= 2*test.step && 2*test.step <= c.SizeHigh {
						covered++
					}
					break
				}
			}
		}
		t.Logf("%d versions of %d, %.1f deviations: found %.3f, both intervals right in %.3f", test.v, test.k, test.step,
			float64(found)/count, float64(covered)/float64(found))
		if share := float64(found) / count; share < test.share {
			t.Errorf("%d versions of %d, %.1f deviations: found %.3f, want %.3f", test.v, test.k, test.step, share, test.share)
		}
		if share := float64(covered) / float64(found); share < 0.85 {
			t.Errorf("%d versions of %d: both intervals hold in %.3f", test.v, test.k, share)
		}
	}
}

// TestLadderTakesTheInstanceAsReplicate gives each version few instances with
// many samples each: fed as instances, the samples would show changes everywhere.
func TestLadderTakesTheInstanceAsReplicate(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	flaggedInstances, flaggedSamples := 0, 0
	for range 100 {
		var instances, samples [][]float64
		for range 8 {
			var medians, all []float64
			for range 3 {
				instance := 100 + 2*r.NormFloat64()
				for range 20 {
					all = append(all, instance+0.5*r.NormFloat64())
				}
				medians = append(medians, instance)
			}
			instances, samples = append(instances, medians), append(samples, all)
		}
		for i, versions := range [][][]float64{instances, samples} {
			result, err := Ladder(versions, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Changes) > 0 {
				if i == 0 {
					flaggedInstances++
				} else {
					flaggedSamples++
				}
			}
		}
	}
	if flaggedInstances > 12 || flaggedSamples < 90 {
		t.Errorf("flagged with instances %d, with samples %d of 100; want few and nearly all", flaggedInstances, flaggedSamples)
	}
}

func TestLadderInput(t *testing.T) {
	t.Parallel()
	if _, err := Ladder([][]float64{{1}, {2}, {3}}, Options{}); !errors.Is(err, ErrNoRepeats) {
		t.Errorf("one instance each: %v, want %v", err, ErrNoRepeats)
	}
	if _, err := Ladder(nil, Options{}); !errors.Is(err, ErrNoValues) {
		t.Errorf("no versions: %v, want %v", err, ErrNoValues)
	}
	result, err := Ladder([][]float64{{10, 11, nan}, {}, {10, 10.5}, {20, 21, 20}, {nan}, {20, 20.5, 21}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Changes) != 1 {
		t.Fatalf("changes: %+v, want one", result.Changes)
	}
	c := result.Changes[0]
	got := []any{c.Index, c.LastGood, c.FirstBad, c.State, result.Points, result.Dropped}
	if diff := cmp.Diff([]any{3, 2, 3, Confirmed, 4, 2}, got); diff != "" {
		t.Errorf("index, last good, first bad, state, points, dropped (-want +got):\n%s", diff)
	}
}

func TestAnalyzeChoosesByShape(t *testing.T) {
	t.Parallel()
	var ladder, history Series
	for i := range 12 {
		for k := range 4 {
			v := 100 + float64(k)
			if i >= 6 {
				v += 20
			}
			ladder.Values = append(ladder.Values, v)
			ladder.Positions = append(ladder.Positions, float64(1000+i))
		}
	}
	for i := range 40 {
		history.Values = append(history.Values, float64(100+i%3+20*(i/20)))
	}
	result, err := Analyze(ladder, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Method != "ladder" || len(result.Changes) != 1 || result.Changes[0].Index != 24 ||
		result.Changes[0].FirstBadPosition != 1006 || result.Changes[0].LastGoodPosition != 1005 {
		t.Errorf("ladder: %+v", result)
	}
	result, err = Analyze(history, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Method != "history" || len(result.Changes) != 1 || result.Changes[0].Index != 20 {
		t.Errorf("history: %+v", result)
	}
}
