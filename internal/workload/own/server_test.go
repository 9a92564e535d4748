package own

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest/servertest"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// TestServers runs own workloads on a real server of each family: what is loaded is
// the same everywhere, and what the server logs is what the files say.
func TestServers(t *testing.T) {
	var digests []string
	for _, target := range []string{"sqlite", "postgres@18", "mariadb@10.11", "mysql@9.7"} {
		t.Run(target, func(t *testing.T) {
			s := startServer(t, target)
			digests = append(digests, s.shop(t))
			if digests[0] != digests[len(digests)-1] {
				t.Errorf("the rows differ from SQLite's: %s", cmp.Diff(digests[0], digests[len(digests)-1]))
			}
			s.pgbench(t)
			s.query(t)
			s.foreignTable(t)
			s.badStatement(t)
		})
	}
}

type serverTest struct {
	*servertest.Server
	family dbcanary.Family
}

func startServer(t *testing.T, target string) *serverTest {
	t.Helper()
	server := servertest.Start(t, target)
	return &serverTest{server, server.Build.Family}
}

// load loads the tables of benchmarks, twice: the second load replaces the first.
func (s *serverTest) load(t *testing.T, list []workload.Benchmark) {
	t.Helper()
	datasets, err := workload.DatasetsOf(list)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, d := range datasets {
			err := d.Load(t.Context(), workload.Loading{Connect: s.Connect, Family: s.family, Data: workload.Data{Seed: 5}, Parallel: 3})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, d := range datasets {
		if err := d.Warm(t.Context(), s.Admin(), s.family, workload.Data{}); err != nil {
			t.Fatal(err)
		}
	}
}

// run does events of a benchmark and fails on any error.
func (s *serverTest) run(t *testing.T, b workload.Benchmark, mode string, events int) {
	t.Helper()
	conn, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	work, err := b.Open(t.Context(), workload.Env{
		Family: s.family, Conn: conn, PSMode: mode, Data: workload.Data{Tables: 1, TableSize: 1, Seed: 5}, State: new(workload.State),
	})
	if err != nil {
		t.Fatalf("%s: %v", b.Label, err)
	}
	work.Reseed(7)
	for range events {
		if _, err := work.Run(); err != nil {
			t.Fatalf("%s, %s: %v", b.Label, mode, err)
		}
	}
}

// shop loads and runs the YAML file of the tests and gives a digest of its rows.
func (s *serverTest) shop(t *testing.T) string {
	t.Helper()
	list := shop(t)
	s.load(t, list)
	digest := s.digest(t, "SELECT id, name, email, city, since, credit, note FROM customers ORDER BY id") +
		s.digest(t, "SELECT id, customer, placed, weight, state FROM orders ORDER BY id")
	for _, mode := range []string{workload.Text, workload.Prepared} {
		logged := s.LogStatements(t)
		for _, b := range list {
			s.run(t, b, mode, 40)
		}
		s.restore(t)
		if logged == nil {
			continue
		}
		// The literals of a statement sent as text and the arguments of a prepared one read
		// alike, but for what a driver shows of their types.
		got := plain(strings.Join(logged(t), "\n"))
		for _, b := range list {
			for _, want := range strings.Split(plain(events(b, s.family, workload.Text, 40)), "\n") {
				if want != "--" && !strings.Contains(got, want) {
					t.Errorf("%s: the server did not log %q", mode, want)
				}
			}
		}
	}
	return digest
}

// restore makes the orders what they were: a sequence begins anew in each mode.
func (s *serverTest) restore(t *testing.T) {
	t.Helper()
	if _, err := s.Admin().ExecContext(t.Context(), "DELETE FROM orders WHERE id > 5000"); err != nil {
		t.Fatal(err)
	}
}

var literal = regexp.MustCompile(`'([0-9][0-9.: -]*)'`)

// plain takes quotes and time zones off numbers and times, which families show with or without.
func plain(text string) string { return literal.ReplaceAllString(text, "$1") }

// digest sums up the rows of a query as text that is the same on every family.
func (s *serverTest) digest(t *testing.T, query string) string {
	t.Helper()
	rows, err := s.Admin().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	hash, count, first := fnv.New64a(), 0, ""
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		line := ""
		for _, v := range values {
			line += "|" + shown(*v.(*any))
		}
		fmt.Fprintln(hash, line)
		if count++; count <= 3 {
			first += line + "\n"
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s%d rows, %x\n", first, count, hash.Sum64())
}

// shown is a value of whatever type a driver gives.
func shown(v any) string {
	text := fmt.Sprint(v)
	switch v := v.(type) {
	case []byte:
		text = string(v)
	case time.Time:
		text = v.UTC().Format(time.DateTime)
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, " 00:00:00"), "T00:00:00Z")
	var f float64
	if n, err := fmt.Sscanf(text, "%g", &f); n == 1 && err == nil && regexp.MustCompile(`^-?\d+(\.\d+)?$`).MatchString(text) {
		return fmt.Sprintf("%.6g", f) // decimals of some are numbers of others
	}
	return text
}

func (s *serverTest) pgbench(t *testing.T) {
	t.Helper()
	w, err := ReadPgbench([]string{"tpcb-like", "simple-update", "select-only@2", filepath.Join("testdata", "pgbench.sql")}, 1, map[string]string{"limit": "7"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := Open([]dbcanary.OwnWorkload{w})
	if err != nil {
		t.Fatal(err)
	}
	s.load(t, list)
	for query, want := range map[string]string{
		"SELECT COUNT(*), SUM(aid), MIN(bid), MAX(bid), SUM(abalance) FROM pgbench_accounts": "|100000|5000050000|1|1|0",
		"SELECT COUNT(*), SUM(tid), COUNT(filler) FROM pgbench_tellers":                      "|10|55|0",
		"SELECT COUNT(*), COUNT(mtime) FROM pgbench_history":                                 "|0|0",
	} {
		if got, _, _ := strings.Cut(s.digest(t, query), "\n"); strings.ReplaceAll(got, "5.00005e+09", "5000050000") != want {
			t.Errorf("%s gives %s, want %s", query, got, want)
		}
	}
	for _, mode := range []string{workload.Text, workload.Prepared} {
		logged := s.LogStatements(t)
		s.run(t, list[0], mode, pgbenchEvents)
		s.checkLog(t, mode, list[0], pgbenchEvents, logged)
		if logged != nil {
			s.checkWeights(t, mode, logged(t))
		}
	}
	// What TPC-B holds: all balances are the sum of what the history says, and as many
	// events wrote it as there were of the two scripts that do.
	var accounts, history, written int64
	ctx, admin := t.Context(), s.Admin()
	err = errors.Join(
		admin.QueryRowContext(ctx, "SELECT SUM(abalance) FROM pgbench_accounts").Scan(&accounts),
		admin.QueryRowContext(ctx, "SELECT SUM(delta), COUNT(*) FROM pgbench_history").Scan(&history, &written),
	)
	sent := strings.Count(events(list[0], s.family, workload.Text, pgbenchEvents), "INSERT INTO pgbench_history")
	if err != nil || accounts != history || int(written) != 2*sent || sent == 0 {
		t.Errorf("accounts %d, history %d, %d rows of it for 2 x %d sent: %v", accounts, history, written, sent, err)
	}
}

// pgbenchEvents are enough to tell the weights of the scripts.
const pgbenchEvents = 250

// checkLog compares what the server logged of a benchmark, in order, with what its
// files say.
func (s *serverTest) checkLog(t *testing.T, mode string, b workload.Benchmark, n int, logged func(testing.TB) []string) {
	t.Helper()
	if logged == nil {
		return
	}
	var got, want []string
	for _, statement := range logged(t) {
		// What a connection begins with, and how the log is read.
		if statement != "SET NAMES DEFAULT" && !strings.Contains(statement, "general_log") {
			got = append(got, plain(statement))
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(plain(events(b, s.family, workload.Text, n))), "\n") {
		if line != "--" {
			want = append(want, line)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, %s: statements at the server (-documented +logged):\n%.3000s", b.Label, mode, diff)
	}
}

// checkWeights holds that the scripts have run as often as their weights say.
func (s *serverTest) checkWeights(t *testing.T, mode string, logged []string) {
	t.Helper()
	count := func(parts ...string) (n int) {
		for _, statement := range logged {
			if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(statement, part) }) {
				n++
			}
		}
		return n
	}
	tpcb, written := count("UPDATE pgbench_tellers"), count("INSERT INTO pgbench_history")
	ranges, single := count("SELECT abalance", "BETWEEN"), count("SELECT abalance", "aid = ")
	scripts := []struct {
		name           string
		events, weight int
	}{{"tpcb-like", tpcb, 1}, {"simple-update", written - tpcb, 1}, {"select-only", single - written, 2}, {"pgbench.sql", ranges, 1}}
	for _, script := range scripts {
		// The seed is fixed; six standard deviations are for another generator.
		share := float64(script.weight) / 5
		off := float64(script.events) - share*pgbenchEvents
		if off*off > 36*pgbenchEvents*share*(1-share) {
			t.Errorf("%s: %s ran in %d of %d events, with weight %d of 5", mode, script.name, script.events, pgbenchEvents, script.weight)
		}
	}
	if total := tpcb + written - tpcb + single - written + ranges; total != pgbenchEvents {
		t.Errorf("%s: the log has %d events of %d", mode, total, pgbenchEvents)
	}
}

func (s *serverTest) query(t *testing.T) {
	t.Helper()
	w, err := ReadQuery("SELECT a FROM slapped WHERE a = ':x;'; INSERT INTO slapped VALUES ('y')", "CREATE TABLE slapped (a varchar(10)); INSERT INTO slapped VALUES (':x;')", ";")
	if err != nil {
		t.Fatal(err)
	}
	list, err := Open([]dbcanary.OwnWorkload{w})
	if err != nil {
		t.Fatal(err)
	}
	if err := list[0].Tables.Load(t.Context(), workload.Loading{Connect: s.Connect, Family: s.family}); err != nil {
		t.Fatal(err)
	}
	logged := s.LogStatements(t)
	s.run(t, list[0], workload.Prepared, 5)
	s.checkLog(t, workload.Prepared, list[0], 5, logged)
	if got := s.digest(t, "SELECT COUNT(*) FROM slapped"); !strings.HasPrefix(got, "|6\n") {
		t.Errorf("after five events: %s", got)
	}
}

// foreignTable holds that a table that dbcanary has not made is left alone.
func (s *serverTest) foreignTable(t *testing.T) {
	t.Helper()
	if s.family == dbcanary.SQLite {
		return // its database is always our own
	}
	if err := execAll(t.Context(), s.Admin(), "DROP TABLE customers", "CREATE TABLE customers (mine int)", "INSERT INTO customers VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	err := shop(t)[0].Tables.Load(t.Context(), workload.Loading{Connect: s.Connect, Family: s.family, Data: workload.Data{Seed: 5}})
	if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), "customers that dbcanary has not made") {
		t.Errorf("a foreign table: %v", err)
	}
	if got := s.digest(t, "SELECT mine FROM customers"); !strings.HasPrefix(got, "|1\n") {
		t.Errorf("the foreign table is changed: %s", got)
	}
}

// badStatement holds that what only the server can know to be wrong is told with its place.
func (s *serverTest) badStatement(t *testing.T) {
	t.Helper()
	list, err := Open([]dbcanary.OwnWorkload{{Kind: dbcanary.OwnYAML, Files: []dbcanary.OwnFile{{
		Name: "w.yaml", Text: "benchmarks:\n  x:\n    transactions:\n      statements:\n        - SELECT nosuchfunction(1)\n",
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	work, err := list[0].Open(t.Context(), workload.Env{Family: s.family, Conn: conn, Data: workload.Data{Tables: 1, TableSize: 1}})
	if err == nil { // MySQL looks for functions when they are called
		work.Reseed(1)
		_, err = work.Run()
		if !errors.As(err, new(*wire.ServerError)) {
			t.Errorf("at the first event: %v", err)
		}
		return
	}
	if !strings.Contains(err.Error(), "w.yaml:5:11") || !strings.Contains(strings.ToLower(err.Error()), "nosuchfunction") {
		t.Errorf("a statement that can't be prepared: %v", err)
	}
}

func execAll(ctx context.Context, admin *sql.DB, statements ...string) error {
	for _, statement := range statements {
		if _, err := admin.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
