package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// subject is a server of ours with a loaded table.
type subject struct {
	server dbms.Server
	build  dbcanary.Build
	dir    string
	socket string // file for MySQL and MariaDB, folder for PostgreSQL
}

// start finds or fetches the build, starts it on the CPUs and loads one table.
func start(ctx context.Context, target string, cpus []int, o options, stderr io.Writer) (_ *subject, err error) {
	spec, err := dbcanary.ParseTargetSpec(target)
	if err != nil {
		return nil, err
	}
	cache := build.New(build.Options{
		Dir:       filepath.Join(build.UserDir(os.Geteuid(), os.Getenv), "builds"),
		Identify:  drivers.Identify,
		Environ:   os.Environ(),
		Stderr:    stderr,
		Installed: build.InstalledDirs(os.Getenv("PATH")),
	})
	found, err := cache.Resolve(ctx, spec, nil)
	if err != nil {
		return nil, err
	}
	if found.Family == dbcanary.SQLite {
		return nil, errors.New("no rival of ours runs on SQLite")
	}
	s := &subject{build: found}
	if s.dir, err = os.MkdirTemp("", "benchload"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	if err := os.Chmod(s.dir, 0o755); err != nil { // the server of root runs as another user
		return nil, err
	}
	instance := filepath.Join(s.dir, "server")
	if err := dbms.Claim(instance); err != nil {
		return nil, err
	}
	driver := drivers.For(found.Family)
	s.server, err = driver.Start(context.WithoutCancel(ctx), dbms.StartOptions{
		Build: found, Settings: driver.Defaults(found.Version, o.memory), Dir: instance, CPUs: cpus,
	})
	if err != nil {
		return nil, err
	}
	if o.loadRows > 0 {
		return s, nil
	}
	return s, s.load(ctx, o)
}

func (s *subject) load(ctx context.Context, o options) error {
	data := workload.Data{Tables: 1, TableSize: o.tableSize, Seed: 1}
	if err := workload.Load(ctx, s.server.Connect, s.build.Family, data, 2, nil); err != nil {
		return err
	}
	admin := s.server.Admin()
	if s.build.Family != dbcanary.Postgres {
		return admin.QueryRowContext(ctx, "SELECT @@socket").Scan(&s.socket)
	}
	// pgbench's -S reads abalance of a row of pgbench_accounts; with these tables that
	// is the same work as a point query: the same rows under its names.
	for _, statement := range []string{
		"CREATE TABLE pgbench_branches (bid integer)",
		fmt.Sprintf("INSERT INTO pgbench_branches SELECT generate_series(1, %d)", o.tableSize/100_000),
		"CREATE TABLE pgbench_accounts (aid, k, abalance, filler) AS SELECT id, k, c, pad FROM sbtest1",
		"ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid)",
		"GRANT SELECT ON pgbench_branches, pgbench_accounts TO PUBLIC",
		"VACUUM ANALYZE",
	} {
		if _, err := admin.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return admin.QueryRowContext(ctx, "SHOW unix_socket_directories").Scan(&s.socket)
}

// stop ends the server and removes its data.
func (s *subject) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	if s.server != nil {
		err = s.server.Stop(ctx)
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// rival is the program that the server is also driven by.
func (s *subject) rival() string {
	if s.build.Family == dbcanary.Postgres {
		return "pgbench"
	}
	return "sysbench"
}

// ours is dbcanary bench for a cell.
func (s *subject) ours(o options, c cell) (*client, error) {
	a := s.server.Address()
	dsn := url.URL{Scheme: string(s.build.Family), User: url.UserPassword(a.User, a.Password), Path: "/" + a.Database}
	query := url.Values{}
	dsn.Host = net.JoinHostPort(a.Host, strconv.Itoa(a.Port))
	switch {
	case s.build.Family == dbcanary.Postgres && c.transport == "socket":
		dsn.Host = ""
		query.Set("host", s.socket)
		query.Set("port", strconv.Itoa(a.Port))
	case s.build.Family == dbcanary.Postgres:
		query.Set("sslmode", "disable")
	case c.transport == "socket":
		query.Set("socket", s.socket)
	}
	dsn.RawQuery = query.Encode()
	benchmark := c.benchmark
	if benchmark == readOnly {
		benchmark += " range=100"
	}
	args := []string{
		o.program, "bench", benchmark, "--dsn", dsn.String(), "--threads", strconv.Itoa(c.connections),
		"--tables", "1", "--table-size", strconv.Itoa(o.tableSize), "--json",
	}
	return &client{
		args:   with(args, "--time", o.length.String()),
		brief:  with(args, "--time", "0", "--events", strconv.Itoa(c.connections)),
		secret: a.Password, read: readOurs,
	}, nil
}

// theirs is the rival for a cell.
func (s *subject) theirs(o options, c cell) (*client, error) {
	if s.build.Family == dbcanary.Postgres {
		return s.pgbench(o, c)
	}
	a := s.server.Address()
	script := map[string]string{pointQuery: "oltp_point_select", readOnly: "oltp_read_only"}[c.benchmark]
	args := []string{
		o.sysbench, script, "--db-driver=mysql", "--db-ps-mode=auto", "--rand-type=uniform", "--range-size=100",
		"--mysql-user=" + a.User, "--mysql-password=" + a.Password, "--mysql-db=" + a.Database,
		"--tables=1", fmt.Sprintf("--table-size=%d", o.tableSize), fmt.Sprintf("--threads=%d", c.connections),
	}
	if c.transport == "socket" {
		args = append(args, "--mysql-socket="+s.socket)
	} else {
		args = append(args, "--mysql-host="+a.Host, fmt.Sprintf("--mysql-port=%d", a.Port))
	}
	return &client{
		args:   with(args, fmt.Sprintf("--time=%d", int(o.length.Seconds())), "run"),
		brief:  with(args, "--time=0", fmt.Sprintf("--events=%d", c.connections), "run"),
		secret: a.Password, read: readSysbench,
	}, nil
}

// with gives the arguments with more behind them.
func with(args []string, more ...string) []string { return slices.Concat(args, more) }

func (s *subject) pgbench(o options, c cell) (*client, error) {
	program, err := s.pgbenchPath(o)
	if err != nil {
		return nil, err
	}
	a := s.server.Address()
	host := a.Host
	if c.transport == "socket" {
		host = s.socket
	}
	args := []string{
		program, "-n", "-M", "prepared", "-h", host, "-p", strconv.Itoa(a.Port), "-U", a.User,
		"-c", strconv.Itoa(c.connections), "-j", strconv.Itoa(min(c.connections, runtime.NumCPU())),
	}
	one := &client{env: []string{"PGPASSWORD=" + a.Password, "PGSSLMODE=disable"}, secret: a.Password, read: readPgbench(1)}
	if c.benchmark == pointQuery {
		args = append(args, "-S")
	} else {
		args = append(args, "-f", "/dev/stdin")
		one.input, one.read = readOnlyScript(o.tableSize), readPgbench(readOnlyStatements)
	}
	one.args = with(args, "-T", strconv.Itoa(int(o.length.Seconds())), a.Database)
	one.brief = with(args, "-t", "1", a.Database)
	return one, nil
}

// pgbenchPath prefers the pgbench of the server's own release.
func (s *subject) pgbenchPath(o options) (string, error) {
	if o.pgbench != "" {
		return o.pgbench, nil
	}
	beside := filepath.Join(s.build.Dir, "bin", "pgbench")
	if _, err := os.Stat(beside); err == nil {
		return beside, nil
	}
	path, err := exec.LookPath("pgbench")
	if err != nil {
		return "", fmt.Errorf("no pgbench, neither %s nor in PATH: say -pgbench PATH", beside)
	}
	return path, nil
}

// readOnlyStatements is how many statements an event of read-only has.
const readOnlyStatements = 16

// readOnlyScript is the event of read-only with a range of 100 in pgbench's words.
func readOnlyScript(tableSize int) string {
	var b strings.Builder
	b.WriteString("BEGIN;\n")
	for range 10 {
		fmt.Fprintf(&b, "\\set id random(1, %d)\nSELECT c FROM sbtest1 WHERE id=:id;\n", tableSize)
	}
	for _, query := range []string{
		"SELECT c FROM sbtest1 WHERE id BETWEEN :low AND :high",
		"SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN :low AND :high",
		"SELECT c FROM sbtest1 WHERE id BETWEEN :low AND :high ORDER BY c",
		"SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN :low AND :high ORDER BY c",
	} {
		fmt.Fprintf(&b, "\\set low random(1, %d)\n\\set high :low + 99\n%s;\n", tableSize-99, query)
	}
	b.WriteString("COMMIT;\n")
	return b.String()
}
