package probe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/dbcanary/dbcanary/internal/profile"
)

// burner spends three quarters of its CPU time in one function and a quarter in
// another, while a second thread waits for work that never comes.
const burner = `
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static volatile unsigned long sink;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t none = PTHREAD_COND_INITIALIZER;
static long cpu(void) {
	struct timespec at;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return at.tv_sec * 1000000000L + at.tv_nsec;
}
static __attribute__((noinline)) void spin(long until) {
	while (cpu() < until)
		for (int i = 0; i < 100000; i++) sink += i;
}
__attribute__((noinline)) void three_quarters(long from) { spin(from + 3000000); sink++; }
__attribute__((noinline)) void one_quarter(long from) { spin(from + 1000000); sink++; }
__attribute__((noinline)) void wait_for_work(void) { while (1) pthread_cond_wait(&none, &mutex); }
static void *idle(void *x) { pthread_mutex_lock(&mutex); wait_for_work(); return x; }
int main(void) {
	pthread_t thread;
	pthread_create(&thread, NULL, idle, NULL);
	puts("ready");
	fflush(stdout);
	while (1) { three_quarters(cpu()); one_quarter(cpu()); }
}
`

// startBurner builds the program without frame pointers and without symbols but
// those for dynamic linking, as distributions do, and starts it. With debug its
// symbols lie in a file beside it, as those of debug packages do.
func startBurner(t *testing.T, debug bool) int {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "burner.c"), filepath.Join(dir, "burner")
	if err := os.WriteFile(source, []byte(burner), 0o600); err != nil {
		t.Fatal(err)
	}
	steps := [][]string{{"gcc", "-O2", "-g", "-fomit-frame-pointer", "-rdynamic", "-pthread", "-o", program, source}}
	if debug {
		steps = append(steps, []string{"objcopy", "--only-keep-debug", program, program + ".debug"})
	}
	steps = append(steps, []string{"strip", program})
	if debug {
		steps = append(steps, []string{"objcopy", "--add-gnu-debuglink=" + program + ".debug", program})
	}
	for _, step := range steps {
		cmd := exec.Command(step[0], step[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", step, err, out)
		}
	}
	cmd := exec.Command(program)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the program says %q, error %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return cmd.Process.Pid
}

// see lets an instrument look at what goes on for a while.
func see(t *testing.T, instrument Instrument, length time.Duration) Seen {
	t.Helper()
	if err := instrument.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	instrument.Begin(t.Context())
	<-time.After(length)
	instrument.End(t.Context())
	seen, err := instrument.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func decode(t *testing.T, seen Seen) []profile.Stack {
	t.Helper()
	if len(seen.Stacks) != 1 {
		t.Fatalf("stacks of %d samplers", len(seen.Stacks))
	}
	stacks, err := profile.Decode(seen.Stacks[0].Pprof)
	if err != nil {
		t.Fatal(err)
	}
	return stacks
}

// share is how much of the samples holds a function.
func share(stacks []profile.Stack, function string) float64 {
	var count int64
	for _, stack := range stacks {
		if slices.Contains(stack.Names(), function) {
			count += stack.Count
		}
	}
	return float64(count) / float64(profile.Total(stacks))
}

// Known work: functions have the shares of the samples that they take of the time,
// also those that never made a frame of their own; the thread that waits has none.
func TestPerf_KnownWork(t *testing.T) {
	for _, debug := range []bool{false, true} {
		t.Run(fmt.Sprintf("debug %v", debug), func(t *testing.T) {
			pid, dir := startBurner(t, debug), t.TempDir()
			seen := see(t, NewPerf(pid, dir), 3*time.Second)
			stacks := decode(t, seen)
			three, one, waiting := share(stacks, "three_quarters"), share(stacks, "one_quarter"), share(stacks, "wait_for_work")
			t.Logf("%s: %d samples, %.3f and %.3f of them", seen.Stacks[0].Sampler, profile.Total(stacks), three, one)
			if math.Abs(three-0.75) > 0.09 || math.Abs(one-0.25) > 0.09 || waiting > 0 {
				t.Errorf("shares %.3f, %.3f and %.3f, want 0.75, 0.25 and 0", three, one, waiting)
			}
			if rooted := share(stacks, "main"); debug && rooted < 0.95 {
				t.Errorf("%.3f of the stacks go down to main", rooted)
			}
			// The name of a function that is in no table for dynamic linking.
			if got := share(stacks, "spin"); debug != (got > 0.9) || !debug && got > 0 {
				t.Errorf("%.3f of the stacks have a static function", got)
			}
			if got := share(stacks, "[burner]"); !debug && got < 0.9 {
				t.Errorf("%.3f of the stacks have the part without names", got)
			}
			checkGone(t, dir)
		})
	}
}

// checkGone holds that no child but the program looked at and no file is left.
func checkGone(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("files are left: %v, error %v", entries, err)
	}
	for _, name := range children(t) {
		if name == "perf" || name == "gdb" || name == "eu-stack" {
			t.Errorf("%s is left", name)
		}
	}
}

func children(t *testing.T) []string {
	t.Helper()
	pids, err := treePIDs(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, pid := range pids {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)) // it may have ended
		names = append(names, strings.TrimSpace(string(name)))
	}
	return names
}

// Whatever happens in the middle, no perf and no file is left.
func TestPerf_Cancelled(t *testing.T) {
	pid, dir := startBurner(t, false), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	perf := NewPerf(pid, dir)
	if err := perf.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	perf.Begin(ctx)
	cancel()
	perf.End(ctx)
	if seen, err := perf.Finish(ctx); err == nil {
		t.Errorf("%+v was seen", seen)
	}
	checkGone(t, dir)

	never := NewPerf(pid, dir)
	if err := never.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen, err := never.Finish(t.Context()); err != nil || len(seen.Stacks) > 0 {
		t.Errorf("without a beginning: %+v, error %v", seen, err)
	}
	checkGone(t, dir)
}

// A process of somebody else: the error says what would permit it.
func TestPerf_NotPermitted(t *testing.T) {
	pid := startBurner(t, false)
	failures := make(chan error)
	onOwnThread(func() { // which gives its rights up
		const nobody = 65534
		if os.Geteuid() != 0 {
			pid = 1
		} else if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
			failures <- errno
			return
		}
		_, err := NewPerf(pid, "").chooseEvent()
		failures <- err
	})
	err := <-failures
	if err == nil || !strings.Contains(err.Error(), "kernel.perf_event_paranoid is ") || !strings.Contains(err.Error(), "CAP_PERFMON") {
		t.Errorf("perf of another user's process: %v", err)
	}
}

// A kernel or machine without an event: the next one is taken, and without any the error says so.
func TestPerf_Events(t *testing.T) {
	pid := startBurner(t, false)
	perf := NewPerf(pid, t.TempDir())
	broken := perfEvent{name: "broken", kind: unix.PERF_TYPE_HARDWARE, config: 1 << 30}
	perf.events = append([]perfEvent{broken}, perf.events...)
	event, err := perf.chooseEvent()
	if err != nil || event.name == "broken" {
		t.Errorf("chosen %q, error %v", event.name, err)
	}
	perf.events = perf.events[:1]
	if _, err := perf.chooseEvent(); err == nil || !strings.Contains(err.Error(), "no event") {
		t.Errorf("without an event: %v", err)
	}
	missing := NewPerf(pid, t.TempDir())
	t.Setenv("PATH", t.TempDir())
	if err := missing.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "linux-perf") {
		t.Errorf("without perf: %v", err)
	}
	if err := NewPauses(pid).Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "elfutils") {
		t.Errorf("without gdb and eu-stack: %v", err)
	}
}

// Every thread is seen, also one that waits, by each program; the process goes on after it.
func TestPauses(t *testing.T) {
	for _, tool := range pauseTools() {
		t.Run(tool.name, func(t *testing.T) {
			pid := startBurner(t, false)
			pauses := NewPauses(pid)
			pauses.only = tool.name
			seen := see(t, pauses, time.Second)
			if seen.Stacks[0].Sampler != tool.name {
				t.Errorf("sampled by %s", seen.Stacks[0].Sampler)
			}
			stacks := decode(t, seen)
			waiting, running := share(stacks, "wait_for_work"), share(stacks, "three_quarters")+share(stacks, "one_quarter")
			if waiting != 0.5 || running != 0.5 {
				t.Errorf("%.3f of %d stacks wait and %.3f run, want half and half", waiting, profile.Total(stacks), running)
			}
			checkGoesOn(t, pid)
		})
	}
}

// checkGoesOn holds that a process is not stopped and takes CPU time.
func checkGoesOn(t *testing.T, pid int) {
	t.Helper()
	if stopped, traced := stopState(pid); stopped || traced {
		t.Errorf("process %d: stopped %v, traced %v", pid, stopped, traced)
	}
	before, err := processClock(pid)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(5 * time.Millisecond) {
		if after, err := processClock(pid); err != nil || after > before {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d does not run any more", pid)
		}
	}
}

// A look that is cancelled at any moment leaves the process running and no program behind.
func TestPauses_Cancelled(t *testing.T) {
	pid := startBurner(t, false)
	for _, tool := range pauseTools() {
		for i := range 10 {
			pauses := NewPauses(pid)
			pauses.tool, pauses.counts = tool, newStackCounts()
			ctx, cancel := context.WithCancel(t.Context())
			pauses.Begin(ctx)
			<-time.After(time.Duration(i*i) * 4 * time.Millisecond)
			cancel()
			pauses.End(ctx)
			_, _ = pauses.Finish(ctx) // there may be a stack or not
			checkGoesOn(t, pid)
			checkGone(t, t.TempDir())
		}
	}
}

// A program that dies in the middle leaves the process stopped: it is woken.
func TestResume(t *testing.T) {
	pid := startBurner(t, false)
	if err := unix.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(time.Millisecond) {
		if stopped, _ := stopState(pid); stopped {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not stop")
		}
	}
	if err := resume(pid); err != nil {
		t.Fatal(err)
	}
	checkGoesOn(t, pid)
	if err := resume(1 << 22); err != nil {
		t.Errorf("a process that is gone: %v", err)
	}
}

// onOwnThread runs do on a thread that ends with it. The first thread of a process
// would not end.
func onOwnThread(do func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != os.Getpid() {
			do()
			return
		}
		defer runtime.UnlockOSThread()
		locked := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(locked)
			do()
		}()
		<-locked
	}()
}

func seizeThreads(pid int) error {
	threads, err := procfs.AllThreads(pid)
	for _, thread := range threads {
		err = errors.Join(err, unix.PtraceSeize(thread.PID))
	}
	return err
}

// A process that is traced by somebody else can't be looked at.
func TestPauses_NotPermitted(t *testing.T) {
	pid := startBurner(t, false)
	release, seized := make(chan struct{}), make(chan error)
	onOwnThread(func() { // the tracer is a thread
		seized <- seizeThreads(pid)
		<-release
	})
	defer close(release)
	if err := <-seized; err != nil {
		t.Fatal(err)
	}
	for _, tool := range pauseTools() {
		pauses := NewPauses(pid)
		pauses.only = tool.name
		if err := pauses.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "not permitted") || !strings.Contains(err.Error(), "CAP_SYS_PTRACE") {
			t.Errorf("%s of a traced process: %v", tool.name, err)
		}
	}
	checkGoesOn(t, pid)
}
