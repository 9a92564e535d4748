package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dbcanary/dbcanary"
)

// Command is a program to run.
type Command struct {
	Args   []string // the program first
	Dir    string
	Env    []string
	Stdout io.Writer
	Stderr io.Writer
	Status io.Writer // what the program writes to file descriptor 3; nil closes it
}

// Runner runs a program until it ends or ctx is cancelled; then no process of
// it is left. A program that can't be found gives exec.ErrNotFound.
type Runner interface {
	Run(ctx context.Context, command Command) error
}

// processRunner runs programs for real, each in its own process group.
type processRunner struct{}

func (processRunner) Run(ctx context.Context, command Command) error {
	// The kernel sends Pdeathsig when the thread that started the child ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, command.Args[0], command.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = command.Dir, command.Env, command.Stdout, command.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	if command.Status == nil {
		return ended(ctx, cmd.Run())
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.ExtraFiles = []*os.File{write}
	copied := make(chan struct{})
	go func() {
		// The status is for show only: a broken pipe ends the show, not the work.
		_, _ = io.Copy(command.Status, read)
		close(copied)
	}()
	err = cmd.Start()
	_ = write.Close()
	if err == nil {
		err = cmd.Wait()
	}
	_ = read.SetReadDeadline(time.Now().Add(cmd.WaitDelay))
	<-copied
	_ = read.Close()
	return ended(ctx, err)
}

// ended prefers the reason why a program was killed to the fact that it was.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// toolbox runs the ordinary clients with the user's environment.
type toolbox struct {
	runner  Runner
	environ []string
	notes   *notes
}

// notes writes what the user should know though the work goes on. It is safe
// for concurrent use.
type notes struct {
	mutex sync.Mutex
	w     io.Writer
}

func (n *notes) printf(format string, args ...any) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	fmt.Fprintf(n.w, "note: "+format+"\n", args...)
}

// output runs a program and gives what it printed; an error holds the last
// line that the program complained with.
func (t toolbox) output(ctx context.Context, dir string, args ...string) (string, error) {
	var stdout bytes.Buffer
	err := t.run(ctx, Command{Args: args, Dir: dir, Stdout: &stdout})
	return stdout.String(), err
}

func (t toolbox) run(ctx context.Context, command Command) error {
	var complaints bytes.Buffer
	// Messages are read for their meaning, so they must be in English.
	command.Env = append(append([]string(nil), t.environ...), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	command.Stderr = &complaints
	err := t.runner.Run(ctx, command)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err
	case errors.Is(err, exec.ErrNotFound):
		return dbcanary.Errorf(dbcanary.CodeUnavailable, "%s is not installed on this machine", command.Args[0])
	}
	if line := logins.ReplaceAllString(complaint(complaints.String()), "://"); line != "" {
		return dbcanary.Errorf(dbcanary.CodeUnavailable, "%s: %s", command.Args[0], line)
	}
	return dbcanary.Errorf(dbcanary.CodeUnavailable, "%s: %w", command.Args[0], err)
}

// logins are user and password in a mirror's address, which no message may show.
var logins = regexp.MustCompile(`://[^/\s]*@`)

// complaint picks the line that tells most: the first error of apt or npm, else the last line.
func complaint(text string) string {
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"E: ", "npm error ", "npm ERR! "} {
			rest, ok := strings.CutPrefix(line, prefix)
			if ok && !strings.HasPrefix(rest, "code ") {
				return rest
			}
		}
		if line != "" {
			last = line
		}
	}
	return last
}
