package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/pgwire"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Attach connects to a server that somebody else runs, by a DSN with whatever
// parameters pgx takes. Its work is in a database of its own, which Stop drops.
func (d *Driver) Attach(ctx context.Context, dsn string) (dbms.Server, error) {
	server, err := d.attach(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", dbcanary.RedactDSN(dsn), err)
	}
	return server, nil
}

func (d *Driver) attach(ctx context.Context, dsn string) (_ *server, err error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		// pgx's own error repeats the DSN.
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "the DSN is not like postgres://user:password@host:5432/postgres")
	}
	maintenance := stdlib.OpenDB(*config)
	foreign := claim{maintenance, config}
	defer func() {
		if err != nil {
			err = errors.Join(err, maintenance.Close())
		}
	}()
	version, err := askVersion(ctx, maintenance)
	if err != nil {
		return nil, dbcanary.Errorf(dbcanary.CodeUnavailable, "%w", err)
	}
	reached, err := reach(ctx, config.Copy())
	if err != nil {
		return nil, err
	}
	reached.Database = database
	if err := dbms.ClaimDatabase(ctx, foreign); err != nil {
		return nil, err
	}
	admin := foreign.open()
	s := &server{Handle: dbms.NewAttached(reached, func(ctx context.Context) error {
		// A database can't be dropped by, or under, a session in it.
		return errors.Join(admin.Close(), dbms.DropDatabase(ctx, foreign), maintenance.Close())
	})}
	s.Release, s.DB = version, admin
	return s, nil
}

// Open connects to a server that somebody else runs, in the database that the DSN
// names.
func (d *Driver) Open(ctx context.Context, dsn string) (dbms.Server, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		// pgx's own error repeats the DSN.
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "connect to %s: the DSN is not like postgres://user:password@host:5432/database", dbcanary.RedactDSN(dsn))
	}
	reached, err := reach(ctx, config)
	if err != nil {
		return nil, err
	}
	s := &server{Handle: dbms.NewAttached(reached, func(context.Context) error { return nil })}
	if s.DB, err = open(reached); err != nil {
		return nil, err
	}
	if s.Release, err = askVersion(ctx, s.DB); err != nil {
		return nil, dbcanary.Errorf(dbcanary.CodeUnavailable, "connect to %s: %w", reached, errors.Join(err, s.DB.Close()))
	}
	return s, nil
}

// reach gives the first address of a DSN at which the measured path can log in:
// sslmode=prefer, the default, means with TLS or else without.
func reach(ctx context.Context, config *pgx.ConnConfig) (wire.Address, error) {
	for {
		where := address(config)
		where.Database = config.Database
		conn, err := pgwire.Dial(ctx, where)
		if err == nil {
			return where, conn.Close()
		}
		var refused *wire.ServerError
		final := errors.As(err, &refused) && refused.Code != "28000" // no entry in pg_hba.conf: perhaps one without TLS
		if len(config.Fallbacks) == 0 || final || ctx.Err() != nil {
			return where, err
		}
		next := config.Fallbacks[0]
		config.Host, config.Port, config.TLSConfig = next.Host, next.Port, next.TLSConfig
		config.Fallbacks = config.Fallbacks[1:]
	}
}

func address(config *pgx.ConnConfig) wire.Address {
	a := wire.Address{Host: config.Host, Port: int(config.Port), User: config.User, Password: config.Password, Database: database, TLS: config.TLSConfig}
	if len(a.Host) > 0 && a.Host[0] == '/' {
		a.Socket = fmt.Sprintf("%s/.s.PGSQL.%d", a.Host, a.Port)
		a.TLS = nil
	}
	return a
}

// claim holds the statements by which a foreign server's database becomes ours.
type claim struct {
	maintenance *sql.DB
	config      *pgx.ConnConfig
}

// open gives a handle to the database dbcanary.
func (c claim) open() *sql.DB {
	config := c.config.Copy()
	config.Database = database
	return stdlib.OpenDB(*config)
}

func (c claim) Exists(ctx context.Context) (exists, ours bool, err error) {
	err = c.maintenance.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", database).Scan(&exists)
	if err != nil || !exists {
		return false, false, err
	}
	db := c.open()
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM pg_tables WHERE tablename = $1)", dbms.MarkerTable).Scan(&ours)
	return true, ours, err
}

func (c claim) Create(ctx context.Context) (err error) {
	if _, err := c.maintenance.ExecContext(ctx, "CREATE DATABASE "+database); err != nil {
		return err
	}
	db := c.open()
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "CREATE TABLE "+dbms.MarkerTable+" (made_by varchar(40) NOT NULL PRIMARY KEY)")
	return err
}

func (c claim) Drop(ctx context.Context) error {
	_, err := c.maintenance.ExecContext(ctx, "DROP DATABASE "+database)
	return err
}
