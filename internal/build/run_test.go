package build

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary"
)

func TestRunner_CancelEndsTheWholeGroup(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := dbcanary.Errorf(dbcanary.CodeInterrupted, "interrupted")
	pids := make(chan string, 1)
	done := make(chan error, 1)
	go func() {
		done <- processRunner{}.Run(ctx, Command{
			Args: []string{"sh", "-c", "sleep 1000 & echo $!; wait"}, Env: os.Environ(),
			Stdout: writerFunc(func(data []byte) { pids <- strings.TrimSpace(string(data)) }),
		})
	}()
	pid, err := strconv.Atoi(<-pids)
	if err != nil {
		t.Fatal(err)
	}
	cancel(reason)
	if err := <-done; dbcanary.ErrorCode(err) != dbcanary.CodeInterrupted {
		t.Errorf("error %v, want the reason", err)
	}
	for deadline := time.Now().Add(10 * time.Second); alive(pid); {
		if time.Now().After(deadline) {
			t.Fatalf("the child %d of the program lives on", pid)
		}
	}
}

// alive says whether a process runs; a zombie that nobody waits for does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil || syscall.Kill(pid, 0) != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

type writerFunc func([]byte)

func (f writerFunc) Write(data []byte) (int, error) {
	f(data)
	return len(data), nil
}

func TestRunner_Status(t *testing.T) {
	var stdout, status bytes.Buffer
	err := processRunner{}.Run(t.Context(), Command{
		Args: []string{"sh", "-c", "echo out; echo status >&3"}, Env: os.Environ(), Stdout: &stdout, Status: &status,
	})
	if err != nil || stdout.String() != "out\n" || status.String() != "status\n" {
		t.Errorf("out %q, status %q, error %v", stdout.String(), status.String(), err)
	}
}

func TestToolbox_Errors(t *testing.T) {
	tools := toolbox{runner: processRunner{}, environ: os.Environ()}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"dbcanary-no-such-program"}, "dbcanary-no-such-program is not installed on this machine"},
		{[]string{"sh", "-c", "echo 'W: odd' >&2; echo 'E: no such package' >&2; echo more >&2; exit 100"}, "sh: no such package"},
		{[]string{"sh", "-c", "printf 'npm error code E404\\nnpm error 404 No match\\n' >&2; exit 1"}, "sh: 404 No match"},
		{[]string{"sh", "-c", "echo 'E: Failed to fetch http://me:pass@word@mirror/x' >&2; exit 100"}, "sh: Failed to fetch http://mirror/x"},
		{[]string{"sh", "-c", "exit 3"}, "sh: exit status 3"},
	} {
		_, err := tools.output(t.Context(), "", test.args...)
		if err == nil || err.Error() != test.want || dbcanary.ErrorCode(err) != dbcanary.CodeUnavailable {
			t.Errorf("%q: %v, want %q", test.args, err, test.want)
		}
	}
}
