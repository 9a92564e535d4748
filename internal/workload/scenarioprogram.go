package workload

import (
	"context"
	"crypto/tls"
	"fmt"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/mysqlwire"
	"github.com/dbcanary/dbcanary/internal/wire/pgwire"
)

// connects are storms of connections: an event logs in, asks for one row and says
// goodbye.
func connects() []Benchmark {
	sqlite := map[dbcanary.Family]string{dbcanary.SQLite: "it has no logins"}
	not := func(reason string, families ...dbcanary.Family) map[dbcanary.Family]string {
		list := map[dbcanary.Family]string{dbcanary.SQLite: sqlite[dbcanary.SQLite]}
		for _, family := range families {
			list[family] = reason
		}
		return list
	}
	one := func(name, words string, not map[dbcanary.Family]string, l loginKind) Benchmark {
		return Benchmark{Name: name, Group: Connect, Doc: "Logs in " + words + ", asks for one row and says goodbye.", Not: not, Program: l.program}
	}
	return []Benchmark{
		one("connect", "with the run's account (SCRAM-SHA-256 on PostgreSQL, caching_sha2_password on MySQL, mysql_native_password on MariaDB)", sqlite, loginKind{}),
		one("connect-tls", "with the run's account through TLS, if the server offers it: those that a run starts do not", sqlite, loginKind{tls: true}),
		one("connect-native", "by mysql_native_password", not("it has no such accounts", dbcanary.Postgres),
			loginKind{user: "storm_native", create: map[dbcanary.Family]string{
				dbcanary.MySQL: "IDENTIFIED WITH mysql_native_password BY '%s'", dbcanary.MariaDB: "IDENTIFIED VIA mysql_native_password USING PASSWORD('%s')",
			}}),
		one("connect-sha2", "by caching_sha2_password, from the server's cache after the first time", not("it has no such accounts", dbcanary.Postgres, dbcanary.MariaDB),
			loginKind{user: "storm_sha2", create: map[dbcanary.Family]string{dbcanary.MySQL: "IDENTIFIED WITH caching_sha2_password BY '%s'"}}),
		one("connect-ed25519", "by ed25519", not("it has no such accounts", dbcanary.Postgres, dbcanary.MySQL),
			loginKind{user: "storm_ed25519", plugin: "auth_ed25519", create: map[dbcanary.Family]string{dbcanary.MariaDB: "IDENTIFIED VIA ed25519 USING PASSWORD('%s')"}}),
	}
}

// loginKind is how a storm logs in.
type loginKind struct {
	tls    bool
	user   string // "" for the account of the run
	plugin string // that MariaDB must load
	create map[dbcanary.Family]string
}

// stormPassword is no secret: the account may log in and do nothing.
const stormPassword = "storm"

func (l loginKind) program(ctx context.Context, env Env) (Work, error) {
	address := env.Address
	if l.tls {
		address.TLS = &tls.Config{InsecureSkipVerify: true} // servers make their own certificates
	}
	if l.user != "" {
		if err := l.account(ctx, env); err != nil {
			return nil, err
		}
		address.User, address.Password = l.user, stormPassword
	}
	dial := mysqlwire.Dial
	if env.Family == dbcanary.Postgres {
		dial = pgwire.Dial
	}
	s := &storm{ctx: ctx, dial: func(ctx context.Context) (wire.Conn, error) { return dial(ctx, address) }}
	if _, err := s.Run(); err != nil {
		return nil, &dbcanary.Error{Code: dbcanary.CodeUsage, Op: "log in once before the storm", Err: err}
	}
	return s, nil
}

// account makes the account of the storm, by the first worker.
func (l loginKind) account(ctx context.Context, env Env) error {
	if env.Worker > 0 {
		return nil
	}
	if l.plugin != "" {
		// It may be loaded already; if it can't be, the next statement says so.
		_, _ = env.Admin.ExecContext(ctx, "INSTALL SONAME '"+l.plugin+"'")
	}
	err := execAll(ctx, env.Admin,
		"DROP USER IF EXISTS "+l.user+"@'%'",
		fmt.Sprintf("CREATE USER %s@'%%' "+l.create[env.Family], l.user, stormPassword),
		fmt.Sprintf("GRANT SELECT ON %s.* TO %s@'%%'", env.Address.Database, l.user),
	)
	if err != nil {
		return &dbcanary.Error{Code: dbcanary.CodeUsage, Op: "make the account " + l.user, Err: err}
	}
	return nil
}

// storm is the work of a storm of connections.
type storm struct {
	ctx  context.Context
	dial func(context.Context) (wire.Conn, error)
}

func (s *storm) Reseed(uint64) {}

func (s *storm) Run() (statements int, err error) {
	conn, err := s.dial(s.ctx)
	if err != nil {
		return 0, err
	}
	result, err := conn.Query([]byte("SELECT 1"))
	if err != nil {
		_ = conn.Close() // the query's error says it all
		return 0, err
	}
	if result.Rows != 1 {
		_ = conn.Close()
		return 0, fmt.Errorf("wrong answer: SELECT 1 returned %d rows", result.Rows)
	}
	return 1, conn.Close()
}

// ddlBesideDML changes rows, and in the background builds and drops an index.
func ddlBesideDML(ctx context.Context, env Env) (Work, error) {
	if env.Worker < env.Workers-1 {
		b := Benchmark{Name: "ddl-beside-dml", Label: "ddl-beside-dml", Keys: Uniform, Writes: true, Steps: []Step{updateNonIndex()}}
		return b.Bind(ctx, env.Conn, env.Family, env.Data, BindOptions{PSMode: env.PSMode, State: env.State})
	}
	return &indexer{conn: env.Conn, family: env.Family}, nil
}

// indexer builds and drops an index.
type indexer struct {
	conn   wire.Conn
	family dbcanary.Family
}

func (*indexer) Reseed(uint64) {}

func (i *indexer) Run() (statements int, err error) {
	statementList := []string{"CREATE INDEX beside ON sbtest1 (k, id)", "DROP INDEX beside ON sbtest1"}
	if i.family == dbcanary.Postgres {
		statementList = []string{"CREATE INDEX CONCURRENTLY beside ON sbtest1 (k, id)", "DROP INDEX CONCURRENTLY beside"}
	}
	for _, statement := range statementList {
		if _, err := i.conn.Query([]byte(statement)); err != nil {
			return statements, err
		}
		statements++
	}
	return statements, nil
}
