package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// watchFor is how long Doctor watches other load and steal.
const watchFor = 500 * time.Millisecond

// examine reads the facts. An error is returned only if ctx ended.
func (s system) examine(ctx context.Context, dir string) (*facts, error) {
	f := s.readFacts(dir)
	sampler := Sampler{Apart: true}
	before := sampler.Begin()
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("watch the load of the host: %w", context.Cause(ctx))
	case <-time.After(watchFor):
	}
	after := sampler.End()
	f.watched, f.cpus = Between(before, after), after.host.CPUs
	cores, err := s.allowedCores()
	if err == nil {
		f.wakeUp, err = measureWakeUp(cores)
	}
	if err != nil {
		f.missing["wake-up"] = err.Error()
	}
	return f, nil
}

// readFacts reads all that is in files.
func (s system) readFacts(dir string) *facts {
	f := &facts{missing: map[string]string{}, root: os.Geteuid() == 0, governor: s.governor()}
	text := func(finding, name string) string {
		value, err := s.read(name)
		if err != nil {
			f.missing[finding] = err.Error()
		}
		return value
	}
	f.turbo = s.turbo()
	// Without this file the kernel knows no SMT.
	f.smt, _ = s.read("sys/devices/system/cpu/smt/active")
	f.thp = text("huge pages", "sys/kernel/mm/transparent_hugepage/enabled")
	f.swappiness = text("swap", "proc/sys/vm/swappiness")
	f.clock = text("clock source", "sys/devices/system/clocksource/clocksource0/current_clocksource")
	f.perfParanoid = text("perf", "proc/sys/kernel/perf_event_paranoid")
	f.randomize = text("address layout", "proc/sys/kernel/randomize_va_space")
	f.ptraceScope, _ = s.read("proc/sys/kernel/yama/ptrace_scope")
	f.cpuQuota, _ = s.read("sys/fs/cgroup/cpu.max")
	nodes, _ := filepath.Glob(s.path("sys/devices/system/node/node[0-9]*"))
	f.nodes = len(nodes)
	if err := s.readMemory(f); err != nil {
		f.missing["memory"], f.missing["swap"] = err.Error(), err.Error()
	}
	if err := s.readDisk(f, dir); err != nil {
		f.missing["file system"], f.missing["disk space"] = err.Error(), err.Error()
	}
	return f
}

// turbo says whether the CPU may run faster than its nominal frequency.
func (s system) turbo() string {
	if text, err := s.read("sys/devices/system/cpu/intel_pstate/no_turbo"); err == nil {
		return map[string]string{"0": "on", "1": "off"}[text]
	}
	text, _ := s.read("sys/devices/system/cpu/cpufreq/boost")
	return map[string]string{"1": "on", "0": "off"}[text]
}

func (s system) readMemory(f *facts) error {
	fs, err := s.proc()
	if err != nil {
		return err
	}
	memory, err := fs.Meminfo()
	if err != nil {
		return err
	}
	if memory.MemTotalBytes == nil {
		return errors.New("/proc/meminfo has no MemTotal")
	}
	f.memory = int64(*memory.MemTotalBytes)
	if limit, _, ok := s.memoryLimit(); ok {
		f.memory = min(f.memory, limit)
	}
	if memory.SwapTotalBytes != nil && memory.SwapFreeBytes != nil {
		f.swapTotal = int64(*memory.SwapTotalBytes)
		f.swapUsed = f.swapTotal - int64(*memory.SwapFreeBytes)
	}
	f.available, err = s.memoryAvailable()
	return err
}

func (s system) readDisk(f *facts, dir string) error {
	dir, err := existingAncestor(dir)
	if err != nil {
		return err
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return fmt.Errorf("read free space of %s: %w", dir, err)
	}
	f.diskTotal, f.diskFree = int64(stat.Blocks)*stat.Bsize, int64(stat.Bavail)*stat.Bsize
	mount, err := s.mountOf(dir)
	if err != nil {
		return err
	}
	f.filesystem = mount.FSType
	f.mountOptions = mountOptions(mount)
	if disks, err := s.disksOf(dir); err != nil {
		f.disksMissing = err.Error()
	} else {
		f.disks = disks.Names
	}
	return nil
}

// measureWakeUp measures on the first core and from the first to the last.
func measureWakeUp(cores [][]int) (wakeUp, error) {
	first, last := cores[0][0], cores[len(cores)-1][0]
	same, err := pingPong(first, first)
	if err != nil {
		return wakeUp{}, err
	}
	w := wakeUp{sameNs: same[len(same)/2]}
	if first == last {
		return w, nil
	}
	across, err := pingPong(first, last)
	if err != nil {
		return wakeUp{}, err
	}
	w.acrossNs, w.across99Ns = across[len(across)/2], across[len(across)*99/100]
	return w, nil
}

// pingPong sends a byte to and fro between a thread on each of two CPUs and gives
// the sorted times of one way, half of a round.
func pingPong(here, there int) ([]int64, error) {
	const rounds = 500
	var ping, pong [2]int
	for _, pipe := range []*[2]int{&ping, &pong} {
		if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
			return nil, fmt.Errorf("measure the time to a wake-up: %w", err)
		}
		defer unix.Close(pipe[0])
	}
	answered := make(chan error, 1)
	go func() {
		defer unix.Close(pong[1])
		answered <- onCPU(there, func() error {
			for {
				// The end of the pings is 0 bytes, and no error.
				if n, err := relay(ping[0], pong[1]); n == 0 || err != nil {
					return err
				}
			}
		})
	}()
	var times []int64
	asked := make(chan error, 1)
	go func() {
		defer unix.Close(ping[1])
		asked <- onCPU(here, func() error {
			for range rounds {
				start := time.Now()
				if _, err := unix.Write(ping[1], []byte{1}); err != nil {
					return err
				}
				if n, err := readByte(pong[0]); n == 0 || err != nil {
					return errors.Join(err, errors.New("no answer came"))
				}
				times = append(times, int64(time.Since(start)/2))
			}
			return nil
		})
	}()
	if err := errors.Join(<-asked, <-answered); err != nil {
		return nil, fmt.Errorf("measure the time to a wake-up between CPUs %d and %d: %s", here, there, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	slices.Sort(times)
	return times, nil
}

// readByte reads a byte, 0 at the end; a signal of the runtime may interrupt it.
func readByte(fd int) (int, error) {
	var buffer [1]byte
	for {
		n, err := unix.Read(fd, buffer[:])
		if err != unix.EINTR {
			return n, err
		}
	}
}

func relay(from, to int) (int, error) {
	n, err := readByte(from)
	if n == 0 || err != nil {
		return n, err
	}
	return unix.Write(to, []byte{1})
}
