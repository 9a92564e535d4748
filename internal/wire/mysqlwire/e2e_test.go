package mysqlwire_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/user"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/mysqlwire"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest/servertest"
)

// real is a real server and the ways to log in at it.
type real struct {
	t      *testing.T
	server dbms.Server
}

func TestMariaDB1011(t *testing.T) { testServer(t, "mariadb@10.11") }
func TestMariaDB105(t *testing.T)  { testServer(t, "mariadb@10.5") }
func TestMySQL97(t *testing.T)     { testServer(t, "mysql@9.7") }

func testServer(t *testing.T, target string) {
	r := real{t: t, server: servertest.Start(t, target)}
	t.Run("statements", r.statements)
	t.Run("errors", r.errors)
	t.Run("large", r.large)
	t.Run("load", r.load)
	t.Run("abort", r.abort)
	t.Run("accounts", r.accounts)
	t.Run("socket account", r.socketAccount)
	t.Run("gone", r.gone) // stops the server
}

func (r real) dial(t *testing.T, address wire.Address) wire.Conn {
	t.Helper()
	c, err := mysqlwire.Dial(wiretest.Context(t), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func query(t *testing.T, c wire.Conn, text string) wire.Result {
	t.Helper()
	result, err := c.Query([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return result
}

func prepare(t *testing.T, c wire.Conn, text string, kinds ...wire.Kind) wire.Stmt {
	t.Helper()
	s, err := c.Prepare(wiretest.Context(t), text, kinds)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// check runs s and compares the answer without its bytes.
func check(t *testing.T, s wire.Stmt, want wire.Result, args ...wire.Arg) {
	t.Helper()
	got, err := s.Exec(args)
	got.Bytes = 0
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

func (r real) statements(t *testing.T) {
	c := r.dial(t, r.server.Address())
	query(t, c, "CREATE TABLE s (id INT PRIMARY KEY, k BIGINT, c CHAR(120)) ENGINE=InnoDB")
	insert := prepare(t, c, "INSERT INTO s VALUES (?, ?, ?)", wire.Int, wire.Int, wire.Text)
	for id := range int64(300) {
		check(t, insert, wire.Result{Affected: 1}, wire.Arg{Int: id}, wire.Arg{Int: -id << 32}, wire.Arg{Text: fmt.Appendf(nil, "row %d é", id)})
	}
	point := prepare(t, c, "SELECT c FROM s WHERE id = ?", wire.Int)
	scan := prepare(t, c, "SELECT c FROM s WHERE id BETWEEN ? AND ?", wire.Int, wire.Int)
	exact := prepare(t, c, "SELECT c FROM s WHERE k = ? AND c = ?", wire.Int, wire.Text)
	update := prepare(t, c, "UPDATE s SET k = ? WHERE id = ?", wire.Int, wire.Int)
	for range 3 { // the types go with the first only, MariaDB's column definitions, too
		check(t, point, wire.Result{Rows: 1}, wire.Arg{Int: 299})
		check(t, point, wire.Result{}, wire.Arg{Int: 300})
		check(t, scan, wire.Result{Rows: 100}, wire.Arg{Int: 100}, wire.Arg{Int: 199})
		check(t, exact, wire.Result{Rows: 1}, wire.Arg{Int: -7 << 32}, wire.Arg{Text: []byte("row 7 é")})
	}
	check(t, update, wire.Result{Affected: 1}, wire.Arg{Int: 5}, wire.Arg{Int: 5})
	check(t, update, wire.Result{}, wire.Arg{Int: 5}, wire.Arg{Int: 5}) // matched but not changed
	if got := query(t, c, "SELECT * FROM s"); got.Rows != 300 || got.Bytes < 300*10 {
		t.Errorf("the whole table is %+v", got)
	}
	// The definitions change under a prepared statement.
	query(t, c, "ALTER TABLE s MODIFY c VARCHAR(200), ADD d INT DEFAULT 3")
	check(t, point, wire.Result{Rows: 1}, wire.Arg{Int: 299})
	check(t, prepare(t, c, "SELECT * FROM s WHERE id < ?", wire.Int), wire.Result{Rows: 10}, wire.Arg{Int: 10})
	query(t, c, "BEGIN")
	query(t, c, "DELETE FROM s WHERE id < 10")
	query(t, c, "ROLLBACK")
	check(t, scan, wire.Result{Rows: 300}, wire.Arg{Int: 0}, wire.Arg{Int: 999})
}

func wantCode(t *testing.T, err error, code string, retryable bool) {
	t.Helper()
	var refused *wire.ServerError
	if !errors.As(err, &refused) || refused.Code != code || refused.Retryable != retryable {
		t.Errorf("error %v, want the server's %s, retryable %t", err, code, retryable)
	}
}

func (r real) errors(t *testing.T) {
	c, other := r.dial(t, r.server.Address()), r.dial(t, r.server.Address())
	_, err := c.Query([]byte("SELECT * FROM nowhere"))
	wantCode(t, err, "1146", false)
	_, err = c.Prepare(wiretest.Context(t), "SELECT * FROM nowhere", nil)
	wantCode(t, err, "1146", false)

	query(t, c, "CREATE TABLE e (id INT PRIMARY KEY, k INT) ENGINE=InnoDB")
	query(t, c, "INSERT INTO e VALUES (1, 1), (2, 2)")
	insert := prepare(t, c, "INSERT INTO e VALUES (?, 0)", wire.Int)
	_, err = insert.Exec([]wire.Arg{{Int: 1}})
	wantCode(t, err, "1062", false)
	check(t, insert, wire.Result{Affected: 1}, wire.Arg{Int: 3})

	// An error after rows were sent: the second row has a subquery of two rows.
	text := "SELECT (SELECT k FROM e AS i WHERE i.id = o.id OR o.id = 2) FROM e AS o ORDER BY o.id"
	_, err = c.Query([]byte(text))
	wantCode(t, err, "1242", false)
	_, err = prepare(t, c, text).Exec(nil)
	wantCode(t, err, "1242", false)

	query(t, other, "SET innodb_lock_wait_timeout = 1")
	query(t, c, "BEGIN")
	query(t, c, "UPDATE e SET k = 5 WHERE id = 1")
	_, err = other.Query([]byte("UPDATE e SET k = 6 WHERE id = 1"))
	wantCode(t, err, "1205", true)
	query(t, c, "ROLLBACK")
	query(t, other, "UPDATE e SET k = 6 WHERE id = 1")
}

func (r real) large(t *testing.T) {
	admin := r.server.Admin()
	if _, err := admin.ExecContext(wiretest.Context(t), "SET GLOBAL max_allowed_packet = 67108864"); err != nil {
		t.Fatal(err)
	}
	c := r.dial(t, r.server.Address())
	const size = 1<<24 + 1000
	if got := query(t, c, fmt.Sprintf("SELECT REPEAT('a', %d)", size)); got.Rows != 1 || got.Bytes != size+9 {
		t.Errorf("a large text row is %+v", got)
	}
	s := prepare(t, c, "SELECT ?, LENGTH(?)", wire.Text, wire.Text)
	for _, n := range []int{size, 3} {
		got, err := s.Exec([]wire.Arg{{Text: bytes.Repeat([]byte("b"), n)}, {Text: []byte("cc")}})
		if err != nil || got.Rows != 1 || got.Bytes < int64(n) || got.Bytes > int64(n)+32 {
			t.Errorf("%d bytes back and forth: %+v, %v", n, got, err)
		}
	}
}

func (r real) abort(t *testing.T) {
	c := r.dial(t, r.server.Address())
	start := time.Now()
	timer := time.AfterFunc(100*time.Millisecond, c.Abort)
	defer timer.Stop()
	if _, err := c.Query([]byte("SELECT SLEEP(60)")); !errors.Is(err, wire.ErrAborted) {
		t.Errorf("error %v, want %v", err, wire.ErrAborted)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("the abort took %v", took)
	}
}

// accounts logs in with every kind of password that the server has.
func (r real) accounts(t *testing.T) {
	ctx := wiretest.Context(t)
	kinds := map[string]string{"caching_sha2": "IDENTIFIED WITH caching_sha2_password BY '%s'"}
	if r.server.Address().User != "" && !isMySQL(ctx, t, r.server) {
		kinds = map[string]string{"native": "IDENTIFIED BY '%s'"}
		if _, err := r.server.Admin().ExecContext(ctx, "INSTALL SONAME 'auth_ed25519'"); err == nil {
			kinds["ed25519"] = "IDENTIFIED VIA ed25519 USING PASSWORD('%s')"
		}
	}
	_, client := wiretest.TLS(t)
	client.InsecureSkipVerify = true // the server makes its own certificate
	for name, identified := range kinds {
		account := "u_" + name
		for _, statement := range []string{
			fmt.Sprintf("CREATE USER %s@'%%' "+identified, account, wiretest.Password),
			fmt.Sprintf("GRANT ALL ON *.* TO %s@'%%'", account),
		} {
			if _, err := r.server.Admin().ExecContext(ctx, statement); err != nil {
				t.Fatal(err)
			}
		}
		address := r.server.Address()
		address.User, address.Password = account, wiretest.Password
		for range 2 { // full, and then fast with what the server remembers
			query(t, r.dial(t, address), "SELECT 1")
		}
		if offersTLS(ctx, t, r.server) {
			secure := address
			secure.TLS = client
			c := r.dial(t, secure)
			check(t, prepare(t, c, "SELECT ?", wire.Int), wire.Result{Rows: 1}, wire.Arg{Int: 1})
		}
		bad := address
		bad.Password = "wrong-" + wiretest.Password
		_, err := mysqlwire.Dial(ctx, bad)
		wiretest.ClearLoginError(t, err, bad, "check the user and the password")
		nowhere := address
		nowhere.Database = "nowhere"
		_, err = mysqlwire.Dial(ctx, nowhere)
		wiretest.ClearLoginError(t, err, nowhere, "check the name of the database")
	}
}

// socketAccount logs in without a password, as the user of the operating system
// that this test is: what a stock server has for root.
func (r real) socketAccount(t *testing.T) {
	ctx := wiretest.Context(t)
	current, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	account := "'" + current.Username + "'@localhost"
	statements := []string{"CREATE OR REPLACE USER " + account + " IDENTIFIED VIA unix_socket"}
	if isMySQL(ctx, t, r.server) {
		statements = []string{
			"INSTALL PLUGIN auth_socket SONAME 'auth_socket.so'",
			"CREATE USER IF NOT EXISTS " + account,
			"ALTER USER " + account + " IDENTIFIED WITH auth_socket",
		}
	}
	for _, statement := range append(statements, "GRANT ALL ON *.* TO "+account) {
		if _, err := r.server.Admin().ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	address := r.server.Address()
	address.User, address.Password = current.Username, ""
	if err := r.server.Admin().QueryRowContext(ctx, "SELECT @@socket").Scan(&address.Socket); err != nil {
		t.Fatal(err)
	}
	query(t, r.dial(t, address), "SELECT 1")
}

func isMySQL(ctx context.Context, t *testing.T, server dbms.Server) bool {
	t.Helper()
	var found int
	err := server.Admin().QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_name = 'caching_sha2_password'").Scan(&found)
	if err != nil {
		t.Fatal(err)
	}
	return found > 0
}

func offersTLS(ctx context.Context, t *testing.T, server dbms.Server) bool {
	t.Helper()
	var name, value string
	if err := server.Admin().QueryRowContext(ctx, "SHOW STATUS LIKE 'Ssl_server_not_after'").Scan(&name, &value); err != nil {
		t.Fatal(err)
	}
	return value != ""
}

// gone has the server stop under a running query.
func (r real) gone(t *testing.T) {
	c := r.dial(t, r.server.Address())
	s := prepare(t, c, "SELECT ?", wire.Int)
	stopped := make(chan error, 1)
	go func() { stopped <- r.server.Stop(context.Background()) }()
	deadline := time.Now().Add(2 * wiretest.Timeout)
	var err error
	for err == nil && time.Now().Before(deadline) {
		_, err = s.Exec([]wire.Arg{{Int: 1}})
		var refused *wire.ServerError
		if errors.As(err, &refused) { // "shutdown in progress"; the connection ends after it
			err = nil
		}
	}
	if err == nil || errors.Is(err, wire.ErrAborted) {
		t.Errorf("error %v, want a plain one", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	_, err = mysqlwire.Dial(wiretest.Context(t), r.server.Address())
	wiretest.ClearLoginError(t, err, r.server.Address(), "is the server started")
	if code := dbcanary.ErrorCode(err); code != dbcanary.CodeUnavailable {
		t.Errorf("code %q", code)
	}
}
