package probe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// unknown marks a value that could not be read.
const unknown = -1

// Usage is what a process and all its descendants have used since they started,
// those included that ended and were waited for, except where it says otherwise.
// A value that could not be read is -1, and Notes say why.
type Usage struct {
	CPUNs               int64 // user and system
	UserNs, SystemNs    int64 // in steps of 10 ms for each process; what was used between two moments adds up to CPUNs
	VoluntarySwitches   int64 // of the threads that still live: those that blocked
	InvoluntarySwitches int64 // of the threads that still live: those that were preempted
	MinorFaults         int64
	MajorFaults         int64
	RSSBytes            int64 // now; memory that the processes share counts once
	ReadBytes           int64 // from storage
	WrittenBytes        int64 // to storage
	Processes           int   // now
	Threads             int   // now
	Notes               []string
}

// tickNs is the unit of times in /proc/PID/stat: USER_HZ is 100 on every
// architecture that Go supports.
const tickNs = 1e9 / 100

// ProcessTree reads the usage of a process and its descendants, such as the
// backends of PostgreSQL.
//
// CPU time is that of the process clocks, which count in nanoseconds (measured:
// a thread that runs at that moment lags by up to one scheduler tick, a sleeping one
// by nothing) and include threads that have ended; /proc/PID/stat would count in
// 10 ms, 1-2 % of a slice. Only processes that ended come in these 10 ms ticks, from
// their parent's total. It takes some 60 us for each thread, nearly all
// of it for the context switches.
func ProcessTree(pid int) (Usage, error) {
	tree, err := system{"/"}.tree(pid, true, nil)
	if err != nil {
		return Usage{}, err
	}
	return tree.Usage, nil
}

// tree is a process tree at one moment.
type tree struct {
	Usage
	startTicks uint64           // of the root: tells it from a later process of the same number
	clocks     map[int]int64    // CPU time of each process without its ended children
	endedNs    int64            // CPU time of the ended children
	switches   map[int][2]int64 // voluntary and involuntary context switches by thread
	sharedKB   int64            // largest resident shared memory and file pages of a process
	anonKB     int64
	taken      time.Time // when the numbers but CPUNs were read, on average
}

// tree reads pid and its descendants; without detail only CPU time and faults.
// CPU times in clocks, which were read just before, are used instead of those of now.
func (s system) tree(pid int, detail bool, clocks map[int]int64) (*tree, error) {
	fs, err := s.proc()
	if err != nil {
		return nil, fmt.Errorf("read process %d: %w", pid, err)
	}
	started := time.Now()
	t := &tree{clocks: map[int]int64{}, switches: map[int][2]int64{}}
	if !detail {
		t.RSSBytes, t.ReadBytes, t.WrittenBytes = unknown, unknown, unknown
		t.VoluntarySwitches, t.InvoluntarySwitches = unknown, unknown
	}
	seen := map[int]bool{pid: true}
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		children, err := s.addProcess(t, fs, queue[0], detail)
		if err != nil {
			if queue[0] != pid && gone(err) {
				continue // it ended meanwhile; its parent counts it once it has waited
			}
			return nil, fmt.Errorf("read process %d: %w", queue[0], err)
		}
		for _, child := range children {
			// A number seen twice was given anew while the tree was read.
			if !seen[child] {
				seen[child] = true
				queue = append(queue, child)
			}
		}
	}
	if detail && t.RSSBytes != unknown {
		t.RSSBytes = (t.anonKB + t.sharedKB) * 1024
	}
	t.taken = started.Add(time.Since(started) / 2)
	t.setClocks(clocks)
	return t, nil
}

// setClocks puts CPU times that were read at a better moment in the place of the tree's own.
func (t *tree) setClocks(clocks map[int]int64) {
	t.CPUNs = t.endedNs
	for pid, cpuNs := range t.clocks {
		if better, ok := clocks[pid]; ok {
			cpuNs = better
			t.clocks[pid] = better
		}
		t.CPUNs += cpuNs
	}
}

// readClocks reads the CPU times of processes at once, which takes under 1 us for
// each. Those that have ended are left out.
func readClocks(clocks map[int]int64) map[int]int64 {
	now := make(map[int]int64, len(clocks))
	for pid := range clocks {
		if cpuNs, err := processClock(pid); err == nil {
			now[pid] = cpuNs
		}
	}
	return now
}

// addProcess adds one process to t and gives its children.
func (s system) addProcess(t *tree, fs procfs.FS, pid int, detail bool) (children []int, err error) {
	process, err := fs.Proc(pid)
	if err != nil {
		return nil, err
	}
	stat, err := process.Stat()
	if err != nil {
		return nil, err
	}
	threads, err := os.ReadDir(s.path(fmt.Sprintf("proc/%d/task", pid)))
	if err != nil {
		return nil, err
	}
	if t.Processes == 0 {
		t.startTicks = stat.Starttime
	}
	cpuNs := int64(stat.UTime+stat.STime) * tickNs
	if s.root == "/" {
		if precise, err := processClock(pid); err == nil {
			cpuNs = precise
		} else if gone(err) || errors.Is(err, unix.EINVAL) {
			return nil, unix.ESRCH
		} else {
			t.note("CPU time counts in 10 ms: no process clock: %v", err)
		}
	}
	t.Processes++
	t.Threads += len(threads)
	t.clocks[pid] = cpuNs
	t.endedNs += int64(stat.CUTime+stat.CSTime) * tickNs
	t.UserNs += (int64(stat.UTime) + int64(stat.CUTime)) * tickNs
	t.SystemNs += (int64(stat.STime) + int64(stat.CSTime)) * tickNs
	t.MinorFaults += int64(stat.MinFlt + stat.CMinFlt)
	t.MajorFaults += int64(stat.MajFlt + stat.CMajFlt)
	if detail && stat.State != "Z" {
		t.addIO(process)
	}
	for _, thread := range threads {
		tid, err := strconv.Atoi(thread.Name())
		if err != nil {
			continue
		}
		dir := s.path(fmt.Sprintf("proc/%d/task/%d", pid, tid))
		found, err := readChildren(dir)
		if err != nil {
			return nil, err
		}
		children = append(children, found...)
		if detail {
			if err := t.addThread(dir, tid, tid == pid); err != nil {
				return nil, err
			}
		}
	}
	return children, nil
}

// readChildren gives the processes that a thread started.
func readChildren(dir string) ([]int, error) {
	text, err := os.ReadFile(filepath.Join(dir, "children"))
	if err != nil {
		if _, exists := os.Stat(dir); gone(err) && exists != nil {
			return nil, nil // the thread ended
		}
		return nil, fmt.Errorf("its children are unknown, the kernel may lack CONFIG_PROC_CHILDREN: %w", err)
	}
	return parsePIDs(text)
}

// addThread adds the context switches of a thread, and the memory of the process if it leads it.
func (t *tree) addThread(dir string, tid int, leads bool) error {
	text, err := os.ReadFile(filepath.Join(dir, "status"))
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	status := parseThreadStatus(text)
	if status.voluntary < 0 || status.involuntary < 0 {
		t.VoluntarySwitches, t.InvoluntarySwitches = unknown, unknown
		t.note("context switches are unknown: /proc/%d/status does not tell them", tid)
	} else if t.VoluntarySwitches != unknown {
		t.switches[tid] = [2]int64{status.voluntary, status.involuntary}
		t.VoluntarySwitches += status.voluntary
		t.InvoluntarySwitches += status.involuntary
	}
	if leads && status.anonymousKB < 0 {
		// A process that is ending has no memory any more, and no such lines.
		return nil
	}
	if leads {
		t.anonKB += status.anonymousKB
		t.sharedKB = max(t.sharedKB, status.fileKB+status.sharedMemory)
	}
	return nil
}

func (t *tree) addIO(process procfs.Proc) {
	if t.ReadBytes == unknown {
		return
	}
	io, err := process.IO()
	if err != nil {
		t.ReadBytes, t.WrittenBytes = unknown, unknown
		t.note("read and written bytes are unknown: %v", err)
		return
	}
	t.ReadBytes += int64(io.ReadBytes)
	t.WrittenBytes += int64(io.WriteBytes)
}

// note keeps a reason once.
func (t *tree) note(format string, args ...any) {
	t.Notes = addNote(t.Notes, fmt.Sprintf(format, args...))
}

func addNote(notes []string, note string) []string {
	for _, known := range notes {
		if known == note {
			return notes
		}
	}
	return append(notes, note)
}

// processClock gives the CPU time of a whole process by its clock
// (clock_getcpuclockid in POSIX; the number is made as in Linux's posix-timers.h).
func processClock(pid int) (int64, error) {
	const cpuclockSched = 2
	var at unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|cpuclockSched), &at); err != nil {
		return 0, err
	}
	return at.Nano(), nil
}

// Self reads the usage of this process alone, its ended threads included.
func Self() (Usage, error) {
	var rusage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &rusage); err != nil {
		return Usage{}, fmt.Errorf("read this process's usage: %w", err)
	}
	u := Usage{
		UserNs:              rusage.Utime.Nano(),
		SystemNs:            rusage.Stime.Nano(),
		VoluntarySwitches:   rusage.Nvcsw,
		InvoluntarySwitches: rusage.Nivcsw,
		MinorFaults:         rusage.Minflt,
		MajorFaults:         rusage.Majflt,
		RSSBytes:            unknown,
		ReadBytes:           unknown,
		WrittenBytes:        unknown,
		Processes:           1,
	}
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &at); err != nil {
		return Usage{}, fmt.Errorf("read this process's CPU time: %w", err)
	}
	u.CPUNs = at.Nano()
	process, err := procfs.Self()
	if err != nil {
		u.Notes = addNote(u.Notes, fmt.Sprintf("memory, threads and read and written bytes are unknown: %v", err))
		return u, nil
	}
	if stat, err := process.Stat(); err != nil {
		u.Notes = addNote(u.Notes, fmt.Sprintf("memory and threads are unknown: %v", err))
	} else {
		u.RSSBytes = int64(stat.ResidentMemory())
		u.Threads = stat.NumThreads
	}
	if io, err := process.IO(); err != nil {
		u.Notes = addNote(u.Notes, fmt.Sprintf("read and written bytes are unknown: %v", err))
	} else {
		u.ReadBytes, u.WrittenBytes = int64(io.ReadBytes), int64(io.WriteBytes)
	}
	return u, nil
}
