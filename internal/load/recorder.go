package load

import (
	"math"
	"sync"
	"time"
)

// sinkBatch is how many latencies a worker keeps before it moves them to the
// histograms of the slice. A histogram of its own for each of 1,000 workers would
// take 300 MB, and its scattered writes would push the client's data out of the
// cache; 256 latencies are 4 kB, written in order.
const sinkBatch = 256

// latency is of one event in ns, from the intended and from the actual start.
type latency struct {
	response, service int64
}

// sink holds the histograms of a slice. It is safe for concurrent use.
type sink struct {
	live bool // there is a live report

	mu       sync.Mutex
	response *Histogram
	service  *Histogram // the same as response in a closed loop
	interval *Histogram // of response since the last report; nil if not live
}

func (s *sink) init(open, live bool) {
	s.live = live
	s.response = NewHistogram()
	s.service = s.response
	if open {
		s.service = NewHistogram()
	}
	if live {
		s.interval = NewHistogram()
	}
}

func (s *sink) add(latencies []latency) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range latencies {
		s.response.Record(l.response)
		if s.service != s.response {
			s.service.Record(l.service)
		}
		if s.interval != nil {
			s.interval.Record(l.response)
		}
	}
}

// takeInterval gives what came since the last call.
func (s *sink) takeInterval() *Histogram {
	s.mu.Lock()
	defer s.mu.Unlock()
	interval := s.interval
	s.interval = NewHistogram()
	return interval
}

// recording sums up what the workers did. All of them are done.
func (s *slice) recording(started time.Time) *Recording {
	r := &Recording{Started: started, Response: s.sink.response, Service: s.sink.service, Offered: s.options.Rate}
	begin, end := time.Duration(s.window.begin.Load()), time.Duration(s.window.end.Load())
	if begin == future {
		return r
	}
	r.Window = max(0, end-begin)
	var events, operations float64
	for _, w := range s.workers {
		events += w.events
		operations += w.operations
		r.Sent += w.sent
		r.Retries += w.retries
		r.LateStarts += w.lateStarts
		r.Overrun = max(r.Overrun, w.last-end)
		r.Errors = addErrors(r.Errors, w.errors)
		for second, count := range append(w.perSecond, w.thisSecond) {
			if second == len(r.PerSecond) {
				r.PerSecond = append(r.PerSecond, 0)
			}
			r.PerSecond[second] += count
		}
	}
	r.Background = s.backgroundRecording()
	if s.arrivals != nil {
		r.Backlog = s.arrivals.due(end)
	}
	s.count(r, events, operations)
	s.recordUnderWay()
	return r
}

// count makes whole numbers of events and statements that were counted by their
// shares of the window, and sets the time in which so many come.
func (s *slice) count(r *Recording, events, operations float64) {
	var claimed int64
	var busy, active time.Duration
	for _, w := range s.workers {
		claimed += w.claimed
		busy += w.busy
		if w.claimed > 0 {
			active++
		}
	}
	r.Events = max(1, int64(math.Round(events)))
	if claimed > 0 {
		r.Events = claimed
	}
	switch {
	case events > 0 && r.Window > 0:
		ratio := float64(r.Events) / events
		r.Operations = int64(math.Round(operations * ratio))
		r.Elapsed = time.Duration(math.Round(float64(r.Window) * ratio))
	case claimed > 0 && busy > 0: // there were no more events than workers, and so no window
		r.Elapsed = busy / active
		for _, w := range s.workers {
			r.Operations += w.claimedStatements
		}
	default:
		r.Events = 0
	}
}

// recordUnderWay takes the latencies of the events that the end of the window
// cut, if no event ended within it.
func (s *slice) recordUnderWay() {
	if s.sink.response.Count() > 0 {
		return
	}
	for _, w := range s.workers {
		if w.underWay.service > 0 {
			s.sink.add([]latency{w.underWay})
		}
	}
}

// startReports calls Interval on time until the returned function is called.
func (s *slice) startReports() (stop func()) {
	if s.options.Interval == nil {
		return func() {}
	}
	done := make(chan struct{})
	var reporter sync.WaitGroup
	reporter.Go(func() {
		tick := time.NewTicker(s.options.IntervalEvery)
		defer tick.Stop()
		var last Progress
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				last = s.reportSince(last)
			}
		}
	})
	return func() {
		close(done)
		reporter.Wait()
	}
}

// reportSince calls Interval with what came after total, which it gives anew.
func (s *slice) reportSince(before Progress) (total Progress) {
	begin := time.Duration(s.window.begin.Load())
	total.Elapsed = s.now() - begin
	for _, w := range s.workers {
		w.mu.Lock()
		w.flushLocked()
		total.Operations += w.statements
		total.Events += w.ended
		total.Retries += w.retries
		total.Errors += w.failures
		w.mu.Unlock()
	}
	progress := Progress{
		Elapsed:    total.Elapsed,
		Length:     total.Elapsed - before.Elapsed,
		Threads:    len(s.workers),
		Operations: total.Operations - before.Operations,
		Events:     total.Events - before.Events,
		Retries:    total.Retries - before.Retries,
		Errors:     total.Errors - before.Errors,
		Response:   s.sink.takeInterval(),
	}
	if s.arrivals != nil {
		progress.Backlog = s.arrivals.due(begin + total.Elapsed)
	}
	s.options.Interval(progress)
	return total
}
