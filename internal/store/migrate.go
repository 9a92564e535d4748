package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/dbcanary/dbcanary"
)

// applicationID marks a SQLite file as a store of dbcanary: "dbcy" in ASCII.
// It and the schema's version are in the file's header (PRAGMA application_id
// and user_version), so that file(1) sees them too.
const applicationID = 0x64626379

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations gives the statements that lead from each schema version to the
// next: the first makes version 1 of an empty file. A released step never changes.
func migrations() ([]string, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	steps := make([]string, 0, len(names))
	for _, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		steps = append(steps, string(text))
	}
	return steps, nil
}

// querier is a *sql.DB or a *sql.Tx.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// schemaVersion gives the version of the schema, 0 for an empty file, and an
// error for a SQLite file that is not ours.
func schemaVersion(ctx context.Context, db querier) (int, error) {
	var id, version, objects int
	// One statement sees one state of the file, which another process may be migrating.
	const query = `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`
	if err := db.QueryRowContext(ctx, query).Scan(&id, &version, &objects); err != nil {
		return 0, err
	}
	if id == applicationID || id == 0 && version == 0 && objects == 0 {
		return version, nil
	}
	return 0, &dbcanary.Error{
		Code: dbcanary.CodeUsage,
		Err:  fmt.Errorf("it is a SQLite database of another program"),
		Hint: "--db names another file",
	}
}

// migrate applies the steps that the file has not seen, all or none of them.
func migrate(ctx context.Context, db *sql.DB, steps []string) error {
	version, err := schemaVersion(ctx, db)
	if err != nil || version == len(steps) {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := applySteps(ctx, tx, steps); err != nil {
		// A rollback fails only where the transaction is gone already.
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

func applySteps(ctx context.Context, tx *sql.Tx, steps []string) error {
	// Read again: another process may have migrated while this one waited.
	version, err := schemaVersion(ctx, tx)
	if err != nil {
		return err
	}
	for i := version; i < len(steps); i++ {
		if _, err := tx.ExecContext(ctx, steps[i]); err != nil {
			return fmt.Errorf("bring the schema to version %d: %w", i+1, err)
		}
	}
	header := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, max(version, len(steps)))
	_, err = tx.ExecContext(ctx, header)
	return err
}
