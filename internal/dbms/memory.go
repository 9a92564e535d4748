package dbms

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sharedMemory is what a killed server leaves in the kernel: files in /dev/shm
// and System V segments, of which PostgreSQL makes both.
type sharedMemory struct {
	files    map[string]bool
	segments map[int]bool
}

// note adds what a process has mapped. In /proc/PID/maps a System V segment is
// named after its key, and its inode is its id.
func (m *sharedMemory) note(pid int) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		return // gone, or not ours to see
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) < 6 {
			continue
		}
		if strings.HasPrefix(fields[5], "/dev/shm/PostgreSQL.") {
			m.files[fields[5]] = true
		}
		if id, err := strconv.Atoi(fields[4]); err == nil && strings.HasPrefix(fields[5], "/SYSV") {
			m.segments[id] = true
		}
	}
}

// free gives back what the processes, all of them dead now, have not given back
// themselves. What somebody else is attached to stays.
func (m *sharedMemory) free() {
	for file := range m.files {
		for _, member := range listedIn(file) {
			_ = os.Remove(member) // a backend made it after we looked
		}
		_ = os.Remove(file) // after a clean shutdown it is gone
	}
	for id := range m.segments {
		freeSegment(id)
	}
}

// freeSegment removes a segment once nobody is attached to it. The kernel takes a
// killed process off its segments a moment after it is no longer to be seen.
func freeSegment(id int) {
	const patience = time.Second
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		var segment unix.SysvShmDesc
		if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &segment); err != nil {
			return // after a clean shutdown it is gone
		}
		if segment.Nattch == 0 {
			_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) // the same
			return
		}
		if time.Now().After(deadline) {
			return
		}
	}
}

// listedIn gives the files in /dev/shm whose numbers stand in a control segment
// of PostgreSQL, which lists the segments that were made since. Its layout
// differs between versions, so every aligned 32-bit word is taken for a number.
func listedIn(control string) []string {
	data, err := os.ReadFile(control)
	if err != nil {
		return nil
	}
	words := map[uint32]bool{}
	for ; len(data) >= 4; data = data[4:] {
		words[binary.NativeEndian.Uint32(data)] = true
	}
	files, err := filepath.Glob("/dev/shm/PostgreSQL.*")
	if err != nil {
		return nil
	}
	var listed []string
	for _, file := range files {
		number, err := strconv.ParseUint(strings.TrimPrefix(file, "/dev/shm/PostgreSQL."), 10, 32)
		if err == nil && number != 0 && words[uint32(number)] {
			listed = append(listed, file)
		}
	}
	return listed
}
