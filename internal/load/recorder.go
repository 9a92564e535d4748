package load

import (
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

// recording sums up what the workers did. All of them have finished.
func (s *slice) recording(started time.Time) *Recording {
	r := &Recording{Started: started, Response: s.sink.response, Service: s.sink.service}
	for _, w := range s.workers {
		if !w.measured {
			break
		}
		r.Operations += w.operations
		r.Events += w.events
		r.Retries += w.retries
		r.LateStarts += w.lateStarts
		for code, count := range w.errors {
			if r.Errors == nil {
				r.Errors = map[string]int64{}
			}
			r.Errors[code] += count
		}
		for second, count := range append(w.perSecond, w.thisSecond) {
			if second == len(r.PerSecond) {
				r.PerSecond = append(r.PerSecond, 0)
			}
			r.PerSecond[second] += count
		}
		if s.options.Time > 0 {
			r.Overrun = max(r.Overrun, w.last-s.until)
		}
	}
	s.setElapsed(r)
	return r
}

// setElapsed sets the time that the rates are counted from; see the package comment.
func (s *slice) setElapsed(r *Recording) {
	var sum, active, latest time.Duration
	var taken int64
	for _, w := range s.workers {
		if w.own > 0 {
			sum += w.own
			active++
		}
		latest = max(latest, w.started-s.begin)
		taken += w.taken
	}
	if active > 0 {
		r.Elapsed = sum / active
	}
	if s.arrivals == nil {
		return
	}
	schedule, span := s.arrivals.schedule, s.options.Time
	switch {
	case s.halted.Load():
		span = s.now() - s.begin
		r.Backlog = schedule.due(span)
	case s.unclaimed.Load() <= 0: // all events were started: the schedule ends where the next one would be
		span = schedule.next
	default:
		r.Backlog = schedule.due(span)
	}
	if r.Backlog == 0 && latest <= span+lateAfter {
		r.Elapsed = span
	}
	r.Offered = float64(taken+r.Backlog) / span.Seconds()
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
	total.Elapsed = s.now() - s.begin
	for _, w := range s.workers {
		w.mu.Lock()
		w.flushLocked()
		total.Operations += w.operations
		total.Events += w.events
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
		progress.Backlog = s.arrivals.due(min(total.Elapsed, s.until-s.begin))
	}
	s.options.Interval(progress)
	return total
}
