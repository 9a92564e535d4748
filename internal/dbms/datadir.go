package dbms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// markerName is the file that makes a directory an instance directory of ours:
// nothing is ever removed without it.
const markerName = ".dbcanary-instance.json"

// marker says who owns an instance directory.
type marker struct {
	Program    string   `json:"program"`
	PID        int      `json:"pid"`
	StartTicks uint64   `json:"start_ticks"` // of the owner, since boot: a later process may get the same PID
	BootID     string   `json:"boot_id"`
	Elsewhere  []string `json:"elsewhere,omitempty"` // directories outside that belong to the instance: short paths for sockets
}

// Claim makes dir an instance directory owned by this process. The directory
// must not exist, or be empty.
func Claim(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make an instance directory: %w", diskError(err))
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("make an instance directory: %w", err)
	}
	if len(entries) > 0 {
		return dbcanary.Errorf(dbcanary.CodeUsage, "make an instance directory: %s is not empty; choose another", dir)
	}
	self, ok := readStat(os.Getpid())
	if !ok {
		return fmt.Errorf("make an instance directory: read /proc/self/stat: %w", fs.ErrNotExist)
	}
	program := "dbcanary"
	if info, ok := debug.ReadBuildInfo(); ok {
		program += " " + info.Main.Version
	}
	return writeMarker(dir, marker{Program: program, PID: self.pid, StartTicks: self.startTicks, BootID: bootID()})
}

// Remove deletes an instance directory with everything in it. It refuses a
// directory without our marker. A directory that is not there is no error.
func Remove(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove an instance directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("remove an instance directory: %s is not a directory", dir)
	}
	mark, err := readMarker(dir)
	if err != nil {
		return err
	}
	for _, path := range mark.Elsewhere {
		if strings.HasPrefix(filepath.Base(path), socketPrefix) {
			if err := os.RemoveAll(path); err != nil {
				return fmt.Errorf("remove an instance directory: %w", err)
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("remove an instance directory: %w", err)
	}
	// The marker goes last: what a kill leaves behind is still known as ours.
	for _, entry := range entries {
		if entry.Name() == markerName {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("remove an instance directory: %w", err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove an instance directory: %w", err)
	}
	return nil
}

// Sweep removes the instance directories at most three levels below root whose
// owner is dead: what a kill -9 left behind. It gives those that it removed.
func Sweep(ctx context.Context, root string) ([]string, error) {
	const depth = 3
	var removed []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil // someone else sweeps too, or it is someone else's
		}
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if !entry.IsDir() {
			return nil
		}
		mark, err := readMarker(path)
		switch {
		case err == nil && mark.ownerAlive():
			return fs.SkipDir
		case err == nil:
			if err := Remove(path); err != nil {
				return err
			}
			removed = append(removed, path)
			return fs.SkipDir
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if relative != "." && strings.Count(relative, string(filepath.Separator)) >= depth-1 {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return removed, fmt.Errorf("sweep %s: %w", root, err)
	}
	return removed, nil
}

func (m marker) ownerAlive() bool {
	if m.BootID != bootID() {
		return false
	}
	return alive(procStat{pid: m.PID, startTicks: m.StartTicks})
}

func readMarker(dir string) (marker, error) {
	data, err := os.ReadFile(filepath.Join(dir, markerName))
	if err != nil {
		return marker{}, dbcanary.Errorf(dbcanary.CodeUsage, "%s is not an instance directory of dbcanary: %w", dir, err)
	}
	var m marker
	if err := json.Unmarshal(data, &m); err != nil {
		return marker{}, dbcanary.Errorf(dbcanary.CodeUsage, "%s is not an instance directory of dbcanary: %w", dir, err)
	}
	return m, nil
}

// writeMarker replaces the marker as a whole, so that none is ever half written.
func writeMarker(dir string, m marker) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, markerName)
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("mark an instance directory: %w", diskError(err))
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("mark an instance directory: %w", err)
	}
	return nil
}

// bootID tells one boot of the host from another, "" if the kernel won't say.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
