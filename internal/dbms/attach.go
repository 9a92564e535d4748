package dbms

import (
	"context"
	"fmt"

	"github.com/dbcanary/dbcanary"
)

// Opener is a driver that can work in a database which is there already, on a
// server that somebody else runs.
type Opener interface {
	// Open connects to the database that the DSN names. It makes and drops nothing,
	// nor does Stop. An error is one line with host and user, never the password.
	Open(ctx context.Context, dsn string) (Server, error)
}

// MarkerTable is the table that makes the database "dbcanary" on somebody
// else's server ours: nothing is dropped without it.
const MarkerTable = "dbcanary_marker"

// ForeignDatabase is the database "dbcanary" on a server that somebody else runs.
type ForeignDatabase interface {
	// Exists tells whether the database is there, and whether our marker is in it.
	Exists(ctx context.Context) (exists, ours bool, err error)
	// Create makes the database with the marker.
	Create(ctx context.Context) error
	// Drop removes the database.
	Drop(ctx context.Context) error
}

// ClaimDatabase makes the database. One of ours that an earlier run left behind
// is replaced; one without our marker is somebody else's and an error.
func ClaimDatabase(ctx context.Context, db ForeignDatabase) error {
	exists, ours, err := db.Exists(ctx)
	if err != nil {
		return fmt.Errorf("look for the database dbcanary: %w", err)
	}
	if exists && !ours {
		return &dbcanary.Error{
			Code: dbcanary.CodeUsage, Op: "create the database dbcanary",
			Err:  fmt.Errorf("there is one that dbcanary did not make (it has no table %s)", MarkerTable),
			Hint: "rename or drop it, or measure another server",
		}
	}
	if exists {
		if err := db.Drop(ctx); err != nil {
			return fmt.Errorf("drop the database dbcanary of an earlier run: %w", err)
		}
	}
	if err := db.Create(ctx); err != nil {
		return fmt.Errorf("create the database dbcanary: %w", err)
	}
	return nil
}

// DropDatabase removes the database if it is ours.
func DropDatabase(ctx context.Context, db ForeignDatabase) error {
	exists, ours, err := db.Exists(ctx)
	if err == nil && exists && ours {
		err = db.Drop(ctx)
	}
	if err != nil {
		return fmt.Errorf("drop the database dbcanary: %w", err)
	}
	return nil
}
