package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/profile"
	"golang.org/x/sys/unix"
)

// Perf samples what the threads of a process tree run, with perf(1).
//
// Stacks are unwound by the unwind tables of the binaries, from a copy of the top
// of the stack with each sample: the servers of distributions are built without
// frame pointers, and following them gives stacks of two or three frames that
// nobody has called. The tables (.eh_frame) are in every binary, stripped or not.
// The copies are what it costs: docs/PROFILING.md has numbers.
type Perf struct {
	pid    int
	dir    string // for the recording, which can be some 100 MB
	events []perfEvent

	event   perfEvent
	file    string
	record  *tool
	control *os.File // to perf
	acks    *os.File // from perf
	err     error    // the first one of Begin and End
	ended   bool
}

// NewPerf looks at the process tree of pid; files of its own go to dir, and are
// removed.
func NewPerf(pid int, dir string) *Perf { return &Perf{pid: pid, dir: dir, events: perfEvents()} }

const (
	// sampleHz is no divisor of what servers and kernels do at regular times.
	sampleHz = 199
	// stackBytes is how much of a stack is copied with a sample. A statement of MySQL
	// that calls all layers down to InnoDB and the kernel takes some 20 KB.
	stackBytes   = 32768
	mostRecorded = "512M"

	perfStart  = 30 * time.Second // for perf to attach to all threads
	perfAnswer = 10 * time.Second
	perfScript = 3 * time.Minute // for unwinding
)

// perfEvent is what perf samples by.
type perfEvent struct {
	name     string // for perf
	kind     uint32
	config   uint64
	userOnly bool
}

// perfEvents lists the events in the order in which they are tried: hardware
// cycles, which virtual machines often lack, else the clock of the CPU; each with
// the kernel's part, else without.
func perfEvents() []perfEvent {
	return []perfEvent{
		{name: "cycles", kind: unix.PERF_TYPE_HARDWARE, config: unix.PERF_COUNT_HW_CPU_CYCLES},
		{name: "cycles:u", kind: unix.PERF_TYPE_HARDWARE, config: unix.PERF_COUNT_HW_CPU_CYCLES, userOnly: true},
		{name: "cpu-clock", kind: unix.PERF_TYPE_SOFTWARE, config: unix.PERF_COUNT_SW_CPU_CLOCK},
		{name: "cpu-clock:u", kind: unix.PERF_TYPE_SOFTWARE, config: unix.PERF_COUNT_SW_CPU_CLOCK, userOnly: true},
	}
}

// open tells whether the kernel lets this process sample the event of another one.
func (e perfEvent) open(pid int) error {
	attr := unix.PerfEventAttr{Type: e.kind, Config: e.config, Sample: sampleHz, Bits: unix.PerfBitDisabled | unix.PerfBitFreq}
	attr.Size = uint32(unix.PERF_ATTR_SIZE_VER5)
	if e.userOnly {
		attr.Bits |= unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
	}
	fd, err := unix.PerfEventOpen(&attr, pid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// chooseEvent takes the first event that the kernel allows.
func (p *Perf) chooseEvent() (perfEvent, error) {
	var last error
	for _, event := range p.events {
		if last = event.open(p.pid); last == nil {
			return event, nil
		}
	}
	if errors.Is(last, unix.EACCES) || errors.Is(last, unix.EPERM) {
		paranoid, err := system{"/"}.read("proc/sys/kernel/perf_event_paranoid")
		if err != nil {
			paranoid = "unknown"
		}
		return perfEvent{}, fmt.Errorf("the kernel permits no perf of process %d: kernel.perf_event_paranoid is %s; run as root or with CAP_PERFMON, or as the server's user after `sysctl kernel.perf_event_paranoid=1`", p.pid, paranoid)
	}
	return perfEvent{}, fmt.Errorf("the kernel has no event for perf: %w", last)
}

// Prepare starts perf, attached and waiting.
func (p *Perf) Prepare(ctx context.Context) error {
	path, err := exec.LookPath("perf")
	if err != nil {
		return errors.New("there is no perf: install it (Debian: apt-get install linux-perf)")
	}
	if p.event, err = p.chooseEvent(); err != nil {
		return err
	}
	// Perf gives up if a process ends between our look and its own.
	const attempts = 5
	for range attempts {
		if err = p.attach(ctx, path); err == nil || ctx.Err() != nil {
			break
		}
	}
	return err
}

// attach starts perf on the processes that there are now.
func (p *Perf) attach(ctx context.Context, path string) error {
	pids, err := treePIDs(p.pid)
	if err != nil {
		return err
	}
	if p.file, err = tempFile(p.dir); err != nil {
		return err
	}
	err = p.start(ctx, path, pids)
	if err == nil {
		// Events are off from the start; the answer tells that perf is attached.
		err = p.tell("disable", perfStart)
	}
	if err != nil {
		return errors.Join(err, p.close())
	}
	return nil
}

// tempFile makes a file for a recording, readable by nobody else: it holds copies of stacks.
func tempFile(dir string) (string, error) {
	file, err := os.CreateTemp(dir, "dbcanary-perf-*")
	if err != nil {
		return "", fmt.Errorf("make a file for the samples of perf: %w", err)
	}
	return file.Name(), file.Close()
}

func (p *Perf) start(ctx context.Context, path string, pids []int) error {
	commands, control, err := os.Pipe()
	if err != nil {
		return err
	}
	defer commands.Close()
	acks, answers, err := os.Pipe()
	if err != nil {
		return errors.Join(err, control.Close())
	}
	defer answers.Close()
	p.control, p.acks = control, acks
	p.record, err = startTool(ctx, func(ctx context.Context) *exec.Cmd {
		// -N: the cache of build ids would copy whole servers to the home directory.
		cmd := exec.CommandContext(ctx, path, "record", "-N", "-o", p.file, "--max-size", mostRecorded,
			"-D", "-1", "--control", "fd:3,4", "-e", p.event.name, "-F", strconv.Itoa(sampleHz),
			"--call-graph", "dwarf,"+strconv.Itoa(stackBytes), "-p", joinPIDs(pids))
		cmd.ExtraFiles = []*os.File{commands, answers}
		return cmd
	})
	return err
}

func joinPIDs(pids []int) string {
	texts := make([]string, len(pids))
	for i, pid := range pids {
		texts[i] = strconv.Itoa(pid)
	}
	return strings.Join(texts, ",")
}

// tell gives perf a command and waits until it is done.
func (p *Perf) tell(command string, patience time.Duration) error {
	if _, err := p.control.WriteString(command + "\n"); err != nil {
		return p.refused(err)
	}
	if err := p.acks.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	var answer [64]byte
	n, err := p.acks.Read(answer[:])
	if err == nil && strings.HasPrefix(string(answer[:n]), "ack") {
		return nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("perf did not answer %q within %v", command, patience)
	}
	return p.refused(err)
}

// refused says why perf does not answer: it has ended.
func (p *Perf) refused(err error) error {
	select {
	case <-p.record.done:
		if p.record.err != nil {
			err = p.record.err
		}
		return p.record.failed(err)
	case <-time.After(time.Second):
		return fmt.Errorf("perf takes no commands, it may be older than 5.10: %w", err)
	}
}

// Begin has perf sample.
func (p *Perf) Begin(context.Context) { p.err = p.tell("enable", perfAnswer) }

// End has perf sample no more.
func (p *Perf) End(context.Context) {
	if p.err == nil {
		p.err = p.tell("disable", perfAnswer)
		p.ended = true
	}
}

// Finish ends perf and reads what it recorded.
func (p *Perf) Finish(ctx context.Context) (Seen, error) {
	defer func() { _ = p.close() }() // nothing of it is needed any more
	if p.err != nil || !p.ended {
		return Seen{}, errors.Join(p.err, ctx.Err())
	}
	if err := p.end(); err != nil {
		return Seen{}, err
	}
	stacks, err := readPerf(ctx, p.file)
	if err != nil {
		return Seen{}, err
	}
	if len(stacks) == 0 {
		return Seen{}, errors.New("perf saw the server run at no sample")
	}
	packed, err := profile.Encode(stacks)
	return Seen{Stacks: []dbcanary.Stacks{{Sampler: "perf " + p.event.name, Pprof: packed}}}, err
}

// end has perf write its file and waits for it.
func (p *Perf) end() error {
	_ = p.record.cmd.Process.Signal(syscall.SIGINT) // it may have ended with the server
	select {
	case <-p.record.done:
	case <-time.After(finishTimeout):
		return fmt.Errorf("perf did not end within %v", finishTimeout)
	}
	// Its exit code is that of the signal.
	if info, err := os.Stat(p.file); err != nil || info.Size() == 0 {
		return p.record.failed(errors.New("it recorded nothing"))
	}
	return nil
}

// close kills what still runs and removes the recording.
func (p *Perf) close() error {
	if p.record != nil {
		select {
		case <-p.record.done:
		default:
			_ = p.record.cmd.Cancel() // gone meanwhile is what we want
			<-p.record.done
		}
	}
	return errors.Join(p.control.Close(), p.acks.Close(), os.Remove(p.file))
}

// readPerf has perf unwind the stacks of a recording.
func readPerf(ctx context.Context, file string) ([]profile.Stack, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, perfScript, fmt.Errorf("perf script takes more than %v", perfScript))
	defer cancel()
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	t, err := startTool(ctx, func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "perf", "script", "--no-inline", "-F", "comm,tid,ip,sym,dso", "-i", filepath.Clean(file))
		cmd.Stdout = write
		return cmd
	})
	_ = write.Close() // perf has its own descriptor
	if err != nil {
		return nil, err
	}
	stacks, parseErr := parsePerfScript(read)
	if parseErr != nil {
		_, _ = io.Copy(io.Discard, read) // so that perf ends
	}
	err = t.wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return slices.Clip(stacks), errors.Join(err, parseErr)
}
