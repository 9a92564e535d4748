package probe

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// Made says how the program of a process was made and which libraries it has
// loaded, sorted by name: "compiler" as the linker noted it (Debian strips that),
// "executable" (position independent or at a fixed address), "needs" with the newest
// symbols of the C and C++ libraries that it was linked against, and each library
// ("libc", "libcrypto", "libjemalloc") with its version, or its file where that
// tells none.
func Made(pid int) ([]dbcanary.Setting, error) {
	path := fmt.Sprintf("/proc/%d/exe", pid)
	file, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read how the program of process %d was made: %w", pid, err)
	}
	made := madeOf(file)
	if err := file.Close(); err != nil {
		return nil, err
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, fmt.Errorf("read which libraries process %d has loaded: %w", pid, err)
	}
	// The paths are those that the process sees, which may be in a container.
	root := fmt.Sprintf("/proc/%d/root", pid)
	for _, library := range parseLibraries(maps) {
		name, version := libraryVersion(root + library)
		made = append(made, dbcanary.Setting{Name: name, Value: version})
	}
	slices.SortFunc(made, func(a, b dbcanary.Setting) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Value, b.Value))
	})
	return slices.CompactFunc(made, func(a, b dbcanary.Setting) bool { return a.Name == b.Name }), nil
}

// madeOf reads what linker and compiler left in an executable.
func madeOf(file *elf.File) []dbcanary.Setting {
	kind := "at a fixed address"
	if file.Type == elf.ET_DYN {
		kind = "position independent"
	}
	made := []dbcanary.Setting{{Name: "executable", Value: kind}}
	if section := file.Section(".comment"); section != nil {
		if text, err := section.Data(); err == nil {
			if compiler := parseComment(text); compiler != "" {
				made = append(made, dbcanary.Setting{Name: "compiler", Value: compiler})
			}
		}
	}
	if needs, err := file.DynamicVersionNeeds(); err == nil {
		var versions []string
		for _, library := range needs {
			for _, version := range library.Needs {
				versions = append(versions, version.Dep)
			}
		}
		if newest := newestSymbols(versions); newest != "" {
			made = append(made, dbcanary.Setting{Name: "needs", Value: newest})
		}
	}
	return made
}

// parseComment lists what the compilers say of themselves, each once: "GCC:
// (Debian 14.2.0-19) 14.2.0".
func parseComment(section []byte) string {
	var all []string
	for text := range bytes.SplitSeq(section, []byte{0}) {
		if compiler := strings.TrimSpace(string(text)); compiler != "" && !slices.Contains(all, compiler) {
			all = append(all, compiler)
		}
	}
	return strings.Join(all, ", ")
}

var symbolPattern = regexp.MustCompile(`^(GLIBC|GLIBCXX|CXXABI)_(\d+(?:\.\d+)*)$`)

// newestSymbols gives the newest version of each set of symbols: "GLIBC_2.38, GLIBCXX_3.4.32".
func newestSymbols(versions []string) string {
	newest := map[string]string{}
	for _, version := range versions {
		if match := symbolPattern.FindStringSubmatch(version); match != nil && compareDotted(match[2], newest[match[1]]) > 0 {
			newest[match[1]] = match[2]
		}
	}
	var all []string
	for set, version := range newest {
		all = append(all, set+"_"+version)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// compareDotted compares numbers with dots: a longer number is larger.
func compareDotted(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
	})
}

// parseLibraries gives the paths of the shared libraries in /proc/PID/maps, each once.
func parseLibraries(maps []byte) []string {
	var all []string
	for line := range bytes.Lines(maps) {
		// Address, rights, offset, device, inode, path; only what is run counts.
		fields := strings.Fields(string(line))
		if len(fields) < 6 || !strings.Contains(fields[1], "x") {
			continue
		}
		path := strings.Join(fields[5:], " ")
		if strings.HasPrefix(path, "/") && strings.Contains(filepath.Base(path), ".so") && !strings.HasPrefix(filepath.Base(path), "ld-") && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return all
}

// versionTexts are what libraries whose file names tell too little say of themselves.
var versionTexts = map[string]*regexp.Regexp{
	"libc":      regexp.MustCompile(`GNU C Library \(([^)\n]+)\)[^\n]*? version [0-9.]+`),
	"libcrypto": regexp.MustCompile(`OpenSSL (\d+\.\d+\.\d+[a-z]*(?:-\w+)?) +\d+ \w+ \d{4}`),
	"libssl":    regexp.MustCompile(`OpenSSL (\d+\.\d+\.\d+[a-z]*(?:-\w+)?) +\d+ \w+ \d{4}`),
}

// mostLibraryBytes bounds what is read of a library to find its version.
const mostLibraryBytes = 32 << 20

// libraryVersion gives the name of a library and its version: what it says itself,
// else the end of its file's name, "1.3.1" of libz.so.1.3.1.
func libraryVersion(path string) (name, version string) {
	base := filepath.Base(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		base = filepath.Base(real)
	}
	name, version, _ = strings.Cut(base, ".so")
	version = strings.TrimPrefix(version, ".")
	if version == "" {
		version = base
	}
	if pattern := versionTexts[name]; pattern != nil {
		if text, err := readMost(path, mostLibraryBytes); err == nil {
			if match := pattern.FindSubmatch(text); match != nil {
				version = string(match[1])
			}
		}
	}
	return name, version
}

func readMost(path string, most int64) (text []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, most))
}
