// Package sqlite drives SQLite, which runs inside this program.
//
// Note: it is the translation of SQLite to Go that this program is linked with,
// whose speed is not that of the C library. It is there to try a benchmark
// without any server, not to judge SQLite.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	_ "modernc.org/sqlite" // the driver "sqlite" of database/sql
)

// Driver drives the SQLite that is built in.
type Driver struct{}

// New gives the driver.
func New() *Driver { return &Driver{} }

// Family is dbcanary.SQLite.
func (d *Driver) Family() dbcanary.Family { return dbcanary.SQLite }

// Identify gives the version that is built in; there is no file and dir does not count.
func (d *Driver) Identify(ctx context.Context, _ string) (_ dbms.Binary, err error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return dbms.Binary{}, fmt.Errorf("open SQLite: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var version string
	if err := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return dbms.Binary{}, fmt.Errorf("ask SQLite for its version: %w", err)
	}
	return dbms.Binary{Version: version}, nil
}
