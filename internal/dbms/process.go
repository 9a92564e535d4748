package dbms

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/dbcanary/dbcanary"
	"golang.org/x/sys/unix"
)

// Command is a server program, or a tool that sets one up, and how to run it.
type Command struct {
	Path  string
	Args  []string
	Dir   string    // working directory; the server's children that leave its group are found by it
	Stdin io.Reader // nil for nothing
	Log   string    // file that takes standard output and error, appended to
	CPUs  []int     // CPUs for every thread; nil for all
	// DeathSignal is what the kernel sends the child when this process dies,
	// even by SIGKILL; 0 for SIGKILL.
	DeathSignal syscall.Signal
}

// Process is a child in its own process group. Its methods are safe for
// concurrent use.
type Process struct {
	command Command
	cmd     *exec.Cmd
	done    chan struct{}
	err     error // of the wait; read after done

	mu     sync.Mutex
	memory sharedMemory
}

// StartProcess starts the command. The child runs as the account for servers
// when this process is root, and it and its children are killed when ctx ends.
func StartProcess(ctx context.Context, command Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cmd, release, err := prepare(command)
	if err != nil {
		return nil, err
	}
	defer release()
	log, err := os.OpenFile(command.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", filepath.Base(command.Path), err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	p := &Process{
		command: command, cmd: cmd, done: make(chan struct{}),
		memory: sharedMemory{files: map[string]bool{}, segments: map[int]bool{}},
	}
	started := make(chan error, 1)
	go p.run(started)
	err = <-started
	_ = log.Close() // the child has its own descriptor
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", command.Path, err)
	}
	go func() {
		select {
		case <-ctx.Done():
			p.Kill()
		case <-p.done:
		}
	}()
	return p, nil
}

// RunProcess runs the command to its end. When ctx ends first, the child and
// its children are gone before RunProcess returns.
func RunProcess(ctx context.Context, command Command) error {
	p, err := StartProcess(ctx, command)
	if err != nil {
		return err
	}
	<-p.done
	if ctx.Err() != nil {
		p.Kill()
		return ctx.Err()
	}
	return p.err
}

// prepare makes the command; release frees what is needed until it has started.
func prepare(command Command) (_ *exec.Cmd, release func(), err error) {
	cmd := exec.Command(command.Path, command.Args...)
	cmd.Dir = command.Dir
	cmd.Stdin = command.Stdin
	cmd.Env = environment(command.Dir)
	cmd.WaitDelay = 5 * time.Second // a grandchild may hold the standard input open
	death := command.DeathSignal
	if death == 0 {
		death = syscall.SIGKILL
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death}
	account, err := serverAccount()
	if err != nil || account == nil {
		return cmd, func() {}, err
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: account.uid, Gid: account.gid, Groups: []uint32{account.gid}}
	if reachable(command.Path) && reachable(command.Dir) {
		return cmd, func() {}, nil
	}
	cmd.SysProcAttr.AmbientCaps, err = searchCapability(command.Path)
	if err != nil {
		return nil, nil, err
	}
	release, err = enterByDescriptor(cmd)
	return cmd, release, err
}

// enterByDescriptor has the child find its program and its directory by
// descriptors that we open: an ambient capability takes effect only with the
// new program, too late for the paths to that.
func enterByDescriptor(cmd *exec.Cmd) (release func(), err error) {
	var opened []int
	release = func() {
		for _, fd := range opened {
			_ = unix.Close(fd) // opened for its number only
		}
	}
	for _, path := range []*string{&cmd.Path, &cmd.Dir} {
		fd, err := unix.Open(*path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			release()
			return nil, fmt.Errorf("open %s: %w", *path, err)
		}
		opened = append(opened, fd)
		*path = fmt.Sprintf("/proc/self/fd/%d", fd)
	}
	return release, nil
}

// environment is what a server gets to see: little, and the same for all, since
// the size of the environment moves the stack. LD_ variables pass, so that an
// allocator can be preloaded.
func environment(home string) []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "LC_ALL=C", "TZ=UTC"}
	for _, name := range []string{"LD_LIBRARY_PATH", "LD_PRELOAD"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// run starts the child and waits for it on one thread of its own. The kernel
// sends the parent-death signal when the forking thread ends, so the thread has
// to live as long as the child; it also lends the child its CPU affinity, and
// ends with this goroutine since it is never unlocked.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	if len(p.command.CPUs) > 0 {
		var set unix.CPUSet
		for _, cpu := range p.command.CPUs {
			set.Set(cpu)
		}
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			started <- fmt.Errorf("bind to CPUs %v: %w", p.command.CPUs, err)
			return
		}
	}
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	started <- nil
	p.err = p.cmd.Wait()
	killAll(p.leftovers())
	p.mu.Lock()
	p.memory.free()
	p.mu.Unlock()
	close(p.done)
}

// PID is the process id of the child.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the child ended, once Done is closed: nil for exit code 0.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// LogTail gives up to n last lines of the log.
func (p *Process) LogTail(n int) []string { return tail(p.command.Log, n) }

// Stop sends the child a signal that asks it to shut down, and kills it and its
// children when it has not ended before ctx does, which is an error.
func (p *Process) Stop(ctx context.Context, polite syscall.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	if err := p.cmd.Process.Signal(polite); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop process %d: %w", p.PID(), err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		p.Kill()
		return dbcanary.Errorf(dbcanary.CodeFailed, "process %d (%s) did not shut down in time and was killed", p.PID(), filepath.Base(p.command.Path))
	}
}

// NoteMemory remembers the shared memory of the child, which is given back when
// it ends without doing so. A driver calls it once the server is up.
func (p *Process) NoteMemory() { p.noteMemory(nil) }

func (p *Process) noteMemory(family []procStat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.memory.note(p.PID())
	for _, stat := range family {
		p.memory.note(stat.pid)
	}
}

// Kill ends the child and all its children with SIGKILL and returns when they are gone.
func (p *Process) Kill() {
	// A stopped process forks no more, so the list of its children stays true.
	if p.cmd.Process.Signal(syscall.SIGSTOP) == nil {
		family := descendants(p.PID())
		p.noteMemory(family)
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL) // the child heads its group; gone already is fine
		killAll(family)
	}
	<-p.done
}
