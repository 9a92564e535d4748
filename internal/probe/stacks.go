package probe

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/profile"
	"golang.org/x/sys/unix"
)

// Pauses stops a process tree a few times and looks at the stack of every thread,
// as poor man's profilers do, so that threads that wait are seen as well.
type Pauses struct {
	pid  int
	only string // program to use, "" for the first that is there
	tool pauseTool

	counts *stackCounts
	pauses int
	stop   chan struct{} // closed for no further pause
	done   sync.WaitGroup
	err    error // why there is no stack; read after done
}

// NewPauses looks at the process tree of pid.
func NewPauses(pid int) *Pauses { return &Pauses{pid: pid} }

const (
	pauseTimeout = 20 * time.Second // of one process; gdb reads the symbols of a server in some seconds
	pauseEvery   = 200 * time.Millisecond
	mostPauses   = 50
)

// pauseTool is a program that prints the stacks of all threads of a process.
type pauseTool struct {
	name  string
	args  func(pid int) []string
	parse func(text string, counts *stackCounts) (threads int)
}

// pauseTools lists them in the order in which they are tried: measured on MySQL
// 9.7, eu-stack stops the server for a tenth of the time of gdb.
func pauseTools() []pauseTool {
	return []pauseTool{
		{"eu-stack", func(pid int) []string { return []string{"-m", "-n", "200", "-p", strconv.Itoa(pid)} }, parseEUStack},
		{"gdb", func(pid int) []string {
			// The symbols of the program are read before it is stopped.
			return []string{
				"--batch", "--nx", "-iex", "set debuginfod enabled off", "-iex", "set print frame-arguments none", "-iex", "set width 0",
				"-iex", "set auto-load off", "-ex", fmt.Sprintf("file /proc/%d/exe", pid), "-ex", fmt.Sprintf("attach %d", pid), "-ex", "thread apply all bt 200", "-ex", "detach",
			}
		}, parseGDB},
	}
}

// Prepare chooses the program and tries it once, so that its files are in memory.
func (p *Pauses) Prepare(ctx context.Context) error {
	for _, tool := range pauseTools() {
		if _, err := exec.LookPath(tool.name); err == nil && (p.only == "" || p.only == tool.name) {
			p.tool = tool
			break
		}
	}
	if p.tool.name == "" {
		return errors.New("there is neither eu-stack nor gdb: install one of them (Debian: apt-get install elfutils)")
	}
	p.counts = newStackCounts()
	_, err := p.pause(ctx, p.pid)
	p.counts = newStackCounts()
	return err
}

// pause stops one process, looks at its threads, and lets it go on.
func (p *Pauses) pause(ctx context.Context, pid int) (threads int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, pauseTimeout, fmt.Errorf("%s takes more than %v", p.tool.name, pauseTimeout))
	defer cancel()
	text, err := runTool(ctx, p.tool.name, p.tool.args(pid)...)
	if resumed := resume(pid); resumed != nil {
		return 0, resumed
	}
	if ctx.Err() != nil {
		return 0, err
	}
	// Both programs end in an error where some frame has no name, with all others told.
	if threads = p.tool.parse(string(text), p.counts); threads > 0 {
		return threads, nil
	}
	if err == nil {
		err = fmt.Errorf("%s shows no thread", p.tool.name)
	}
	if strings.Contains(err.Error(), "not permitted") {
		err = fmt.Errorf("%w; run as root or with CAP_SYS_PTRACE, or set kernel.yama.ptrace_scope to 0", err)
	}
	return 0, err
}

// resume lets a process go on that a program has left stopped: it was killed between
// asking for the stop and seeing it.
func resume(pid int) error {
	const patience = 2 * time.Second
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		stopped, traced := stopState(pid)
		if !stopped && !traced {
			return nil
		}
		if stopped {
			if err := unix.Kill(pid, syscall.SIGCONT); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("let process %d go on: %w", pid, err)
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d does not go on after it was looked at", pid)
		}
	}
}

// stopState tells whether a thread of the process is stopped by a signal, or by a
// program that traces it.
func stopState(pid int) (stopped, traced bool) {
	fs, err := system{"/"}.proc()
	if err != nil {
		return false, false
	}
	threads, err := fs.AllThreads(pid)
	if err != nil {
		return false, false // it has ended
	}
	for _, thread := range threads {
		if stat, err := thread.Stat(); err == nil {
			stopped = stopped || stat.State == "T"
			traced = traced || stat.State == "t"
		}
	}
	return stopped, traced
}

// Begin starts to stop the server again and again.
func (p *Pauses) Begin(ctx context.Context) {
	p.stop = make(chan struct{})
	p.done.Go(func() {
		for p.pauses < mostPauses {
			if err := p.look(ctx); err != nil {
				p.err = err
			}
			select {
			case <-p.stop:
				return
			case <-ctx.Done():
				return
			case <-time.After(pauseEvery):
			}
		}
	})
}

// look stops each process of the tree once.
func (p *Pauses) look(ctx context.Context) error {
	pids, err := treePIDs(p.pid)
	if err != nil {
		return err
	}
	seen := 0
	for _, pid := range pids {
		threads, failure := p.pause(ctx, pid)
		seen += threads
		if failure != nil && pid == p.pid {
			err = failure // others may have ended meanwhile
		}
	}
	if seen > 0 {
		p.pauses++
	}
	return err
}

// End stops no more. A look that is under way goes on to its end: half of it has
// only the first threads.
func (p *Pauses) End(context.Context) {
	if p.stop == nil {
		return
	}
	select {
	case <-p.stop:
	default:
		close(p.stop)
	}
	p.done.Wait()
}

// Finish gives the stacks.
func (p *Pauses) Finish(ctx context.Context) (Seen, error) {
	p.End(ctx)
	stacks := p.counts.stacks()
	if len(stacks) == 0 {
		return Seen{}, errors.Join(p.err, ctx.Err())
	}
	packed, err := profile.Encode(stacks)
	return Seen{Stacks: []dbcanary.Stacks{{Sampler: p.tool.name, Pprof: packed}}}, err
}
