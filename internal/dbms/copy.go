package dbms

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dbcanary/dbcanary"
	"golang.org/x/sys/unix"
)

// serverName is the file in which MySQL keeps the UUID of a server, which a replica
// may not share with its primary. A server that finds none makes one.
const serverName = "auto.cnf"

// Copy copies the data of the stopped instance in directory src to the claimed
// instance in dst that has none yet. Modes and owners stay, holes stay holes,
// and where the filesystem can share blocks (Btrfs, XFS) nothing is copied at all.
// It refuses data that were not shut down cleanly. What names one server among all
// stays behind: the other one gets a name of its own.
func Copy(ctx context.Context, src, dst string) error {
	from, to := filepath.Join(src, "data"), filepath.Join(dst, "data")
	if err := copyable(src, dst, from, to); err != nil {
		return err
	}
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if relative == serverName {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return copyEntry(ctx, path, filepath.Join(to, relative), info)
	})
	if err != nil {
		return fmt.Errorf("copy the data of %s: %w", src, diskError(err))
	}
	return nil
}

func copyable(src, dst, from, to string) error {
	for _, dir := range []string{src, dst} {
		if _, err := readMarker(dir); err != nil {
			return err
		}
	}
	for _, name := range PIDFiles() {
		if _, err := os.Lstat(filepath.Join(from, name)); err == nil {
			return dbcanary.Errorf(dbcanary.CodeFailed, "copy the data of %s: the server still runs or was not shut down cleanly", src)
		}
	}
	entries, err := os.ReadDir(to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(entries) > 0 {
		return dbcanary.Errorf(dbcanary.CodeFailed, "copy the data of %s: %s is not empty", src, to)
	}
	return err
}

// PIDFiles are the files in a data directory that show a server that was not
// shut down cleanly; a driver has its server write one of them.
func PIDFiles() []string { return []string{"postmaster.pid", "server.pid"} }

func copyEntry(ctx context.Context, src, dst string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		if err := os.Mkdir(dst, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	case info.Mode().IsRegular():
		if err := copyFile(ctx, src, dst, info.Size()); err != nil {
			return err
		}
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link: both instances would share what it points to", src)
	default:
		return nil // a socket or pipe belongs to a running server
	}
	if err := keepOwner(dst, info); err != nil {
		return err
	}
	return os.Chmod(dst, info.Mode().Perm())
}

// keepOwner gives dst the owner of the source; only root may give files away,
// and whoever isn't owns the source already.
func keepOwner(dst string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(dst, int(stat.Uid), int(stat.Gid))
}

func copyFile(ctx context.Context, src, dst string, size int64) (err error) {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if unix.IoctlFileClone(int(out.Fd()), int(in.Fd())) == nil {
		return nil
	}
	if err := out.Truncate(size); err != nil {
		return err
	}
	stretches, err := stretchesOf(in, size)
	if err != nil {
		return err
	}
	for _, s := range stretches {
		if !s.unwritten {
			err = copyRange(ctx, in, out, s.start, s.end)
		} else if err = unix.Fallocate(int(out.Fd()), 0, s.start, s.end-s.start); errors.Is(err, unix.EOPNOTSUPP) {
			err = nil // reads as zeros all the same
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyRange copies in pieces small enough that a cancelled context is noticed soon.
func copyRange(ctx context.Context, in, out *os.File, start, end int64) error {
	const piece = 32 << 20
	for start < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := in.Seek(start, io.SeekStart); err != nil {
			return err
		}
		if _, err := out.Seek(start, io.SeekStart); err != nil {
			return err
		}
		// os.File uses copy_file_range(2) here and falls back to reading and writing.
		n, err := io.CopyN(out, in, min(piece, end-start))
		if err != nil {
			return err
		}
		start += n
	}
	return nil
}

// diskError makes an error of a full disk one that says what to do.
func diskError(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return &dbcanary.Error{Code: dbcanary.CodeUnavailable, Err: err, Hint: "free some disk space, or take another directory, fewer targets or smaller tables"}
	}
	return err
}
