package probe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// system is where the kernel shows itself: "/" but in tests.
type system struct {
	root string
}

func (s system) path(name string) string { return filepath.Join(s.root, name) }

// read gives a small file without its surrounding blanks.
func (s system) read(name string) (string, error) {
	text, err := os.ReadFile(s.path(name))
	return strings.TrimSpace(string(text)), err
}

func (s system) proc() (procfs.FS, error) {
	return procfs.NewFS(s.path("proc"))
}

// gone says whether a process or thread ended while it was read.
func gone(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH)
}

// MemoryAvailableBytes is the memory that a new program can use without
// swapping, as the kernel estimates it and as the control group allows.
func MemoryAvailableBytes() (int64, error) { return system{"/"}.memoryAvailable() }

func (s system) memoryAvailable() (int64, error) {
	fs, err := s.proc()
	if err != nil {
		return 0, fmt.Errorf("read available memory: %w", err)
	}
	memory, err := fs.Meminfo()
	if err != nil {
		return 0, fmt.Errorf("read available memory: %w", err)
	}
	if memory.MemAvailableBytes == nil {
		return 0, errors.New("read available memory: /proc/meminfo has no MemAvailable")
	}
	available := int64(*memory.MemAvailableBytes)
	if limit, used, ok := s.memoryLimit(); ok {
		available = min(available, max(0, limit-used))
	}
	return available, nil
}

// memoryLimit is the limit of the control group that this process sees at the
// root of its hierarchy, as in a container, and what is used of it.
func (s system) memoryLimit() (limit, used int64, ok bool) {
	for _, names := range [][2]string{
		{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current"},
		{"sys/fs/cgroup/memory/memory.limit_in_bytes", "sys/fs/cgroup/memory/memory.usage_in_bytes"},
	} {
		limitText, err := s.read(names[0])
		if err != nil || limitText == "max" {
			continue
		}
		usedText, err := s.read(names[1])
		if err != nil {
			continue
		}
		if _, err := fmt.Sscan(limitText+" "+usedText, &limit, &used); err == nil {
			return limit, used, true
		}
	}
	return 0, 0, false
}

// DiskFreeBytes is the space that an ordinary user can write below dir, which
// need not exist yet.
func DiskFreeBytes(dir string) (int64, error) {
	existing, err := existingAncestor(dir)
	if err != nil {
		return 0, fmt.Errorf("read free space of %s: %w", dir, err)
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(existing, &stat); err != nil {
		return 0, fmt.Errorf("read free space of %s: %w", dir, err)
	}
	return int64(stat.Bavail) * stat.Bsize, nil
}

// existingAncestor is dir or the nearest directory above it that exists, absolute and without links.
func existingAncestor(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return real, nil
		}
		if !errors.Is(err, os.ErrNotExist) || dir == "/" {
			return "", err
		}
		dir = filepath.Dir(dir)
	}
}
