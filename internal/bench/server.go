package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// Server is a server that somebody else runs, and a database of it.
type Server struct {
	Identity
	server  dbms.Server
	address wire.Address
	timeout time.Duration
}

// Connect logs in at a DSN; each login, also those of a later run, may take as
// long as timeout.
func Connect(ctx context.Context, dsn string, timeout time.Duration) (*Server, error) {
	spec, err := dbcanary.ParseTargetSpec(dsn)
	if err == nil && spec.DSN == "" {
		err = dbcanary.Errorf(dbcanary.CodeUsage, "%q is no DSN: it starts with mysql://, mariadb:// or postgres://", dbcanary.RedactDSN(dsn))
	}
	if err != nil {
		return nil, err
	}
	opener, ok := drivers.For(spec.Family).(dbms.Opener)
	if !ok {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "bench takes no %s server", spec.Family)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	server, err := opener.Open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	if server.Address().Database == "" {
		return nil, errors.Join(dbcanary.Errorf(dbcanary.CodeUsage, "the DSN names no database: write %s://user@host/database", spec.Family), server.Stop(ctx))
	}
	s := &Server{server: server, address: server.Address(), timeout: timeout}
	s.Identity = Identity{Family: spec.Family, Version: server.Version(), Address: s.address.String()}
	if spec.Family != dbcanary.Postgres {
		var version string
		if err := server.Admin().QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
			return nil, errors.Join(fmt.Errorf("ask %s for its version: %w", s.Address, err), s.Close())
		}
		s.Family = dbcanary.MySQL
		if strings.Contains(strings.ToLower(version), "mariadb") {
			s.Family = dbcanary.MariaDB
		}
	}
	return s, nil
}

// Close disconnects.
func (s *Server) Close() error { return s.server.Stop(context.Background()) }

func (s *Server) connect(ctx context.Context) (wire.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.server.Connect(ctx)
}
