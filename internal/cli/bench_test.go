package cli_test

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest/servertest"
)

func dsnOf(scheme string, a wire.Address) string {
	dsn := url.URL{Scheme: scheme, User: url.UserPassword(a.User, a.Password), Host: net.JoinHostPort(a.Host, strconv.Itoa(a.Port)), Path: "/" + a.Database}
	return dsn.String()
}

// contains fails the test unless text has all of wanted, and nothing of secret.
func contains(t *testing.T, text, secret string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if secret != "" && strings.Contains(text, secret) {
		t.Errorf("the password is in:\n%s", text)
	}
}

// bench prepares, runs and cleans up on somebody else's server, with our words
// and with sysbench's.
func TestBench(t *testing.T) {
	for _, target := range []struct{ scheme, name, prefix, driver string }{
		{"mysql", "mariadb@10.11", "mysql", "mysql"},
		{"postgres", "postgres@16", "pgsql", "pgsql"},
	} {
		t.Run(target.scheme, func(t *testing.T) {
			server := servertest.Start(t, target.name)
			p, at := newProgram(t), server.Address()
			dsn := "--dsn=" + dsnOf(target.scheme, at)
			flag := func(name, value string) string { return "--" + target.prefix + "-" + name + "=" + value }
			sysbench := []string{
				"--db-driver=" + target.driver, flag("host", at.Host), flag("port", strconv.Itoa(at.Port)), flag("user", at.User),
				flag("password", at.Password), flag("db", at.Database), "--tables=2", "--table-size=1000", "--time=1", "--report-interval=0.4",
			}
			small := []string{dsn, "--tables", "2", "--table-size", "1000", "--time", "200ms"}

			out, errs := p.run(1, append([]string{"bench", "point-query"}, small...)...)
			contains(t, out+errs, at.Password, "tables must be loaded first")
			p.run(0, append([]string{"bench", "oltp_read_write", "prepare"}, sysbench...)...)
			_, errs = p.run(2, append([]string{"bench", "point-query", "prepare"}, small...)...)
			contains(t, errs, at.Password, "the table sbtest1 exists")

			checkSweep(t, p, small)
			out, errs = p.run(0, append([]string{"bench", "/usr/share/sysbench/oltp_read_write.lua", "run", "--threads=4", "--histogram", "--skip_trx=off", "--verbosity=2", "--delete_inserts=2"}, sysbench...)...)
			contains(t, out, at.Password, "read-write range=100", "transactions", "read ", "p95", "Histogram", "[   0.4s]")
			contains(t, errs, at.Password, "--verbosity changes nothing", "keys are uniform")
			out, _ = p.run(0, append([]string{"bench", "point-query", "--rate", "200", "--arrivals", "constant"}, small...)...)
			contains(t, out, at.Password, "offered", "200.00 events/s", "late starts", "backlog", "Service time")
			checkReconnect(t, p, server, small)
			_, errs = p.run(1, "bench", "point-query", dsn, "--tables=2", "--table-size=2000", "--time=200ms")
			contains(t, errs, at.Password, "wrong answer", "--table-size")

			checkOwnWork(t, p, dsn, at.Password)
			checkRefusals(t, p, target.scheme, at)
			checkGone(t, p, target.scheme, at)
			if _, err := server.Admin().ExecContext(t.Context(), "CREATE TABLE sbtest3 (id int, mine int)"); err != nil {
				t.Fatal(err)
			}
			_, errs = p.run(2, "bench", "oltp_insert", "cleanup", dsn, "--tables=3")
			contains(t, errs, at.Password, "sbtest3", "nothing was dropped")
			out, _ = p.run(0, "bench", "oltp_insert", "cleanup", dsn, "--tables=2")
			contains(t, out, "", "dropped 2 of the tables")
		})
	}
}

// checkOwnWork runs what a user brings, and cleans up after it.
func checkOwnWork(t *testing.T, p *program, dsn, secret string) {
	t.Helper()
	path, err := filepath.Abs("../workload/own/testdata/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	shop := "--workload=" + path
	brief := []string{dsn, "--time=0", "--events=30", "--threads=2"}
	out, _ := p.run(0, "bench", "mixed", "prepare", dsn, shop)
	contains(t, out, secret, "made and loaded the tables of store.mixed")
	out, _ = p.run(0, append([]string{"bench", "mixed", shop, "--json"}, brief...)...)
	contains(t, out, secret, `"events": 30`, `"reads": -1`)
	out, _ = p.run(0, "bench", "store.mixed", "cleanup", dsn, shop)
	contains(t, out, secret, "dropped customers, orders")
	pgbench := []string{"--pgbench=tpcb-like@2,select-only"}
	p.run(0, append([]string{"bench", "pgbench", "prepare", dsn}, pgbench...)...)
	out, _ = p.run(0, append(append([]string{"bench", "pgbench"}, brief...), pgbench...)...)
	contains(t, out, secret, "pgbench.tpcb-like+select-only", "transactions")
	p.run(0, append([]string{"bench", "pgbench", "cleanup", dsn}, pgbench...)...)
	query := []string{"--query=INSERT INTO mine VALUES (2); SELECT a FROM mine WHERE a < 2", "--create=CREATE TABLE mine (a int); INSERT INTO mine VALUES (1)"}
	p.run(0, append([]string{"bench", "query", "prepare", dsn}, query...)...)
	out, _ = p.run(0, append(append([]string{"bench", "query"}, brief...), query...)...)
	contains(t, out, secret, "transactions")
	_, errs := p.run(2, append([]string{"bench", "query", "cleanup", dsn}, query...)...)
	contains(t, errs, secret, "drop it yourself")
	_, errs = p.run(2, "bench", "store.mixd", dsn, shop)
	contains(t, errs, secret, "did you mean store.mixed")
}

// checkReconnect counts the logins at the server.
func checkReconnect(t *testing.T, p *program, server dbms.Server, small []string) {
	t.Helper()
	query := "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'CONNECTIONS'"
	if server.Address().Database != "" && strings.Contains(small[0], "postgres://") {
		query = "SELECT sessions FROM pg_stat_database WHERE datname = current_database()"
	}
	logins := func() (n int) {
		if err := server.Admin().QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := logins()
	out, _ := p.run(0, append([]string{"bench", "point-query", "--threads=2", "--events=100", "--reconnect=10"}, append(small, "--time=0")...)...)
	contains(t, out, "", "point-query")
	// 100 events are ten connections, and each worker opens one that it uses no more.
	if got := logins() - before; got < 10 || got > 16 {
		t.Errorf("100 events with a login after each 10 took %d logins", got)
	}
}

func checkSweep(t *testing.T, p *program, small []string) {
	t.Helper()
	out, _ := p.run(0, append([]string{"bench", "read-only range=10", "--threads", "1,3", "--json", "--percentiles", "50,99.9"}, small...)...)
	fits(t, "bench", out)
	var got struct {
		Results []struct {
			Threads                          int
			Events, Statements, Reads, Other int64
			QPS                              float64
			Response                         struct {
				Percentiles map[string]float64 `json:"percentiles_us"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	if len(got.Results) != 2 || got.Results[0].Threads != 1 || got.Results[1].Threads != 3 {
		t.Fatalf("not one result for each number of connections:\n%s", out)
	}
	for _, r := range got.Results {
		if r.Events < 1 || r.Reads != 14*r.Events || r.Other != 2*r.Events || r.QPS <= 0 || r.Response.Percentiles["99.9"] < r.Response.Percentiles["50"] {
			t.Errorf("implausible: %+v", r)
		}
	}
	out, _ = p.run(0, append([]string{"bench", "point-query", "--threads", "1,3"}, small...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if n := len(lines); !strings.HasPrefix(strings.TrimSpace(lines[n-3]), "connections") || !strings.HasPrefix(strings.TrimSpace(lines[n-1]), "3 ") {
		t.Errorf("no table of the sweep:\n%s", out)
	}
}

// Whatever keeps bench from logging in is one line with user and host.
func checkRefusals(t *testing.T, p *program, scheme string, at wire.Address) {
	t.Helper()
	const secret = "5ecret5ecret"
	wrong, unknown, foreign, hang := at, at, at, at
	wrong.Password, unknown.Database = secret, "nosuchdb"
	foreign.Port = listen(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n") })
	hang.Port = listen(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	for what, address := range map[string]wire.Address{"password": wrong, "database": unknown, "protocol": foreign, "timeout": hang} {
		started := time.Now()
		_, errs := p.run(1, "bench", "point-query", "--dsn", dsnOf(scheme, address), "--connect-timeout", "1.5")
		contains(t, errs, address.Password, at.User, at.Host)
		if strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: not one line:\n%s", what, errs)
		}
		if took := time.Since(started); took > 20*time.Second {
			t.Errorf("%s: took %v", what, took)
		}
	}
}

// listen serves every connection by one function until the test ends.
func listen(t *testing.T, serve func(net.Conn)) (port int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
			group.Go(func() {
				serve(conn)
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for _, conn := range conns {
			_ = conn.Close()
		}
		mu.Unlock()
		group.Wait()
	})
	return listener.Addr().(*net.TCPAddr).Port
}

// A server that goes in the middle ends the run with what was measured until then.
func checkGone(t *testing.T, p *program, scheme string, at wire.Address) {
	t.Helper()
	through := at
	through.Port = listen(t, func(client net.Conn) {
		server, err := net.Dial("tcp", net.JoinHostPort(at.Host, strconv.Itoa(at.Port)))
		if err != nil {
			return
		}
		defer server.Close()
		timer := time.AfterFunc(time.Second, func() { _, _ = server.Close(), client.Close() })
		defer timer.Stop()
		go func() { _, _ = io.Copy(server, client) }()
		if _, err := io.Copy(client, server); err != nil && !errors.Is(err, net.ErrClosed) {
			return
		}
	})
	out, errs := p.run(1, "bench", "point-query", "--dsn", dsnOf(scheme, through), "--time", "30s", "--table-size", "1000")
	contains(t, out, at.Password, "transactions", "Not a full measurement")
	contains(t, errs, at.Password, "connection 0", at.User)
}
