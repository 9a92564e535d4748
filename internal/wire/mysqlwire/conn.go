// Package mysqlwire is the measured path to MySQL and MariaDB: it sends a
// statement and reads its answer at the least cost to the client. Rows are
// counted, never decoded.
//
// It speaks to servers from 5.6 on, with and without CLIENT_DEPRECATE_EOF, and
// takes MariaDB's permission to leave out column definitions that it has sent
// before. CLIENT_FOUND_ROWS is off, so that Affected counts rows that changed
// and not rows that matched, which is also what sysbench counts.
package mysqlwire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/stream"
)

// Commands, from page_protocol_command_phase.
const (
	comQuit        = 0x01
	comQuery       = 0x03
	comStmtPrepare = 0x16
	comStmtExecute = 0x17
)

// conn is a connection after the login.
type conn struct {
	packets
	stream       *stream.Stream
	top          io.Closer // TLS, or the stream itself
	deprecateEOF bool      // a result ends by an OK packet, and column definitions by nothing
	cacheColumns bool      // MariaDB may leave column definitions out
	warnings     uint16    // of the last OK packet that ended a command
	out          []byte
	err          error // why the connection is of no use any more
}

// Query implements wire.Conn.
func (c *conn) Query(query []byte) (wire.Result, error) {
	if c.err != nil {
		return wire.Result{}, c.err
	}
	c.out = append(append(c.out[:0], 0, 0, 0, 0, comQuery), query...)
	return c.roundTrip(c.out)
}

// Prepare implements wire.Conn. ctx ends it by breaking the connection.
func (c *conn) Prepare(ctx context.Context, query string, params []wire.Kind) (wire.Stmt, error) {
	if c.err != nil {
		return nil, c.err
	}
	release := context.AfterFunc(ctx, c.Abort)
	id, err := c.prepare(query, len(params))
	if !release() {
		err = c.fail(errors.Join(context.Cause(ctx), wire.ErrAborted))
	}
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	return newStmt(c, id, params), nil
}

// prepare reads COM_STMT_PREPARE_OK (page_protocol_com_stmt_prepare).
func (c *conn) prepare(query string, params int) (id uint32, err error) {
	c.seq = 0
	c.out = append(append(c.out[:0], 0, 0, 0, 0, comStmtPrepare), query...)
	if err := c.write(c.out); err != nil {
		return 0, c.fail(err)
	}
	answer, err := c.read()
	if err != nil {
		return 0, c.fail(err)
	}
	if answer[0] == errPacket {
		return 0, c.refused(answer)
	}
	if answer[0] != okPacket || len(answer) < 9 {
		return 0, c.fail(protocolError("to a statement to prepare: %#x", answer[0]))
	}
	id = binary.LittleEndian.Uint32(answer[1:])
	columns := int(binary.LittleEndian.Uint16(answer[5:]))
	found := int(binary.LittleEndian.Uint16(answer[7:]))
	for _, definitions := range []int{found, columns} {
		if definitions == 0 {
			continue
		}
		if err := c.skipDefinitions(definitions); err != nil {
			return 0, c.fail(err)
		}
	}
	if found != params {
		return 0, fmt.Errorf("the statement has %d placeholders where %d were meant", found, params)
	}
	return id, nil
}

// roundTrip sends a command and reads its answer.
func (c *conn) roundTrip(command []byte) (wire.Result, error) {
	c.seq = 0
	if err := c.write(command); err != nil {
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

// refused gives the server's error; the connection stays good unless the
// packet is broken.
func (c *conn) refused(payload []byte) error {
	err := serverError(payload)
	if errors.Is(err, wire.ErrProtocol) {
		return c.fail(err)
	}
	return err
}

// Abort implements wire.Conn.
func (c *conn) Abort() { c.stream.Abort() }

// FD and SetWait are those of wire.Waiter.
func (c *conn) FD() int { return c.stream.FD() }

func (c *conn) SetWait(wait func()) { c.stream.SetWait(wait) }

// Close implements wire.Conn.
func (c *conn) Close() error {
	if c.err == nil && !c.stream.Aborted() {
		c.seq = 0
		_ = c.write([]byte{0, 0, 0, 0, comQuit}) // a courtesy: the server sees the end anyway
		c.err = errors.New("the connection is closed")
		return c.top.Close()
	}
	return c.stream.Close()
}
