// Package mysql is the driver of MySQL 5.6 to 9.x and of MariaDB 10.x to 12.x.
package mysql

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
)

// Driver drives the servers of one of the two families.
type Driver struct{ family dbcanary.Family }

// New gives the driver of MySQL or of MariaDB.
func New(family dbcanary.Family) *Driver { return &Driver{family} }

// Family tells which of the two it is.
func (d *Driver) Family() dbcanary.Family { return d.family }

func (d *Driver) mariadb() bool { return d.family == dbcanary.MariaDB }

var versionPattern = regexp.MustCompile(`Ver (\d+\.\d+\.\d+)`)

// Identify finds mysqld or mariadbd below dir, in the layout of a tarball, of a
// Debian package or of a build tree, and asks it for its version.
func (d *Driver) Identify(ctx context.Context, dir string) (dbms.Binary, error) {
	programs := []string{"mysqld"}
	if d.mariadb() {
		programs = []string{"mariadbd", "mysqld"}
	}
	var names []string
	for _, program := range programs {
		for _, place := range []string{"bin", "sbin", "libexec", "usr/sbin", "usr/bin", "usr/libexec", "runtime_output_directory", "sql", ""} {
			names = append(names, filepath.Join(place, program))
		}
	}
	var failed error
	for _, path := range dbms.FindBinary(dir, names) {
		output, err := dbms.AskVersion(ctx, path, "--no-defaults", "--version")
		if err != nil {
			failed = err
			continue
		}
		match := versionPattern.FindStringSubmatch(output)
		if match != nil && strings.Contains(output, "MariaDB") == d.mariadb() {
			return dbms.Binary{Path: path, Version: match[1]}, nil
		}
	}
	if failed != nil {
		return dbms.Binary{}, dbcanary.Errorf(dbcanary.CodeUnavailable, "find a %s server: %w", d.family, failed)
	}
	return dbms.Binary{}, dbms.NoServer(d.family, dir, "bin/, sbin/, libexec/, usr/sbin/ and build trees for "+strings.Join(programs, " or "))
}

// layout is where a build keeps what its server needs; "" for what it has not got.
type layout struct {
	base     string // the folder above the binary's
	messages string // holds english/errmsg.sys
	charsets string // holds Index.xml
	plugins  string
	scripts  string // holds the SQL files that make the system tables
}

// findLayout looks around the binary, since the paths compiled into it are
// those of the machine that built it.
func findLayout(binary string) layout {
	if resolved, err := filepath.EvalSymlinks(binary); err == nil {
		binary = resolved
	}
	base := filepath.Dir(filepath.Dir(binary))
	share := []string{"share", "share/mysql", "share/mariadb", "share/mysql-*", "share/mysql*", "sql/share", "../share", "../sql/share"}
	scripts := append(share, "scripts", "../scripts")
	l := layout{base: base}
	l.messages = holder(base, share, "english/errmsg.sys")
	l.charsets = holder(base, share, "charsets/Index.xml")
	if l.charsets != "" {
		l.charsets = filepath.Join(l.charsets, "charsets")
	}
	l.scripts = holder(base, scripts, "*_system_tables.sql")
	l.plugins = holder(base, []string{"lib/plugin", "lib/mysql/plugin", "lib/mariadb/plugin", "lib64/mysql/plugin", "lib64/mariadb/plugin", "lib/*/mariadb*/plugin", "plugin_output_directory"}, ".")
	return l
}

// holder gives the first folder among the places below base that holds a file of
// that name; both may be patterns.
func holder(base string, places []string, name string) string {
	for _, place := range places {
		dirs, err := filepath.Glob(filepath.Join(base, place))
		if err != nil {
			continue // only a malformed pattern, which a base with brackets makes
		}
		for _, dir := range dirs {
			if found, err := filepath.Glob(filepath.Join(dir, name)); err == nil && len(found) > 0 {
				return dir
			}
		}
	}
	return ""
}
