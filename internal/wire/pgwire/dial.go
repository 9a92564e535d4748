package pgwire

import (
	"bufio"
	"context"
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
	if errors.As(err, &refused) {
		return &wire.ServerError{Code: refused.Code, Message: wire.OneLine(refused.Message)}
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		for next := error(connect); next != nil; next = errors.Unwrap(next) {
			err = next
		}
	}
	return err
}
