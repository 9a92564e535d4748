package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/pgwire"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// server is a server that runs: one of ours with its process, or an attached one.
type server struct {
	*dbms.Handle

	countersMutex sync.Mutex
	counters      string // the statement that reads them; "" before the first time
}

// connect waits until the server answers, gives the benchmark user a new
// password and makes the handles to the server. A replica takes no change but from
// its primary, the password too.
func (l *launch) connect(ctx context.Context, process *dbms.Process, port int) (*server, error) {
	password, follows := dbms.NewPassword(), l.primary != nil
	if follows {
		password = l.primary.Password
	}
	maintenance, err := l.openSocket(port, "postgres")
	if err != nil {
		return nil, err
	}
	err = dbms.WaitReady(ctx, process, startTimeout, func(ctx context.Context) error { return final(maintenance.PingContext(ctx)) })
	if err == nil && !follows {
		err = prepareDatabase(ctx, maintenance, password)
	}
	if err := errors.Join(err, maintenance.Close()); err != nil {
		return nil, err
	}
	process.NoteMemory()
	admin, err := l.openSocket(port, database)
	if err != nil {
		return nil, err
	}
	where := wire.Address{Host: "127.0.0.1", Port: port, User: benchUser, Password: password, Database: database}
	// SIGINT is the fast shutdown: sessions are ended, a checkpoint is written.
	s := &server{Handle: dbms.NewStarted(process, where, syscall.SIGINT)}
	s.DB = admin
	if s.Release, err = askVersion(ctx, admin); err == nil && !follows {
		err = createStatements(ctx, admin)
	}
	if err != nil {
		return nil, errors.Join(err, admin.Close())
	}
	return s, nil
}

func (l *launch) openSocket(port int, database string) (*sql.DB, error) {
	return open(wire.Address{Socket: filepath.Join(l.instance.Sockets, fmt.Sprintf(".s.PGSQL.%d", port)), Port: port, User: adminUser, Database: database})
}

// final marks an answer that will not change however long one waits.
func final(err error) error {
	var answer *pgconn.PgError
	if errors.As(err, &answer) && strings.HasPrefix(answer.Code, "28") { // invalid authorization
		return dbcanary.Errorf(dbcanary.CodeFailed, "log in as the administrator: %w", err)
	}
	return err
}

// prepareDatabase makes the benchmark user and its database where they are
// missing. The password is of letters and digits only.
func prepareDatabase(ctx context.Context, db *sql.DB, password string) error {
	var role, base bool
	err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1), EXISTS (SELECT FROM pg_database WHERE datname = $2)", benchUser, database).Scan(&role, &base)
	if err != nil {
		return fmt.Errorf("prepare the database: %w", err)
	}
	statements := []string{"ALTER ROLE " + benchUser + " LOGIN PASSWORD '" + password + "'"}
	if !role {
		statements[0] = "CREATE ROLE " + benchUser + " LOGIN PASSWORD '" + password + "'"
	}
	if !base {
		statements = append(statements, "CREATE DATABASE "+database+" OWNER "+benchUser)
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("prepare the database: %w", err)
		}
	}
	return nil
}

func open(address wire.Address) (*sql.DB, error) {
	// Every field that the environment (PGHOST, PGSSLMODE, …) could fill in is set here.
	config, err := pgx.ParseConfig("sslmode=disable connect_timeout=10")
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	config.Host, config.Port, config.Fallbacks = address.Host, uint16(address.Port), nil
	if address.Socket != "" {
		config.Host = filepath.Dir(address.Socket)
	}
	config.User, config.Password, config.Database = address.User, address.Password, address.Database
	config.TLSConfig = address.TLS
	config.RuntimeParams = map[string]string{"application_name": "dbcanary"}
	return stdlib.OpenDB(*config), nil
}

func askVersion(ctx context.Context, db *sql.DB) (string, error) {
	var version string
	if err := db.QueryRowContext(ctx, "SHOW server_version").Scan(&version); err != nil {
		return "", fmt.Errorf("ask the server for its version: %w", err)
	}
	version, _, _ = strings.Cut(version, " ")
	return version, nil
}

func (s *server) Connect(ctx context.Context) (wire.Conn, error) { return pgwire.Dial(ctx, s.Where) }

// individual are settings whose values belong to one instance or one session.
func individual() []string {
	return []string{
		"application_name", "cluster_name", "config_file", "data_directory", "external_pid_file", "hba_file", "ident_file", "in_hot_standby",
		"log_directory", "log_filename", "port", "transaction_deferrable", "transaction_isolation", "transaction_read_only", "unix_socket_directories",
	}
}

func (s *server) Settings(ctx context.Context) ([]dbcanary.Setting, error) {
	rows, err := s.DB.QueryContext(ctx, "SELECT name, current_setting(name) FROM pg_settings")
	if err != nil {
		return nil, fmt.Errorf("read the settings of the server: %w", err)
	}
	return dbms.ScanSettings(rows, func(name string) bool { return !slices.Contains(individual(), name) })
}
