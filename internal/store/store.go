// Package store keeps runs and their raw trials in one SQLite file that people
// can open with sqlite3; docs/format/store.md describes it. It stores what was
// measured and never what follows from it.
//
// A kill -9 of the program at any moment loses nothing that a method reported as
// done: a commit is in the write-ahead log, which belongs to the kernel. With a
// power cut the last commits may be lost, never the consistency of the file:
// waiting for the disk at each trial would disturb the next slice.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/dbcanary/dbcanary"
)

// DefaultPath is where runs are stored unless a user says otherwise.
const DefaultPath = "dbcanary.db"

// busyTimeout is how long a write waits for another process's transaction.
const busyTimeout = 10 * time.Second

// Store is an open store. Its methods are safe for concurrent use.
type Store struct {
	db    *sql.DB
	path  string
	owner owner // this process
}

// Open opens the store at path and creates it if there is none. A file that is
// no store, or one of a newer dbcanary, is an error with CodeUsage and is left
// as it is; a file that cannot be read or written is one with CodeUnavailable.
func Open(ctx context.Context, path string) (*Store, error) {
	return open(ctx, path, busyTimeout)
}

// OpenExisting is Open for commands that only read: a missing file is an error
// with CodeUsage instead of a new store.
func OpenExisting(ctx context.Context, path string) (*Store, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, &dbcanary.Error{
			Code: dbcanary.CodeUsage,
			Op:   fmt.Sprintf("open store %s: there is no such file", path),
			Hint: "dbcanary compare writes one; --db names another",
		}
	}
	return Open(ctx, path)
}

func open(ctx context.Context, path string, wait time.Duration) (*Store, error) {
	s := &Store{path: path}
	self, err := currentOwner()
	if err != nil {
		return nil, s.failed("open", err)
	}
	s.owner = self
	s.db, err = sql.Open("sqlite", dsn(path, wait))
	if err != nil {
		return nil, s.failed("open", err)
	}
	s.db.SetMaxOpenConns(4)
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(s.failed("open", err), s.db.Close())
	}
	return s, nil
}

// dsn makes every connection of the pool alike. The identity of the file is
// checked before the journal mode, which would write to a stranger's file.
func dsn(path string, wait time.Duration) string {
	query := url.Values{}
	query.Set("_txlock", "immediate") // a write never starts as a read that then finds the file changed
	query.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", wait.Milliseconds()))
	query.Add("_pragma", "foreign_keys(1)")
	query.Add("_pragma", "synchronous(NORMAL)")
	return (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: query.Encode()}).String()
}

// prepare checks that the file is ours and brings its schema up to date.
func (s *Store) prepare(ctx context.Context) error {
	steps, err := migrations()
	if err != nil {
		return err
	}
	version, err := schemaVersion(ctx, s.db)
	if err != nil {
		return err
	}
	if version > len(steps) {
		return &dbcanary.Error{
			Code: dbcanary.CodeUsage,
			Err:  fmt.Errorf("its schema is version %d, this dbcanary knows up to %d", version, len(steps)),
			Hint: "use a newer dbcanary",
		}
	}
	if _, err := s.db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	return migrate(ctx, s.db, steps)
}

// Path gives the path that the store was opened with.
func (s *Store) Path() string { return s.path }

// Close closes the store. The state of its runs stays as it was saved.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return s.failed("close", err)
	}
	return nil
}

// write runs do in one transaction.
func (s *Store) write(ctx context.Context, what string, do func(*sql.Tx) error) error {
	return s.transact(ctx, what, nil, do)
}

// read runs do on one snapshot of the store.
func (s *Store) read(ctx context.Context, what string, do func(*sql.Tx) error) error {
	return s.transact(ctx, what, &sql.TxOptions{ReadOnly: true}, do)
}

func (s *Store) transact(ctx context.Context, what string, options *sql.TxOptions, do func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, options)
	if err != nil {
		return s.failed(what, err)
	}
	if err := do(tx); err != nil {
		// A rollback fails only where the transaction is gone already.
		_ = tx.Rollback()
		return s.failed(what, err)
	}
	if err := tx.Commit(); err != nil {
		return s.failed(what, err)
	}
	return nil
}

// failed says what was being done with which store, and what to do about it.
// An error of our own keeps its code and hint.
func (s *Store) failed(what string, err error) error {
	var ours *dbcanary.Error
	if errors.As(err, &ours) {
		return &dbcanary.Error{Code: ours.Code, Op: what + " store " + s.path, Err: err}
	}
	failure := &dbcanary.Error{Code: dbcanary.CodeFailed, Op: what + " store " + s.path, Err: err}
	var engine *sqlite.Error
	if !errors.As(err, &engine) {
		return failure
	}
	failure.Code = dbcanary.CodeUnavailable
	switch engine.Code() & 0xff { // the upper bits hold SQLite's extended code
	case sqlite3.SQLITE_NOTADB:
		failure.Code, failure.Hint = dbcanary.CodeUsage, "this file is no dbcanary store; --db names another"
	case sqlite3.SQLITE_CORRUPT:
		failure.Hint = "the file is damaged; sqlite3's .recover may save the runs in it"
	case sqlite3.SQLITE_CANTOPEN:
		failure.Hint = "its folder must exist and be writable; --db names another file"
	case sqlite3.SQLITE_READONLY:
		failure.Hint = "the file and its folder must be writable; copy it, or name another with --db"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		failure.Hint = "another program holds a write lock on it; close that program's transaction"
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		failure.Hint = "is there room left on the disk?"
	default:
		failure.Code = dbcanary.CodeFailed
	}
	return failure
}
