package load

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// slice is one Run: its workers, what they share, and its two phases, warm-up
// and measured. Fields that a phase needs are set while all workers wait.
type slice struct {
	options Options
	workers []*worker
	sleep   func(time.Duration)

	base     time.Time     // clock readings are counted from here
	begin    time.Duration // of the phase
	until    time.Duration // end of the phase: no event starts after it
	arrivals *arrivals     // of the phase; nil in a closed loop

	halted    atomic.Bool             // workers end the phase after the current event
	halt      context.CancelCauseFunc // sets halted
	unclaimed atomic.Int64            // events that may still start, with Options.Events

	sink    sink
	arrived chan *worker  // a worker finished a phase
	measure chan struct{} // closed when the measured phase starts
	finish  chan struct{} // closed when it has ended
}

// arrivals hands the arrivals of a schedule to whichever worker is free.
type arrivals struct {
	mu       sync.Mutex
	schedule *schedule
}

func (a *arrivals) take() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.schedule.take()
}

func (a *arrivals) due(until time.Duration) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.schedule.due(until)
}

func newSlice(workers []Worker, options Options, sleep func(time.Duration)) *slice {
	if options.OverrunLimit == 0 {
		options.OverrunLimit = defaultOverrunLimit
	}
	s := &slice{
		options: options,
		sleep:   sleep,
		base:    time.Now(),
		arrived: make(chan *worker, len(workers)),
		measure: make(chan struct{}),
		finish:  make(chan struct{}),
	}
	s.sink.init(options.Rate > 0, options.Interval != nil)
	for i, w := range workers {
		s.workers = append(s.workers, newWorker(s, i, w))
	}
	return s
}

// now is a reading of the monotonic clock, counted from base.
func (s *slice) now() time.Duration { return time.Since(s.base) }

func (s *slice) run(ctx context.Context) (*Recording, error) {
	running, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	s.halt = halt
	context.AfterFunc(running, func() { s.halted.Store(true) })

	s.plan(s.options.Warmup, false)
	var threads sync.WaitGroup
	for _, w := range s.workers {
		threads.Go(w.live)
	}
	s.wait(running)
	// A slice that was halted in its warm-up has no measured time to probe.
	probed := running.Err() == nil
	if probed && s.options.Begin != nil {
		s.options.Begin()
	}
	s.plan(s.options.Time, true)
	started := time.Now()
	stopReports := s.startReports()
	close(s.measure)
	s.wait(running)
	stopReports()
	if probed && s.options.End != nil {
		s.options.End()
	}
	close(s.finish)
	threads.Wait()
	return s.recording(started), s.err(ctx)
}

// plan sets the next phase up, while all workers wait.
func (s *slice) plan(length time.Duration, measured bool) {
	s.unclaimed.Store(math.MaxInt64)
	if measured && s.options.Events > 0 {
		s.unclaimed.Store(s.options.Events)
	}
	if s.options.Rate > 0 {
		seed := s.options.Seed
		if !measured {
			seed = ^seed
		}
		s.arrivals = &arrivals{schedule: newSchedule(s.options.Rate, s.options.Poisson, seed)}
	}
	for _, w := range s.workers {
		w.measured = measured
	}
	s.begin = s.now()
	s.until = s.begin + length
	if measured && length == 0 {
		s.until = math.MaxInt64
	}
}

// wait returns when all workers have finished the phase. It aborts those that
// run longer than OverrunLimit past its end, or past the halt of the slice.
func (s *slice) wait(running context.Context) {
	pending := make(map[*worker]bool, len(s.workers))
	for _, w := range s.workers {
		pending[w] = true
	}
	limit := s.options.OverrunLimit
	overrun := time.NewTimer(min(s.until-s.now(), math.MaxInt64-limit) + limit)
	defer overrun.Stop()
	halted := running.Done()
	for len(pending) > 0 {
		select {
		case w := <-s.arrived:
			delete(pending, w)
		case <-halted:
			halted = nil
			if s.until-s.now() > 0 {
				overrun.Reset(limit)
			}
		case <-overrun.C:
			for w := range pending {
				w.aborted.Store(true)
				w.conn.Abort()
			}
		}
	}
}

// err is why the slice did not go to its end, nil if it did.
func (s *slice) err(ctx context.Context) error {
	if ctx.Err() != nil {
		return dbcanary.Errorf(dbcanary.CodeInterrupted, "load stopped before its end: %w", context.Cause(ctx))
	}
	var first *worker
	for _, w := range s.workers {
		if w.aborted.Load() && w.err == nil { // its event ended at the same moment
			w.err = wire.ErrAborted
		}
		if w.err != nil && (first == nil || w.failed < first.failed) {
			first = w
		}
	}
	if first == nil {
		return nil
	}
	if first.aborted.Load() {
		return &dbcanary.Error{
			Code: dbcanary.CodeFailed,
			Op:   fmt.Sprintf("connection %d: an event still ran %v after the end and was aborted", first.index, s.options.OverrunLimit),
			Hint: "its connection is closed; allow a longer overrun or use a smaller table",
			Err:  first.err,
		}
	}
	return fmt.Errorf("connection %d: %w", first.index, first.err)
}
