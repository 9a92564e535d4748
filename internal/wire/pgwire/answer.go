package pgwire

import (
	"bytes"
	"encoding/binary"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// answer reads the answer to a query or an execution up to ReadyForQuery. After
// an error of the server that is also where the connection is in step again.
func (c *conn) answer() (wire.Result, error) {
	var result wire.Result
	var refused error
	for {
		c.bufferedRows(&result)
		kind, size, err := c.header()
		if err != nil {
			return result, c.lost(err, refused)
		}
		switch kind {
		case msgDataRow:
			result.Rows++
			result.Bytes += int64(size)
			err = c.skip(size)
		case msgBindComplete, msgRowDescription, msgEmptyQuery:
			err = c.skip(size)
		case msgCommandComplete:
			var body []byte
			if body, err = c.small(size); err == nil {
				result.Affected += affected(body)
			}
		case msgReadyForQuery:
			if err = c.skip(size); err == nil {
				return result, refused
			}
		default:
			err = c.aside(kind, size, &refused)
		}
		if err != nil {
			return result, c.lost(err, refused)
		}
	}
}

// bufferedRows counts the rows that lie whole in the buffer, and stops at
// anything else.
func (c *conn) bufferedRows(result *wire.Result) {
	buf, _ := c.r.Peek(c.r.Buffered())
	rows, at := int64(0), 0
	for at+headerSize <= len(buf) && buf[at] == msgDataRow {
		length := binary.BigEndian.Uint32(buf[at+1:])
		next := uint64(at) + 1 + uint64(length)
		if length < lengthSize || next > uint64(len(buf)) {
			break
		}
		rows++
		at = int(next)
	}
	if rows > 0 {
		result.Rows += rows
		result.Bytes += int64(at) - rows*headerSize
		_, _ = c.r.Discard(at) // cannot fail: at bytes are buffered
	}
}

// affected reads the count of changed rows from a command tag: "INSERT 0 5",
// "UPDATE 5", "DELETE 5", "MERGE 5", and of loaded ones "COPY 5". Other commands change no rows, though
// theirs may end in a count, too.
func affected(tag []byte) int64 {
	if len(tag) < 2 {
		return 0
	}
	switch tag[0] {
	case 'I', 'U', 'D':
	case 'C': // not CREATE, CLOSE or COMMIT
		if !bytes.HasPrefix(tag, []byte("COPY ")) {
			return 0
		}
	case 'M': // not MOVE
		if tag[1] != 'E' {
			return 0
		}
	default:
		return 0
	}
	var count, unit int64 = 0, 1
	for i := len(tag) - 2; i > 0 && tag[i] != ' '; i-- { // a NUL ends the tag
		digit := tag[i] - '0'
		if digit > 9 || unit > 1e17 {
			return 0
		}
		count += int64(digit) * unit
		unit *= 10
	}
	return count
}
