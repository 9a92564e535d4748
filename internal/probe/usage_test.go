package probe

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test binary is also the program that does known work: each line that it
// reads is a piece of it, each line that it writes says that it is done.
func TestMain(m *testing.M) {
	if os.Getenv("DBCANARY_TEST_WORKER") == "" {
		os.Exit(m.Run())
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		before := switches()
		if err := work(lines.Text()); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("done", switches()-before)
	}
}

func work(order string) error {
	kind, argument, _ := strings.Cut(order, " ")
	switch kind {
	case "burn", "total": // CPU time by this process's own clock
		length, err := time.ParseDuration(argument)
		if err != nil {
			return err
		}
		start := cpuTime()
		if kind == "total" { // its start included
			start = 0
		}
		for cpuTime()-start < length {
		}
	case "sleep": // so many times
		count, err := strconv.Atoi(argument)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for range count {
			if err := unix.Nanosleep(&unix.Timespec{Nsec: 100_000}, nil); err != nil && err != unix.EINTR {
				return err
			}
		}
		return err
	case "child": // the same in a child that has ended and was waited for
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "DBCANARY_TEST_WORKER=1")
		child.Stdin = strings.NewReader("total " + argument + "\n")
		return child.Run()
	case "write", "read", "send", "touch":
		return move(kind, argument)
	case "threads":
		for range 200 {
			go func() {
				runtime.LockOSThread()
				var pipe [2]int
				if unix.Pipe(pipe[:]) == nil {
					_, _ = unix.Read(pipe[0], make([]byte, 1))
				}
			}()
		}
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
			if threads, err := os.ReadDir("/proc/self/task"); err != nil || len(threads) > 200 {
				return err
			}
		}
		return fmt.Errorf("the threads did not start")
	}
	return nil
}

// switches is the number of context switches of this process, by its own total.
func switches() int64 {
	var rusage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &rusage); err != nil {
		panic(err)
	}
	return rusage.Nvcsw + rusage.Nivcsw
}

func cpuTime() time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &at); err != nil {
		panic(err)
	}
	return time.Duration(at.Nano())
}

// partner is a process that answers each line with one.
type partner struct {
	t      testing.TB
	pid    int
	input  io.Writer
	output *bufio.Reader
}

func start(t testing.TB, command *exec.Cmd) *partner {
	t.Helper()
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		input.Close()
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &partner{t, command.Process.Pid, input, bufio.NewReader(output)}
}

func startWorker(t testing.TB) *partner {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "DBCANARY_TEST_WORKER=1")
	p := start(t, command)
	p.expect("ready")
	return p
}

// do gives the number of context switches that the work took, if the partner tells it.
func (p *partner) do(order string) (switches int64) {
	p.t.Helper()
	if _, err := io.WriteString(p.input, order+"\n"); err != nil {
		p.t.Fatal(err)
	}
	if answer := p.expect("done"); answer != "" {
		var err error
		if switches, err = strconv.ParseInt(answer, 10, 64); err != nil {
			p.t.Fatal(err)
		}
	}
	return switches
}

func (p *partner) expect(want string) (rest string) {
	p.t.Helper()
	line, err := p.output.ReadString('\n')
	first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if err != nil || first != want {
		p.t.Fatalf("answer %q, %v, want %q", line, err, want)
	}
	return rest
}

// within says whether got is want within 5 % and a little slack for what the
// process does besides.
func within(got, want, slack float64) bool {
	return math.Abs(got-want) <= 0.05*want+slack
}

// Each way in which a server spends CPU time shows it within 5 %.
func TestBetween_KnownCPUTime(t *testing.T) {
	server, idle := startWorker(t), startWorker(t)
	sampler := Sampler{Server: server.pid, Idle: []int{idle.pid}}
	before := sampler.Begin()
	server.do("burn 200ms")
	server.do("child 200ms") // ended: only its parent knows of it, in ticks
	idle.do("burn 100ms")
	clientBegin := cpuTime()
	for cpuTime()-clientBegin < 100*time.Millisecond {
	}
	d := Between(before, sampler.End())
	if !within(float64(d.ServerCPUNs), 400e6, 30e6) {
		t.Errorf("the server used %d ns, want 400 ms", d.ServerCPUNs)
	}
	if !within(float64(d.IdleServerCPUNs), 100e6, 5e6) {
		t.Errorf("the idle server used %d ns, want 100 ms", d.IdleServerCPUNs)
	}
	if !within(float64(d.ClientCPUNs), 100e6, 10e6) {
		t.Errorf("the client used %d ns, want 100 ms", d.ClientCPUNs)
	}
	if d.ForeignCPUNs < 0 || d.StealNs < 0 || d.ServerContextSwitches < 0 || len(d.Notes) > 0 {
		t.Errorf("something is unknown: %+v", d)
	}
}

// What nobody claims is foreign. Other work on this machine adds to it, so there
// is only a lower bound.
func TestBetween_ForeignCPUTime(t *testing.T) {
	server, foreign := startWorker(t), startWorker(t)
	sampler := Sampler{Server: server.pid}
	before := sampler.Begin()
	foreign.do("burn 300ms")
	d := Between(before, sampler.End())
	if d.ForeignCPUNs < 270e6 {
		t.Errorf("foreign CPU time is %d ns, want 300 ms or more", d.ForeignCPUNs)
	}
	if d.ServerCPUNs > 20e6 {
		t.Errorf("the server used %d ns and did nothing", d.ServerCPUNs)
	}
}

// usageOf is what a process tree used while f ran.
func usageOf(t *testing.T, pid int, f func()) Usage {
	t.Helper()
	before, err := ProcessTree(pid)
	if err != nil {
		t.Fatal(err)
	}
	f()
	after, err := ProcessTree(pid)
	if err != nil {
		t.Fatal(err)
	}
	return after.since(before)
}

// A thread that sleeps 500 times switches as often; the process's own total, from
// another counter of the kernel, tells what its other threads add.
func TestProcessTree_KnownContextSwitches(t *testing.T) {
	const sleeps = 500
	server := startWorker(t)
	server.do("sleep 1")
	var own int64
	used := usageOf(t, server.pid, func() { own = server.do(fmt.Sprintf("sleep %d", sleeps)) })
	if all := used.VoluntarySwitches + used.InvoluntarySwitches; used.VoluntarySwitches < sleeps || !within(float64(all), float64(own), 20) {
		t.Errorf("%d voluntary switches for %d sleeps, %d in all, want %d", used.VoluntarySwitches, sleeps, all, own)
	}
}

// Bytes that a child wrote to storage count for the tree, also when it has ended.
func TestProcessTree_KnownWrites(t *testing.T) {
	const megabytes = 8
	// Not in the temporary directory, which may be memory.
	dir, err := os.MkdirTemp(".", "written-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	script := fmt.Sprintf("while read file; do dd if=/dev/zero of=\"$file\" bs=1M count=%d conv=fsync 2>%s; echo done; done", megabytes, os.DevNull)
	shell := start(t, exec.Command("sh", "-c", script))
	used := usageOf(t, shell.pid, func() { shell.do(filepath.Join(dir, "zeros")) })
	if !within(float64(used.WrittenBytes), megabytes<<20, 1<<18) {
		t.Errorf("%d bytes written, want %d MB", used.WrittenBytes, megabytes)
	}
	if used.MinorFaults <= 0 {
		t.Errorf("%d minor faults, but programs were started", used.MinorFaults)
	}
}

func TestProcessTree_CountsProcessesAndThreads(t *testing.T) {
	shell := start(t, exec.Command("sh", "-c", "sleep 1000 & while read line; do echo done; done; kill $!"))
	shell.do("first")
	u, err := ProcessTree(shell.pid)
	if err != nil {
		t.Fatal(err)
	}
	if u.Processes != 2 || u.Threads != 2 || u.RSSBytes <= 0 || u.CPUNs <= 0 || u.MinorFaults <= 0 || len(u.Notes) > 0 {
		t.Errorf("%+v", u)
	}
}

func TestProcessTree_Gone(t *testing.T) {
	command := exec.Command("true")
	if err := command.Run(); err != nil {
		t.Fatal(err)
	}
	if u, err := ProcessTree(command.Process.Pid); err == nil {
		t.Errorf("a process that has ended used %+v", u)
	}
	sampler := Sampler{Server: command.Process.Pid, Idle: []int{command.Process.Pid}}
	d := Between(sampler.Begin(), sampler.End())
	if d.ServerCPUNs != -1 || d.ServerContextSwitches != -1 || d.IdleServerCPUNs != -1 || d.ForeignCPUNs != -1 || d.ClientCPUNs < 0 || len(d.Notes) == 0 {
		t.Errorf("a server that has ended gives %+v", d)
	}
}

func TestSelf(t *testing.T) {
	before, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	for begin := cpuTime(); cpuTime()-begin < 50*time.Millisecond; {
	}
	after, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	if used := after.since(before); !within(float64(used.CPUNs), 50e6, 5e6) || used.RSSBytes <= 0 || used.Threads <= 0 || used.ReadBytes < 0 {
		t.Errorf("%+v", used)
	}
}

// The cost of a snapshot of a server with 200 connections.
func BenchmarkProcessTree(b *testing.B) {
	server := startWorker(b)
	server.do("threads")
	for name, detail := range map[string]bool{"detail": true, "cpu only": false} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				tree, err := system{"/"}.tree(server.pid, detail, nil)
				if err != nil || tree.Threads < 200 {
					b.Fatalf("%d threads, %v", tree.Threads, err)
				}
			}
		})
	}
}
