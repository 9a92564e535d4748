// Package dbmstest is the conformance suite of the DBMS drivers: what every
// family has to do when it is started, asked, stopped, killed and refused.
package dbmstest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// Subject is a driver with a build to start, and what differs between families.
type Subject struct {
	Driver  dbms.Driver
	Build   dbcanary.Build
	Overlay dbcanary.Setting // differs from the default and is read back as it is written
	Refused dbcanary.Setting // one that the server does not know
	Message string           // what the server says to it
	// Foreign gives a DSN of the server that was started in dir, as of one that
	// somebody else runs; nil if there is no such thing.
	Foreign func(server dbms.Server, dir string) (dsn string)
}

// patience bounds every wait of the suite; a busy machine is slow.
const patience = 60 * time.Second

// Run holds the driver to the whole contract.
func Run(t *testing.T, s Subject) {
	f := newFixture(t, s)
	t.Run("fresh", f.fresh)
	t.Run("copies", f.copies)
	t.Run("counters", f.counters)
	t.Run("refused setting", f.refused)
	t.Run("reserved setting", f.reserved)
	t.Run("cancelled start", f.cancelled)
	t.Run("cancelled later", f.cancelledLater)
	if s.Driver.Family() != dbcanary.SQLite {
		t.Run("killed parent", f.killedParent)
		t.Run("ordinary user", f.ordinaryUser)
		t.Run("foreign server", f.foreign)
		t.Run("closed home", f.closedHome)
	}
}

// RunShort starts a build once fresh and then on copies, reads its counters, and has it refuse a setting.
func RunShort(t *testing.T, s Subject) {
	f := newFixture(t, s)
	t.Run("fresh", f.fresh)
	t.Run("copies", f.copies)
	t.Run("counters", f.counters)
	t.Run("refused setting", f.refused)
}

type fixture struct {
	Subject
	root   string
	golden string // instance directory with data, after fresh
	number int
}

func newFixture(t *testing.T, s Subject) *fixture {
	t.Helper()
	// Not t.TempDir, whose long name leaves no room for a socket's and whose
	// removal would hide what the driver leaves behind.
	root, err := os.MkdirTemp("", "dbct")
	must(t, err)
	must(t, os.Chmod(root, 0o755))
	f := &fixture{Subject: s, root: root}
	t.Cleanup(func() {
		must(t, os.RemoveAll(root))
		if left := processesOf(root); len(left) > 0 {
			t.Errorf("processes are left: %v", left)
		}
	})
	return f
}

// claim makes the next instance directory.
func (f *fixture) claim(t *testing.T) string {
	t.Helper()
	f.number++
	dir := filepath.Join(f.root, fmt.Sprintf("%02d", f.number))
	must(t, dbms.Claim(dir))
	return dir
}

// copy makes the next instance directory with the loaded data.
func (f *fixture) copy(t *testing.T) string {
	t.Helper()
	dir := f.claim(t)
	start := time.Now()
	must(t, dbms.Copy(t.Context(), f.golden, dir))
	t.Logf("copied in %v", time.Since(start).Round(time.Millisecond))
	return dir
}

func (f *fixture) options(dir string, extra ...dbcanary.Setting) dbms.StartOptions {
	const memory = 512 << 20
	settings := append(f.Driver.Defaults(f.Build.Version, memory), extra...)
	return dbms.StartOptions{Build: f.Build, Settings: settings, Dir: dir, CPUs: []int{0}}
}

// start starts a server, which the end of the test stops if it still runs.
func (f *fixture) start(t *testing.T, dir string, extra ...dbcanary.Setting) dbms.Server {
	t.Helper()
	start := time.Now()
	server, err := f.Driver.Start(context.WithoutCancel(t.Context()), f.options(dir, extra...))
	must(t, err)
	t.Logf("%s %s started in %v", f.Driver.Family(), server.Version(), time.Since(start).Round(time.Millisecond))
	t.Cleanup(func() { _ = server.Stop(context.Background()) }) // a test that checks the stop has done so before
	return server
}

func (f *fixture) stop(t *testing.T, server dbms.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	start := time.Now()
	must(t, server.Stop(ctx))
	t.Logf("stopped in %v", time.Since(start).Round(time.Millisecond))
	select {
	case <-server.Done():
	default:
		t.Error("Done is not closed after Stop")
	}
	if pid := server.PID(); pid != 0 && exists(pid) {
		t.Errorf("process %d is left after Stop", pid)
	}
	if address := server.Address(); address.Port != 0 {
		if conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", address.Port)); err == nil {
			_ = conn.Close()
			t.Errorf("port %d is open after Stop", address.Port)
		}
	}
	must(t, server.Stop(ctx)) // a second call does nothing
}

func (f *fixture) fresh(t *testing.T) {
	f.golden = f.claim(t)
	server := f.start(t, f.golden, f.Overlay)
	if server.Version() != f.Build.Version {
		t.Errorf("version %q, want %q", server.Version(), f.Build.Version)
	}
	settings, err := server.Settings(t.Context())
	must(t, err)
	if !slices.IsSortedFunc(settings, func(a, b dbcanary.Setting) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the settings are not sorted")
	}
	if !slices.Contains(settings, f.Overlay) {
		t.Errorf("%s=%s is not in the settings read back", f.Overlay.Name, f.Overlay.Value)
	}
	f.load(t, server)
	checkPinned(t, server.PID())
	f.stop(t, server)
}

// load makes a table through the measured path, as the owner of the database.
func (f *fixture) load(t *testing.T, server dbms.Server) {
	t.Helper()
	conn, err := server.Connect(t.Context())
	must(t, err)
	defer func() { must(t, conn.Close()) }()
	for _, query := range []string{"CREATE TABLE seen (id INT PRIMARY KEY, c VARCHAR(20))", "INSERT INTO seen VALUES (1, 'one'), (2, 'two')"} {
		result, err := conn.Query([]byte(query))
		must(t, err)
		if strings.HasPrefix(query, "INSERT") && result.Affected != 2 {
			t.Errorf("%s: %d rows affected, want 2", query, result.Affected)
		}
	}
	f.check(t, server)
}

// check reads the table by the administration handle and by a prepared
// statement on the measured path, and aborts a connection.
func (f *fixture) check(t *testing.T, server dbms.Server) {
	t.Helper()
	var text string
	must(t, server.Admin().QueryRowContext(t.Context(), "SELECT c FROM seen WHERE id = 2").Scan(&text))
	if text != "two" {
		t.Errorf("the administration handle reads %q, want %q", text, "two")
	}
	conn, err := server.Connect(t.Context())
	must(t, err)
	defer func() { _ = conn.Close() }() // aborted below
	placeholder := "?"
	if f.Driver.Family() == dbcanary.Postgres {
		placeholder = "$1"
	}
	stmt, err := conn.Prepare(t.Context(), "SELECT c FROM seen WHERE id = "+placeholder, []wire.Kind{wire.Int})
	must(t, err)
	result, err := stmt.Exec([]wire.Arg{{Int: 1}})
	must(t, err)
	if result.Rows != 1 {
		t.Errorf("the measured path reads %d rows, want 1", result.Rows)
	}
	var answer *wire.ServerError
	if _, err := conn.Query([]byte("SELECT nonsense FROM nowhere")); !errors.As(err, &answer) {
		t.Errorf("a wrong statement gives %v, want a ServerError", err)
	}
	conn.Abort()
	if _, err := stmt.Exec([]wire.Arg{{Int: 1}}); !errors.Is(err, wire.ErrAborted) {
		t.Errorf("a statement after Abort gives %v, want ErrAborted", err)
	}
}

// copies starts two servers at once on copies of the data, stops one and kills the other.
func (f *fixture) copies(t *testing.T) {
	first, second := f.start(t, f.copy(t)), f.start(t, f.copy(t))
	f.check(t, first)
	f.check(t, second)
	if first.Address() == second.Address() {
		t.Errorf("both servers listen on %v", first.Address())
	}
	if err := dbms.Copy(t.Context(), filepath.Join(f.root, "02"), f.claim(t)); err == nil && first.PID() != 0 {
		t.Error("the data of a running server were copied")
	}
	f.stop(t, first)
	f.check(t, second)
	if second.PID() == 0 {
		return
	}
	memory := sharedMemory(second.PID())
	if f.Driver.Family() == dbcanary.Postgres && len(memory) == 0 {
		t.Error("no shared memory of PostgreSQL seen")
	}
	kill(t, second.PID())
	wait(t, "the death of the server is noticed", func() bool { return closed(second.Done()) })
	if len(second.LogTail(5)) == 0 {
		t.Error("no log of the server that died")
	}
	must(t, second.Stop(context.Background()))
	wait(t, "no process is left", func() bool { return len(processesOf(f.root)) == 0 })
	checkFreed(t, second.PID(), memory)
}

func (f *fixture) refused(t *testing.T) {
	_, err := f.Driver.Start(t.Context(), f.options(f.copy(t), f.Refused))
	if err == nil || !strings.Contains(err.Error(), f.Message) || strings.Contains(err.Error(), "\n") {
		t.Errorf("a start with %s=%s gives %q, want one line with %q", f.Refused.Name, f.Refused.Value, err, f.Message)
	}
	if left := processesOf(f.root); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// reserved tries to move the server away from where its marker is.
func (f *fixture) reserved(t *testing.T) {
	_, err := f.Driver.Start(t.Context(), f.options(f.copy(t), dbcanary.Setting{Name: "Port", Value: "3306"}))
	if dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
		t.Errorf("a start with a port gives %v, want an error of usage", err)
	}
	_, err = f.Driver.Start(t.Context(), f.options(filepath.Join(f.root, "unclaimed")))
	if err == nil {
		t.Error("a start in a directory without marker did not fail")
	}
}

// cancelled ends the context while the server is being initialised.
func (f *fixture) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := f.claim(t)
	if f.Driver.Family() == dbcanary.SQLite {
		cancel()
	} else {
		go func() {
			for len(processesOf(dir)) == 0 && ctx.Err() == nil {
				pause(ctx)
			}
			cancel()
		}()
	}
	if server, err := f.Driver.Start(ctx, f.options(dir)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled start gives %v, %v", server, err)
	}
	if left := processesOf(f.root); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// cancelledLater ends the context of a server that runs.
func (f *fixture) cancelledLater(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server, err := f.Driver.Start(ctx, f.options(f.copy(t)))
	must(t, err)
	cancel()
	wait(t, "the server ends with its context", func() bool { return closed(server.Done()) })
	must(t, server.Stop(context.Background()))
	if left := processesOf(f.root); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// foreign attaches to a server as to one that somebody else runs: its database
// is left alone when it is not ours and dropped in the end when it is.
func (f *fixture) foreign(t *testing.T) {
	dir := f.copy(t)
	server := f.start(t, dir)
	dsn := f.Foreign(server, dir)
	if _, err := f.Driver.Attach(t.Context(), dsn); dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), dbms.MarkerTable) {
		t.Errorf("attaching where a database dbcanary exists gives %v", err)
	}
	f.check(t, server)
	conn, err := server.Connect(t.Context())
	must(t, err)
	_, err = conn.Query([]byte("CREATE TABLE " + dbms.MarkerTable + " (made_by VARCHAR(40) NOT NULL PRIMARY KEY)"))
	must(t, err)
	must(t, conn.Close())
	must(t, server.Admin().Close()) // nobody else is in the database now
	for range 2 {
		f.attachOnce(t, dsn, server.Version())
	}
	wrong := strings.Replace(dsn, server.Address().Password, "sesame-open", 1)
	if _, err := f.Driver.Attach(t.Context(), wrong); wrong != dsn && (err == nil || strings.Contains(err.Error(), "sesame")) {
		t.Errorf("attaching with a wrong password gives %v", err)
	}
}

// closedHome starts a server below a directory that nobody else may enter, as
// root's home is, while the server may run as another user.
func (f *fixture) closedHome(t *testing.T) {
	home := filepath.Join(f.root, "home")
	must(t, os.Mkdir(home, 0o700))
	dir := filepath.Join(home, "i")
	must(t, dbms.Claim(dir))
	must(t, dbms.Copy(t.Context(), f.golden, dir))
	server := f.start(t, dir)
	f.check(t, server)
	f.stop(t, server)
	must(t, dbms.Remove(dir))
}

// attachOnce works in the database on the foreign server and leaves nothing there.
func (f *fixture) attachOnce(t *testing.T, dsn, version string) {
	t.Helper()
	attached, err := f.Driver.Attach(t.Context(), dsn)
	must(t, err)
	if attached.PID() != 0 || attached.Version() != version {
		t.Errorf("attached to process %d, version %s", attached.PID(), attached.Version())
	}
	settings, err := attached.Settings(t.Context())
	must(t, err)
	if len(settings) < 100 {
		t.Errorf("only %d settings read back", len(settings))
	}
	f.load(t, attached)
	must(t, attached.Stop(context.Background()))
	if !closed(attached.Done()) {
		t.Error("Done is not closed after Stop")
	}
	must(t, attached.Stop(context.Background()))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
