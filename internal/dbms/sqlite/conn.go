package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary/internal/wire"
	modernc "modernc.org/sqlite"
)

// connection is a wire.Conn on SQLite's driver itself, without the pool and the
// conversions of database/sql.
type connection struct {
	conn   driver.Conn
	abort  context.CancelFunc
	ctx    context.Context // done once Abort was called: it interrupts the running statement
	values []driver.Value  // of one row
}

var _ wire.Conn = (*connection)(nil)

func dial(ctx context.Context, dsn string) (wire.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	conn, err := (&modernc.Driver{}).Open(dsn)
	if err != nil {
		return nil, fmt.Errorf("connect to SQLite: %w", err)
	}
	c := &connection{conn: conn}
	// A connection outlives the context of its making, as one of TCP does.
	c.ctx, c.abort = context.WithCancel(context.WithoutCancel(ctx))
	return c, nil
}

func (c *connection) Prepare(ctx context.Context, query string, params []wire.Kind) (wire.Stmt, error) {
	preparer, ok := c.conn.(driver.ConnPrepareContext)
	if !ok {
		return nil, errors.New("prepare a statement: the SQLite driver can't")
	}
	prepared, err := preparer.PrepareContext(ctx, query)
	if err != nil {
		return nil, c.failed(err)
	}
	s := &statement{conn: c, params: params, rows: returnsRows(query), args: make([]driver.NamedValue, len(params))}
	var canQuery, canExec bool
	s.query, canQuery = prepared.(driver.StmtQueryContext)
	s.exec, canExec = prepared.(driver.StmtExecContext)
	if !canQuery || !canExec {
		return nil, errors.New("prepare a statement: the SQLite driver can't stop one")
	}
	return s, nil
}

func (c *connection) Query(query []byte) (wire.Result, error) {
	text := string(query)
	if returnsRows(text) {
		queryer, ok := c.conn.(driver.QueryerContext)
		if !ok {
			return wire.Result{}, errors.New("run a statement: the SQLite driver can't")
		}
		rows, err := queryer.QueryContext(c.ctx, text, nil)
		return c.readAll(rows, err)
	}
	execer, ok := c.conn.(driver.ExecerContext)
	if !ok {
		return wire.Result{}, errors.New("run a statement: the SQLite driver can't")
	}
	result, err := execer.ExecContext(c.ctx, text, nil)
	return c.affected(result, err)
}

// returnsRows tells a statement that answers with rows from one that changes some.
func returnsRows(query string) bool {
	word, rest, _ := strings.Cut(strings.TrimLeft(query, " \t\r\n("), " ")
	switch strings.ToUpper(strings.TrimRight(word, ";")) {
	case "SELECT", "VALUES", "PRAGMA", "EXPLAIN", "WITH":
		return true
	}
	return strings.Contains(strings.ToUpper(rest), "RETURNING ")
}

func (c *connection) readAll(rows driver.Rows, err error) (_ wire.Result, failed error) {
	if err != nil {
		return wire.Result{}, c.failed(err)
	}
	defer func() {
		if err := rows.Close(); err != nil && failed == nil {
			failed = c.failed(err)
		}
	}()
	columns := len(rows.Columns())
	if cap(c.values) < columns {
		c.values = make([]driver.Value, columns)
	}
	values := c.values[:columns]
	var result wire.Result
	for {
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return result, nil
		case err != nil:
			return result, c.failed(err)
		}
		result.Rows++
		for _, value := range values {
			result.Bytes += size(value)
		}
	}
}

// size is what a value would take as text, as a server counts it.
func size(value driver.Value) int64 {
	switch v := value.(type) {
	case string:
		return int64(len(v))
	case []byte:
		return int64(len(v))
	case int64:
		var buffer [20]byte
		return int64(len(strconv.AppendInt(buffer[:0], v, 10)))
	case nil:
		return 0
	default:
		return 8
	}
}

func (c *connection) affected(result driver.Result, err error) (wire.Result, error) {
	if err != nil {
		return wire.Result{}, c.failed(err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return wire.Result{}, c.failed(err)
	}
	return wire.Result{Affected: n}, nil
}

// failed turns SQLite's error into that of a server. Busy and locked (with all
// their extended codes) mean that another connection was in the way.
func (c *connection) failed(err error) error {
	const busy, locked = 5, 6
	if c.ctx.Err() != nil {
		return fmt.Errorf("%w: %w", wire.ErrAborted, err)
	}
	var answer *modernc.Error
	if !errors.As(err, &answer) {
		return err
	}
	primary := answer.Code() & 0xff
	return &wire.ServerError{Code: strconv.Itoa(answer.Code()), Message: answer.Error(), Retryable: primary == busy || primary == locked}
}

func (c *connection) Abort() { c.abort() }

func (c *connection) Close() error {
	c.abort()
	return c.conn.Close()
}

// statement is a prepared statement of one connection.
type statement struct {
	conn   *connection
	params []wire.Kind
	rows   bool
	query  driver.StmtQueryContext
	exec   driver.StmtExecContext
	args   []driver.NamedValue
}

func (s *statement) Exec(args []wire.Arg) (wire.Result, error) {
	if len(args) != len(s.params) {
		return wire.Result{}, fmt.Errorf("run a statement: %d arguments for %d placeholders", len(args), len(s.params))
	}
	for i, kind := range s.params {
		s.args[i].Ordinal = i + 1
		if kind == wire.Int {
			s.args[i].Value = args[i].Int
		} else {
			s.args[i].Value = string(args[i].Text)
		}
	}
	if s.rows {
		rows, err := s.query.QueryContext(s.conn.ctx, s.args)
		return s.conn.readAll(rows, err)
	}
	result, err := s.exec.ExecContext(s.conn.ctx, s.args)
	return s.conn.affected(result, err)
}
