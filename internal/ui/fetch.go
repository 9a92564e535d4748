package ui

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/dbcanary/dbcanary/internal/build"
)

// Fetch tells how builds are fetched: a line that is painted over on a terminal,
// a line for each step when piped. Its methods are safe for concurrent use.
type Fetch struct {
	mutex sync.Mutex
	w     io.Writer
	size  func() (width, height int)
	now   func() time.Time
	step  string
	last  time.Time
}

// NewFetch tells on w, whose size is 0 columns if it is no terminal.
func NewFetch(w io.Writer, size func() (width, height int), now func() time.Time) *Fetch {
	return &Fetch{w: w, size: size, now: now}
}

// Event tells of a step; it is a build.Progress.
func (f *Fetch) Event(event build.Event) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	text := fmt.Sprintf("%s: %s", event.Build, event.Step)
	width, _ := f.size()
	if width == 0 {
		if text != f.step {
			fmt.Fprintln(f.w, text)
		}
		f.step = text
		return
	}
	now := f.now()
	if text == f.step && now.Sub(f.last) < 100*time.Millisecond {
		return
	}
	f.step, f.last = text, now
	fmt.Fprintf(f.w, "\r\x1b[K%s", cut(text+bytesText(event.DoneBytes, event.TotalBytes), width))
}

// Close takes the painted line away.
func (f *Fetch) Close() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if width, _ := f.size(); width > 0 && f.step != "" {
		fmt.Fprint(f.w, "\r\x1b[K")
	}
	f.step = ""
}

func bytesText(done, total int64) string {
	switch {
	case total > 0:
		return fmt.Sprintf("  %.1f of %.1f MB", float64(done)/1e6, float64(total)/1e6)
	case done > 0:
		return fmt.Sprintf("  %.1f MB", float64(done)/1e6)
	}
	return ""
}
