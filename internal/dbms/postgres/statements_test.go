package postgres_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build/buildtest"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/dbms/postgres"
)

// Where the library of pg_stat_statements is loaded, what it counts is read, and its
// columns are there.
func TestStatements(t *testing.T) {
	root, err := os.MkdirTemp("", "dbct") // a short name, for the sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "i")
	if err := dbms.Claim(dir); err != nil {
		t.Fatal(err)
	}
	build := buildtest.Get(t, "postgres@18")
	driver := postgres.New()
	settings := append(driver.Defaults(build.Version, 512<<20), dbcanary.Setting{Name: "shared_preload_libraries", Value: "pg_stat_statements"})
	server, err := driver.Start(context.WithoutCancel(t.Context()), dbms.StartOptions{Build: build, Settings: settings, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	conn, err := server.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	first, err := server.Counters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const statements = 200
	for range statements {
		if _, err := conn.Query([]byte("SELECT 1 AS one")); err != nil {
			t.Fatal(err)
		}
	}
	last, err := server.Counters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]float64{"calls": statements, "rows": statements, "total_exec_time": 0, "shared_blks_hit": 0, "wal_bytes": 0} {
		name = "pg_stat_statements." + name
		now, ok := last.Values[name]
		if grown := now.Value - first.Values[name].Value; !ok || grown < least || name == "pg_stat_statements.calls" && grown > 1.05*statements {
			t.Errorf("%s grew by %v for %d statements", name, grown, statements)
		}
	}
}
