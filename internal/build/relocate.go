package build

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// relocate makes the programs use the loader and the libraries of the unpacked
// root for good, so that the server is an ordinary process under its own name
// for profilers. A program's RPATH, unlike a RUNPATH, holds for the libraries
// of its libraries and for plugins too.
func (d *debian) relocate(ctx context.Context, root string, programs []string) error {
	loader, err := loaderIn(root, programs[0])
	if err != nil {
		return err
	}
	libraries, err := libraryDirs(root)
	if err != nil {
		return err
	}
	for _, program := range programs {
		private, err := runPaths(program)
		if err != nil {
			return err
		}
		rpath := append([]string(nil), libraries...)
		for _, dir := range private {
			rpath = append(rpath, filepath.Join(root, dir))
		}
		_, err = d.tools.output(ctx, "", loader, "--library-path", strings.Join(libraries, ":"),
			filepath.Join(root, "usr/bin/patchelf"),
			"--set-interpreter", loader, "--force-rpath", "--set-rpath", strings.Join(rpath, ":"), program)
		if err != nil {
			return fmt.Errorf("set the libraries of %s: %w", filepath.Base(program), err)
		}
	}
	return nil
}

// elfPrograms lists the dynamically linked programs below root.
func elfPrograms(root string) ([]string, error) {
	var programs []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		if interpreter, err := elfInterpreter(path); err == nil && interpreter != "" {
			programs = append(programs, path)
		}
		return nil
	})
	return programs, err
}

// elfInterpreter gives the loader that a program asks for, "" for a library.
func elfInterpreter(path string) (string, error) {
	file, err := elf.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if file.Type != elf.ET_EXEC && file.Type != elf.ET_DYN {
		return "", nil
	}
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP && segment.Filesz < 4096 {
			text, err := io.ReadAll(segment.Open())
			return strings.TrimRight(string(text), "\x00"), err
		}
	}
	return "", nil
}

// runPaths gives the folders that a program itself looks for libraries in.
func runPaths(path string) ([]string, error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var dirs []string
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		texts, err := file.DynString(tag)
		if err != nil {
			return nil, err
		}
		for _, text := range texts {
			for _, dir := range strings.Split(text, ":") {
				if strings.HasPrefix(dir, "/") {
					dirs = append(dirs, dir)
				}
			}
		}
	}
	return dirs, nil
}

// loaderIn gives the loader of program inside root. Packages link to it by an
// absolute path, which means one inside root.
func loaderIn(root, program string) (string, error) {
	path, err := elfInterpreter(program)
	if err != nil {
		return "", err
	}
	for range 8 {
		inside := filepath.Join(root, path)
		if _, err := os.Lstat(inside); err != nil {
			// A suite with merged /usr ships the file below usr only.
			inside = filepath.Join(root, "usr", path)
		}
		target, err := os.Readlink(inside)
		switch {
		case err == nil && filepath.IsAbs(target):
			path = target
		case err == nil:
			path = filepath.Join(filepath.Dir(path), target)
		default:
			if info, err := os.Stat(inside); err != nil || !info.Mode().IsRegular() {
				return "", dbcanary.Errorf(dbcanary.CodeFailed, "the packages bring no loader %s", path)
			}
			return inside, nil
		}
	}
	return "", dbcanary.Errorf(dbcanary.CodeFailed, "the loader %s is a link without end", path)
}

// libraryDirs lists the folders of shared libraries in an unpacked Debian root.
func libraryDirs(root string) ([]string, error) {
	var dirs []string
	for _, pattern := range []string{"lib/*-linux-gnu*", "usr/lib/*-linux-gnu*", "lib", "usr/lib"} {
		matches, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, match := range matches {
			if libraries, _ := filepath.Glob(filepath.Join(match, "*.so*")); len(libraries) > 0 {
				dirs = append(dirs, match)
			}
		}
	}
	if len(dirs) == 0 {
		return nil, dbcanary.Errorf(dbcanary.CodeFailed, "the packages bring no libraries")
	}
	return dirs, nil
}

// checksumFile gives "sha256:…" of a file.
func checksumFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
