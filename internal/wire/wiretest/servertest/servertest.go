// Package servertest starts the real servers that tests need, and reads what such
// a server logs of the statements that arrive.
package servertest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build/buildtest"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
)

// usualMemory is enough for the tables of tests.
const usualMemory = 256 << 20

// patience is how long a server may take to shut down.
const patience = time.Minute

// Server is a running server of a test.
type Server struct {
	dbms.Server
	Build dbcanary.Build

	log     string // file that the server writes to
	logFrom int64  // where in it the statements begin that LogStatements reads
}

// Start starts a target such as "mariadb@10.11" with its default settings, and
// others after them, on an empty data directory; the end of the test stops it.
func Start(t testing.TB, target string, settings ...dbcanary.Setting) *Server {
	t.Helper()
	return StartSized(t, target, usualMemory, settings...)
}

// StartSized starts a server with default settings for so much memory.
func StartSized(t testing.TB, target string, memoryBytes int64, settings ...dbcanary.Setting) *Server {
	t.Helper()
	build := buildtest.Get(t, target)
	driver := drivers.For(build.Family)
	dir := Claim(t)
	server, err := driver.Start(context.WithoutCancel(t.Context()), dbms.StartOptions{
		Build: build, Settings: append(driver.Defaults(build.Version, memoryBytes), settings...), Dir: dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Stop(t, server) })
	return Wrap(server, build, dir)
}

// Claim makes an instance directory that the end of the test removes, with a path
// that is short enough for sockets and open to the account that servers run as.
func Claim(t testing.TB) string {
	t.Helper()
	root, err := os.MkdirTemp("", "dbcw")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "i")
	t.Cleanup(func() {
		if err := errors.Join(dbms.Remove(dir), os.RemoveAll(root)); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(os.Chmod(root, 0o755), dbms.Claim(dir)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Stop shuts a server down; one that takes too long is killed, and an error.
func Stop(t testing.TB, server dbms.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// Wrap makes a Server of one that was started in an instance directory otherwise.
func Wrap(server dbms.Server, build dbcanary.Build, dir string) *Server {
	return &Server{Server: server, Build: build, log: filepath.Join(dir, "server.log")}
}

// Alike runs a test on each target, all at the same time, and wants the same tables
// of each: found is a digest of them.
func Alike[T any](t *testing.T, targets []string, test func(t *testing.T, target string) (found T)) {
	t.Helper()
	var mu sync.Mutex
	digests := map[string]T{}
	t.Run("targets", func(t *testing.T) {
		for _, target := range targets {
			t.Run(target, func(t *testing.T) {
				t.Parallel()
				found := test(t, target)
				mu.Lock()
				defer mu.Unlock()
				digests[target] = found
			})
		}
	})
	for _, target := range targets[1:] {
		if diff := cmp.Diff(digests[targets[0]], digests[target]); diff != "" {
			t.Errorf("tables after inserts (-%s +%s):\n%s", targets[0], target, diff)
		}
	}
}
