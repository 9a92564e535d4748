package load

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// spareProcs is how many goroutines besides the workers run at once: that of Run,
// a report, whoever watches.
const spareProcs = 4

// prepareProcess makes this process ready for workers that block in system calls
// and gives what undoes it. A thread keeps its P while it blocks, so there are
// as many Ps as threads of workers and some: a thread that comes back to find its P taken
// would wait for the runtime's monitor. All threads are pinned, not those of the
// workers: to pin a worker it would have to be locked to its thread, which makes
// each pass through the scheduler a hand-over between two threads.
func prepareProcess(threads int, cpus []int) (restore func() error, err error) {
	procs := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(max(procs, threads+spareProcs))
	unpin := func() error { return nil }
	if cpus != nil {
		if unpin, err = pinThreads(cpus); err != nil {
			runtime.GOMAXPROCS(procs)
			return nil, err
		}
	}
	return func() error {
		runtime.GOMAXPROCS(procs)
		return unpin()
	}, nil
}

// pinThreads lets all threads of this process run on the given CPUs only, those
// too that come later, since a thread inherits from the one that starts it. A
// server keeps what it got when it was started. unpin gives each thread back what
// it had, and those that came in between what the caller had.
func pinThreads(cpus []int) (unpin func() error, err error) {
	var set, usual unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	if err := unix.SchedGetaffinity(0, &usual); err != nil {
		return nil, fmt.Errorf("read which CPUs may be used: %w", err)
	}
	before := map[int]unix.CPUSet{}
	unpin = func() error {
		return eachThread(func(tid int) error {
			old, known := before[tid]
			if !known {
				old = usual
			}
			return unix.SchedSetaffinity(tid, &old)
		})
	}
	err = eachThread(func(tid int) error {
		var old unix.CPUSet
		if err := unix.SchedGetaffinity(tid, &old); err != nil {
			return err
		}
		before[tid] = old
		return unix.SchedSetaffinity(tid, &set)
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pin the client to the CPUs %v: %w", cpus, err), unpin())
	}
	return unpin, nil
}

// eachThread calls f for every thread of this process, until a look around finds
// none that is new. A thread that ends meanwhile is no error.
func eachThread(f func(tid int) error) error {
	var seen []int
	for {
		entries, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("list the threads: %w", err)
		}
		found := len(seen)
		for _, entry := range entries {
			tid, err := strconv.Atoi(entry.Name())
			if err != nil || slices.Contains(seen, tid) {
				continue
			}
			if err := f(tid); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("thread %d: %w", tid, err)
			}
			seen = append(seen, tid)
		}
		if len(seen) == found {
			return nil
		}
	}
}
