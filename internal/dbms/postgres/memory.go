package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// sharedFiles lists the shared memory of a postmaster that outlives it if it is
// killed: files in /dev/shm.
func sharedFiles(pid int) []string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		return nil
	}
	var files []string
	for line := range strings.Lines(string(data)) {
		if at := strings.Index(line, "/dev/shm/PostgreSQL."); at >= 0 {
			files = append(files, strings.TrimSpace(line[at:]))
		}
	}
	return files
}

// freeMemory gives back the shared memory of a postmaster that was killed: the
// files, and the System V segment that postmaster.pid names in its seventh line.
// After a clean shutdown there is no postmaster.pid and nothing to do.
func freeMemory(data string, files []string) error {
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("free the shared memory of a killed server: %w", err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("free the shared memory of a killed server: %w", err)
		}
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 7 {
		return nil
	}
	fields := strings.Fields(lines[6]) // key and id
	if len(fields) != 2 {
		return nil
	}
	id, err := strconv.Atoi(fields[1])
	if err != nil {
		return nil
	}
	var segment unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &segment); err != nil || segment.Nattch > 0 {
		return nil // gone already, or in use by somebody
	}
	if _, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil); err != nil {
		return fmt.Errorf("free the shared memory of a killed server: %w", err)
	}
	return nil
}
