package pgwire

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// Types of a parameter, from pg_type.dat.
const (
	oidInt8 = 20
	oidInt2 = 21
	oidInt4 = 23
)

// encoding is how an argument is sent.
type encoding byte

const (
	asText encoding = iota
	asDecimal
	asInt2
	asInt4
	asInt8
)

// stmt is a prepared statement with the messages that execute it, ready up to
// the first argument.
type stmt struct {
	conn      *conn
	encodings []encoding
	out       []byte
	head      int    // bytes of out before the first argument
	tail      []byte // what follows the last argument
}

func newStmt(c *conn, name string, params []wire.Kind, types []uint32) *stmt {
	s := &stmt{conn: c}
	out := append(begin(make([]byte, 0, 128), msgBind), 0) // the unnamed portal
	out = append(append(out, name...), 0)
	out = binary.BigEndian.AppendUint16(out, uint16(len(params)))
	for i, kind := range params {
		how := encodingOf(kind, types[i])
		format := uint16(0)
		if how >= asInt2 {
			format = 1
		}
		s.encodings = append(s.encodings, how)
		out = binary.BigEndian.AppendUint16(out, format)
	}
	out = binary.BigEndian.AppendUint16(out, uint16(len(params)))
	s.out, s.head = out, len(out)

	// Bind ends with the formats of the results: none, so all are text. Execute
	// names the unnamed portal and asks for all rows.
	s.tail = append(s.tail, 0, 0)
	execute := len(s.tail)
	s.tail = append(begin(s.tail, msgExecute), 0, 0, 0, 0, 0)
	end(s.tail, execute)
	sync := len(s.tail)
	s.tail = begin(s.tail, msgSync)
	end(s.tail, sync)
	return s
}

func encodingOf(kind wire.Kind, oid uint32) encoding {
	switch {
	case kind == wire.Text:
		return asText
	case oid == oidInt2:
		return asInt2
	case oid == oidInt4:
		return asInt4
	case oid == oidInt8:
		return asInt8
	}
	return asDecimal
}

// Exec implements wire.Stmt.
func (s *stmt) Exec(args []wire.Arg) (wire.Result, error) {
	if s.conn.err != nil {
		return wire.Result{}, s.conn.err
	}
	if len(args) != len(s.encodings) {
		return wire.Result{}, fmt.Errorf("%d arguments for %d parameters", len(args), len(s.encodings))
	}
	out := s.out[:s.head]
	for i := range args {
		value := args[i].Int
		switch s.encodings[i] {
		case asText:
			out = binary.BigEndian.AppendUint32(out, uint32(len(args[i].Text)))
			out = append(out, args[i].Text...)
		case asInt8:
			out = append(out, 0, 0, 0, 8)
			out = binary.BigEndian.AppendUint64(out, uint64(value))
		case asInt4:
			if int64(int32(value)) != value {
				return wire.Result{}, rangeError(i, value, "integer")
			}
			out = append(out, 0, 0, 0, 4)
			out = binary.BigEndian.AppendUint32(out, uint32(value))
		case asInt2:
			if int64(int16(value)) != value {
				return wire.Result{}, rangeError(i, value, "smallint")
			}
			out = append(out, 0, 0, 0, 2)
			out = binary.BigEndian.AppendUint16(out, uint16(value))
		case asDecimal:
			start := len(out)
			out = strconv.AppendInt(append(out, 0, 0, 0, 0), value, 10)
			binary.BigEndian.PutUint32(out[start:], uint32(len(out)-start-4))
		}
	}
	bind := len(out) + 2 - 1
	if bind > math.MaxInt32 {
		return wire.Result{}, fmt.Errorf("arguments of %d bytes are more than a message holds", bind)
	}
	out = append(out, s.tail...)
	binary.BigEndian.PutUint32(out[1:], uint32(bind))
	s.out = out
	return s.conn.roundTrip(out)
}

func rangeError(i int, value int64, kind string) error {
	return fmt.Errorf("argument %d: %d is out of range for the %s that the statement takes", i+1, value, kind)
}
