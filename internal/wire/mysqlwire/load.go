package mysqlwire

import (
	"fmt"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// Load implements wire.Loader for LOAD DATA LOCAL INFILE
// (page_protocol_com_query_response_local_infile_request). Whatever file the
// statement names, the server gets what next gives and nothing else.
func (c *conn) Load(statement []byte, next func(buf []byte) ([]byte, error)) (wire.Result, error) {
	if c.err != nil {
		return wire.Result{}, c.err
	}
	c.seq = 0
	c.out = append(append(c.out[:0], 0, 0, 0, 0, comQuery), statement...)
	if err := c.write(c.out); err != nil {
		return wire.Result{}, c.fail(err)
	}
	payload, err := c.read()
	if err != nil {
		return wire.Result{}, c.fail(err)
	}
	switch payload[0] {
	case localInfile:
	case errPacket:
		return wire.Result{}, c.refused(payload)
	default:
		return wire.Result{}, c.fail(protocolError("%#x where the server should ask for rows", payload[0]))
	}
	for {
		rows, err := next(append(c.out[:0], 0, 0, 0, 0))
		if err != nil {
			// An end would have the server keep the rows so far: it must see none.
			return wire.Result{}, c.fail(fmt.Errorf("make the rows to load: %w", err))
		}
		c.out = rows
		if len(rows) == headerSize {
			break
		}
		if len(rows)-headerSize >= maxPayload {
			return wire.Result{}, c.fail(fmt.Errorf("%d bytes of rows at once are more than a packet holds", len(rows)-headerSize))
		}
		if err := c.write(rows); err != nil {
			return wire.Result{}, c.fail(err)
		}
	}
	if err := c.write([]byte{0, 0, 0, 0}); err != nil { // an empty packet ends the file
		return wire.Result{}, c.fail(err)
	}
	result, err := c.answer()
	if err == nil && c.warnings > 0 {
		// LOCAL turns errors about rows into warnings and goes on.
		err = fmt.Errorf("the server has %d warnings about %d rows loaded", c.warnings, result.Affected)
	}
	return result, err
}
