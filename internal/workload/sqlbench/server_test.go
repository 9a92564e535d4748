package sqlbench

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest/servertest"
)

// patience is how long a server may take to log what it did.
const patience = time.Minute

// tiny has a table of 300 rows.
const tiny Scale = 0.001

// TestServers runs every operation on a real server of each family: answers are
// right, the statements at the server are the documented ones, the tables hold
// the same on every family, and an operation can be run without those before it.
func TestServers(t *testing.T) {
	targets := []string{"sqlite", "postgres@17", "mariadb@10.11", "mysql@9.7"}
	servertest.Alike(t, targets, func(t *testing.T, target string) map[string]string {
		s := startServer(t, target)
		found := s.testOperations(t)
		s.testAlone(t)
		return found
	})
}

type serverTest struct {
	server *servertest.Server
	world  *World
	log    func(testing.TB) []string // reads what was logged; nil for a family that keeps no log
	conn   wire.Conn
}

func startServer(t *testing.T, target string) *serverTest {
	t.Helper()
	server := servertest.Start(t, target)
	s := &serverTest{
		server: server, log: server.LogStatements(t),
		world: &World{Family: server.Build.Family, Scale: tiny, Seed: 5},
	}
	var err error
	s.conn, err = server.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// mark puts a line into the server's log.
func (s *serverTest) mark(t *testing.T, text string) {
	t.Helper()
	if _, err := s.conn.Query([]byte("SELECT 'mark " + text + "'")); err != nil {
		t.Fatal(err)
	}
}

// run does a whole operation and checks what it left.
func (s *serverTest) run(t *testing.T, o Operation) {
	t.Helper()
	runner, err := NewRunner(t.Context(), o, s.world, s.conn, s.server.Connect)
	if err != nil {
		t.Fatalf("%s: %v", o.Name, err)
	}
	if left := runner.Left(); left != o.Events(s.world.Scale) {
		t.Errorf("%s: %d events, documented are %d", o.Name, left, o.Events(s.world.Scale))
	}
	s.mark(t, o.Name)
	for runner.Left() > 0 {
		if _, err := runner.Run(); err != nil {
			t.Fatalf("%s: %v", o.Name, err)
		}
	}
	if o.Connects && s.world.isMySQL() {
		s.awaitLogins(t, o)
	}
	s.mark(t, "")
	if err := runner.Check(t.Context(), s.server.Admin(), s.world); err != nil {
		t.Errorf("%s: %v", o.Name, err)
	}
}

// awaitLogins waits until the server has logged all logins of an operation that was
// run: it runs init_connect after it has answered, and may be late with the last ones.
func (s *serverTest) awaitLogins(t *testing.T, o Operation) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		logged := s.log(t)
		logins := 0
		for _, statement := range logged {
			switch statement {
			case "SELECT 'mark " + o.Name + "'":
				logins = 0
			case "SET NAMES DEFAULT":
				logins++
			}
		}
		if want := int(o.Events(s.world.Scale)); logins >= want {
			return
		} else if time.Now().After(deadline) {
			t.Fatalf("%s: the server logged %d of %d logins in %v", o.Name, logins, want, patience)
		}
	}
}

// testOperations runs all tests as a suite does, and gives a digest of the tables
// after each operation that inserts.
func (s *serverTest) testOperations(t *testing.T) map[string]string {
	digests := map[string]string{}
	for _, test := range Tests() {
		for i, o := range test.Operations {
			if o.Not[s.world.Family] != "" {
				continue
			}
			after := i > 0
			if err := test.Prepare(t.Context(), s.conn, s.world, i, after); err != nil {
				t.Fatalf("%s, %s: %v", test.Name, o.Name, err)
			}
			s.mark(t, "test "+test.Name)
			s.run(t, o)
			if strings.Contains(o.Name, "insert") || strings.Contains(o.Name, "update") {
				digests[test.Name+" "+o.Name] = s.digest(t, test.Name)
			}
		}
	}
	s.checkLog(t)
	return digests
}

// testAlone runs the last operation of each test on a server that has seen none before.
func (s *serverTest) testAlone(t *testing.T) {
	for _, test := range Tests() {
		i := len(test.Operations) - 1
		for ; test.Operations[i].Not[s.world.Family] != ""; i-- {
		}
		if err := test.Prepare(t.Context(), s.conn, s.world, i, false); err != nil {
			t.Fatalf("%s: %v", test.Name, err)
		}
		s.run(t, test.Operations[i])
	}
}

// digest sums up the rows of the tables of a test.
func (s *serverTest) digest(t *testing.T, test string) string {
	t.Helper()
	orders := map[string]string{
		"bench1 of insert": "id", "bench4 of insert": "c0", "bench1 of select": "idn", "bench1 of transactions": "id",
		"bench1 of alter-table": "i1", "bench1 of big-tables": "i1, i2", "tenk1 of wisconsin": "unique2", "tenk2 of wisconsin": "unique2", "onek of wisconsin": "unique2",
	}
	for _, name := range atisNames() {
		orders[name+" of ATIS"] = "code"
	}
	hash, tables := sha256.New(), 0
	for _, name := range Tables() {
		order := orders[name+" of "+test]
		if order == "" {
			continue
		}
		tables++
		if err := addRows(t.Context(), hash, s.server.Admin(), fmt.Sprintf("SELECT * FROM %s /* %s */ ORDER BY %s", name, test, order)); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("%d tables %x", tables, hash.Sum(nil))
}

func addRows(ctx context.Context, into io.Writer, admin *sql.DB, query string) error {
	rows, err := admin.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, pointers := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		pointers[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return err
		}
		for _, value := range values {
			fmt.Fprintf(into, "%q,", strings.TrimRight(value.String, " "))
		}
	}
	return rows.Err()
}

// checkLog compares what the server logged with what the operations say.
func (s *serverTest) checkLog(t *testing.T) {
	if s.log == nil {
		return
	}
	logged := s.log(t)
	if s.world.isMySQL() {
		// SQL's own PREPARE is logged a second time as what it prepares and executes.
		logged = withoutInner(logged)
	}
	test, name := "", ""
	got := map[string][]string{}
	for _, statement := range logged {
		if mark, ok := strings.CutPrefix(statement, "SELECT 'mark "); ok {
			name = strings.TrimSuffix(mark, "'")
			if of, ok := strings.CutPrefix(name, "test "); ok {
				test, name = of, ""
			}
		} else if name != "" && !strings.Contains(statement, "general_log") { // our own look
			got[test+" "+name] = append(got[test+" "+name], statement)
		}
	}
	for _, test := range Tests() {
		for _, o := range test.Operations {
			if o.Not[s.world.Family] != "" {
				continue
			}
			if diff := cmp.Diff(s.documented(o), got[test.Name+" "+o.Name]); diff != "" {
				t.Errorf("%s, %s: statements at the server (-documented +logged):\n%.3000s", test.Name, o.Name, diff)
			}
		}
	}
}

// documented lists the statements of an operation as the server logs them.
func (s *serverTest) documented(o Operation) []string {
	var list []string
	for i := range o.Events(tiny) {
		if o.Connects && s.world.isMySQL() {
			list = append(list, "SET NAMES DEFAULT") // what each of our connections begins with
		}
		for _, statement := range o.event(s.world, i) {
			text := string(statement.SQL)
			if o.prepared != nil {
				text = strings.ReplaceAll(o.prepared(s.world), "?", fmt.Sprint(statement.Arg))
			}
			if s.world.isMySQL() && strings.HasPrefix(text, "PREPARE once FROM") {
				text = hiddenPrepare
			}
			list = append(list, text)
		}
	}
	return list
}

// hiddenPrepare stands for a PREPARE, whose text MySQL does not log.
const hiddenPrepare = "PREPARE once FROM ..."

// withoutInner drops what a server logs of the statement inside of an EXECUTE.
func withoutInner(list []string) []string {
	var out []string
	for _, text := range list {
		if len(out) > 0 && strings.HasPrefix(out[len(out)-1], "EXECUTE once") && !strings.HasPrefix(text, "DEALLOCATE") {
			continue
		}
		if strings.HasPrefix(text, "PREPARE once FROM") {
			text = hiddenPrepare
		}
		out = append(out, text)
	}
	return out
}
