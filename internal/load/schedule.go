package load

import (
	"math"
	"math/rand/v2"
	"time"
)

// schedule is the intended start times of an open loop. It is data: it knows no
// clock, and the same rate and seed always give the same times.
type schedule struct {
	ratePerSecond float64
	random        *rand.Rand // nil for constant arrivals
	taken         int64      // arrivals given out
	next          time.Duration
}

// newSchedule makes a schedule whose first arrival is at 0 for constant
// arrivals, and after a first exponential gap for Poisson arrivals.
func newSchedule(ratePerSecond float64, poisson bool, seed uint64) *schedule {
	s := &schedule{ratePerSecond: ratePerSecond}
	if poisson {
		s.random = rand.New(rand.NewPCG(seed, 0))
		s.next = s.gap()
	}
	return s
}

// take gives the intended start of the next arrival, counted from the start of the schedule.
func (s *schedule) take() time.Duration {
	at := s.next
	s.taken++
	if s.random != nil {
		s.next += s.gap()
	} else {
		// From the count, not by adding gaps, so that rounding never adds up.
		s.next = seconds(float64(s.taken) / s.ratePerSecond)
	}
	return at
}

// due is the number of arrivals before until that were not taken. For Poisson
// arrivals all but the first of them are the expected number.
func (s *schedule) due(until time.Duration) int64 {
	if s.next >= until {
		return 0
	}
	if s.random == nil {
		return max(1, int64(math.Ceil(until.Seconds()*s.ratePerSecond))-s.taken)
	}
	return 1 + int64(math.Round((until-s.next).Seconds()*s.ratePerSecond))
}

func (s *schedule) gap() time.Duration {
	return seconds(s.random.ExpFloat64() / s.ratePerSecond)
}

// seconds makes a duration, the longest there is instead of one that overflows.
func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/4/1e9 {
		return math.MaxInt64 / 4
	}
	return time.Duration(s * 1e9)
}
