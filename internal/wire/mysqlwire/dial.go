package mysqlwire

import (
	"context"
	"crypto/tls"
	"fmt"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/stream"
)

// Dial logs in at address; ctx bounds that and nothing later. Its errors are
// those of wire.ConnectError: one line with user and address, without the
// password.
//
// The login is our own: go-mysql's client offers neither CLIENT_DEPRECATE_EOF
// nor MariaDB's cached column definitions, and keeps what it has read ahead.
func Dial(ctx context.Context, address wire.Address) (wire.Conn, error) {
	c, err := dial(ctx, address)
	if err != nil {
		return nil, wire.ConnectError(ctx, "MySQL", address, err)
	}
	return c, nil
}

func dial(ctx context.Context, address wire.Address) (*conn, error) {
	s, err := stream.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	login := login{packets: newPackets(s), address: address}
	c, err := login.run(s)
	if err == nil {
		err = s.Detach()
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return c, nil
}

// login is the connection phase (page_protocol_connection_phase).
type login struct {
	packets
	address wire.Address
	server  greeting
	secure  bool // nobody can listen: TLS or a unix socket
}

func (l *login) run(s *stream.Stream) (*conn, error) {
	c := &conn{stream: s, top: s}
	payload, err := l.read()
	if err != nil {
		return nil, err
	}
	if l.server, err = parseGreeting(payload); err != nil {
		return nil, err
	}
	want := clientCapabilities(l.server, l.address)
	l.secure = l.address.Socket != ""
	if l.address.TLS != nil {
		over, err := l.startTLS(s, want)
		if err != nil {
			return nil, err
		}
		c.top, l.secure = over, true
	}
	if err := l.authenticate(want); err != nil {
		return nil, err
	}
	c.packets = l.packets
	c.deprecateEOF = want.base&clientDeprecateEOF != 0
	c.cacheColumns = want.mariaDB&mariaDBCacheMetadata != 0
	return c, nil
}

// startTLS asks for TLS and goes on over it.
func (l *login) startTLS(s *stream.Stream, want capabilities) (*tls.Conn, error) {
	if l.server.caps.base&clientSSL == 0 {
		return nil, fmt.Errorf("the server offers no TLS, which the address asks for")
	}
	if err := l.write(appendResponseHead(make([]byte, headerSize), want)); err != nil {
		return nil, err
	}
	if l.r.Buffered() > 0 {
		return nil, protocolError("data before the TLS handshake")
	}
	over := tls.Client(s, l.address.ClientTLS())
	if err := over.Handshake(); err != nil {
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	seq := l.seq
	l.packets = newPackets(over)
	l.seq = seq
	return over, nil
}
