package mysqlwire

import (
	"encoding/binary"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// First bytes of a payload (page_protocol_basic_response_packets).
const (
	okPacket    = 0x00
	localInfile = 0xfb
	eofPacket   = 0xfe // also an OK packet that ends a result, with CLIENT_DEPRECATE_EOF
	errPacket   = 0xff
	eofSize     = 5
	maxColumns  = 1 << 16
	moreResults = 0x0008 // SERVER_MORE_RESULTS_EXISTS
)

// answer reads the answer to a query or an execution
// (page_protocol_com_query_response).
func (c *conn) answer() (wire.Result, error) {
	payload, err := c.read()
	if err != nil {
		return wire.Result{}, c.fail(err)
	}
	switch payload[0] {
	case okPacket:
		affected, err := c.ok(payload)
		if err != nil {
			return wire.Result{}, c.fail(err)
		}
		return wire.Result{Affected: affected}, nil
	case errPacket:
		return wire.Result{}, c.refused(payload)
	case localInfile:
		return wire.Result{}, c.fail(protocolError("the server asks for a local file"))
	}
	columns, size := lenenc(payload)
	if size == 0 || columns == 0 || columns >= maxColumns {
		return wire.Result{}, c.fail(protocolError("a result of %d columns", columns))
	}
	// https://mariadb.com/docs/server/reference/clientserver-protocol/4-server-response-packets/result-set-packets
	if !c.cacheColumns || len(payload) == size || payload[size] != 0 {
		err = c.skipDefinitions(int(columns))
	} else if !c.deprecateEOF {
		err = c.eof()
	}
	if err != nil {
		return wire.Result{}, c.fail(err)
	}
	return c.rows()
}

// skipDefinitions passes over n column definitions and what ends them.
func (c *conn) skipDefinitions(n int) error {
	for range n {
		length, err := c.header()
		if err != nil {
			return err
		}
		if _, err := c.skip(length); err != nil {
			return err
		}
	}
	if c.deprecateEOF {
		return nil
	}
	return c.eof()
}

// eof reads the EOF packet after definitions.
func (c *conn) eof() error {
	payload, err := c.read()
	if err == nil && (payload[0] != eofPacket || len(payload) != eofSize) {
		err = protocolError("%#x where the definitions should end", payload[0])
	}
	return err
}

// rows counts rows up to the end of the result or an error. A row of the binary
// protocol begins with 0; one of the text protocol can begin with 0xfe only if
// its first value is so long that the packet is full.
func (c *conn) rows() (wire.Result, error) {
	var result wire.Result
	for {
		c.bufferedRows(&result)
		length, err := c.header()
		if err != nil {
			return result, c.fail(err)
		}
		if length == 0 {
			return result, c.fail(protocolError("an empty packet"))
		}
		head, err := c.r.Peek(1)
		if err != nil {
			return result, c.fail(err)
		}
		first := head[0]
		if first == errPacket || first == eofPacket && length < maxPayload {
			return c.endOfRows(result, length)
		}
		size, err := c.skip(length)
		if err != nil {
			return result, c.fail(err)
		}
		result.Rows++
		result.Bytes += size
	}
}

// bufferedRows counts the rows that lie whole in the buffer, and stops at
// anything else.
func (c *conn) bufferedRows(result *wire.Result) {
	buf, _ := c.r.Peek(c.r.Buffered())
	rows, at, seq := int64(0), 0, c.seq
	for at+headerSize < len(buf) {
		length := int(buf[at]) | int(buf[at+1])<<8 | int(buf[at+2])<<16
		next := at + headerSize + length
		if length == 0 || next > len(buf) || buf[at+3] != seq || buf[at+headerSize] >= eofPacket {
			break
		}
		rows++
		seq++
		at = next
	}
	if rows > 0 {
		c.seq = seq
		result.Rows += rows
		result.Bytes += int64(at) - rows*headerSize
		_, _ = c.r.Discard(at) // cannot fail: at bytes are buffered
	}
}

// endOfRows reads the packet after the last row.
func (c *conn) endOfRows(result wire.Result, length int) (wire.Result, error) {
	payload, err := c.payload(length)
	if err != nil {
		return result, c.fail(err)
	}
	if payload[0] == errPacket {
		return result, c.refused(payload)
	}
	var status uint16
	switch {
	case c.deprecateEOF:
		result.Affected, err = c.ok(payload)
	case len(payload) != eofSize:
		err = protocolError("an EOF packet of %d bytes", len(payload))
	default:
		status = binary.LittleEndian.Uint16(payload[3:])
	}
	if err == nil && status&moreResults != 0 {
		err = protocolError("more than one result")
	}
	if err != nil {
		return result, c.fail(err)
	}
	return result, nil
}

// ok reads an OK packet (page_protocol_basic_ok_packet).
func (c *conn) ok(payload []byte) (affected int64, err error) {
	rest := payload[1:]
	rows, size := lenenc(rest)
	if size == 0 {
		return 0, protocolError("an OK packet of %d bytes", len(payload))
	}
	rest = rest[size:]
	_, size = lenenc(rest) // the last insert id
	if size == 0 || len(rest) < size+2 {
		return 0, protocolError("an OK packet of %d bytes", len(payload))
	}
	if binary.LittleEndian.Uint16(rest[size:])&moreResults != 0 {
		return 0, protocolError("more than one result")
	}
	c.warnings = 0
	if rest = rest[size+2:]; len(rest) >= 2 {
		c.warnings = binary.LittleEndian.Uint16(rest)
	}
	return int64(rows), nil
}
