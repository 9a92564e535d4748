package changepoint

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStreamFindsWhatDetectFinds appends a long history in pieces, and holds
// that no more than the last segments are kept.
func TestStreamFindsWhatDetectFinds(t *testing.T) {
	t.Parallel()
	at := []int{300, 345, 900, 2500, 2540, 6000, 9000}
	x := step(10_000, 12, at...)
	for i := range x {
		if i%997 == 500 {
			x[i] = nan
		}
	}
	for _, piece := range []int{37, 1000} {
		s := NewStream(Options{})
		var result Result
		for part := range slices.Chunk(x, piece) {
			var err error
			if result, err = s.Append(Series{Values: part}); err != nil {
				t.Fatal(err)
			}
			if kept := len(s.tail.Values); kept > streamMost+plotPoints+piece {
				t.Fatalf("%d values are kept", kept)
			}
		}
		if diff := cmp.Diff(at, indexes(result.Changes)); diff != "" {
			t.Errorf("in pieces of %d (-want +got):\n%s", piece, diff)
		}
		whole := detected(t, Series{Values: x})
		if result.Points != whole.Points || result.Dropped != whole.Dropped {
			t.Errorf("points %d dropped %d, the whole has %d and %d", result.Points, result.Dropped, whole.Points, whole.Dropped)
		}
		for i, c := range result.Changes {
			if c.FirstBadPosition != float64(c.FirstBad) || c.State != whole.Changes[i].State {
				t.Errorf("change %+v, of the whole %+v", c, whole.Changes[i])
			}
		}
	}
}

func TestStreamWithPositions(t *testing.T) {
	t.Parallel()
	s := NewStream(Options{})
	x := step(4000, 12, 1000)
	var result Result
	for i := 0; i < len(x); i += 2 {
		var err error
		// Two values at each position, in one append.
		result, err = s.Append(Series{Values: x[i : i+2], Positions: []float64{float64(i), float64(i)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(result.Changes) != 1 || result.Changes[0].Index != 1000 || result.Changes[0].FirstBadPosition != 1000 || result.Points != 2000 {
		t.Errorf("%+v", result)
	}
	if _, err := s.Append(Series{Values: []float64{1}}); err == nil {
		t.Error("values without positions are taken after values with positions")
	}
	if _, err := s.Append(Series{Values: []float64{1}, Positions: []float64{5}}); err == nil {
		t.Error("a position before the last is taken")
	}
	if after, err := s.Append(Series{Values: []float64{100}, Positions: []float64{4000}}); err != nil || after.Points != 2001 {
		t.Errorf("after two refusals: %+v, %v", after, err)
	}
}

func BenchmarkStreamAppend(b *testing.B) {
	for _, every := range []int{0, 50} {
		b.Run(map[int]string{0: "none", 50: "many"}[every], func(b *testing.B) {
			s := NewStream(Options{})
			if _, err := s.Append(Series{Values: noisy(1_000_000, every)}); err != nil {
				b.Fatal(err)
			}
			next := noisy(1000, every)
			i := 0
			for b.Loop() {
				if _, err := s.Append(Series{Values: next[i%1000 : i%1000+1]}); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
