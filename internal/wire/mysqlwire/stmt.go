package mysqlwire

import (
	"encoding/binary"
	"fmt"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// Types of a binary argument (page_protocol_com_stmt_execute).
const (
	typeBigint    = 0x08
	typeVarString = 0xfd
)

// stmt is a prepared statement with the packet that executes it, ready up to
// the first argument.
type stmt struct {
	conn   *conn
	params []wire.Kind
	out    []byte
	head   int  // bytes of out before the first argument
	bound  bool // the server knows the types of the arguments
}

func newStmt(c *conn, id uint32, params []wire.Kind) *stmt {
	s := &stmt{conn: c, params: append([]wire.Kind(nil), params...)}
	out := append(make([]byte, 0, 128), 0, 0, 0, 0, comStmtExecute)
	out = binary.LittleEndian.AppendUint32(out, id)
	out = append(out, 0)                           // no cursor
	out = binary.LittleEndian.AppendUint32(out, 1) // iterations
	if len(params) > 0 {
		out = append(out, make([]byte, (len(params)+7)/8)...) // no argument is NULL
		out = append(out, 1)                                  // types follow
		for _, kind := range params {
			if kind == wire.Text {
				out = append(out, typeVarString, 0)
			} else {
				out = append(out, typeBigint, 0)
			}
		}
	}
	s.out, s.head = out, len(out)
	return s
}

// Exec implements wire.Stmt.
func (s *stmt) Exec(args []wire.Arg) (wire.Result, error) {
	if s.conn.err != nil {
		return wire.Result{}, s.conn.err
	}
	if len(args) != len(s.params) {
		return wire.Result{}, fmt.Errorf("%d arguments for %d placeholders", len(args), len(s.params))
	}
	out := s.out[:s.head]
	for i := range args {
		if s.params[i] == wire.Int {
			out = binary.LittleEndian.AppendUint64(out, uint64(args[i].Int))
		} else {
			out = append(appendLenenc(out, uint64(len(args[i].Text))), args[i].Text...)
		}
	}
	s.out = out
	result, err := s.conn.roundTrip(out)
	if err == nil && !s.bound {
		s.keepTypes()
	}
	return result, err
}

// keepTypes drops the types from the packet: the server remembers those of the
// execution before.
func (s *stmt) keepTypes() {
	s.bound = true
	if len(s.params) > 0 {
		s.head -= 2 * len(s.params)
		s.out[s.head-1] = 0
	}
}
