package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build"
)

// Env is everything that a command takes from outside. Commands reach the
// process's environment only through it, so that tests can run them in-process.
type Env struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// StdoutSize and StderrSize give columns and rows of the terminal behind the
	// stream, 0 if it is not a terminal.
	StdoutSize func() (width, height int)
	StderrSize func() (width, height int)
	Getenv     func(string) string
	Environ    []string // of the programs that fetch builds
	CacheDir   string   // where builds and data directories lie
	Now        func() time.Time
	Version    string
	// Signals delivers the user's interrupts; nil for none.
	Signals <-chan os.Signal

	interrupts *interrupts
}

// Color says whether a stream on a terminal of the given width is painted.
func (e *Env) Color(width int) bool {
	return width > 0 && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}

// Graceful tells that the command stops by itself when the returned channel is
// closed, at the first interrupt; only the second one then cancels its context.
func (e *Env) Graceful() <-chan struct{} {
	e.interrupts.graceful.Store(true)
	return e.interrupts.stop
}

// interrupts turns signals into a request to stop and a cancelled context.
type interrupts struct {
	graceful atomic.Bool
	stop     chan struct{}
}

// watch cancels at the first signal, or at the second if a command stops
// gracefully. The returned function ends the watch.
func (i *interrupts) watch(signals <-chan os.Signal, cancel context.CancelCauseFunc) (end func()) {
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		asked := false
		for {
			select {
			case <-done:
				return
			case <-signals:
			}
			if i.graceful.Load() && !asked {
				asked = true
				close(i.stop)
				continue
			}
			cancel(dbcanary.Errorf(dbcanary.CodeInterrupted, "interrupted"))
		}
	})
	return func() {
		close(done)
		group.Wait()
	}
}

// Main runs the program in the process's own environment and gives its exit code.
func Main(args []string) int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	// A terminal that closes must leave no data directory behind; nohup asks to go on.
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	// A reader that goes away must not end a measurement: with a handler, and one
	// that programs we start don't inherit, a write to a closed pipe is an error.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	env := &Env{
		Stdin:      os.Stdin,
		Stdout:     os.Stdout,
		Stderr:     os.Stderr,
		StdoutSize: terminalSize(os.Stdout),
		StderrSize: terminalSize(os.Stderr),
		Getenv:     os.Getenv,
		Environ:    os.Environ(),
		CacheDir:   build.UserDir(os.Geteuid(), os.Getenv),
		Now:        time.Now,
		Version:    programVersion(),
		Signals:    signals,
	}
	return Run(context.Background(), env, args)
}

func terminalSize(file *os.File) func() (width, height int) {
	return func() (width, height int) {
		if !term.IsTerminal(int(file.Fd())) {
			return 0, 0
		}
		width, height, err := term.GetSize(int(file.Fd()))
		if err != nil || width <= 0 {
			return 80, 24
		}
		return width, height
	}
}

// programVersion is the module version that the binary was built from, or its commit.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	if version != "" && version != "(devel)" {
		return version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return "devel-" + setting.Value[:min(12, len(setting.Value))]
		}
	}
	return "devel"
}
