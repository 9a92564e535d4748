package pgwire

import (
	"errors"
	"io"
	"net"
	"testing"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest"
)

func TestBadLogins(t *testing.T) { wiretest.BadLogins(t, Dial) }

// TestRefusedLogins gives each refusal the hint that it needs.
func TestRefusedLogins(t *testing.T) {
	for code, want := range map[string]string{
		"28P01": "check the user and the password",
		"3D000": "check the name of the database",
		"53300": "max_connections",
	} {
		address := wiretest.Serve(t, func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 1024))
			_, _ = conn.Write(failure("FATAL", code, "no\nway"))
		})
		_, err := Dial(wiretest.Context(t), address)
		wiretest.ClearLoginError(t, err, address, want)
		var refused *wire.ServerError
		if !errors.As(err, &refused) || refused.Code != code {
			t.Errorf("error %v, want the server's %s", err, code)
		}
	}
}

// TestEnvironment holds that libpq's variables do not lead a login elsewhere.
func TestEnvironment(t *testing.T) {
	t.Setenv("PGHOST", "elsewhere.example")
	t.Setenv("PGPORT", "1")
	t.Setenv("PGUSER", "other")
	t.Setenv("PGPASSWORD", "other")
	t.Setenv("PGSSLMODE", "require")
	t.Setenv("PGTARGETSESSIONATTRS", "read-only")
	t.Setenv("PGOPTIONS", "-c work_mem=1")
	c := connect(t, &fake{answer: func([]byte) []byte { return join(complete("DO"), ready) }})
	if _, err := c.Query([]byte("DO")); err != nil {
		t.Error(err)
	}
}

func TestTLS(t *testing.T) {
	server, client := wiretest.TLS(t)
	f := &fake{tls: server, answer: func([]byte) []byte { return join(columns, row(100_000), row(2), complete("SELECT 2"), ready) }}
	address := wiretest.ServeTCP(t, f.serve)
	address.TLS = client
	c, err := Dial(wiretest.Context(t), address)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got, err := c.Query([]byte("SELECT 1")); err != nil || got.Rows != 2 || got.Bytes != 100_002 {
			t.Errorf("%v, %v", got, err)
		}
	}
	c.Abort()
	if _, err := c.Query([]byte("SELECT 1")); !errors.Is(err, wire.ErrAborted) {
		t.Errorf("error %v, want %v", err, wire.ErrAborted)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	address.TLS = client.Clone()
	address.TLS.ServerName = "elsewhere.example"
	_, err = Dial(wiretest.Context(t), address)
	wiretest.ClearLoginError(t, err, address, "certificate")

	plain := wiretest.ServeTCP(t, func(conn net.Conn) {
		_, _ = io.ReadFull(conn, make([]byte, 8))
		_, _ = conn.Write([]byte("N"))
	})
	plain.TLS = client
	_, err = Dial(wiretest.Context(t), plain)
	wiretest.ClearLoginError(t, err, plain, "refused TLS")
}
