package build

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// listsAge is how long package lists are used before apt-get is asked for newer ones.
const listsAge = 6 * time.Hour

// aptRoot is apt with lists, cache and status of its own below dir, for one
// suite. The user's configuration (mirrors, proxies, keys, logins) holds; the
// packages that are installed on the machine, pins and hooks do not count.
type aptRoot struct {
	tools        toolbox
	dir          string
	suite        string
	architecture string
}

func (a *aptRoot) path(parts ...string) string {
	return filepath.Join(append([]string{a.dir}, parts...)...)
}

// prepare writes the private configuration.
func (a *aptRoot) prepare(sources []source) error {
	for _, dir := range []string{"lists/partial", "archives/partial"} {
		if err := makeDir(a.path(dir)); err != nil {
			return err
		}
	}
	config := fmt.Sprintf(`#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Architectures;
#clear APT::Default-Release;
#clear Acquire::Languages;
APT::Architectures { %[2]q; };
APT::Update::Error-Mode "any";
APT::Install-Recommends "false";
APT::Install-Suggests "false";
Acquire::Languages { "none"; };
Acquire::Retries "2";
Dir::State %[1]q;
Dir::State::lists "lists/";
Dir::State::status "%[1]s/status";
Dir::State::extended_states "%[1]s/extended_states";
Dir::Cache %[1]q;
Dir::Cache::archives "archives/";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "";
Dir::Log %[1]q;
Dir::Etc::sourcelist "%[1]s/suite.sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
`, a.dir, a.architecture)
	for name, text := range map[string]string{
		"status": "", "apt.conf": config, "suite.sources": formatSources(sources, a.architecture),
	} {
		if old, err := os.ReadFile(a.path(name)); err == nil && string(old) == text {
			continue
		}
		// The address of a mirror may hold a password; only we read these.
		if err := os.WriteFile(a.path(name), []byte(text), 0o600); err != nil {
			return err
		}
		_ = os.Remove(a.path("updated")) // lists of other sources are no use
	}
	return nil
}

// command is apt-get or apt-cache on the private configuration.
func (a *aptRoot) command(program string, args ...string) []string {
	return append([]string{program, "-c", a.path("apt.conf"), "-q"}, args...)
}

// update brings fresh lists unless they are young. Lists that could be had
// before are good enough without a network; and a part that a mirror lacks
// (say, the updates of an old release) does not stop the rest.
func (a *aptRoot) update(ctx context.Context, now time.Time) error {
	if info, err := os.Stat(a.path("updated")); err == nil && now.Sub(info.ModTime()) < listsAge {
		return nil
	}
	_, err := a.tools.output(ctx, "", a.command("apt-get", "-o", "APT::Get::List-Cleanup=true", "update")...)
	if ctx.Err() != nil {
		return err
	}
	lists, globErr := filepath.Glob(a.path("lists", "*_dists_"+a.suite+"_main_*Packages*"))
	switch {
	case globErr != nil:
		return globErr
	case len(lists) == 0 && err == nil:
		// An older apt takes a mirror that can't be reached for a warning.
		return dbcanary.Errorf(dbcanary.CodeUnavailable, "apt-get brought none; is the mirror reachable?")
	case len(lists) == 0:
		return err
	case err != nil:
		a.tools.notes.printf("the package lists of Debian %s may be old or incomplete: %s", a.suite, err)
		return nil
	}
	return os.WriteFile(a.path("updated"), nil, 0o644)
}

// aptVersion is a package in a version that the suite serves.
type aptVersion struct{ name, version string }

// servers lists the versions of the packages named prefix, or prefix-1.2.
func (a *aptRoot) servers(ctx context.Context, prefix string) ([]aptVersion, error) {
	found, err := a.tools.output(ctx, "", a.command("apt-cache", "pkgnames", prefix)...)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range strings.Fields(found) {
		rest := strings.TrimPrefix(name, prefix)
		if rest == "" || rest[0] == '-' && leadingVersion(rest[1:]) == rest[1:] {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	table, err := a.tools.output(ctx, "", a.command("apt-cache", append([]string{"madison"}, names...)...)...)
	if err != nil {
		return nil, err
	}
	return parseMadison(table), nil
}

// parseMadison reads the table of apt-cache madison: package | version | origin.
func parseMadison(text string) []aptVersion {
	var versions []aptVersion
	seen := map[aptVersion]bool{}
	for line := range strings.Lines(text) {
		columns := strings.Split(line, "|")
		if len(columns) < 3 || strings.HasSuffix(strings.TrimSpace(columns[2]), "Sources") {
			continue
		}
		version := aptVersion{strings.TrimSpace(columns[0]), strings.TrimSpace(columns[1])}
		if version.name != "" && version.version != "" && !seen[version] {
			seen[version] = true
			versions = append(versions, version)
		}
	}
	return versions
}

// archive is a package file that apt-get would download.
type archive struct {
	file      string
	sizeBytes int64
}

// parsePrintURIs reads what apt-get --print-uris says: 'URI' file size hash.
func parsePrintURIs(text string) []archive {
	var archives []archive
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 3 || !strings.HasPrefix(fields[0], "'") {
			continue
		}
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil || fields[1] != filepath.Base(fields[1]) {
			continue
		}
		archives = append(archives, archive{fields[1], size})
	}
	return archives
}

// download brings packages with all that they depend on, checked by apt
// against its signed lists, and gives the paths of the files.
func (a *aptRoot) download(ctx context.Context, packages []string, progress func(done, total int64)) ([]string, error) {
	install := append([]string{"-y", "--no-remove", "install"}, packages...)
	listed, err := a.tools.output(ctx, "", a.command("apt-get", append([]string{"-q", "--print-uris"}, install...)...)...)
	if err != nil {
		return nil, err
	}
	// Files that are there already from an earlier attempt are not in the list.
	archives := parsePrintURIs(listed)
	var total int64
	for _, archive := range archives {
		total += archive.sizeBytes
	}
	progress(0, total)
	status := &aptStatus{report: func(percent float64) { progress(int64(percent/100*float64(total)), total) }}
	args := append([]string{"--download-only", "-o", "APT::Status-Fd=3", "-o", "APT::Keep-Downloaded-Packages=true"}, install...)
	if err := a.tools.run(ctx, Command{Args: a.command("apt-get", args...), Status: status, Stdout: new(bytes.Buffer)}); err != nil {
		return nil, err
	}
	progress(total, total)
	files := make([]string, 0, len(archives))
	for _, archive := range archives {
		files = append(files, a.path("archives", archive.file))
	}
	if len(files) == 0 {
		return nil, dbcanary.Errorf(dbcanary.CodeFailed, "apt-get names no files for %s", strings.Join(packages, " "))
	}
	return files, nil
}

// clean removes downloaded files.
func (a *aptRoot) clean() error { return os.RemoveAll(a.path("archives")) }

// aptStatus reads apt's status lines, dlstatus:file:percent:text.
type aptStatus struct {
	report func(percent float64)
	rest   []byte
}

func (s *aptStatus) Write(data []byte) (int, error) {
	s.rest = append(s.rest, data...)
	for {
		line, rest, ok := bytes.Cut(s.rest, []byte("\n"))
		if !ok {
			return len(data), nil
		}
		s.rest = rest
		fields := strings.SplitN(string(line), ":", 4)
		if len(fields) < 3 || fields[0] != "dlstatus" {
			continue
		}
		if percent, err := strconv.ParseFloat(fields[2], 64); err == nil && percent >= 0 && percent <= 100 {
			s.report(percent)
		}
	}
}
