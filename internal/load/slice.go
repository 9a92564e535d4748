package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// slice is one Run: its workers and what they share.
type slice struct {
	options    Options
	workers    []*worker
	background []*worker // not measured
	sleep      func(time.Duration)
	base       time.Time // clock readings are counted from here
	arrivals   *arrivals // nil in a closed loop
	sink       sink

	window    window
	unclaimed atomic.Int64            // events that may still start in the window, with Options.Events
	exhausted chan struct{}           // closed when there are none left
	begun     chan struct{}           // closed when the window begins, or never will
	ended     atomic.Int64            // events that were claimed and have ended
	halt      context.CancelCauseFunc // ends the slice early
	warm      chan *worker            // a worker can do with no more warm-up
	done      chan *worker            // a worker has ended its last event
}

// window is the measured time, in clock readings. Both ends are in the far future until they are there.
type window struct {
	begin, end atomic.Int64
	_          [48]byte // nothing that is written often in the same cache line
}

const future = math.MaxInt64

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
		options:   options,
		sleep:     sleep,
		base:      time.Now(),
		exhausted: make(chan struct{}),
		begun:     make(chan struct{}),
		warm:      make(chan *worker, len(workers)),
		done:      make(chan *worker, len(workers)),
	}
	s.window.begin.Store(future)
	s.window.end.Store(future)
	s.unclaimed.Store(options.Events)
	if options.Rate > 0 {
		s.arrivals = &arrivals{schedule: newSchedule(options.Rate, options.Poisson, options.Seed)}
	}
	s.sink.init(options.Rate > 0, options.Interval != nil)
	for i, w := range workers {
		if w.Background {
			s.background = append(s.background, newWorker(s, i, w))
		} else {
			s.workers = append(s.workers, newWorker(s, i, w))
		}
	}
	for i, w := range s.workers {
		n := int64(len(s.workers))
		w.share = options.Events/n + min(1, (options.Events%n)/int64(i+1))
	}
	return s
}

// all lists the workers, those in the background too.
func (s *slice) all() []*worker {
	return append(s.workers[:len(s.workers):len(s.workers)], s.background...)
}

// now is a reading of the monotonic clock, counted from base.
func (s *slice) now() time.Duration { return time.Since(s.base) }

func (s *slice) run(ctx context.Context) (*Recording, error) {
	lives, err := s.lives()
	if err != nil {
		return nil, err
	}
	restore, err := prepareProcess(len(lives), s.options.CPUs)
	if err != nil {
		return nil, err
	}
	recording, err := s.measured(ctx, lives)
	return recording, errors.Join(err, restore())
}

// measured has the threads live while the window is laid over them.
func (s *slice) measured(ctx context.Context, lives []func()) (*Recording, error) {
	running, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	s.halt = halt
	// Workers see the end of the window and nothing else.
	context.AfterFunc(running, s.endWindow)

	var threads sync.WaitGroup
	for _, live := range lives {
		threads.Go(live)
	}
	var started time.Time
	if s.warmUp(running) {
		if s.options.Begin != nil {
			s.options.Begin()
		}
		started = time.Now()
		s.window.begin.Store(int64(s.now()))
		close(s.begun)
		stopReports := s.startReports()
		s.measure(running)
		s.endWindow()
		if s.options.End != nil {
			s.options.End()
		}
		stopReports()
	} else {
		close(s.begun)
	}
	s.drain()
	threads.Wait()
	return s.recording(started), s.err(ctx)
}

// warmUp waits for the warm-up to pass, and is false if the slice was halted.
func (s *slice) warmUp(running context.Context) bool {
	for range s.workers {
		select {
		case <-s.warm:
		case <-running.Done():
			return false
		}
	}
	pause := time.NewTimer(s.options.Warmup - s.now())
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-running.Done():
	}
	return running.Err() == nil
}

// measure waits for the measured time to pass.
func (s *slice) measure(running context.Context) {
	var elapsed <-chan time.Time // never, if the number of events decides
	if s.options.Time > 0 {
		timer := time.NewTimer(s.options.Time)
		defer timer.Stop()
		elapsed = timer.C
	}
	select {
	case <-elapsed:
	case <-s.exhausted:
	case <-running.Done():
	}
}

// endWindow ends the measured time now, if it has not ended yet.
func (s *slice) endWindow() {
	s.window.end.CompareAndSwap(future, int64(s.now()))
}

// drain waits for the events that are under way and aborts those that run longer
// than OverrunLimit.
func (s *slice) drain() {
	pending := map[*worker]bool{}
	for _, w := range s.all() {
		pending[w] = true
	}
	overrun := time.NewTimer(s.options.OverrunLimit)
	defer overrun.Stop()
	for len(pending) > 0 {
		select {
		case w := <-s.done:
			delete(pending, w)
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
	for _, w := range s.all() {
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
