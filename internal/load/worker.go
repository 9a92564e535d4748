package load

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// worker runs events on a thread of its own. Its fields are its own until it has
// arrived, those below mu also for a live report.
type worker struct {
	slice *slice
	index int
	conn  wire.Conn
	event Event

	measured bool // the phase is the measured one
	aborted  atomic.Bool
	err      error         // what ended the slice
	failed   time.Duration // when
	own      time.Duration // own time: from its start to the end of its last event
	last     time.Duration // end of its last event
	started  time.Duration // start of its last event
	taken    int64         // open loop: arrivals of the phase that it took

	mu         sync.Mutex // taken only if there is a live report
	latencies  []latency  // not yet in the sink
	events     int64
	operations int64
	retries    int64
	lateStarts int64
	errors     map[string]int64
	failures   int64   // sum of errors
	perSecond  []int64 // the second under way is thisSecond
	thisSecond int64
	secondEnds time.Duration

	_ [64]byte // no other worker's fields in the same cache line
}

func newWorker(s *slice, index int, w Worker) *worker {
	return &worker{
		slice:     s,
		index:     index,
		conn:      w.Conn,
		event:     w.Event,
		latencies: make([]latency, 0, sinkBatch),
		perSecond: make([]int64, 0, int(min(s.options.Time/time.Second, 3600))+8),
	}
}

// live is the worker's goroutine. Its thread is never given back to the others,
// since it may be pinned and its timers sharpened: it ends with the goroutine.
func (w *worker) live() {
	runtime.LockOSThread()
	if err := w.prepareThread(); err != nil {
		w.fail(err)
	}
	w.phase()
	w.slice.arrived <- w
	<-w.slice.measure
	w.phase()
	w.slice.arrived <- w
	<-w.slice.finish
}

func (w *worker) prepareThread() error {
	if cpus := w.slice.options.CPUs; cpus != nil {
		var set unix.CPUSet
		for _, cpu := range cpus {
			set.Set(cpu)
		}
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return fmt.Errorf("pin a client thread to the CPUs %v: %w", cpus, err)
		}
	}
	if w.slice.options.Rate > 0 {
		// The usual slack of 50 us would be in every response time.
		if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("sharpen the timers of a client thread: %w", err)
		}
	}
	return nil
}

// phase runs events until the phase ends or the slice is halted.
func (w *worker) phase() {
	s := w.slice
	w.own, w.taken = 0, 0
	if s.halted.Load() || s.until <= s.begin {
		return
	}
	begin := s.now()
	w.last = begin
	w.secondEnds = s.begin + time.Second
	if s.options.Rate > 0 {
		w.openLoop()
	} else {
		w.closedLoop(begin)
	}
	w.own = w.last - begin
	w.flush()
}

// closedLoop starts an event when the last one has ended. The clock is read once
// for both.
func (w *worker) closedLoop(start time.Duration) {
	s := w.slice
	for w.claim() && w.run(start, start) {
		start = w.last
		if start >= s.until || s.halted.Load() {
			return
		}
	}
}

// openLoop starts an event at each arrival that it gets from the schedule, at
// once if the arrival is past.
func (w *worker) openLoop() {
	s := w.slice
	for start := s.now(); start < s.until && !s.halted.Load() && w.claim(); start = s.now() {
		intended := s.begin + s.arrivals.take()
		if intended >= s.until {
			return
		}
		w.taken++
		for start < intended {
			if s.halted.Load() {
				return
			}
			s.sleep(min(intended-start, maxSleep))
			start = s.now()
		}
		if !w.run(intended, start) {
			return
		}
	}
}

// maxSleep is how long a worker that waits for an arrival takes to see a halt.
const maxSleep = 10 * time.Millisecond

// claim takes one of the events that may still start.
func (w *worker) claim() bool {
	return w.slice.options.Events == 0 || w.slice.unclaimed.Add(-1) >= 0
}

// run does one event with its retries and records it, and is false when the
// slice has to end.
func (w *worker) run(intended, start time.Duration) bool {
	w.started = start
	statements, err := w.event.Run()
	retries := int64(0)
	var refused *wire.ServerError
	if err != nil {
		statements, retries, refused, err = w.again(err)
	}
	end := w.slice.now()
	if err != nil {
		if err != errHalted {
			w.fail(err)
		}
		return false
	}
	w.last = end
	if w.measured {
		w.record(outcome{intended: intended, start: start, end: end, statements: statements, retries: retries, refused: refused})
	}
	return true
}

// errHalted says that an event was given up because the slice was halted.
var errHalted = errors.New("halted")

// again runs an event again as long as its error is retryable. It gives the
// server's error if that is how the event ended, and err if the slice has to end.
func (w *worker) again(first error) (statements int, retries int64, refused *wire.ServerError, err error) {
	for err = first; err != nil; retries++ {
		if !errors.As(err, &refused) {
			return 0, retries, nil, err
		}
		if !refused.Retryable {
			return 0, retries, refused, nil
		}
		if w.slice.halted.Load() {
			return 0, retries, nil, errHalted
		}
		if retries == maxRetries {
			return 0, retries, nil, fmt.Errorf("the event failed again in each of %d retries: %w", maxRetries, err)
		}
		statements, err = w.event.Run()
	}
	return statements, retries, nil, nil
}

// fail ends the slice for all workers.
func (w *worker) fail(err error) {
	w.err = err
	w.failed = w.slice.now()
	w.slice.halt(err)
	w.slice.halted.Store(true)
}

// outcome is what came of one event.
type outcome struct {
	intended, start, end time.Duration
	statements           int
	retries              int64
	refused              *wire.ServerError // nil if the event finished
}

func (w *worker) record(o outcome) {
	if w.slice.sink.live {
		w.mu.Lock()
		defer w.mu.Unlock()
	}
	w.retries += o.retries
	if o.start-o.intended > lateAfter {
		w.lateStarts++
	}
	if o.refused != nil {
		if w.errors == nil {
			w.errors = map[string]int64{}
		}
		w.errors[o.refused.Code]++
		w.failures++
		return
	}
	w.events++
	w.operations += int64(o.statements)
	for o.end >= w.secondEnds {
		w.perSecond = append(w.perSecond, w.thisSecond)
		w.thisSecond = 0
		w.secondEnds += time.Second
	}
	w.thisSecond += int64(o.statements)
	w.latencies = append(w.latencies, latency{response: int64(o.end - o.intended), service: int64(o.end - o.start)})
	if len(w.latencies) == cap(w.latencies) {
		w.flushLocked()
	}
}

func (w *worker) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flushLocked()
}

// flushLocked moves the latencies to the sink.
func (w *worker) flushLocked() {
	w.slice.sink.add(w.latencies)
	w.latencies = w.latencies[:0]
}
