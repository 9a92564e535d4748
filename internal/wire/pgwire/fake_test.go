package pgwire

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/stream"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest"
)

// message is one message of the server.
func message(kind byte, body string) []byte {
	out := append(begin(nil, kind), body...)
	end(out, 0)
	return out
}

func join(messages ...[]byte) []byte { return slices.Concat(messages...) }

func row(size int) []byte { return message(msgDataRow, string(make([]byte, size))) }

func failure(severity, code, text string) []byte {
	return message(msgError, "S"+severity+"\x00V"+severity+"\x00C"+code+"\x00M"+text+"\x00\x00")
}

func complete(tag string) []byte { return message(msgCommandComplete, tag+"\x00") }

// Messages that need no variation.
var (
	ready     = message(msgReadyForQuery, "I")
	bound     = message(msgBindComplete, "")
	notice    = message(msgNotice, "SNOTICE\x00Mhello\x00\x00")
	parameter = message(msgParameterStatus, "TimeZone\x00UTC\x00")
	columns   = message(msgRowDescription, "\x00\x01c\x00aaaabbccccddeeeeff")
)

// described is the answer to Parse and Describe of a statement with parameters
// of the given types.
func described(types ...uint32) []byte {
	body := binary.BigEndian.AppendUint16(nil, uint16(len(types)))
	for _, oid := range types {
		body = binary.BigEndian.AppendUint32(body, oid)
	}
	return join(message(msgParseComplete, ""), message(msgParameterDescription, string(body)), columns, ready)
}

// fake is a scripted server: answer gets everything up to Sync or Query, and
// nil or a FATAL error from it closes the connection.
type fake struct {
	tls    *tls.Config
	answer func(messages []byte) []byte
}

func (f *fake) serve(conn net.Conn) {
	var rw io.ReadWriter = conn
	if f.tls != nil {
		if _, err := io.ReadFull(conn, make([]byte, 8)); err != nil {
			return
		}
		if _, err := conn.Write([]byte("S")); err != nil {
			return
		}
		rw = tls.Server(conn, f.tls)
	}
	r := bufio.NewReader(rw)
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return
	}
	if _, err := r.Discard(int(binary.BigEndian.Uint32(head)) - 4); err != nil {
		return
	}
	greeting := join(message('R', "\x00\x00\x00\x00"), parameter, message('K', "\x00\x00\x00\x01\x00\x00\x00\x02"), ready, notice)
	if _, err := rw.Write(greeting); err != nil {
		return
	}
	var asked []byte
	for {
		head, err := r.Peek(headerSize)
		if err != nil {
			return
		}
		kind := head[0]
		whole := make([]byte, 1+binary.BigEndian.Uint32(head[1:]))
		if _, err := io.ReadFull(r, whole); err != nil || kind == msgTerminate {
			return
		}
		asked = append(asked, whole...)
		if kind != msgSync && kind != msgQuery {
			continue
		}
		answer := join(message(msgEmptyQuery, ""), ready)
		if string(asked) != "Q\x00\x00\x00\x0c-- ping\x00" { // pgconn's, for the notice after ready
			answer = f.answer(asked)
		}
		if answer == nil {
			return
		}
		if _, err := rw.Write(answer); err != nil || bytes.Contains(answer, []byte("FATAL")) {
			return
		}
		asked = nil
	}
}

// over gives a connection that reads answer in pieces of size bytes.
func over(answer []byte, size int) *conn {
	memory := &wiretest.Pieces{Answer: answer, Size: size}
	return &conn{r: bufio.NewReaderSize(memory, readBuffer), w: memory, stream: &stream.Stream{}}
}

// connect logs in at the fake.
func connect(t testing.TB, f *fake) wire.Conn {
	t.Helper()
	c, err := Dial(wiretest.Context(t), wiretest.Serve(t, f.serve))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
