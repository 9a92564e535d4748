package mysql

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/mysqlwire"
)

// Attach connects to a server that somebody else runs: mysql://user:password@host:port/.
// Its work is in a database of its own, which Stop drops.
func (d *Driver) Attach(ctx context.Context, dsn string) (dbms.Server, error) {
	server, err := d.attach(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", dbcanary.RedactDSN(dsn), err)
	}
	return server, nil
}

func (d *Driver) attach(ctx context.Context, dsn string) (_ *server, err error) {
	address, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	address.Database = "" // what the DSN names need not be there
	admin, err := open(address)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, admin.Close()) }()
	where := address
	where.Database = database
	s := new(server)
	s.Handle = dbms.NewAttached(where, func(ctx context.Context) error { return dbms.DropDatabase(ctx, claim{s.DB}) })
	if s.Release, err = askVersion(ctx, admin); err != nil {
		return nil, dbcanary.Errorf(dbcanary.CodeUnavailable, "%w", err)
	}
	if err := d.checkFamily(ctx, admin); err != nil {
		return nil, err
	}
	if err := dbms.ClaimDatabase(ctx, claim{admin}); err != nil {
		return nil, err
	}
	if s.DB, err = open(where); err != nil {
		return nil, err
	}
	return s, nil
}

// Open connects to a server that somebody else runs, in the database that the DSN
// names. MariaDB may be called MySQL here, and the reverse.
func (d *Driver) Open(ctx context.Context, dsn string) (dbms.Server, error) {
	address, err := parseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", dbcanary.RedactDSN(dsn), err)
	}
	// The login of the measured path says in one line what is wrong.
	conn, err := mysqlwire.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := conn.Close(); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	s := &server{Handle: dbms.NewAttached(address, func(context.Context) error { return nil })}
	if s.DB, err = open(address); err != nil {
		return nil, err
	}
	if s.Release, err = askVersion(ctx, s.DB); err != nil {
		return nil, dbcanary.Errorf(dbcanary.CodeUnavailable, "connect to %s: %w", address, errors.Join(err, s.DB.Close()))
	}
	return s, nil
}

// parseDSN reads mysql://user:password@host:port/database?tls=true|skip-verify&socket=/path.
// Its errors hold nothing of the text, which may have a password in it.
func parseDSN(dsn string) (wire.Address, error) {
	_, rest, _ := strings.Cut(dsn, "://")
	// The password may hold "@" or "/", which url.Parse would take for delimiters.
	user, password := "", ""
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		user, password, _ = strings.Cut(rest[:at], ":")
		rest = rest[at+1:]
	}
	parsed, err := url.Parse("//" + rest)
	if err != nil {
		return wire.Address{}, dbcanary.Errorf(dbcanary.CodeUsage, "the DSN is not like mysql://user:password@host:3306/")
	}
	address := wire.Address{Host: parsed.Hostname(), Port: 3306, User: unescape(user), Password: unescape(password), Database: strings.Trim(parsed.Path, "/")}
	if address.Host == "" {
		address.Host = "127.0.0.1"
	}
	if port := parsed.Port(); port != "" {
		if address.Port, err = strconv.Atoi(port); err != nil {
			return wire.Address{}, dbcanary.Errorf(dbcanary.CodeUsage, "the DSN's port is not a number")
		}
	}
	for name, values := range parsed.Query() {
		switch name {
		case "socket":
			address.Socket = values[0]
		case "tls":
			address.TLS = tlsConfig(values[0], address.Host)
		default:
			return wire.Address{}, dbcanary.Errorf(dbcanary.CodeUsage, "unknown DSN parameter %q%s", name, dbcanary.DidYouMean(name, []string{"socket", "tls"}))
		}
	}
	return address, nil
}

// unescape decodes %40 and the like; what is not so encoded is meant as it is.
func unescape(text string) string {
	if decoded, err := url.PathUnescape(text); err == nil {
		return decoded
	}
	return text
}

func tlsConfig(value, host string) *tls.Config {
	switch value {
	case "false", "":
		return nil
	case "skip-verify":
		return &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the user asked for it
	default:
		return &tls.Config{ServerName: host}
	}
}

// checkFamily refuses a MariaDB that was called MySQL and the reverse, since a
// report would carry the wrong name.
func (d *Driver) checkFamily(ctx context.Context, admin *sql.DB) error {
	var text string
	if err := admin.QueryRowContext(ctx, "SELECT CONCAT(VERSION(), ' ', @@version_comment)").Scan(&text); err != nil {
		return fmt.Errorf("ask the server for its version: %w", err)
	}
	is := dbcanary.MySQL
	if strings.Contains(strings.ToLower(text), "mariadb") {
		is = dbcanary.MariaDB
	}
	if is != d.family {
		return dbcanary.Errorf(dbcanary.CodeUsage, "the server is %s, so write %s://… for it", is, is)
	}
	return nil
}

// claim holds the statements by which a foreign server's database becomes ours.
type claim struct{ admin *sql.DB }

func (c claim) Exists(ctx context.Context) (exists, ours bool, err error) {
	var databases, markers int
	err = c.admin.QueryRowContext(ctx, "SELECT (SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?), (SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ? AND table_name = ?)",
		database, database, dbms.MarkerTable).Scan(&databases, &markers)
	return databases > 0, markers > 0, err
}

func (c claim) Create(ctx context.Context) error {
	if _, err := c.admin.ExecContext(ctx, "CREATE DATABASE "+database); err != nil {
		return err
	}
	_, err := c.admin.ExecContext(ctx, "CREATE TABLE "+database+"."+dbms.MarkerTable+" (made_by VARCHAR(40) NOT NULL PRIMARY KEY)")
	return err
}

func (c claim) Drop(ctx context.Context) error {
	_, err := c.admin.ExecContext(ctx, "DROP DATABASE "+database)
	return err
}
