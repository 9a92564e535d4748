// Package load drives a server: workers that run events in a closed loop or at a
// given rate, and the recording of what they did.
//
// # What a slice counts
//
// All workers run events without a pause, before, during and after the measured
// time, which is a window that is laid over them: it begins when the warm-up is
// over, and a worker stops after the event that its end cuts. An event counts by the
// share of its length that lies in the window, so 1 for all but the first and the
// last of each worker. The rate is the sum of the shares by the length of the window.
//
// It has no bias in a steady state, for events of any distribution of lengths and
// a window of any length: each event brings a total of 1, spread evenly over its
// time. An event of constant length L gives exactly 1/L, a scan that is longer than
// the slice too. The other usual rules do have one: counting the events that end
// within the time, from a common start, takes the short ones and drops the long
// ones; waiting for the last ones and dividing by the nominal time counts too many,
// by the time that was needed counts the idle workers in; and summing the rates of
// workers that start or end one by one gives more than a server can do that is
// saturated, since those that run alone are faster.
//
// What is left: the event that the end cuts runs on while other workers stop, so
// its last part meets less contention. That matters when events are about as long as
// the slice. And a server that is not in a steady state after the warm-up, of course.
//
// Probes see the same window between Begin and End, so what they count can be
// divided by Operations, scaled by [Recording.Scale].
//
// It is not for choosing statements: that is workload's.
package load

import (
	"context"
	"fmt"
	"maps"
	"math"
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
	// Multiplex says that events wait for nothing but answers on Conn, so that
	// many workers may share a thread if Conn is a wire.Waiter.
	Multiplex bool
	// Background says that the worker runs beside those that are measured and ends
	// with them. Its events are counted apart; neither Options.Events nor Rate is for it.
	Background bool
}

// Options says how long and how fast.
type Options struct {
	Warmup time.Duration // least time before the measured time, not recorded; in a closed loop each worker does at least one event in it
	Time   time.Duration // measured time; 0 if Events decides
	Events int64         // most measured events over all workers; 0 for no limit
	// Exact has no event run but Events, each worker an equal share of them, and the
	// measured time end with the last: for events that build on each other and can't
	// be repeated. There is no warm-up then, and the time is that of all, not a rate.
	Exact bool

	Rate    float64 // open loop: events per second over all workers; 0 for a closed loop
	Poisson bool    // exponential gaps between arrivals instead of equal ones
	Seed    uint64  // of the gaps

	CPUs         []int         // CPUs that this process may run on meanwhile; nil to leave that as it is
	OverrunLimit time.Duration // how long an event may run past the end, of the warm-up too, before its connection is aborted; 0 = 10 s

	// Begin and End are called just before the measured time begins and just after
	// it ends, while the workers run, for probes; they may be nil.
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
	Window  time.Duration // the measured time
	Overrun time.Duration // how far the last event ran past its end

	// Elapsed is the time in which so many Operations and Events come, such that
	// Operations/Elapsed and Events/Elapsed are the rates: Window but for the
	// rounding of both to whole numbers, and the length of an event for events that
	// are longer than the window. See the package comment.
	Elapsed    time.Duration
	Operations int64 // statements of finished events
	Sent       int64 // statements of all finished events, those of the warm-up and after the end too
	Events     int64 // finished events; those that ended in a server's error don't count

	Retries   int64            // times that an event ran again after a deadlock or serialization failure
	Errors    map[string]int64 // events that ended in a server's error, by its code; nil if none
	PerSecond []int64          // statements by the second of the window in which their event ended; the last one may be part of a second

	// Response is the latency, retries included, of the events that ended in the
	// window, or if none did of those that its end cut: from the intended start in an
	// open loop. Service is from the actual start; it is the same histogram in a closed
	// loop.
	Response, Service *Histogram

	Background Background // what workers in the background did

	Offered    float64 // open loop: Options.Rate
	LateStarts int64   // open loop: events that started more than 1 ms after their intended start
	Backlog    int64   // open loop: arrivals due by the end and never started; their latency is in no histogram
}

// Scale turns what a probe counted between Begin and End into what it would be
// for Elapsed, to be divided by Operations. A negative total, for unknown, stays.
func (r *Recording) Scale(total int64) int64 {
	if total < 0 || r.Window <= 0 {
		return total
	}
	return int64(math.Round(float64(total) * (float64(r.Elapsed) / float64(r.Window))))
}

// Void says why the slice is no measurement, or "" if it is one: events that
// ended in an error are no work, and no event at all is no rate of 0.
func (r *Recording) Void() string {
	if len(r.Errors) > 0 {
		return "errors from the server: " + errorText(r.Errors)
	}
	if len(r.Background.Errors) > 0 {
		return "errors from the server in the background: " + errorText(r.Background.Errors)
	}
	if r.Events == 0 || r.Elapsed <= 0 {
		return "no event finished"
	}
	return ""
}

func errorText(errors map[string]int64) string {
	var counts []string
	for _, code := range slices.Sorted(maps.Keys(errors)) {
		counts = append(counts, fmt.Sprintf("%d x %s", errors[code], code))
	}
	return strings.Join(counts, ", ")
}

// Run drives one slice and returns when no event is in flight. When ctx ends,
// workers stop after their event, and events that last OverrunLimit longer are
// aborted. With an error, the recording holds what was done so far; it is nil
// only if the options or workers make no sense or the process can't be pinned.
//
// While it lasts it raises GOMAXPROCS and pins all threads of the process, so only
// one Run at a time may be under way, and no server may be started meanwhile.
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
	case !slices.ContainsFunc(workers, func(w Worker) bool { return !w.Background }):
		problem = "there are no workers"
	case options.Time < 0 || options.Warmup < 0 || options.Events < 0 || options.OverrunLimit < 0 || options.IntervalEvery < 0:
		problem = "a time or a number of events is negative"
	case options.Exact && (options.Events == 0 || options.Warmup > 0 || options.Rate > 0):
		problem = "an exact number of events leaves no room for a warm-up or a rate"
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
