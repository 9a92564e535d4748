// Package dbms is the interface to a DBMS: how a server of a family is found,
// initialised, started, asked and stopped. Its drivers lie in mysql (MySQL and
// MariaDB), postgres and sqlite, and all pass the conformance suite in dbmstest.
package dbms

import (
	"context"
	"database/sql"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// Driver is one DBMS family. It is stateless and safe for concurrent use.
type Driver interface {
	Family() dbcanary.Family

	// Identify finds the server binary below dir and gives its exact version, or
	// an error with dbcanary.CodeUnavailable if there is no server of this family.
	Identify(ctx context.Context, dir string) (Binary, error)

	// Defaults gives the benchmark settings for a version, in the order in which
	// they are written, sized for memoryBytes.
	Defaults(version string, memoryBytes int64) []dbcanary.Setting

	// Overlays gives the built-in overlays by name: "noahi", "ps", "itc".
	Overlays() map[string][]dbcanary.Setting

	// Start initialises Dir/data if it is empty, starts the server and waits until
	// it answers. The server and its children end when ctx is cancelled or this
	// process dies, even by SIGKILL. An error holds the last lines of the server's log.
	Start(ctx context.Context, options StartOptions) (Server, error)

	// Attach connects to a server that somebody else runs.
	Attach(ctx context.Context, dsn string) (Server, error)
}

// Binary is a server program that was found.
type Binary struct {
	Path    string
	Version string // exact: "10.11.14"
}

// StartOptions says what to start and where.
type StartOptions struct {
	Build    dbcanary.Build
	Settings []dbcanary.Setting // defaults with overlays applied, later ones win
	Dir      string             // instance directory with our marker (see Claim); the driver uses data/, tmp/, log and socket below it
	CPUs     []int              // CPUs that the server may run on; nil for all
}

// Server is a running server. Its methods are safe for concurrent use.
type Server interface {
	// Version is the exact version that the server reports.
	Version() string
	// PID is the process to account for, 0 if the server is not ours or in this process.
	PID() int
	// Address is where and how the measured path connects; Database exists.
	Address() wire.Address
	// Admin is the administration handle, on the same database as Address, open until Stop.
	Admin() *sql.DB
	// Connect opens a connection on the measured path.
	Connect(ctx context.Context) (wire.Conn, error)
	// Settings reads every effective setting back, sorted by name, without those
	// that only name the instance (its port, paths and ids) or the moment.
	Settings(ctx context.Context) ([]dbcanary.Setting, error)
	// Counters reads the server's own counters as they are now, on the administration
	// handle. An error means that none could be read.
	Counters(ctx context.Context) (Counters, error)
	// Done is closed when the server process has ended, wanted or not.
	Done() <-chan struct{}
	// LogTail gives up to n last lines of the server's log.
	LogTail(n int) []string
	// Stop shuts down cleanly and kills the whole process group if that takes
	// longer than ctx allows; no process is left when it returns. A server that
	// was attached is only disconnected. Calling it again does nothing.
	Stop(ctx context.Context) error
}
