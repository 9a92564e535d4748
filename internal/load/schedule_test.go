package load

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSchedule_Constant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.01, 1e5).Draw(t, "rate")
		taken := rapid.IntRange(1, 2000).Draw(t, "taken")
		s := newSchedule(rate, false, 0)
		for k := range taken {
			want := float64(k) / rate * 1e9
			if got := s.take(); math.Abs(float64(got)-want) > 1 {
				t.Fatalf("arrival %d at %d ns, want %g", k, got, want)
			}
		}
		until := time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "until"))
		due := s.due(until)
		count := int64(0)
		for s.next < until && count < 2e6 {
			s.take()
			count++
		}
		if count < 2e6 && due != count {
			t.Fatalf("%d due until %v, but %d came", due, until, count)
		}
	})
}

// Mean and variance of the gaps are those of the exponential distribution,
// within 5 standard errors for 100,000 of them, and the seed decides them all.
func TestSchedule_Poisson(t *testing.T) {
	const n, rate = 100_000, 2000.0
	s, twin, other := newSchedule(rate, true, 7), newSchedule(rate, true, 7), newSchedule(rate, true, 8)
	sum, squares, last, differ := 0.0, 0.0, time.Duration(0), false
	for range n {
		at := s.take()
		if at != twin.take() {
			t.Fatal("the same seed gave other arrivals")
		}
		differ = differ || at != other.take()
		gap := (at - last).Seconds() * rate
		sum += gap
		squares += gap * gap
		last = at
	}
	if !differ {
		t.Error("another seed gave the same arrivals")
	}
	mean := sum / n
	variance := squares/n - mean*mean
	if math.Abs(mean-1) > 5/math.Sqrt(n) || math.Abs(variance-1) > 5*math.Sqrt(8.0/n) {
		t.Errorf("gaps x rate have mean %g and variance %g, want 1 and 1", mean, variance)
	}
	if due := s.due(last + 10*time.Second); due < 19_900 || due > 20_100 {
		t.Errorf("%d due within 10 s, want about 20000", due)
	}
}

func TestSchedule_SlowestRate(t *testing.T) {
	s := newSchedule(1e-300, false, 0)
	if first, second := s.take(), s.take(); first != 0 || second < 100*365*24*time.Hour/4 {
		t.Errorf("arrivals at %v and %v", first, second)
	}
}
