package pgwire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// Messages, from "Message Formats" in PostgreSQL's manual (protocol-message-formats).
const (
	msgBind      = 'B'
	msgDescribe  = 'D'
	msgExecute   = 'E'
	msgParse     = 'P'
	msgQuery     = 'Q'
	msgSync      = 'S'
	msgCopyData  = 'd'
	msgCopyDone  = 'c'
	msgCopyFail  = 'f'
	msgTerminate = 'X'

	msgParseComplete        = '1'
	msgBindComplete         = '2'
	msgCopyIn               = 'G'
	msgNotification         = 'A'
	msgCommandComplete      = 'C'
	msgDataRow              = 'D'
	msgError                = 'E'
	msgEmptyQuery           = 'I'
	msgNoData               = 'n'
	msgNotice               = 'N'
	msgParameterDescription = 't'
	msgParameterStatus      = 'S'
	msgReadyForQuery        = 'Z'
	msgRowDescription       = 'T'
)

const (
	// headerSize is the type and the length, which counts itself but not the type.
	headerSize = 5
	lengthSize = 4

	// readBuffer is also the most that a message which has to be seen whole may
	// take: everything but rows, row descriptions and notices, which are skipped.
	readBuffer = 16 << 10
)

// protocolError is an answer that the protocol does not allow.
func protocolError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", wire.ErrProtocol, fmt.Sprintf(format, args...))
}

// begin appends the head of a message whose length end fills in.
func begin(out []byte, kind byte) []byte { return append(out, kind, 0, 0, 0, 0) }

// end completes the message that begins at the offset start and ends out.
func end(out []byte, start int) {
	binary.BigEndian.PutUint32(out[start+1:], uint32(len(out)-start-1))
}

// header reads the type of the next message and the size of what follows.
func (c *conn) header() (kind byte, size int, err error) {
	head, err := c.r.Peek(headerSize)
	if err != nil {
		return 0, 0, err
	}
	kind = head[0]
	length := binary.BigEndian.Uint32(head[1:])
	if length < lengthSize || length > math.MaxInt32 {
		return 0, 0, protocolError("a message %q of length %d", kind, length)
	}
	_, err = c.r.Discard(headerSize)
	return kind, int(length) - lengthSize, err
}

// small gives the body of a message that is not long, good until the next read.
func (c *conn) small(size int) ([]byte, error) {
	if size > readBuffer {
		return nil, protocolError("a message of %d bytes where a short one was due", size)
	}
	body, err := c.r.Peek(size)
	if err != nil {
		return nil, err
	}
	_, err = c.r.Discard(size)
	return body, err
}

func (c *conn) skip(size int) error {
	_, err := c.r.Discard(size)
	return err
}

// aside handles what may come between the messages of any answer. An error
// that the server sends goes to refused, unless one is there.
func (c *conn) aside(kind byte, size int, refused *error) error {
	switch kind {
	case msgNotice, msgParameterStatus, msgNotification:
		return c.skip(size)
	case msgError:
		body, err := c.small(size)
		if err != nil {
			return err
		}
		if *refused == nil {
			*refused = serverError(body)
		}
		return nil
	}
	return protocolError("message %q", kind)
}

// serverError reads the fields of an ErrorResponse (protocol-error-fields).
func serverError(body []byte) *wire.ServerError {
	var failure wire.ServerError
	for len(body) > 1 {
		kind := body[0]
		value, rest, _ := bytes.Cut(body[1:], []byte{0})
		switch kind {
		case 'C':
			failure.Code = wire.OneLine(string(value))
		case 'M':
			failure.Message = wire.OneLine(string(value))
		}
		body = rest
	}
	failure.Retryable = failure.Code == serializationFailure || failure.Code == deadlockDetected
	return &failure
}

// Errors after which the transaction may be run again (errcodes-appendix).
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
)
