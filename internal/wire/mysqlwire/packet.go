package mysqlwire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/stream"
)

// The format is that of "MySQL Packets" in the MySQL source documentation,
// page_protocol_basic_packets: 3 bytes of length, 1 of sequence number, payload;
// a payload of maxPayload bytes or more goes on in the next packet.
const (
	headerSize = 4
	maxPayload = 1<<24 - 1

	// readBuffer is the most that a packet which has to be seen whole may take:
	// everything but rows and column definitions, which are skipped.
	readBuffer = 16 << 10
)

// packets reads and writes packets and keeps the sequence numbers.
type packets struct {
	r   *bufio.Reader
	w   io.Writer
	seq byte // of the next packet, either way
}

func newPackets(rw io.ReadWriter) packets {
	return packets{r: bufio.NewReaderSize(rw, readBuffer), w: rw}
}

// protocolError is an answer that the protocol does not allow.
func protocolError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", wire.ErrProtocol, fmt.Sprintf(format, args...))
}

// header reads the header of the next packet.
func (p *packets) header() (length int, err error) {
	head, err := p.r.Peek(headerSize)
	if err != nil {
		return 0, err
	}
	if head[3] != p.seq {
		return 0, protocolError("packet number %d where %d was due", head[3], p.seq)
	}
	length = int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	p.seq++
	_, err = p.r.Discard(headerSize)
	return length, err
}

// read gives the payload of the next packet, which must be a small one. It is
// good until the next read.
func (p *packets) read() ([]byte, error) {
	length, err := p.header()
	if err != nil {
		return nil, err
	}
	return p.payload(length)
}

// payload gives a payload of the given length whose header has been read.
func (p *packets) payload(length int) ([]byte, error) {
	if length == 0 {
		return nil, protocolError("an empty packet")
	}
	if length > readBuffer {
		return nil, protocolError("a packet of %d bytes where a short one was due", length)
	}
	payload, err := p.r.Peek(length)
	if err != nil {
		return nil, err
	}
	_, err = p.r.Discard(length)
	return payload, err
}

// skip passes over the rest of a payload whose first header said length, over
// as many packets as it has, and gives the whole length.
func (p *packets) skip(length int) (total int64, err error) {
	for {
		if _, err := p.r.Discard(length); err != nil {
			return total, err
		}
		total += int64(length)
		if length < maxPayload {
			return total, nil
		}
		if length, err = p.header(); err != nil {
			return total, err
		}
	}
}

// write sends buf, whose first headerSize bytes are room for the header, as one
// payload. It may overwrite buf.
func (p *packets) write(buf []byte) error {
	for {
		length := min(len(buf)-headerSize, maxPayload)
		buf[0], buf[1], buf[2], buf[3] = byte(length), byte(length>>8), byte(length>>16), p.seq
		p.seq++
		if _, err := p.w.Write(buf[:headerSize+length]); err != nil {
			return err
		}
		if length < maxPayload {
			return nil
		}
		// What was sent makes room for the next header.
		buf = buf[length:]
	}
}

// lenenc reads a length-encoded integer (page_protocol_basic_dt_integers); size
// is 0 if there is none.
func lenenc(b []byte) (value uint64, size int) {
	if len(b) == 0 {
		return 0, 0
	}
	switch first := b[0]; {
	case first < 0xfb:
		return uint64(first), 1
	case first == 0xfc && len(b) >= 3:
		return uint64(binary.LittleEndian.Uint16(b[1:])), 3
	case first == 0xfd && len(b) >= 4:
		return uint64(b[1]) | uint64(b[2])<<8 | uint64(b[3])<<16, 4
	case first == 0xfe && len(b) >= 9:
		return binary.LittleEndian.Uint64(b[1:]), 9
	}
	return 0, 0
}

// appendLenenc appends a length-encoded integer.
func appendLenenc(b []byte, n uint64) []byte {
	switch {
	case n < 0xfb:
		return append(b, byte(n))
	case n < 1<<16:
		return append(b, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(b, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(b, 0xfe), n)
}

// serverError reads an ERR packet (page_protocol_basic_err_packet).
func serverError(payload []byte) error {
	if len(payload) < 3 {
		return protocolError("an error packet of %d bytes", len(payload))
	}
	number := binary.LittleEndian.Uint16(payload[1:])
	message := payload[3:]
	if len(message) >= 6 && message[0] == '#' { // the SQLSTATE, which says less than the number
		message = message[6:]
	}
	return &wire.ServerError{
		Code:      fmt.Sprint(number),
		Message:   wire.OneLine(string(message)),
		Retryable: number == errDeadlock || number == errLockWaitTimeout || number == errRecordChanged,
	}
}

// Errors after which the server asks to run the transaction again.
const (
	errRecordChanged   = 1020 // ER_CHECKREAD: MariaDB's innodb_snapshot_isolation
	errLockWaitTimeout = 1205
	errDeadlock        = 1213
)

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
