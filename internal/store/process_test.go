package store

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dbcanary/dbcanary"
)

// writeForEver adds trials until it is killed, and prints the number of each
// once the store has said that it is kept.
func writeForEver(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	run := newRun()
	if err := s.CreateRun(ctx, run); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if err := s.AddTrial(ctx, run.ID, newTrial(i)); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

func child(t *testing.T, role, path string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "DBCANARY_STORE_TEST_ROLE="+role, "DBCANARY_STORE_TEST_PATH="+path)
	return cmd
}

// startWriter starts a writer and waits until it has kept some trials; the
// function that it gives kills it and tells the last trial that was kept.
func startWriter(t *testing.T, path string, trials int) (pid int, kill func() int) {
	t.Helper()
	cmd := child(t, "writer", path)
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	last := -1
	next := func() bool {
		if !lines.Scan() {
			return false
		}
		number, err := strconv.Atoi(lines.Text())
		if err != nil {
			return false // the line that the kill cut short
		}
		last = number
		return true
	}
	for last < trials && next() {
	}
	if last < trials {
		t.Fatalf("the writer ended after trial %d: %v", last, cmd.Wait())
	}
	return cmd.Process.Pid, func() int {
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for next() {
		}
		if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the writer ended with %v", err)
		}
		return last
	}
}

func TestKill(t *testing.T) {
	for _, trials := range []int{0, 7, 300} {
		t.Run(strconv.Itoa(trials), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "dbcanary.db")
			pid, kill := startWriter(t, path, trials)
			s := openStore(t, path)
			checkAlive(t, s, pid)
			last := kill()

			checkKilled(t, s, last)
			reopened := openStore(t, path)
			checkKilled(t, reopened, last)
			resume(t, reopened)
		})
	}
}

// A run whose process lives is running and can't be taken over.
func checkAlive(t *testing.T, s *Store, pid int) {
	t.Helper()
	run, err := s.Run(t.Context(), "last")
	if err != nil || run.State != dbcanary.RunRunning || !run.Ended.IsZero() {
		t.Errorf("state %s, ended %v, error %v, want running", run.State, run.Ended, err)
	}
	err = s.Claim(t.Context(), run.ID)
	if want := fmt.Sprintf("process %d is measuring it", pid); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("claim: %v, want %q", err, want)
	}
	if dbcanary.ErrorCode(err) != dbcanary.CodeUnavailable {
		t.Errorf("claim: code %s", dbcanary.ErrorCode(err))
	}
	for what, err := range map[string]error{
		"save the run": s.SaveRun(t.Context(), &run), "add a trial": s.AddTrial(t.Context(), run.ID, newTrial(0)),
	} {
		if dbcanary.ErrorCode(err) != dbcanary.CodeUnavailable {
			t.Errorf("%s of another process: %v", what, err)
		}
	}
}

func checkKilled(t *testing.T, s *Store, last int) {
	t.Helper()
	run, err := s.Run(t.Context(), "last")
	if err != nil || run.State != dbcanary.RunInterrupted || run.Problems[len(run.Problems)-1] != killed {
		t.Fatalf("state %s, problems %q, error %v, want it interrupted by a kill", run.State, run.Problems, err)
	}
	trials, err := s.Trials(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	// One more may have been kept than was printed.
	if len(trials) < last+1 || len(trials) > last+2 {
		t.Fatalf("%d trials are kept, %d were acknowledged", len(trials), last+1)
	}
	for i, trial := range trials {
		if trial.Block != i {
			t.Fatalf("trial %d is number %d", i, trial.Block)
		}
	}
	if want := trials[len(trials)-1].Started; !run.Ended.Equal(want) {
		t.Errorf("ended %v, want the last trial's %v", run.Ended, want)
	}
}

func resume(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Claim(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	run, err := s.Run(t.Context(), "1")
	if err != nil || run.State != dbcanary.RunRunning || !run.Ended.IsZero() {
		t.Errorf("after the claim: state %s, ended %v, error %v", run.State, run.Ended, err)
	}
	if err := s.Claim(t.Context(), 1); err != nil {
		t.Errorf("claim of one's own run: %v", err)
	}
	if err := s.AddTrial(t.Context(), 1, newTrial(0)); err != nil {
		t.Errorf("a trial of the claimed run: %v", err)
	}
	run.Ended = run.Started
	if err := s.SaveRun(t.Context(), &run); err != nil {
		t.Error(err)
	}
	if run, err = s.Run(t.Context(), "1"); err != nil || !run.Ended.IsZero() {
		t.Errorf("a run that goes on ended %v, error %v", run.Ended, err)
	}
	run.State = dbcanary.RunDone
	if err := s.SaveRun(t.Context(), &run); err != nil {
		t.Error(err)
	}
	if err := s.Claim(t.Context(), 1); dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
		t.Errorf("claim of a run that is done: %v", err)
	}
}

// A process that was given the number of an owner that is gone is not the owner.
func TestOwnerIsNotItsNumber(t *testing.T) {
	self, err := currentOwner()
	if err != nil {
		t.Fatal(err)
	}
	if !self.alive() {
		t.Error("this process is not alive")
	}
	for _, change := range []func(*owner){
		func(o *owner) { o.start++ },
		func(o *owner) { o.boot = "another" },
		func(o *owner) { o.pid = 1 << 30 },
	} {
		other := self
		change(&other)
		if other.alive() {
			t.Errorf("%+v is alive", other)
		}
	}
}

// An ordinary user meets a store that belongs to somebody else.
func TestReadOnly(t *testing.T) {
	dir, err := os.MkdirTemp("", "dbcanary-store-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "dbcanary.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{path: 0o444, dir: 0o555} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	cmd := child(t, "opener", path)
	if os.Getuid() == 0 {
		// Nothing is read-only to root, so the child is somebody else, and so is its binary.
		cmd.Path = copyForAll(t, cmd.Path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	cmd.Dir = "/"
	output, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "its folder must exist and be writable") &&
		!strings.Contains(string(output), "must be writable; copy it") {
		t.Errorf("error %v, output %s", err, output)
	}
	if strings.Count(string(output), "\n") != 1 {
		t.Errorf("more than one line: %s", output)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

// copyForAll copies a program to where every user may run it.
func copyForAll(t *testing.T, program string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dbcanary-store-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "store.test")
	if err := os.WriteFile(path, content, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
