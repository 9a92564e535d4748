package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dbcanary/dbcanary"
)

// Instrument shows where a server's time goes in one slice. It disturbs what it
// looks at, so what it shows is no measurement. Its methods are called one after
// the other: Prepare, Begin, End, Finish.
type Instrument interface {
	// Prepare makes ready, before the load begins. After an error there is nothing to
	// show, and nothing to finish.
	Prepare(ctx context.Context) error
	// Begin and End are called at the ends of the time that counts, while the load goes on.
	Begin(ctx context.Context)
	End(ctx context.Context)
	// Finish gives what was seen between Begin and End. It leaves the server as it
	// was and no process behind, also when ctx has ended or Begin was never called.
	Finish(ctx context.Context) (Seen, error)
}

// Seen is what an Instrument saw.
type Seen struct {
	Waits  []dbcanary.Wait // the most time first
	Stacks []dbcanary.Stacks
}

// finishTimeout is how long an instrument may take to leave a server as it was.
const finishTimeout = 30 * time.Second

// treePIDs lists a process and its descendants.
func treePIDs(pid int) ([]int, error) {
	tree, err := system{"/"}.tree(pid, false, nil)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(tree.clocks)), nil
}

// tool is a child that looks at the server.
type tool struct {
	cmd    *exec.Cmd
	stderr tail
	done   chan struct{}
	err    error // of its end; read after done
}

// startTool starts a program in a process group of its own. It is killed when ctx
// ends or this process dies, even by SIGKILL.
func startTool(ctx context.Context, cmd func(context.Context) *exec.Cmd) (*tool, error) {
	t := &tool{cmd: cmd(ctx), done: make(chan struct{})}
	t.cmd.Stderr = &t.stderr
	// No server of symbols is asked: it would see which binaries are here, and take minutes.
	t.cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBUGINFOD_URLS=", "PERF_CONFIG=/dev/null", "PAGER=cat")
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	t.cmd.Cancel = func() error { return syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL) }
	t.cmd.WaitDelay = 2 * time.Second
	started := make(chan error, 1)
	go func() {
		defer close(t.done)
		// The kernel sends Pdeathsig when the thread that started the child ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := t.cmd.Start()
		started <- err
		if err == nil {
			t.err = t.cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", t.cmd.Path, err)
	}
	return t, nil
}

// wait waits for the end and gives an error that says what the program said.
func (t *tool) wait() error {
	<-t.done
	if t.err == nil {
		return nil
	}
	return t.failed(t.err)
}

func (t *tool) failed(err error) error {
	if said := t.stderr.text(); said != "" {
		err = errors.New(said)
	}
	return fmt.Errorf("%s: %w", t.cmd.Args[0], err)
}

// runTool runs a program to its end and gives what it prints.
func runTool(ctx context.Context, name string, args ...string) ([]byte, error) {
	var out bytes.Buffer
	t, err := startTool(ctx, func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Stdout = &out
		return cmd
	})
	if err != nil {
		return nil, err
	}
	err = t.wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.Bytes(), err
}

// tail keeps the end of what a program says.
type tail struct{ bytes.Buffer }

const mostSaid = 4096

func (t *tail) Write(p []byte) (int, error) {
	if t.Len() > mostSaid {
		t.Next(t.Len() - mostSaid/2)
	}
	return t.Buffer.Write(p)
}

// text is what was said, on one line.
func (t *tail) text() string {
	const most = 300
	said := strings.Join(strings.Fields(t.String()), " ")
	if len(said) > most {
		said = said[:most] + "…"
	}
	return said
}
