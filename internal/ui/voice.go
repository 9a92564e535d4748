package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/lab"
)

// Voice tells how a run goes. Its methods are safe for concurrent use.
type Voice interface {
	Event(event lab.Event)
	// Close ends the telling; nothing of it is left on a terminal.
	Close()
}

// NewJSON writes every event as one line of JSON: see docs/format/events.md.
func NewJSON(w io.Writer) Voice { return &jsonVoice{encoder: json.NewEncoder(w)} }

type jsonVoice struct {
	mutex   sync.Mutex
	encoder *json.Encoder
}

func (v *jsonVoice) Event(event lab.Event) {
	if event.Kind == lab.EventComparisons {
		return
	}
	v.mutex.Lock()
	defer v.mutex.Unlock()
	// A reader that went away must not end the measurement; the report that
	// follows tells of the error.
	_ = v.encoder.Encode(event)
}

func (v *jsonVoice) Close() {}

// NewPlain writes a line when something begins or goes wrong, for a log.
func NewPlain(w io.Writer) Voice { return &plainVoice{w: w} }

type plainVoice struct {
	mutex    sync.Mutex
	w        io.Writer
	phase    string
	verdicts string
}

func (v *plainVoice) Event(event lab.Event) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	switch event.Kind {
	case lab.EventRun:
		p := event.Run.Plan
		fmt.Fprintf(v.w, "run %d: %d targets, %d benchmarks, base %s\n", event.Run.ID, len(p.Targets), len(p.Benchmarks), p.Targets[0])
		for _, problem := range event.Run.Problems {
			fmt.Fprintf(v.w, "note: %s\n", problem)
		}
	case lab.EventPrepare:
		if text := phaseText(event); text != v.phase {
			v.phase = text
			fmt.Fprintln(v.w, text)
		}
	case lab.EventInstance:
		left := ""
		if event.LeftNs > 0 {
			left = ", " + leftText(time.Duration(event.LeftNs)) + " left"
		}
		if len(event.Clear) > 0 {
			left += "; measured no further: " + strings.Join(event.Clear, ", ")
		}
		if v.verdicts != "" {
			left += "; so far " + v.verdicts
		}
		fmt.Fprintf(v.w, "%s%s\n", instanceText(event), left)
	case lab.EventProfile:
		fmt.Fprintln(v.w, profileText(event))
	case lab.EventComparisons:
		v.verdicts = countVerdicts(event.Comparisons)
	case lab.EventProblem:
		fmt.Fprintf(v.w, "note: %s\n", problemText(event))
	}
}

func (v *plainVoice) Close() {}

// countVerdicts gives "2 slower, 5 same, 3 inconclusive".
func countVerdicts(comparisons []dbcanary.Comparison) string {
	counts := map[dbcanary.Verdict]int{}
	for _, comparison := range comparisons {
		counts[comparison.Verdict]++
	}
	var parts []string
	for _, verdict := range []dbcanary.Verdict{dbcanary.Slower, dbcanary.Faster, dbcanary.Same, dbcanary.Inconclusive} {
		if counts[verdict] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[verdict], verdict))
		}
	}
	return strings.Join(parts, ", ")
}

// NewLive repaints a view of the run on a terminal whose size it asks for at
// every paint. Close takes the view away, so that the report follows clean.
func NewLive(w io.Writer, size func() (width, height int), now func() time.Time) Voice {
	v := &liveVoice{w: w, size: size, now: now, model: newModel(), done: make(chan struct{})}
	v.group.Go(v.tick)
	return v
}

type liveVoice struct {
	mutex   sync.Mutex
	w       io.Writer
	size    func() (width, height int)
	now     func() time.Time
	model   *model
	painted int // lines on the screen
	done    chan struct{}
	group   sync.WaitGroup
}

// paintEvery bounds how often the view is painted: it must cost next to nothing
// beside what is measured.
const paintEvery = 500 * time.Millisecond

func (v *liveVoice) Event(event lab.Event) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.model.apply(event)
}

func (v *liveVoice) tick() {
	ticker := time.NewTicker(paintEvery)
	defer ticker.Stop()
	for {
		select {
		case <-v.done:
			return
		case <-ticker.C:
			v.mutex.Lock()
			width, height := v.size()
			v.paint(v.model.lines(width, height, v.now()))
			v.mutex.Unlock()
		}
	}
}

// paint writes over what was painted before, line by line: to erase all of it
// first would flicker, and fill the scrollback of some terminals with old views.
func (v *liveVoice) paint(lines []string) {
	var screen strings.Builder
	if v.painted > 0 {
		fmt.Fprintf(&screen, "\x1b[%dA\r", v.painted)
	}
	for _, line := range lines {
		screen.WriteString("\x1b[K" + line + "\n")
	}
	screen.WriteString("\x1b[J")
	v.painted = len(lines)
	// A terminal that went away must not end the measurement.
	_, _ = io.WriteString(v.w, screen.String())
}

func (v *liveVoice) Close() {
	close(v.done)
	v.group.Wait()
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.paint(nil)
	for _, problem := range v.model.problems {
		fmt.Fprintf(v.w, "note: %s\n", problem)
	}
}
