package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dbcanary/dbcanary"
)

// debianSuites are the suites that servers are looked for in. Of equal versions
// the one of the suite that comes first is taken: a release stays, sid moves.
var debianSuites = []string{"trixie", "bookworm", "bullseye", "sid"}

// debianPackages are the packages that hold the server of a family; in some
// suites the name ends with its series, as in mariadb-server-core-10.5.
var debianPackages = map[dbcanary.Family]string{
	dbcanary.MySQL:   "mysql-server-core",
	dbcanary.MariaDB: "mariadb-server-core",
}

// debian serves packages of Debian suites, unpacked without root. The C
// library and the loader of the suite come along.
type debian struct {
	tools toolbox
	dir   string

	mu    sync.Mutex // one apt per suite and process; a file lock holds other processes off
	roots map[string]*aptRoot
}

// debianRef is what it takes to fetch a candidate.
type debianRef struct {
	suite string
	aptVersion
}

func (d *debian) provider() string { return "debian" }

func (d *debian) serves(family dbcanary.Family) bool { return debianPackages[family] != "" }

func (d *debian) find(ctx context.Context, family dbcanary.Family, progress Progress) ([]Candidate, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.prepare(ctx); err != nil {
		return nil, err
	}
	progress.send(Event{Build: string(family), Step: "read package lists of " + strings.Join(debianSuites, ", ")})
	found := make([][]Candidate, len(debianSuites))
	failures := make([]error, len(debianSuites))
	var wait sync.WaitGroup
	for i, suite := range debianSuites {
		wait.Go(func() { found[i], failures[i] = d.findIn(ctx, family, suite) })
	}
	wait.Wait()
	var all []Candidate
	for _, candidates := range found {
		all = append(all, candidates...)
	}
	newestFirst(all)
	if !slices.Contains(failures, nil) {
		return nil, failures[0] // the mirror is the same for all
	}
	return all, errors.Join(failures...)
}

// findIn lists what one suite serves.
func (d *debian) findIn(ctx context.Context, family dbcanary.Family, suite string) ([]Candidate, error) {
	root := d.roots[suite]
	unlock, err := lockFile(ctx, root.path("lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := root.update(ctx, time.Now()); err != nil {
		return nil, fmt.Errorf("read the package lists of Debian %s: %w", suite, err)
	}
	versions, err := root.servers(ctx, debianPackages[family])
	if err != nil {
		return nil, fmt.Errorf("look for %s in Debian %s: %w", family, suite, err)
	}
	candidates := make([]Candidate, 0, len(versions))
	for _, version := range versions {
		candidates = append(candidates, Candidate{
			Build: dbcanary.Build{
				Family: family, Version: upstreamVersion(version.version), Provider: d.provider(),
				Origin: fmt.Sprintf("%s %s from Debian %s", version.name, version.version, suite),
			},
			State: StateAvailable,
			ref:   debianRef{suite, version},
		})
	}
	return candidates, nil
}

// upstreamVersion gives 11.8.9 of the Debian version 1:11.8.9+ds-4.
func upstreamVersion(version string) string {
	if _, rest, ok := strings.Cut(version, ":"); ok {
		version = rest
	}
	return leadingVersion(version)
}

// prepare makes a private apt for each suite from the user's own sources.
func (d *debian) prepare(ctx context.Context) error {
	if d.roots != nil {
		return nil
	}
	architecture, err := d.tools.output(ctx, "", "dpkg", "--print-architecture")
	if err != nil {
		return err
	}
	sources, err := d.userSources(ctx)
	if err != nil {
		return err
	}
	roots := map[string]*aptRoot{}
	for _, suite := range debianSuites {
		turned := debianSources(sources, suite)
		if !hasSuite(turned, suite) {
			return &dbcanary.Error{
				Code: dbcanary.CodeUnavailable,
				Err:  errors.New("apt has no Debian mirror among its sources"),
				Hint: "add one to /etc/apt/sources.list.d, or name an unpacked server: mysql:/path",
			}
		}
		root := &aptRoot{tools: d.tools, dir: filepath.Join(d.dir, suite), suite: suite, architecture: strings.TrimSpace(architecture)}
		if err := makeDir(root.dir); err != nil {
			return err
		}
		unlock, err := lockFile(ctx, root.path("lock"))
		if err != nil {
			return err
		}
		err = root.prepare(turned)
		unlock()
		if err != nil {
			return err
		}
		roots[suite] = root
	}
	d.roots = roots
	return nil
}

// userSources reads the sources that the user's own apt would.
func (d *debian) userSources(ctx context.Context) ([]source, error) {
	text, err := d.tools.output(ctx, "", "apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d")
	if err != nil {
		return nil, err
	}
	var sources []source
	var paths []string
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch value = strings.Trim(value, "'"); name {
		case "LIST":
			paths = append(paths, value)
		case "PARTS":
			for _, pattern := range []string{"*.list", "*.sources"} {
				matches, err := filepath.Glob(filepath.Join(value, pattern))
				if err != nil {
					return nil, err
				}
				paths = append(paths, matches...)
			}
		}
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("read apt's sources: %w", err)
		}
		if strings.HasSuffix(path, ".sources") {
			sources = append(sources, parseDeb822(string(content))...)
		} else {
			sources = append(sources, parseOneLine(string(content))...)
		}
	}
	return sources, nil
}

func (d *debian) fetch(ctx context.Context, candidate Candidate, dir string, progress Progress) (fetched, error) {
	ref := candidate.ref.(debianRef)
	d.mu.Lock()
	defer d.mu.Unlock()
	root := d.roots[ref.suite]
	unlock, err := lockFile(ctx, root.path("lock"))
	if err != nil {
		return fetched{}, err
	}
	defer unlock()
	event := Event{Build: buildName(candidate.Build), Step: fmt.Sprintf("download %s %s", ref.name, ref.version)}
	report := func(done, total int64) {
		event.DoneBytes, event.TotalBytes = done, total
		progress.send(event)
	}
	if err := root.clean(); err != nil {
		return fetched{}, err
	}
	if err := makeDir(root.path("archives", "partial")); err != nil {
		return fetched{}, err
	}
	files, err := root.download(ctx, []string{ref.name + "=" + ref.version, "patchelf"}, report)
	if err != nil {
		// The mirror may have dropped what an older list names.
		_ = os.Remove(root.path("updated"))
		return fetched{}, err
	}
	progress.send(Event{Build: event.Build, Step: "unpack " + ref.name + " " + ref.version})
	result, err := d.unpack(ctx, ref.name, files, dir)
	if err != nil {
		return fetched{}, err
	}
	return result, root.clean()
}

// unpack unpacks the packages into dir and lets the programs of the main one
// run on the libraries that came with them.
func (d *debian) unpack(ctx context.Context, main string, files []string, dir string) (fetched, error) {
	result := fetched{base: dir}
	var programs []string
	// The main package first: what is there then is its own.
	for _, own := range []bool{true, false} {
		for _, file := range files {
			name, version := debName(file)
			if (name == main) != own {
				continue
			}
			sum, err := checksumFile(file)
			if err != nil {
				return fetched{}, err
			}
			if own {
				result.checksum = sum
			}
			result.packages = append(result.packages, Package{Name: name, Version: version, Checksum: sum})
			if _, err := d.tools.output(ctx, "", "dpkg-deb", "--extract", file, dir); err != nil {
				return fetched{}, fmt.Errorf("unpack %s: %w", filepath.Base(file), err)
			}
		}
		if own {
			var err error
			if programs, err = elfPrograms(dir); err != nil {
				return fetched{}, err
			}
		}
	}
	if result.checksum == "" || len(programs) == 0 {
		return fetched{}, dbcanary.Errorf(dbcanary.CodeFailed, "package %s holds no program", main)
	}
	return result, d.relocate(ctx, dir, programs)
}

// debName reads name and version from the name of a package file, name_version_arch.deb.
func debName(file string) (name, version string) {
	parts := strings.SplitN(filepath.Base(file), "_", 3)
	if len(parts) < 3 {
		return filepath.Base(file), ""
	}
	return parts[0], strings.ReplaceAll(parts[1], "%3a", ":")
}
