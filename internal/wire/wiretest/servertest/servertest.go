// Package servertest starts the real servers that the wire protocols are tested
// against.
package servertest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/dbcanary/dbcanary/internal/build/buildtest"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
)

// Start starts a target such as "mariadb@10.11" with its default settings; the
// end of the test stops it.
func Start(t testing.TB, target string) dbms.Server {
	t.Helper()
	const memory = 256 << 20
	build := buildtest.Get(t, target)
	driver := drivers.For(build.Family)
	root, err := os.MkdirTemp("", "dbcw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil { // the server may run as another user
		t.Fatal(err)
	}
	dir := filepath.Join(root, "server")
	if err := dbms.Claim(dir); err != nil {
		t.Fatal(err)
	}
	server, err := driver.Start(context.WithoutCancel(t.Context()), dbms.StartOptions{
		Build:    build,
		Settings: driver.Defaults(build.Version, memory),
		Dir:      dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return server
}
