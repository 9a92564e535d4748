package dbms

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// procStat is what /proc/PID/stat says of a process.
type procStat struct {
	pid, parent, group int
	zombie             bool
	startTicks         uint64 // since boot; tells a process from a later one with the same id
}

// readStat reads /proc/PID/stat; ok is false if there is no such process.
func readStat(pid int) (procStat, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procStat{}, false
	}
	return parseStat(pid, data)
}

// parseStat reads the fields by their places in proc(5). The command's name may
// hold spaces and parentheses, so they are counted after its last one.
func parseStat(pid int, data []byte) (procStat, bool) {
	end := bytes.LastIndexByte(data, ')')
	fields := strings.Fields(string(data[end+1:]))
	if end < 0 || len(fields) < 20 {
		return procStat{}, false
	}
	parent, err1 := strconv.Atoi(fields[1])
	group, err2 := strconv.Atoi(fields[2])
	start, err3 := strconv.ParseUint(fields[19], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return procStat{}, false
	}
	return procStat{pid, parent, group, fields[0] == "Z" || fields[0] == "X", start}, true
}

// processes lists every process that is not a zombie.
func processes() []procStat {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []procStat
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if stat, ok := readStat(pid); ok && !stat.zombie {
			all = append(all, stat)
		}
	}
	return all
}

// descendants lists the children of a process, their children and so on.
func descendants(pid int) []procStat {
	children := map[int][]procStat{}
	for _, stat := range processes() {
		children[stat.parent] = append(children[stat.parent], stat)
	}
	found := children[pid]
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i].pid]...)
	}
	return found
}

// leftovers lists what is left of a child that has ended: its process group, and
// processes of the same program in the same directory, since PostgreSQL's
// backends leave the group.
func (p *Process) leftovers() []procStat {
	var left []procStat
	for _, stat := range processes() {
		if stat.group == p.PID() || p.sameProgram(stat.pid) {
			left = append(left, stat)
		}
	}
	return left
}

func (p *Process) sameProgram(pid int) bool {
	if p.command.Dir == "" {
		return false
	}
	base := "/proc/" + strconv.Itoa(pid)
	cwd, err := os.Readlink(base + "/cwd")
	if err != nil || cwd != p.command.Dir {
		return false
	}
	exe, err := os.Readlink(base + "/exe")
	return err == nil && filepath.Base(exe) == filepath.Base(p.command.Path)
}

// killAll sends SIGKILL to the processes and waits until they are gone.
func killAll(stats []procStat) {
	const patience = 10 * time.Second // a process in uninterruptible sleep can't be waited for
	deadline := time.Now().Add(patience)
	for _, stat := range stats {
		for alive(stat) && time.Now().Before(deadline) {
			_ = syscall.Kill(stat.pid, syscall.SIGKILL) // gone already is what we want
			time.Sleep(2 * time.Millisecond)
		}
	}
}

// alive tells whether the very same process still runs.
func alive(stat procStat) bool {
	now, ok := readStat(stat.pid)
	return ok && !now.zombie && now.startTicks == stat.startTicks
}

// tail gives up to n last lines of a file, nothing if it can't be read.
func tail(path string, n int) []string {
	const most = 64 << 10
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	start := max(0, info.Size()-most)
	data := make([]byte, info.Size()-start)
	read, err := file.ReadAt(data, start)
	if err != nil && read == 0 {
		return nil
	}
	lines := strings.Split(strings.TrimRight(string(data[:read]), "\n"), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	return lines[max(0, len(lines)-n):]
}
