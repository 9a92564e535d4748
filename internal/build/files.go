package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// UserDir is where dbcanary keeps what it can make again: DBCANARY_CACHE if that
// is set, else below the user's cache directory. Root's own is closed to the
// unprivileged user that a server must run as, so root has /var/cache/dbcanary.
func UserDir(euid int, getenv func(string) string) string {
	if dir := getenv("DBCANARY_CACHE"); dir != "" {
		return dir
	}
	if euid == 0 {
		return "/var/cache/dbcanary"
	}
	if dir := getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "dbcanary")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".cache", "dbcanary")
	}
	return filepath.Join(os.TempDir(), "dbcanary")
}

// makeDir makes a folder and its parents. Those that it makes are open to
// readers whatever the umask: a server may run as another user.
func makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return os.Chmod(dir, 0o755)
}

// lockFile takes the lock at path, which any process may hold, and waits for it.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, err
	}
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

// openToReaders lets everybody read what is below dir, and gives its size.
func openToReaders(dir string) (sizeBytes int64, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := info.Mode()
		switch {
		case mode.IsDir():
			mode |= 0o555
		case mode.IsRegular() && mode&0o100 != 0:
			sizeBytes += info.Size()
			mode |= 0o555
		case mode.IsRegular():
			sizeBytes += info.Size()
			mode |= 0o444
		}
		if mode == info.Mode() || mode&fs.ModeSymlink != 0 {
			return nil
		}
		return os.Chmod(path, mode)
	})
	return sizeBytes, err
}

// syncTree makes the filesystem of dir write out what was put there.
func syncTree(dir string) error {
	handle, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer handle.Close()
	return unix.Syncfs(int(handle.Fd()))
}

// writeDurably writes a small file that is there as a whole or not at all.
func writeDurably(path string, content []byte) error {
	temporary := path + ".new"
	file, err := os.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
