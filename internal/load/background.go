package load

import "github.com/dbcanary/dbcanary/internal/wire"

// Background is what workers in the background did within the window: it is
// counted, and is no part of what is measured.
type Background struct {
	Events     int64 // that finished
	Operations int64 // their statements
	Errors     map[string]int64
}

// liveBackground repeats an event until the measured time has ended. Whoever
// wants it at a rate waits within the event.
func (w *worker) liveBackground() {
	s := w.slice
	for s.window.end.Load() == future {
		statements, err := w.event.Run()
		var refused *wire.ServerError
		if err != nil {
			statements, _, refused, err = w.again(err)
		}
		if err == errHalted {
			break
		}
		if err != nil {
			w.fail(err)
			break
		}
		if now := int64(s.now()); now < s.window.begin.Load() || now > s.window.end.Load() {
			continue
		}
		if refused != nil {
			w.countError(refused.Code)
			continue
		}
		w.ended++
		w.statements += int64(statements)
	}
	s.done <- w
}

// backgroundRecording sums up what the workers in the background did. All are done.
func (s *slice) backgroundRecording() Background {
	var b Background
	for _, w := range s.background {
		b.Events += w.ended
		b.Operations += w.statements
		b.Errors = addErrors(b.Errors, w.errors)
	}
	return b
}

// countError counts an event that ended in a server's error.
func (w *worker) countError(code string) {
	w.errors = addErrors(w.errors, map[string]int64{code: 1})
	w.failures++
}

// addErrors adds counts by code; the sum is nil if there are none.
func addErrors(sum, counts map[string]int64) map[string]int64 {
	for code, count := range counts {
		if sum == nil {
			sum = map[string]int64{}
		}
		sum[code] += count
	}
	return sum
}
