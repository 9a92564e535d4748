// Package wire is the measured path: connections that send a statement and
// read its answer at the least cost to the client. mysqlwire and pgwire speak
// the protocols; SQLite has a connection of the same shape in its own room.
// It is not for administration: that goes through database/sql.
package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
)

// Conn is one connection to a server. It belongs to one goroutine; only Abort
// may be called from another.
type Conn interface {
	// Prepare makes a statement whose placeholders ("?" for MySQL, MariaDB and
	// SQLite, "$1" for PostgreSQL) have the given kinds.
	Prepare(ctx context.Context, query string, params []Kind) (Stmt, error)
	// Query runs a statement by the text protocol and reads its whole answer.
	Query(query []byte) (Result, error)
	// Abort breaks the connection at once, also under a running statement, which
	// then returns an error that is ErrAborted. Safe from any goroutine.
	Abort()
	// Close says goodbye to the server where it can and frees the connection.
	Close() error
}

// Waiter is a connection that can leave waiting for an answer to others, so that
// one thread serves many connections. It is a Conn of one that blocks by default.
type Waiter interface {
	Conn
	// FD is the socket, -1 if it is closed.
	FD() int
	// SetWait has every read call wait before it takes what is there, where it
	// blocked otherwise; wait returns when the socket may be readable. nil ends that.
	SetWait(wait func())
}

// Loader is a connection that takes rows faster than by INSERT.
type Loader interface {
	Conn
	// Load runs a statement that reads rows from the client, LOAD DATA LOCAL INFILE
	// or COPY … FROM STDIN, and sends what next appends to buf, up to some 10 MiB at a
	// time, until it appends nothing. Affected is the number of rows loaded. After an
	// error of next no row is kept, and the connection may be of no use.
	Load(statement []byte, next func(buf []byte) ([]byte, error)) (Result, error)
}

// Stmt is a prepared statement of one connection.
type Stmt interface {
	// Exec runs the statement with one argument per placeholder and reads its
	// whole answer without decoding the rows. It keeps no reference to args.
	Exec(args []Arg) (Result, error)
}

// Kind is the type of a placeholder.
type Kind uint8

// The kinds.
const (
	Int  Kind = iota // a 64-bit integer
	Text             // a character string
)

// Arg is the value of a placeholder; which field counts is decided by its Kind.
type Arg struct {
	Int  int64
	Text []byte
}

// Result is what came back: a benchmark checks it against what it expects, so
// that a wrong answer is an error and never a fast result.
type Result struct {
	Rows     int64 // rows returned
	Affected int64 // rows changed, as the server counts them
	Bytes    int64 // payload of the rows returned
}

// Address is where a server listens and how to log in.
type Address struct {
	Socket   string // path of a unix socket: for MySQL the file, for PostgreSQL the file too; wins over Host
	Host     string
	Port     int
	User     string
	Password string
	Database string
	TLS      *tls.Config // nil for none
}

// String gives "user@host:port/database" or "user@socket/database", never the password.
func (a Address) String() string {
	where := a.Socket
	if where == "" {
		where = fmt.Sprintf("%s:%d", a.Host, a.Port)
	}
	return fmt.Sprintf("%s@%s/%s", a.User, where, a.Database)
}

// ServerError is an error that the server sent; the connection is still good.
type ServerError struct {
	Code      string // MySQL error number "1213", SQLSTATE "40001", SQLite code "5"
	Message   string
	Retryable bool // deadlock, lock timeout or serialization failure: the event may be run again
}

// Error gives "code: message".
func (e *ServerError) Error() string { return e.Code + ": " + e.Message }

// ErrAborted is returned by a statement whose connection was aborted.
var ErrAborted = errors.New("connection aborted")
