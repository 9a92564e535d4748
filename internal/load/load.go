// Package load drives a server: workers that run events in a closed loop or at a
// given rate, and the recording of what they did.
//
// # What a slice counts
//
// All workers warm up, wait for each other between two events, and start
// together. In a closed loop a worker counts every event that it *starts* within
// the measured time, runs the last one to its end, and its own time ends there;
// it starts at least one. So nothing is in flight when the measured time begins
// or ends, what the probes see between Begin and End is the work of the counted
// events and of no other, and a scan that is longer than the slice still gives a
// rate.
//
// The rate is Operations/Elapsed, where Elapsed is the mean over workers of their
// own time. The number of events is a stopping time, so by Wald's identity
// E[own time] = E[events] x E[event length]: the rate has no bias from cutting
// events at the end, which both other usual rules have (counting only the events
// that finish in time drops the long ones; dividing by the nominal time after
// waiting for the last ones counts too many). What bias is left:
//   - of order 1/events, because a ratio is taken: E[1/length] exceeds
//     1/E[length]. It matters when a slice holds one or two events of very
//     varying length, and is the same for every target.
//   - after the end of the time fewer and fewer workers run, so the last event of
//     each meets less contention. It matters when events are about as long as the
//     slice.
//
// In an open loop the events are those whose intended start lies within the
// measured time. Elapsed is that time if all were started, and else, when the
// server could not keep up and every worker was busy to the end, as in a closed
// loop.
//
// It is not for choosing statements: that is workload's.
package load

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// Event is what a worker repeats: a statement or a transaction of a benchmark.
type Event interface {
	// Run does the event once and says how many statements it sent. A retryable
	// *wire.ServerError is counted as a retry and the event runs again (the event
	// itself has rolled back); any other *wire.ServerError is counted by code;
	// anything else ends the slice.
	Run() (statements int, err error)
}

// Worker is a connection and what it repeats. It is kept for many slices and
// belongs to one Run at a time.
type Worker struct {
	Conn  wire.Conn
	Event Event
}

// Options says how long and how fast.
type Options struct {
	Warmup time.Duration // run before the measured time, not recorded
	Time   time.Duration // measured time; 0 if Events decides
	Events int64         // most measured events over all workers; 0 for no limit

	Rate    float64 // open loop: events per second over all workers; 0 for a closed loop
	Poisson bool    // exponential gaps between arrivals instead of equal ones
	Seed    uint64  // of the gaps

	CPUs         []int         // CPUs that worker threads may run on; nil for all
	OverrunLimit time.Duration // how long an event may run past the end, of the warm-up too, before its connection is aborted; 0 = 10 s

	// Begin and End are called when the measured time begins and ends, while all
	// workers are between two events, for probes; they may be nil.
	Begin, End func()

	// Interval is called every IntervalEvery of the measured time with what
	// happened since the last call, from a goroutine of Run; it may be nil.
	Interval      func(Progress)
	IntervalEvery time.Duration
}

// Progress is what happened in one interval.
type Progress struct {
	Elapsed    time.Duration // since the measured time began
	Length     time.Duration // of this interval
	Threads    int           // workers
	Operations int64         // statements
	Events     int64
	Retries    int64
	Errors     int64
	Response   *Histogram // latency of the events of this interval; the callee may keep it
	Backlog    int64      // open loop: arrivals that are due and not started
}

// Recording is what is kept of a slice.
type Recording struct {
	Started time.Time     // of the measured time
	Elapsed time.Duration // such that Operations/Elapsed and Events/Elapsed are the rates; see the package comment
	Overrun time.Duration // how far the last event ran past the end

	Operations int64            // statements of finished events
	Events     int64            // finished events; those that ended in a server's error don't count
	Retries    int64            // times that an event ran again after a deadlock or serialization failure
	Errors     map[string]int64 // events that ended in a server's error, by its code; nil if none
	PerSecond  []int64          // statements by the second, from the start, in which their event ended

	Response *Histogram // of finished events, retries included, from the intended start (open loop) or the actual one
	Service  *Histogram // the same from the actual start; the same histogram as Response in a closed loop

	Offered    float64 // open loop: arrivals per second that the schedule held; 0 in a closed loop
	LateStarts int64   // open loop: events that started more than 1 ms after their intended start
	Backlog    int64   // open loop: arrivals due by the end and never started; their latency is in no histogram
}

// Void says why the slice is no measurement, or "" if it is one: events that
// ended in an error are no work, and no event at all is no rate of 0.
func (r *Recording) Void() string {
	if len(r.Errors) > 0 {
		var counts []string
		for _, code := range slices.Sorted(maps.Keys(r.Errors)) {
			counts = append(counts, fmt.Sprintf("%d x %s", r.Errors[code], code))
		}
		return "errors from the server: " + strings.Join(counts, ", ")
	}
	if r.Events == 0 || r.Elapsed <= 0 {
		return "no event finished"
	}
	return ""
}

// Run drives one slice and returns when no event is in flight. When ctx ends,
// workers stop after their event, and events that last OverrunLimit longer are
// aborted. With an error, the recording holds what was done so far; it is nil
// only if the options or workers make no sense.
func Run(ctx context.Context, workers []Worker, options Options) (*Recording, error) {
	if err := check(workers, options); err != nil {
		return nil, err
	}
	return newSlice(workers, options, sleep).run(ctx)
}

func check(workers []Worker, options Options) error {
	problem := ""
	for _, w := range workers {
		if w.Conn == nil || w.Event == nil {
			problem = "a worker has no connection or no event"
		}
	}
	switch {
	case len(workers) == 0:
		problem = "there are no workers"
	case options.Time < 0 || options.Warmup < 0 || options.Events < 0 || options.OverrunLimit < 0 || options.IntervalEvery < 0:
		problem = "a time or a number of events is negative"
	case options.Time == 0 && options.Events == 0:
		problem = "neither a time nor a number of events is given"
	case !(options.Rate >= 0 && options.Rate <= maxRate):
		problem = fmt.Sprintf("a rate of %g events per second is not between 0 and %g", options.Rate, float64(maxRate))
	case options.Interval != nil && options.IntervalEvery == 0:
		problem = "the interval between reports is 0"
	}
	if problem != "" {
		return dbcanary.Errorf(dbcanary.CodeUsage, "load: %s", problem)
	}
	return nil
}

const (
	maxRate             = 1e7 // no single client starts more events per second
	maxRetries          = 100 // of one event; more means that it will never get through
	lateAfter           = time.Millisecond
	defaultOverrunLimit = 10 * time.Second
)
