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

// Where the library of pg_stat_statements is loaded, what it counts is read at once, and
// its columns are there, whatever else the release counts too late for a slice.
func TestStatements(t *testing.T) {
	for _, test := range []struct {
		target  string
		columns []string
	}{
		{"postgres@10", []string{"calls", "rows", "total_exec_time", "shared_blks_hit"}},
		{"postgres@18", []string{"calls", "rows", "total_exec_time", "shared_blks_hit", "total_plan_time", "wal_bytes"}},
	} {
		t.Run(test.target, func(t *testing.T) {
			server := startWithStatements(t, test.target)
			conn, err := server.Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			first, err := server.Counters(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			const statements, rows = 200, 20
			for range statements {
				if _, err := conn.Query([]byte("SELECT * FROM generate_series(1, 20)")); err != nil {
					t.Fatal(err)
				}
			}
			last, err := server.Counters(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			least := map[string]float64{"calls": statements, "rows": rows * statements}
			for _, column := range test.columns {
				name := "pg_stat_statements." + column
				now, ok := last.Values[name]
				grown := now.Value - first.Values[name].Value
				if wanted := least[column]; !ok || grown < wanted || wanted > 0 && grown > 1.05*wanted {
					t.Errorf("%s grew by %v for %d statements of %d rows", name, grown, statements, rows)
				}
			}
		})
	}
}

func startWithStatements(t *testing.T, target string) dbms.Server {
	t.Helper()
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
	build := buildtest.Get(t, target)
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
	return server
}
