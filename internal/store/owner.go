package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// owner is the process that measures a run. A process ID alone is given out
// again after its process ends; with the start time and the boot it is not.
type owner struct {
	boot  string // the kernel's random ID of this boot
	pid   int
	start int64 // clock ticks since boot
}

func currentOwner() (owner, error) {
	boot, err := bootID()
	if err != nil {
		return owner{}, err
	}
	start, err := processStart(os.Getpid())
	if err != nil {
		return owner{}, err
	}
	return owner{boot: boot, pid: os.Getpid(), start: start}, nil
}

// alive says whether the process still runs on this machine. If the kernel
// hides other users' processes, one that exists counts as alive: a run must
// never be taken from somebody who is measuring.
func (o owner) alive() bool {
	boot, err := bootID()
	if err != nil || boot != o.boot {
		return false
	}
	start, err := processStart(o.pid)
	if err != nil {
		return errors.Is(syscall.Kill(o.pid, 0), syscall.EPERM)
	}
	return start == o.start
}

func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

// processStart gives field 22 of /proc/PID/stat (proc_pid_stat(5)); a zombie
// has ended and counts as gone.
func processStart(pid int) (int64, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	// The second field, the program's name, may hold spaces and parentheses.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return 0, fmt.Errorf("%s: %d fields after the name, expected at least 20", path, len(fields))
	}
	if fields[0] == "Z" || fields[0] == "X" {
		return 0, fmt.Errorf("process %d has ended", pid)
	}
	return strconv.ParseInt(fields[19], 10, 64)
}
