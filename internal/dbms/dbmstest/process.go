package dbmstest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
)

// parentEnv makes the test binary a program that starts one server.
const parentEnv = "DBCANARY_TEST_PARENT"

// parentOrder is what such a program is told to do.
type parentOrder struct {
	Family  dbcanary.Family
	Options dbms.StartOptions // its Dir is claimed first
	Golden  string            // instance whose data it starts on
}

// Main is the TestMain of a driver's tests. As the program of an order it starts
// the server, tells its PID on standard output, and stops it at the end of
// standard input.
func Main(m *testing.M, drivers ...dbms.Driver) int {
	order, ok := os.LookupEnv(parentEnv)
	if !ok {
		return m.Run()
	}
	if err := obey(order, drivers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func obey(text string, drivers []dbms.Driver) error {
	var order parentOrder
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		return err
	}
	for _, driver := range drivers {
		if driver.Family() != order.Family {
			continue
		}
		if err := dbms.Claim(order.Options.Dir); err != nil {
			return err
		}
		if err := dbms.Copy(context.Background(), order.Golden, order.Options.Dir); err != nil {
			return err
		}
		server, err := driver.Start(context.Background(), order.Options)
		if err != nil {
			return err
		}
		fmt.Println(server.PID())
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
		return server.Stop(context.Background())
	}
	return fmt.Errorf("no driver for %s", order.Family)
}

// parent is a running program that has started a server.
type parent struct {
	cmd   *exec.Cmd
	stdin io.Closer
	pid   int // of the server
}

// startParent starts the program, as the user nobody if it is to be an ordinary one.
func (f *fixture) startParent(t *testing.T, order parentOrder, ordinary bool) *parent {
	t.Helper()
	text, err := json.Marshal(order)
	must(t, err)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), parentEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	cmd.Dir = "/"
	if ordinary && os.Geteuid() == 0 {
		const nobody = 65534
		cmd.Path = f.copyTestBinary(t) // the folder of the test binary is closed to others
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // ended already in a test that passes
	line, err := bufio.NewReader(stdout).ReadString('\n')
	must(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	must(t, err)
	return &parent{cmd, stdin, pid}
}

func (f *fixture) copyTestBinary(t *testing.T) string {
	t.Helper()
	in, err := os.Open("/proc/self/exe")
	must(t, err)
	defer in.Close()
	path := filepath.Join(f.root, "parent.test")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	must(t, err)
	_, err = io.Copy(out, in)
	must(t, err)
	must(t, out.Close())
	return path
}

// killedParent kills the program that started a server: the kernel ends the
// server, and a later program sweeps the directory away.
func (f *fixture) killedParent(t *testing.T) {
	root := filepath.Join(f.root, "killed")
	must(t, os.MkdirAll(root, 0o755))
	dir := filepath.Join(root, "i")
	parent := f.startParent(t, parentOrder{f.Driver.Family(), f.options(dir), f.golden}, false)
	memory := sharedMemory(parent.pid)
	if removed, err := dbms.Sweep(t.Context(), root); err != nil || len(removed) > 0 {
		t.Errorf("a sweep took %v from a living owner: %v", removed, err)
	}
	must(t, parent.cmd.Process.Kill())
	wait(t, "the server and its children end with their parent", func() bool { return !exists(parent.pid) && len(processesOf(dir)) == 0 })
	checkFreed(t, parent.pid, memory)
	_ = parent.cmd.Wait() // it was killed
	removed, err := dbms.Sweep(t.Context(), root)
	must(t, err)
	if len(removed) != 1 || removed[0] != dir {
		t.Errorf("the sweep removed %v, want %s", removed, dir)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is still there after the sweep", dir)
	}
}

// ordinaryUser starts a server from a program without any privilege.
func (f *fixture) ordinaryUser(t *testing.T) {
	root := filepath.Join(f.root, "ordinary")
	must(t, os.MkdirAll(root, 0o777))
	must(t, os.Chmod(root, 0o777))
	parent := f.startParent(t, parentOrder{f.Driver.Family(), f.options(filepath.Join(root, "i")), f.golden}, true)
	must(t, parent.stdin.Close())
	must(t, parent.cmd.Wait())
	if exists(parent.pid) {
		t.Errorf("server process %d is left", parent.pid)
	}
}

// sharedMemory lists the shared memory files that a process has mapped.
func sharedMemory(pid int) []string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil
	}
	var paths []string
	for line := range strings.Lines(string(data)) {
		if at := strings.Index(line, "/dev/shm/"); at >= 0 {
			paths = append(paths, strings.TrimSpace(line[at:]))
		}
	}
	return paths
}

// checkFreed looks whether a dead server's shared memory is gone.
func checkFreed(t *testing.T, pid int, files []string) {
	t.Helper()
	for _, path := range files {
		wait(t, "shared memory "+path+" is given back", func() bool { _, err := os.Stat(path); return err != nil })
	}
	if segments := systemVSegments(pid); len(segments) > 0 {
		t.Errorf("System V segments are left: %v", segments)
	}
}

// systemVSegments lists the segments that a process made: the fifth field of
// /proc/sysvipc/shm is the creator.
func systemVSegments(pid int) []string {
	data, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		return nil
	}
	var segments []string
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] == strconv.Itoa(pid) {
			segments = append(segments, fields[1])
		}
	}
	return segments
}

// processesOf lists the processes that work in a directory or name it.
func processesOf(dir string) []string {
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var found []string
	for _, entry := range entries {
		cwd, _ := os.Readlink(entry + "/cwd")         // gone or not ours to see
		command, _ := os.ReadFile(entry + "/cmdline") // the same
		text := strings.ReplaceAll(string(command), "\x00", " ")
		if pid, err := strconv.Atoi(filepath.Base(entry)); err != nil || pid == os.Getpid() || !exists(pid) {
			continue
		}
		inside := cwd == dir || strings.HasPrefix(cwd, dir+"/")
		if inside || strings.Contains(text, dir+"/data") || strings.Contains(text, dir+"/my.cnf") {
			found = append(found, filepath.Base(entry)+" "+text)
		}
	}
	return found
}

// exists tells whether there is such a process that is not a zombie.
func exists(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// checkPinned reads the CPUs of every thread of the server and of its children.
func checkPinned(t *testing.T, pid int) {
	t.Helper()
	if pid == 0 {
		return
	}
	pids := []string{strconv.Itoa(pid)}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	must(t, err)
	pids = append(pids, strings.Fields(string(children))...)
	threads := 0
	for _, pid := range pids {
		paths, err := filepath.Glob("/proc/" + pid + "/task/*/status")
		must(t, err)
		for _, path := range paths {
			status, err := os.ReadFile(path)
			if err != nil {
				continue // a thread that has ended meanwhile
			}
			threads++
			if !strings.Contains(string(status), "Cpus_allowed_list:\t0\n") {
				t.Errorf("%s is not bound to CPU 0", path)
			}
		}
	}
	if threads < 3 {
		t.Errorf("only %d threads of the server seen", threads)
	}
}

func kill(t *testing.T, pid int) {
	t.Helper()
	must(t, syscall.Kill(pid, syscall.SIGKILL))
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// wait polls until the condition holds.
func wait(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for !condition() {
		if ctx.Err() != nil {
			t.Fatalf("waited %v in vain: %s", patience, what)
		}
		pause(ctx)
	}
}

// pause waits a moment between two looks.
func pause(ctx context.Context) {
	timer := time.NewTimer(5 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
