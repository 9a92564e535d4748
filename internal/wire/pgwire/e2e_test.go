package pgwire_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/pgwire"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest/servertest"
)

func TestPostgreSQL15(t *testing.T) {
	server := servertest.Start(t, "postgres@15")
	for name, test := range map[string]func(*testing.T, dbms.Server){
		"statements": testStatements,
		"errors":     testErrors,
		"large":      testLarge,
		"load":       testLoad,
		"abort":      testAbort,
		"accounts":   testAccounts,
	} {
		t.Run(name, func(t *testing.T) { test(t, server) })
	}
	t.Run("gone", func(t *testing.T) { testGone(t, server) }) // the last: it stops the server
}

func dial(t *testing.T, address wire.Address) wire.Conn {
	t.Helper()
	c, err := pgwire.Dial(wiretest.Context(t), address)
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

func wantCode(t *testing.T, err error, code string, retryable bool) {
	t.Helper()
	var refused *wire.ServerError
	if !errors.As(err, &refused) || refused.Code != code || refused.Retryable != retryable {
		t.Errorf("error %v, want the server's %s, retryable %t", err, code, retryable)
	}
}

func testStatements(t *testing.T, server dbms.Server) {
	c := dial(t, server.Address())
	query(t, c, "CREATE TABLE s (id INTEGER PRIMARY KEY, s SMALLINT, k BIGINT, n NUMERIC, c CHAR(120))")
	insert := prepare(t, c, "INSERT INTO s VALUES ($1, $2, $3, $4, $5)", wire.Int, wire.Int, wire.Int, wire.Int, wire.Text)
	for id := range int64(300) {
		check(t, insert, wire.Result{Affected: 1}, wire.Arg{Int: id}, wire.Arg{Int: -id}, wire.Arg{Int: -id << 32},
			wire.Arg{Int: id << 40}, wire.Arg{Text: fmt.Appendf(nil, "row %d é", id)})
	}
	point := prepare(t, c, "SELECT c FROM s WHERE id = $1", wire.Int)
	scan := prepare(t, c, "SELECT c FROM s WHERE id BETWEEN $1 AND $2", wire.Int, wire.Int)
	exact := prepare(t, c, "SELECT c FROM s WHERE s = $1 AND k = $2 AND n = $3 AND c = $4", wire.Int, wire.Int, wire.Int, wire.Text)
	update := prepare(t, c, "UPDATE s SET k = $1 WHERE id IN ($2, $3)", wire.Int, wire.Int, wire.Int)
	for range 7 { // after five executions the server may take a generic plan
		check(t, point, wire.Result{Rows: 1}, wire.Arg{Int: 299})
		check(t, point, wire.Result{}, wire.Arg{Int: 300})
		check(t, scan, wire.Result{Rows: 100}, wire.Arg{Int: 100}, wire.Arg{Int: 199})
		check(t, exact, wire.Result{Rows: 1}, wire.Arg{Int: -7}, wire.Arg{Int: -7 << 32}, wire.Arg{Int: 7 << 40}, wire.Arg{Text: []byte("row 7 é")})
	}
	check(t, update, wire.Result{Affected: 2}, wire.Arg{Int: 5}, wire.Arg{Int: 5}, wire.Arg{Int: 6})
	if got := query(t, c, "SELECT * FROM s"); got.Rows != 300 || got.Bytes < 300*10 {
		t.Errorf("the whole table is %+v", got)
	}
	query(t, c, "BEGIN")
	query(t, c, "DELETE FROM s WHERE id < 10")
	query(t, c, "ROLLBACK")
	check(t, scan, wire.Result{Rows: 300}, wire.Arg{Int: 0}, wire.Arg{Int: 999})
	if got := query(t, c, "DO $$ BEGIN RAISE NOTICE 'hello'; END $$; SET work_mem = '5MB'; SELECT 1"); got.Rows != 1 {
		t.Errorf("with a notice and a parameter: %+v", got)
	}
}

func testErrors(t *testing.T, server dbms.Server) {
	c, other := dial(t, server.Address()), dial(t, server.Address())
	_, err := c.Query([]byte("SELECT * FROM nowhere"))
	wantCode(t, err, "42P01", false)
	_, err = c.Prepare(wiretest.Context(t), "SELECT * FROM nowhere", nil)
	wantCode(t, err, "42P01", false)

	// An error after rows were sent.
	s := prepare(t, c, "SELECT 10 / ($1 - i) FROM generate_series(1, 100000) i", wire.Int)
	result, err := s.Exec([]wire.Arg{{Int: 50_000}})
	wantCode(t, err, "22012", false)
	if result.Rows == 0 {
		t.Error("no rows came before the error")
	}
	check(t, s, wire.Result{Rows: 100_000}, wire.Arg{Int: 0})

	query(t, c, "CREATE TABLE e (id INTEGER PRIMARY KEY, k INTEGER); INSERT INTO e VALUES (1, 1), (2, 2)")
	for _, each := range []wire.Conn{c, other} {
		query(t, each, "BEGIN ISOLATION LEVEL REPEATABLE READ")
		query(t, each, "SELECT * FROM e")
	}
	query(t, c, "UPDATE e SET k = 5 WHERE id = 1")
	query(t, c, "COMMIT")
	_, err = other.Query([]byte("UPDATE e SET k = 6 WHERE id = 1"))
	wantCode(t, err, "40001", true)
	query(t, other, "ROLLBACK")
	query(t, other, "UPDATE e SET k = 6 WHERE id = 1")
}

func testLarge(t *testing.T, server dbms.Server) {
	c := dial(t, server.Address())
	const size = 1<<24 + 1000
	s := prepare(t, c, "SELECT $1::text, length($2)", wire.Text, wire.Text)
	for _, n := range []int{size, 3} {
		got, err := s.Exec([]wire.Arg{{Text: bytes.Repeat([]byte("b"), n)}, {Text: []byte("cc")}})
		if err != nil || got.Rows != 1 || got.Bytes != int64(n)+2+4+4+1 {
			t.Errorf("%d bytes back and forth: %+v, %v", n, got, err)
		}
	}
}

func testAbort(t *testing.T, server dbms.Server) {
	c := dial(t, server.Address())
	start := time.Now()
	timer := time.AfterFunc(100*time.Millisecond, c.Abort)
	defer timer.Stop()
	if _, err := c.Query([]byte("SELECT pg_sleep(5)")); !errors.Is(err, wire.ErrAborted) {
		t.Errorf("error %v, want %v", err, wire.ErrAborted)
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("the abort took %v", took)
	}
}

// testAccounts logs in with every kind of password that the server has.
func testAccounts(t *testing.T, server dbms.Server) {
	ctx := wiretest.Context(t)
	letIn(ctx, t, server)
	for _, kind := range []string{"md5", "scram-sha-256"} {
		user := "u_" + kind[:3]
		tx, err := server.Admin().BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{
			fmt.Sprintf("SET LOCAL password_encryption = '%s'", kind),
			fmt.Sprintf("CREATE USER %s PASSWORD '%s'", user, wiretest.Password),
		} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		address := server.Address()
		address.User, address.Password = user, wiretest.Password
		check(t, prepare(t, dial(t, address), "SELECT $1::int", wire.Int), wire.Result{Rows: 1}, wire.Arg{Int: 1})
		nowhere := address
		nowhere.Database = "nowhere"
		_, err = pgwire.Dial(ctx, nowhere)
		wiretest.ClearLoginError(t, err, nowhere, "check the name of the database")
	}
	bad := server.Address()
	bad.User, bad.Password = "nobody_at_all", wiretest.Password
	_, err := pgwire.Dial(ctx, bad)
	wiretest.ClearLoginError(t, err, bad, "check the user and the password")
}

// letIn lets every account with a password log in by TCP.
func letIn(ctx context.Context, t *testing.T, server dbms.Server) {
	t.Helper()
	admin := server.Admin()
	var path string
	if err := admin.QueryRowContext(ctx, "SHOW hba_file").Scan(&path); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString("\nhost all all 127.0.0.1/32 md5\n") // md5 also means SCRAM where the account has that
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.ExecContext(ctx, "SELECT pg_reload_conf()"); err != nil {
		t.Fatal(err)
	}
	// The postmaster reads the file when it gets to it: from then on it asks a
	// stranger for the password.
	stranger := server.Address()
	stranger.User = "stranger"
	var refused *wire.ServerError
	for ctx.Err() == nil {
		_, err := pgwire.Dial(ctx, stranger)
		if errors.As(err, &refused) && refused.Code == "28P01" {
			return
		}
	}
	t.Fatal("the rules are not loaded")
}

// testGone has the server stop under a running query.
func testGone(t *testing.T, server dbms.Server) {
	c := dial(t, server.Address())
	s := prepare(t, c, "SELECT $1::int", wire.Int)
	stopped := make(chan error, 1)
	go func() { stopped <- server.Stop(context.Background()) }()
	deadline := time.Now().Add(2 * wiretest.Timeout)
	var err error
	for err == nil && time.Now().Before(deadline) {
		_, err = s.Exec([]wire.Arg{{Int: 1}})
	}
	var refused *wire.ServerError
	if err == nil || errors.As(err, &refused) || errors.Is(err, wire.ErrAborted) {
		t.Errorf("error %v, want a plain one", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	_, err = pgwire.Dial(wiretest.Context(t), server.Address())
	wiretest.ClearLoginError(t, err, server.Address(), "is the server started")
}
