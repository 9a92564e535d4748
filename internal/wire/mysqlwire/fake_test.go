package mysqlwire

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/stream"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest"
)

const testScramble = "abcdefghijklmnopqrst"

// frame puts payloads into packets numbered from seq on, splitting the long ones.
func frame(seq byte, payloads ...[]byte) []byte {
	var out []byte
	for _, payload := range payloads {
		for {
			n := min(len(payload), maxPayload)
			out = append(out, byte(n), byte(n>>8), byte(n>>16), seq)
			out = append(out, payload[:n]...)
			payload = payload[n:]
			seq++
			if n < maxPayload {
				break
			}
		}
	}
	return out
}

func okPayload(first byte, affected uint64, status uint16) []byte {
	out := appendLenenc([]byte{first}, affected)
	out = append(out, 0)
	out = binary.LittleEndian.AppendUint16(out, status)
	return append(out, 0, 0)
}

func eofPayload(status uint16) []byte {
	return binary.LittleEndian.AppendUint16([]byte{eofPacket, 0, 0}, status)
}

func errPayload(number uint16, message string) []byte {
	out := binary.LittleEndian.AppendUint16([]byte{errPacket}, number)
	return append(append(out, "#HY000"...), message...)
}

func definition() []byte { return []byte("\x03def\x04shop\x01t\x01t\x01c\x01c\x0c\x2d\x00\x00\x00") }

// resultSet is an answer of the given rows as a server sends it.
func resultSet(deprecateEOF bool, rows ...[]byte) [][]byte {
	out := [][]byte{{1}, definition()}
	if !deprecateEOF {
		out = append(out, eofPayload(2))
	}
	out = append(out, rows...)
	if deprecateEOF {
		return append(out, okPayload(eofPacket, 0, 2))
	}
	return append(out, eofPayload(2))
}

// greetingPayload is the greeting of a server with the given flags.
func greetingPayload(caps capabilities, plugin string) []byte {
	out := append([]byte{protocolVersion}, "5.5.5-10.11.9-MariaDB\x00"...)
	out = append(out, 1, 0, 0, 0)
	out = append(append(out, testScramble[:firstScramble]...), 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(caps.base))
	out = append(out, utf8mb4, 2, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(caps.base>>16))
	out = append(out, scrambleSize+1, 0, 0, 0, 0, 0, 0)
	out = binary.LittleEndian.AppendUint32(out, caps.mariaDB)
	out = append(append(out, testScramble[firstScramble:]...), 0)
	return append(append(out, plugin...), 0)
}

// fake is a scripted server.
type fake struct {
	caps   capabilities
	plugin string
	tls    *tls.Config
	auth   func(*peer)                   // after the client's first answer; nil lets it in
	answer func(command []byte) [][]byte // nil payloads close the connection
}

// peer is the server's side of a connection.
type peer struct {
	packets
	conn net.Conn
}

func (f *fake) serve(conn net.Conn) {
	p := &peer{packets: newPackets(conn), conn: conn}
	if p.write(append(make([]byte, headerSize), greetingPayload(f.caps, f.plugin)...)) != nil {
		return
	}
	if f.tls != nil {
		// Nothing may be read ahead of the client's side of TLS.
		if _, err := io.ReadFull(conn, make([]byte, headerSize+32)); err != nil {
			return
		}
		over := tls.Server(conn, f.tls)
		p = &peer{packets: newPackets(over), conn: over}
		p.seq = 2
	}
	if _, err := p.read(); err != nil {
		return
	}
	if f.auth != nil {
		f.auth(p)
	} else {
		p.send(okPayload(okPacket, 0, 2))
	}
	for {
		p.seq = 0
		length, err := p.header()
		if err != nil {
			return
		}
		command := make([]byte, length)
		if _, err := io.ReadFull(p.r, command); err != nil || command[0] == comQuit {
			return
		}
		payloads := f.answer(command)
		if payloads == nil {
			return
		}
		if _, err := p.w.Write(frame(1, payloads...)); err != nil {
			return
		}
	}
}

func (p *peer) send(payload []byte) {
	_ = p.write(append(make([]byte, headerSize), payload...))
}

// modern and old are flags of servers of today and of MySQL 5.6.
var (
	modern = capabilities{base: clientMust | clientMySQL | clientDeprecateEOF | clientSSL}
	old    = capabilities{base: clientMust | clientMySQL}
)

// over gives a connection that reads answer in pieces of size bytes.
func over(answer []byte, size int, deprecateEOF, cacheColumns bool) *conn {
	return &conn{
		packets:      newPackets(&wiretest.Pieces{Answer: answer, Size: size}),
		stream:       &stream.Stream{},
		deprecateEOF: deprecateEOF,
		cacheColumns: cacheColumns,
	}
}

// connect logs in at the fake.
func connect(t testing.TB, f *fake) wire.Conn {
	t.Helper()
	if f.plugin == "" {
		f.plugin = nativePassword
	}
	c, err := Dial(wiretest.Context(t), wiretest.Serve(t, f.serve))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
