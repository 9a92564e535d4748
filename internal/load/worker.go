package load

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// worker runs events in a goroutine of its own. Its fields are its own until it is
// done, those below mu also for a live report.
type worker struct {
	slice *slice
	index int
	conn  wire.Conn
	event Event

	shares bool // its thread with others, see group

	aborted           atomic.Bool
	err               error         // what ended the slice
	failed            time.Duration // when
	last              time.Duration // end of its last event
	share             int64         // with Options.Exact: events that it may still start
	claimed           int64         // finished events that it had claimed
	busy              time.Duration // sum of their lengths
	claimedStatements int64
	sent              int64   // statements of all its events that finished, whenever
	underWay          latency // of the event that the end of the window cut; 0 if there was none

	mu         sync.Mutex // taken only if there is a live report
	events     float64    // that finished, each as far as it lay in the window
	operations float64    // their statements, likewise
	ended      int64      // events that finished within the window
	statements int64      // their statements
	retries    int64
	lateStarts int64
	errors     map[string]int64
	failures   int64     // sum of errors
	latencies  []latency // not yet in the sink
	perSecond  []int64   // the second under way is thisSecond
	thisSecond int64
	secondEnds time.Duration // 0 before the window

	_ [64]byte // no other worker's fields in the same cache line
}

func newWorker(s *slice, index int, w Worker) *worker {
	return &worker{
		slice:     s,
		index:     index,
		conn:      w.Conn,
		event:     w.Event,
		shares:    w.shares(s.options),
		latencies: make([]latency, 0, sinkBatch),
		perSecond: make([]int64, 0, int(min(s.options.Time/time.Second, 3600))+8),
	}
}

// live is the worker's goroutine.
func (w *worker) live() {
	s := w.slice
	if s.options.Rate > 0 {
		s.warm <- w
		w.openLoop()
	} else {
		w.closedLoop()
	}
	w.mu.Lock()
	w.flushLocked()
	w.mu.Unlock()
	s.done <- w
}

// closedLoop starts an event when the last one has ended. The clock is read once
// for both.
func (w *worker) closedLoop() {
	s := w.slice
	warm := s.options.Warmup == 0
	if warm {
		s.warm <- w
	}
	if s.options.Exact {
		<-s.begun
	}
	for start := s.now(); int64(start) < s.window.end.Load() && w.run(start, start); start = w.last {
		if !warm {
			warm = true
			s.warm <- w
		}
	}
}

// openLoop starts an event at each arrival that it gets from the schedule, at
// once if the arrival is past.
func (w *worker) openLoop() {
	s := w.slice
	for start := s.now(); int64(start) < s.window.end.Load(); start = s.now() {
		intended := s.arrivals.take()
		for start < intended {
			s.sleep(min(intended-start, maxSleep))
			start = s.now()
			if end := s.window.end.Load(); int64(start) >= end && int64(intended) >= end {
				return
			}
		}
		if !w.run(intended, start) {
			return
		}
	}
}

// maxSleep is how long a worker that waits for an arrival takes to see the end.
const maxSleep = 10 * time.Millisecond

// run does one event with its retries and records it, and is false when the
// worker has to stop.
func (w *worker) run(intended, start time.Duration) bool {
	s := w.slice
	claimed := s.options.Events > 0 && int64(start) >= s.window.begin.Load()
	if claimed && !w.claim() {
		return false
	}
	statements, err := w.event.Run()
	retries := int64(0)
	var refused *wire.ServerError
	if err != nil {
		statements, retries, refused, err = w.again(err)
	}
	end := w.slice.now()
	w.last = end
	if err != nil {
		if err != errHalted {
			w.fail(err)
		}
		return false
	}
	if claimed && s.options.Exact && s.ended.Add(1) == s.options.Events {
		s.window.end.CompareAndSwap(future, int64(end))
		close(s.exhausted)
	}
	if claimed && refused == nil {
		w.claimed++
		w.busy += end - start
		w.claimedStatements += int64(statements)
	}
	w.sent += int64(statements)
	w.record(outcome{intended: intended, start: start, end: end, statements: statements, retries: retries, refused: refused})
	return true
}

// claim takes one of the events that may still start. When the last one starts
// all workers are busy, so the window ends there. An exact number is shared out
// beforehand, and its time is that of all.
func (w *worker) claim() bool {
	s := w.slice
	if s.options.Exact {
		w.share--
		return w.share >= 0
	}
	left := s.unclaimed.Add(-1)
	if left == 0 {
		s.endWindow()
		close(s.exhausted)
	}
	return left >= 0
}

// again runs an event again as long as its error is retryable. It gives the
// server's error if that is how the event ended, and err if the worker has to stop.
func (w *worker) again(first error) (statements int, retries int64, refused *wire.ServerError, err error) {
	for err = first; err != nil; retries++ {
		if !errors.As(err, &refused) {
			return 0, retries, nil, err
		}
		if !refused.Retryable {
			return 0, retries, refused, nil
		}
		if w.slice.window.end.Load() != future {
			return 0, retries, nil, errHalted
		}
		if retries == maxRetries {
			return 0, retries, nil, fmt.Errorf("the event failed again in each of %d retries: %w", maxRetries, err)
		}
		statements, err = w.event.Run()
	}
	return statements, retries, nil, nil
}

// errHalted says that an event was given up because the measured time has ended.
var errHalted = errors.New("halted")

// fail ends the slice for all workers.
func (w *worker) fail(err error) {
	w.err = err
	w.failed = w.slice.now()
	w.slice.halt(err)
	w.slice.endWindow()
}

// outcome is what came of one event.
type outcome struct {
	intended, start, end time.Duration
	statements           int
	retries              int64
	refused              *wire.ServerError // nil if the event finished
}

// record counts an event as far as it lies in the window.
func (w *worker) record(o outcome) {
	begin, end := time.Duration(w.slice.window.begin.Load()), time.Duration(w.slice.window.end.Load())
	if o.end <= begin || o.start >= end {
		return
	}
	if w.slice.sink.live {
		w.mu.Lock()
		defer w.mu.Unlock()
	}
	w.retries += o.retries
	if o.refused != nil {
		w.countError(o.refused.Code)
		return
	}
	share := 1.0
	if o.start < begin || o.end > end {
		share = float64(min(o.end, end)-max(o.start, begin)) / float64(o.end-o.start)
	}
	w.events += share
	w.operations += share * float64(o.statements)
	passed := latency{response: int64(o.end - o.intended), service: int64(o.end - o.start)}
	if o.end > end {
		w.underWay = passed
		return
	}
	w.ended++
	w.statements += int64(o.statements)
	if o.start-o.intended > lateAfter {
		w.lateStarts++
	}
	w.countSecond(o.end-begin, int64(o.statements))
	w.latencies = append(w.latencies, passed)
	if len(w.latencies) == cap(w.latencies) {
		w.flushLocked()
	}
}

// countSecond counts statements that ended so long after the window began.
func (w *worker) countSecond(at time.Duration, statements int64) {
	if w.secondEnds == 0 {
		w.secondEnds = time.Second
	}
	for at >= w.secondEnds {
		w.perSecond = append(w.perSecond, w.thisSecond)
		w.thisSecond = 0
		w.secondEnds += time.Second
	}
	w.thisSecond += statements
}

// flushLocked moves the latencies to the sink.
func (w *worker) flushLocked() {
	w.slice.sink.add(w.latencies)
	w.latencies = w.latencies[:0]
}
