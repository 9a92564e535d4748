package pgwire

import (
	"fmt"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// Load implements wire.Loader for COPY … FROM STDIN (protocol-flow, COPY operations).
func (c *conn) Load(statement []byte, next func(buf []byte) ([]byte, error)) (wire.Result, error) {
	if c.err != nil {
		return wire.Result{}, c.err
	}
	c.out = begin(c.out[:0], msgQuery)
	c.out = append(append(c.out, statement...), 0)
	end(c.out, 0)
	if _, err := c.w.Write(c.out); err != nil {
		return wire.Result{}, c.fail(err)
	}
	ready, err := c.copyIn()
	if err != nil || !ready {
		return wire.Result{}, err
	}
	for {
		rows, err := next(begin(c.out[:0], msgCopyData))
		if err != nil {
			return wire.Result{}, c.failCopy(err)
		}
		c.out = rows
		if len(rows) == headerSize {
			break
		}
		end(rows, 0)
		if _, err := c.w.Write(rows); err != nil {
			return wire.Result{}, c.fail(err)
		}
	}
	done := begin(nil, msgCopyDone)
	end(done, 0)
	if _, err := c.w.Write(done); err != nil {
		return wire.Result{}, c.fail(err)
	}
	return c.answer()
}

// copyIn waits for the server to be ready for rows. If it refuses, or if the
// statement was done without any, the connection is in step again.
func (c *conn) copyIn() (ready bool, err error) {
	var refused error
	for {
		kind, size, err := c.header()
		if err != nil {
			return false, c.lost(err, refused)
		}
		switch kind {
		case msgCopyIn:
			if err := c.skip(size); err != nil {
				return false, c.fail(err)
			}
			return true, nil
		case msgReadyForQuery:
			if err := c.skip(size); err != nil {
				return false, c.fail(err)
			}
			if refused == nil {
				return false, c.fail(protocolError("no request for rows"))
			}
			return false, refused
		default:
			if err := c.aside(kind, size, &refused); err != nil {
				return false, c.lost(err, refused)
			}
		}
	}
}

// failCopy has the server forget the rows so far.
func (c *conn) failCopy(cause error) error {
	out := begin(nil, msgCopyFail)
	out = append(append(out, "no more rows"...), 0)
	end(out, 0)
	if _, err := c.w.Write(out); err != nil {
		return c.fail(err)
	}
	if _, err := c.answer(); c.err != nil {
		return err
	}
	return fmt.Errorf("make the rows to load: %w", cause)
}
