package dbms

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// CompareVersions compares dotted numbers part by part, a missing part as 0;
// what follows the numbers ("-MariaDB", "beta1") does not count.
func CompareVersions(a, b string) int {
	for a != "" || b != "" {
		var x, y int
		x, a = nextNumber(a)
		y, b = nextNumber(b)
		if c := cmp.Compare(x, y); c != 0 {
			return c
		}
	}
	return 0
}

// nextNumber cuts the first number off; a rest that does not go on with a dot is dropped.
func nextNumber(version string) (int, string) {
	end := 0
	for end < len(version) && version[end] >= '0' && version[end] <= '9' {
		end++
	}
	number, err := strconv.Atoi(version[:end])
	if err != nil {
		return 0, ""
	}
	if end+1 < len(version) && version[end] == '.' {
		return number, version[end+1:]
	}
	return number, ""
}

// FindBinary gives the first of the names that is an executable file below dir,
// or dir itself when that is one.
func FindBinary(dir string, names []string) []string {
	var found []string
	if info, err := os.Stat(dir); err == nil && info.Mode().IsRegular() {
		return []string{dir}
	}
	for _, name := range names {
		matches, err := filepath.Glob(filepath.Join(dir, name))
		if err != nil {
			continue // only a malformed pattern, which a dir with brackets makes
		}
		for _, path := range matches {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				found = append(found, path)
			}
		}
	}
	return found
}

// AskVersion runs a program that prints its version and ends.
func AskVersion(ctx context.Context, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = environment("/")
	output, err := cmd.Output()
	if err != nil {
		detail := ""
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			detail, _, _ = strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		}
		return "", fmt.Errorf("run %s %s: %w %s", path, strings.Join(args, " "), err, detail)
	}
	return strings.TrimSpace(string(output)), nil
}

// NoServer is the error of an Identify that found none.
func NoServer(family dbcanary.Family, dir, looked string) error {
	return &dbcanary.Error{
		Code: dbcanary.CodeUnavailable, Op: fmt.Sprintf("find a %s server", family),
		Err:  fmt.Errorf("none below %s", dir),
		Hint: "looked for " + looked,
	}
}
