// Package pgwire is the measured path to PostgreSQL: it sends a statement and
// reads its answer at the least cost to the client. Rows are counted, never
// decoded.
//
// A prepared statement is parsed once with parameter types left to the server,
// as pgbench and libpq do it, and executed by Bind, Execute and Sync in one
// write. An Int goes as binary where the server inferred smallint, integer or
// bigint and as text elsewhere; results come as text. Affected is the count in
// the command tag of INSERT, UPDATE, DELETE and MERGE: PostgreSQL counts the
// rows that matched.
package pgwire

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/stream"
)

// conn is a connection after the login.
type conn struct {
	r        *bufio.Reader
	w        io.Writer
	stream   *stream.Stream
	top      io.Closer // TLS, or the stream itself
	prepared int       // statements so far, which names the next
	out      []byte
	err      error // why the connection is of no use any more
}

// Query implements wire.Conn. The rows and the affected rows of several
// statements add up.
func (c *conn) Query(query []byte) (wire.Result, error) {
	if c.err != nil {
		return wire.Result{}, c.err
	}
	c.out = begin(c.out[:0], msgQuery)
	c.out = append(append(c.out, query...), 0)
	end(c.out, 0)
	return c.roundTrip(c.out)
}

// Prepare implements wire.Conn. ctx ends it by breaking the connection.
func (c *conn) Prepare(ctx context.Context, query string, params []wire.Kind) (wire.Stmt, error) {
	if c.err != nil {
		return nil, c.err
	}
	release := context.AfterFunc(ctx, c.Abort)
	s, err := c.prepare(query, params)
	if !release() {
		err = c.fail(errors.Join(context.Cause(ctx), wire.ErrAborted))
	}
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	return s, nil
}

func (c *conn) prepare(query string, params []wire.Kind) (*stmt, error) {
	c.prepared++
	name := fmt.Sprintf("s%d", c.prepared)
	out := begin(c.out[:0], msgParse)
	out = append(append(out, name...), 0)
	out = append(append(out, query...), 0)
	out = append(out, 0, 0) // the server infers the types
	end(out, 0)
	describe := len(out)
	out = append(begin(out, msgDescribe), 'S')
	out = append(append(out, name...), 0)
	end(out, describe)
	sync := len(out)
	out = begin(out, msgSync)
	end(out, sync)
	c.out = out
	if _, err := c.w.Write(out); err != nil {
		return nil, c.fail(err)
	}
	types, err := c.description()
	if err != nil {
		return nil, err
	}
	if len(types) != len(params) {
		return nil, fmt.Errorf("the statement has %d parameters where %d were meant", len(types), len(params))
	}
	return newStmt(c, name, params, types), nil
}

// description reads the answer to Parse and Describe: the type of each parameter.
func (c *conn) description() ([]uint32, error) {
	var types []uint32
	var refused error
	for {
		kind, size, err := c.header()
		if err != nil {
			return nil, c.lost(err, refused)
		}
		switch kind {
		case msgParameterDescription:
			body, err := c.small(size)
			if err != nil {
				return nil, c.fail(err)
			}
			if types, err = parameterTypes(body); err != nil {
				return nil, c.fail(err)
			}
		case msgReadyForQuery:
			if err := c.skip(size); err != nil {
				return nil, c.fail(err)
			}
			return types, refused
		case msgParseComplete, msgNoData, msgRowDescription:
			if err := c.skip(size); err != nil {
				return nil, c.fail(err)
			}
		default:
			if err := c.aside(kind, size, &refused); err != nil {
				return nil, c.fail(err)
			}
		}
	}
}

func parameterTypes(body []byte) ([]uint32, error) {
	if len(body) < 2 {
		return nil, protocolError("a parameter description of %d bytes", len(body))
	}
	count := int(binary.BigEndian.Uint16(body))
	body = body[2:]
	if len(body) != 4*count {
		return nil, protocolError("a parameter description of %d bytes for %d parameters", len(body), count)
	}
	types := make([]uint32, count)
	for i := range types {
		types[i] = binary.BigEndian.Uint32(body[4*i:])
	}
	return types, nil
}

// roundTrip sends messages that end in one ReadyForQuery and reads the answer.
func (c *conn) roundTrip(messages []byte) (wire.Result, error) {
	if _, err := c.w.Write(messages); err != nil {
		return wire.Result{}, c.fail(err)
	}
	return c.answer()
}

// fail marks the connection as of no use and gives the reason.
func (c *conn) fail(err error) error {
	if c.err == nil {
		c.err = ioError(c.stream, err)
	}
	return c.err
}

// lost is fail for a connection that ended, perhaps after the server said why.
func (c *conn) lost(err, reason error) error {
	if reason != nil && !c.stream.Aborted() {
		err = fmt.Errorf("%w (%v)", err, reason)
	}
	return c.fail(err)
}

// ioError makes the failure of a read or a write say what it means.
func ioError(s *stream.Stream, err error) error {
	switch {
	case s.Aborted():
		return wire.ErrAborted
	case errors.Is(err, wire.ErrProtocol):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the server closed the connection: %w", err)
	}
	return fmt.Errorf("lost the connection to the server: %w", err)
}

// Abort implements wire.Conn.
func (c *conn) Abort() { c.stream.Abort() }

// FD and SetWait are those of wire.Waiter.
func (c *conn) FD() int { return c.stream.FD() }

func (c *conn) SetWait(wait func()) { c.stream.SetWait(wait) }

// Close implements wire.Conn.
func (c *conn) Close() error {
	if c.err == nil && !c.stream.Aborted() {
		goodbye := begin(nil, msgTerminate)
		end(goodbye, 0)
		_, _ = c.w.Write(goodbye) // a courtesy: the server sees the end anyway
		c.err = errors.New("the connection is closed")
		return c.top.Close()
	}
	return c.stream.Close()
}
