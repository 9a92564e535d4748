package probe

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const workBytes = 16 << 20

// move does a piece of known work: it writes or reads a file past the page cache, sends
// bytes over the loopback interface, or touches memory, workBytes each.
func move(kind, path string) error {
	switch kind {
	case "send":
		return send()
	case "touch":
		memory, err := unix.Mmap(-1, 0, workBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return err
		}
		if err := unix.Madvise(memory, unix.MADV_NOHUGEPAGE); err != nil {
			return err
		}
		for i := 0; i < len(memory); i += os.Getpagesize() {
			memory[i] = 1
		}
		return nil
	}
	file, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_DIRECT|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	const page, block = 4096, 1 << 20
	buffer := make([]byte, block+page)
	offset := page - int(uintptr(unsafe.Pointer(&buffer[0]))%page) // O_DIRECT wants whole pages
	buffer = buffer[offset : offset+block]
	for at := int64(0); at < workBytes; at += block {
		n := 0
		if kind == "write" {
			n, err = unix.Pwrite(file, buffer, at)
		} else {
			n, err = unix.Pread(file, buffer, at)
		}
		if err != nil || n != block {
			return errors.Join(fmt.Errorf("%s %d bytes of %s: %d", kind, block, path, n), err, unix.Close(file))
		}
	}
	return unix.Close(file)
}

func send() error {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	received := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			_, err = io.CopyN(io.Discard, conn, workBytes)
			conn.Close()
		}
		received <- err
	}()
	conn, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		return err
	}
	defer conn.Close()
	buffer := make([]byte, 1<<20)
	for range workBytes / len(buffer) {
		if _, err := conn.Write(buffer); err != nil {
			return err
		}
	}
	return <-received
}

// onDisk gives a directory on a disk; the temporary one may be memory.
func onDisk(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(".", "work-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Known work shows within 5 %. What belongs to the whole host has other work in it, so
// the work is done again until it was alone; it never shows as less.
func TestMetrics_KnownWork(t *testing.T) {
	dir := onDisk(t)
	disks, err := DisksOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	server := startWorker(t)
	file := filepath.Join(dir, "file")
	for _, row := range []struct {
		order string
		want  map[string]float64
	}{
		{"write " + file, map[string]float64{"server.written_bytes": workBytes, "disk.written_bytes": workBytes, "server.read_bytes": 0}},
		{"read " + file, map[string]float64{"server.read_bytes": workBytes, "disk.read_bytes": workBytes, "server.written_bytes": 0}},
		{"send", map[string]float64{"host.loopback_bytes": workBytes}},
		{"touch", map[string]float64{"server.minor_faults": workBytes / float64(os.Getpagesize()), "server.rss_bytes": workBytes}},
	} {
		var got map[string]float64
		matches := func() bool {
			sampler := Sampler{Server: server.pid, Disks: disks}
			before := sampler.Begin()
			// Long enough for the time of the reading itself not to matter.
			times := 0.0
			for start := time.Now(); time.Since(start) < 500*time.Millisecond; {
				if row.order == "touch" && times == 4 { // enough memory
					server.do("sleep 5000")
					continue
				}
				server.do(row.order)
				times++
			}
			got = grown(Between(before, sampler.End()))
			for name, want := range row.want {
				want *= times
				slack := 0.01 * workBytes * times // metadata, the runtime's own memory
				if strings.HasSuffix(name, "faults") {
					slack /= float64(os.Getpagesize())
				}
				if got[name] < 0.95*want-slack {
					t.Fatalf("%s: %s is %.0f, want at least %.0f", row.order, name, got[name], want)
				}
				if !within(got[name], want, slack) {
					return false
				}
			}
			return true
		}
		if !until(30*time.Second, matches) {
			t.Errorf("%s: %v, want %v", row.order, got, row.want)
		}
	}
}

// grown are the metrics by name; of a level by how much it rose.
func grown(d Delta) map[string]float64 {
	named := map[string]float64{}
	for _, m := range d.Metrics {
		named[m.Name] = m.Value - m.First
	}
	return named
}

// until tries again until f is true, for so long.
func until(limit time.Duration, f func() bool) bool {
	for deadline := time.Now().Add(limit); ; {
		if f() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

// beside runs a tool that prints one report over two seconds while a load runs, and
// gives the fields under each heading of its last two lines, beside the metrics of
// the same time.
func beside(t *testing.T, sampler *Sampler, name string, args ...string) (tool map[string]float64, d Delta) {
	t.Helper()
	command := exec.Command(name, args...)
	command.Env = append(os.Environ(), "LC_ALL=C", "S_TIME_FORMAT=ISO", "S_COLORS=never")
	before := sampler.Begin()
	output, err := command.Output()
	d = Between(before, sampler.End())
	if err != nil {
		t.Fatalf("%s, of the packages procps and sysstat: %v", name, err)
	}
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	if len(lines) < 2 {
		t.Fatalf("%s prints %q", name, output)
	}
	tool = map[string]float64{}
	values := strings.Fields(lines[len(lines)-1])
	for _, line := range lines {
		heads := strings.Fields(strings.TrimPrefix(line, "#"))
		if len(heads) != len(values) || heads[0] == values[0] {
			continue
		}
		for i, head := range heads {
			if value, err := strconv.ParseFloat(values[i], 64); err == nil {
				tool[head] = value
			}
		}
	}
	return tool, d
}

// The totals agree with vmstat, iostat and pidstat within 5 %, and half of the last
// digit that a tool prints.
func TestMetrics_AgreeWithTools(t *testing.T) {
	dir := onDisk(t)
	disks, err := DisksOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	// A load of one thread that switches at each of its small writes, and burns some.
	load := exec.Command("dd", "if=/dev/urandom", "of="+filepath.Join(dir, "file"), "bs=16k", "count=200000", "oflag=direct", "status=none")
	if err := load.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = load.Process.Kill()
		_ = load.Wait()
	})
	sampler := &Sampler{Server: load.Process.Pid, Disks: disks}
	for _, row := range []struct {
		command []string
		compare func(tool, ours map[string]float64, d Delta) [][3]float64 // the tool's, ours, slack
	}{
		{[]string{"vmstat", "-n", "2", "2"}, func(tool, ours map[string]float64, d Delta) [][3]float64 {
			cpus := runtime.NumCPU()
			percent := func(name string) float64 { return 100 * ours[name] / float64(d.Elapsed) / float64(cpus) }
			return [][3]float64{
				{tool["us"], percent("host.user_ns"), 1},
				{tool["sy"], percent("host.system_ns"), 1},
				{tool["id"], percent("host.idle_ns"), 1},
				{tool["wa"], percent("host.iowait_ns"), 1},
				{tool["cs"], ours["host.context_switches"] / d.Elapsed.Seconds(), 1},
			}
		}},
		{[]string{"iostat", "-d", "-y", "-k", "-x", disks.Names[0], "2", "1"}, func(tool, ours map[string]float64, d Delta) [][3]float64 {
			second := d.Elapsed.Seconds()
			return [][3]float64{
				{tool["w/s"], ours["disk.writes"] / second, 1},
				{tool["wkB/s"], ours["disk.written_bytes"] / 1024 / second, 16},
				{tool["w_await"], ours["disk.write_wait_ns"] / 1e6 / ours["disk.writes"], 0.05},
				{tool["%util"], ours["disk.busy_ns"] / 1e7 / second, 1},
				{tool["aqu-sz"], ours["disk.queue_ns"] / 1e9 / second, 0.05},
			}
		}},
		{[]string{"pidstat", "-h", "-u", "-w", "-r", "-d", "-p", strconv.Itoa(load.Process.Pid), "2", "1"}, func(tool, ours map[string]float64, d Delta) [][3]float64 {
			second := d.Elapsed.Seconds()
			return [][3]float64{
				{tool["%usr"], ours["server.user_ns"] / 1e7 / second, 1},
				{tool["%system"], ours["server.system_ns"] / 1e7 / second, 1},
				{tool["cswch/s"], ours["server.voluntary_switches"] / second, 1},
				{tool["nvcswch/s"], ours["server.involuntary_switches"] / second, 2},
				{tool["kB_wr/s"], ours["server.written_bytes"] / 1024 / second, 16},
			}
		}},
	} {
		var pairs [][3]float64
		var tool map[string]float64
		agrees := func() bool {
			var d Delta
			tool, d = beside(t, sampler, row.command[0], row.command[1:]...)
			pairs = row.compare(tool, grown(d), d)
			for _, pair := range pairs {
				if math.IsNaN(pair[1]) || !within(pair[1], pair[0], pair[2]) {
					return false
				}
			}
			return true
		}
		if !until(20*time.Second, agrees) {
			t.Errorf("%s says %v; its numbers, ours and the slack are %v", row.command, tool, pairs)
		}
		t.Logf("%s: %.2f", row.command[0], pairs)
	}
}
