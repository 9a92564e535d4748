// Package postgres is the driver of PostgreSQL 10 to 18.
package postgres

import (
	"context"
	"path/filepath"
	"regexp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
)

// Driver drives PostgreSQL servers.
type Driver struct{}

// New gives the driver.
func New() *Driver { return &Driver{} }

// Family is dbcanary.Postgres.
func (d *Driver) Family() dbcanary.Family { return dbcanary.Postgres }

// "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)", "19beta1", "9.6.24"
var versionPattern = regexp.MustCompile(`\(PostgreSQL\) (\d+(?:\.\d+)*(?:devel|(?:alpha|beta|rc)\d+)?)`)

// Identify finds the program postgres below dir, in the layout of an installed
// tree, of Debian's packages or of embedded-postgres, and asks it for its version.
func (d *Driver) Identify(ctx context.Context, dir string) (dbms.Binary, error) {
	var names []string
	for _, place := range []string{"bin", "native/bin", "package/native/bin", "usr/bin", "usr/lib/postgresql/*/bin", "lib/postgresql/*/bin", "pgsql/bin", ""} {
		names = append(names, filepath.Join(place, "postgres"))
	}
	var failed error
	for _, path := range dbms.FindBinary(dir, names) {
		output, err := dbms.AskVersion(ctx, path, "-V")
		if err != nil {
			failed = err
			continue
		}
		if match := versionPattern.FindStringSubmatch(output); match != nil {
			return dbms.Binary{Path: path, Version: match[1]}, nil
		}
	}
	if failed != nil {
		return dbms.Binary{}, dbcanary.Errorf(dbcanary.CodeUnavailable, "find a postgres server: %w", failed)
	}
	return dbms.Binary{}, dbms.NoServer(dbcanary.Postgres, dir, "bin/postgres and usr/lib/postgresql/*/bin/postgres")
}
