package pgwire

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/stream"
)

// Dial logs in at address; ctx bounds that and nothing later. Its errors are
// those of wire.ConnectError: one line with user and address, without the
// password.
//
// pgconn does TLS and the authentication and then hands its connection over.
func Dial(ctx context.Context, address wire.Address) (wire.Conn, error) {
	c, err := dial(ctx, address)
	if err != nil {
		return nil, wire.ConnectError(ctx, "PostgreSQL", address, plain(err))
	}
	return c, nil
}

func dial(ctx context.Context, address wire.Address) (*conn, error) {
	config, err := login(address)
	if err != nil {
		return nil, err
	}
	var s *stream.Stream
	config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		var err error
		s, err = stream.Dial(ctx, address)
		return s, err
	}
	session, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	top, err := handOver(ctx, session)
	if err == nil {
		err = s.Detach()
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return &conn{r: bufio.NewReaderSize(top, readBuffer), w: top, stream: s, top: top}, nil
}

// login is pgconn's configuration for one login at address and nowhere else.
func login(address wire.Address) (*pgconn.Config, error) {
	// pgconn insists on parsing a configuration, and takes defaults from the
	// environment; everything that matters is set again below.
	config, err := pgconn.ParseConfig("host=localhost port=1 user=u dbname=d sslmode=disable target_session_attrs=any")
	if err != nil {
		return nil, fmt.Errorf("defaults from the environment: %w", err)
	}
	config.Host, config.Port = address.Host, uint16(address.Port)
	config.User, config.Password, config.Database = address.User, address.Password, address.Database
	config.TLSConfig = address.ClientTLS()
	config.RuntimeParams = map[string]string{"application_name": "dbcanary"}
	config.Fallbacks, config.ConnectTimeout = nil, 0
	config.MaxProtocolMessageBodyLen = readBuffer // another protocol's bytes can ask for much more
	config.ValidateConnect, config.AfterConnect = nil, nil
	config.LookupFunc = func(context.Context, string) ([]string, error) {
		return []string{address.Host}, nil // our own dialer resolves it
	}
	return config, nil
}

// handOver takes the connection from pgconn with nothing of it read ahead.
func handOver(ctx context.Context, session *pgconn.PgConn) (io.ReadWriteCloser, error) {
	if err := session.SyncConn(ctx); err != nil {
		return nil, err
	}
	taken, err := session.Hijack()
	if err != nil {
		return nil, err
	}
	return taken.Conn, nil
}

// plain takes what a server or the network said out of pgconn's wrapping, which
// repeats the address on several lines.
func plain(err error) error {
	var refused *pgconn.PgError
	var network net.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &refused):
		return &wire.ServerError{Code: refused.Code, Message: wire.OneLine(refused.Message)}
	case errors.As(err, &network): // ctx's errors are such, too
		return network
	case errors.As(err, &certificate):
		return certificate
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	}
	// What is left is pgconn's own view of what the server said.
	return protocolError("%s", wire.OneLine(innermost(err).Error()))
}

// innermost gives the last error in a chain; of several, the last.
func innermost(err error) error {
	for {
		var next error
		switch wrapper := err.(type) {
		case interface{ Unwrap() error }:
			next = wrapper.Unwrap()
		case interface{ Unwrap() []error }:
			if all := wrapper.Unwrap(); len(all) > 0 {
				next = all[len(all)-1]
			}
		}
		if next == nil {
			return err
		}
		err = next
	}
}
