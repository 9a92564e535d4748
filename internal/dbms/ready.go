package dbms

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dbcanary/dbcanary"
)

// Tail gives up to n last lines of a log file, nothing if it can't be read.
func Tail(path string, n int) []string { return tail(path, n) }

// WithFreePort starts a server on a free loopback port, and on another one if
// somebody takes the port first.
func WithFreePort[S any](start func(port int) (S, error), taken func(error) bool) (S, error) {
	const attempts = 5
	var none S
	for attempt := 1; ; attempt++ {
		port, err := FreePort()
		if err != nil {
			return none, err
		}
		server, err := start(port)
		if err == nil {
			return server, nil
		}
		if attempt == attempts || !taken(err) {
			return none, err
		}
	}
}

// WaitReady asks the server until it answers. The process ending, ctx, the
// timeout and a *dbcanary.Error from ping, which says that waiting won't help,
// end the wait.
func WaitReady(ctx context.Context, process *Process, timeout time.Duration, ping func(context.Context) error) error {
	const pause = 10 * time.Millisecond
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %v", timeout))
	defer cancel()
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	var last error
	for {
		err := ping(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err // the last answer of the server, not of our own clock
		}
		if _, final := errors.AsType[*dbcanary.Error](last); final {
			return last
		}
		select {
		case <-process.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("the server ended before it answered: %w", cmp.Or(process.Err(), errors.New("exit status 0")))
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
				return errors.Join(cause, last)
			}
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// ScanSettings reads rows of names and values, of which it keeps those wanted,
// and closes them. The settings are sorted by name.
func ScanSettings(rows *sql.Rows, wanted func(name string) bool) (_ []dbcanary.Setting, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	var settings []dbcanary.Setting
	for rows.Next() {
		var name string
		var value sql.NullString
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("read the settings of the server: %w", err)
		}
		if wanted(name) {
			settings = append(settings, dbcanary.Setting{Name: name, Value: value.String})
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the settings of the server: %w", err)
	}
	slices.SortFunc(settings, func(a, b dbcanary.Setting) int { return cmp.Compare(a.Name, b.Name) })
	return settings, nil
}
