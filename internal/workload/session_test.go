package workload

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
)

var testData = Data{Tables: 3, TableSize: 20000, Seed: 1}

func bind(t testing.TB, label string, conn wire.Conn, data Data, options BindOptions) *Session {
	t.Helper()
	b, err := Find(label)
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.Bind(t.Context(), conn, dbcanary.MariaDB, data, options)
	if err != nil {
		t.Fatal(err)
	}
	s.Reseed(1)
	return s
}

// rightAnswer answers each statement that goes as text in turn.
func rightAnswer(s *Session) func(string) (wire.Result, error) {
	return func(sql string) (wire.Result, error) {
		for i := range s.steps {
			bound := &s.steps[i]
			if bound.texts != nil && strings.HasPrefix(sql, string(bound.texts[s.table][0])) {
				return wire.Result{Rows: bound.least, Affected: bound.least}, nil
			}
		}
		return wire.Result{}, nil
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	for _, mode := range []string{Prepared, Text} {
		for _, label := range sessionLabels() {
			conn := &fakeConn{}
			s := bind(t, label, conn, testData, BindOptions{PSMode: mode})
			if s.steps[0].texts != nil {
				conn.fixed = &wire.Result{Rows: 1, Affected: 1}
				for i := range s.steps {
					s.steps[i].least, s.steps[i].most = 1, 1
				}
			}
			run := func() {
				if _, err := s.Run(); err != nil {
					t.Fatal(err)
				}
			}
			run() // the buffer of text statements grows once
			run()
			if n := testing.AllocsPerRun(100, run); n > 0 {
				t.Errorf("%s %s: %v allocations per event", mode, label, n)
			}
		}
	}
}

// TestKeysDependOnSeedAlone compares what two families are sent.
func TestKeysDependOnSeedAlone(t *testing.T) {
	for _, label := range sessionLabels() {
		b, err := Find(label)
		if err != nil {
			t.Fatal(err)
		}
		var sent [][][]int64
		for _, family := range []dbcanary.Family{dbcanary.MySQL, dbcanary.Postgres, dbcanary.SQLite} {
			if b.NotApplicable(family, testData) != "" {
				continue
			}
			s, err := b.Bind(t.Context(), &fakeConn{}, family, testData, BindOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if s.steps[0].step.Text {
				s.conn = &fakeConn{answer: rightAnswer(s)}
			}
			var drawn [][]int64
			for seed := range uint64(3) {
				s.Reseed(seed)
				for range 5 {
					if _, err := s.Run(); err != nil {
						t.Fatal(err)
					}
					keys := []int64{int64(s.table)}
					for _, bound := range s.steps {
						for _, arg := range bound.args {
							keys = append(keys, arg.Int)
						}
					}
					drawn = append(drawn, keys)
				}
			}
			sent = append(sent, drawn)
		}
		for _, other := range sent[1:] {
			if diff := cmp.Diff(sent[0], other); diff != "" {
				t.Errorf("%s: families get different keys:\n%s", label, diff)
			}
		}
	}
}

func TestWrongAnswerIsAnError(t *testing.T) {
	for _, label := range sessionLabels() {
		conn := &fakeConn{}
		s := bind(t, label, conn, testData, BindOptions{})
		conn.answer = func(sql string) (wire.Result, error) {
			return wire.Result{Rows: 1 << 40, Affected: 1 << 40}, nil
		}
		_, err := s.Run()
		if !unboundedOnceChanged(s) && (err == nil || errors.As(err, new(*wire.ServerError))) {
			t.Errorf("%s: a wrong answer gives %v", label, err)
		}
	}
	conn := &fakeConn{}
	s := bind(t, "read-only range=100", conn, testData, BindOptions{})
	conn.answer = func(sql string) (wire.Result, error) {
		conn.sent = append(conn.sent, sql)
		return wire.Result{Rows: 1}, nil
	}
	n, err := s.Run()
	want := `benchmark "read-only range=100": wrong answer: SELECT c FROM {table} WHERE id BETWEEN ? AND ?`
	if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "returned 1 rows, expected 100") {
		t.Errorf("got %v", err)
	}
	if last := conn.sent[len(conn.sent)-1]; last != "ROLLBACK" || n != 12 {
		t.Errorf("the last of %d statements is %q, want ROLLBACK after BEGIN, ten points and a range", n, last)
	}
}

// unboundedOnceChanged tells that no answer of s has an upper bound.
func unboundedOnceChanged(s *Session) bool {
	for _, bound := range s.steps {
		if bound.most < 1<<40 {
			return false
		}
	}
	return true
}

func TestMissesAreLegalOnlyAfterDeletes(t *testing.T) {
	state := new(State)
	data := Data{Tables: 1, TableSize: 50, Seed: 3}
	reader := &fakeConn{}
	points := bind(t, "point-query", reader, data, BindOptions{State: state})
	reader.answer = func(string) (wire.Result, error) { return wire.Result{}, nil }
	if _, err := points.Run(); err == nil {
		t.Fatal("a miss on whole tables is no error")
	}
	deletes := bind(t, "delete", &fakeConn{}, data, BindOptions{State: state})
	for range 2 {
		deletes.Reseed(1)
		if _, err := deletes.Run(); err != nil {
			t.Fatal(err)
		}
	}
	points.Reseed(1)
	if _, err := points.Run(); err != nil {
		t.Fatalf("a miss after deletes: %v", err)
	}
	deletes.conn.(*fakeConn).answer = func(string) (wire.Result, error) { return wire.Result{}, nil }
	if _, err := deletes.Run(); err == nil {
		t.Fatal("a delete that finds nothing is no error")
	}
}

// TestDeletesHitEachRowOnce runs two sessions on one copy until nothing is left.
func TestDeletesHitEachRowOnce(t *testing.T) {
	data := Data{Tables: 3, TableSize: 101, Seed: 5}
	state := new(State)
	left := map[string]bool{}
	for n := range data.Tables {
		for id := range data.TableSize {
			left[fmt.Sprintf("DELETE FROM sbtest%d WHERE id=%d", n+1, id+1)] = true
		}
	}
	answer := func(sql string) (wire.Result, error) {
		if !left[sql] {
			t.Fatalf("%s: not there, or deleted already", sql)
		}
		delete(left, sql)
		return wire.Result{Affected: 1}, nil
	}
	var sessions []*Session
	for range 2 {
		sessions = append(sessions, bind(t, "delete", &fakeConn{answer: answer}, data, BindOptions{State: state, PSMode: Text}))
	}
	for i := range data.Tables * data.TableSize {
		sessions[i%2].Reseed(uint64(i))
		if _, err := sessions[i%2].Run(); err != nil {
			t.Fatal(err)
		}
	}
	if len(left) > 0 {
		t.Errorf("%d rows were not deleted", len(left))
	}
	if _, err := sessions[0].Run(); !errors.Is(err, ErrExhausted) {
		t.Errorf("with nothing left: %v", err)
	}
}

func TestRolledBackDeleteIsRunAgain(t *testing.T) {
	var sent []string
	fail := true
	conn := &fakeConn{answer: func(sql string) (wire.Result, error) {
		sent = append(sent, sql)
		if fail {
			return wire.Result{}, &wire.ServerError{Code: "1213", Retryable: true}
		}
		return wire.Result{Affected: 1}, nil
	}}
	s := bind(t, "delete", conn, testData, BindOptions{PSMode: Text})
	if _, err := s.Run(); err == nil {
		t.Fatal("no error")
	}
	fail = false
	for range 2 {
		if _, err := s.Run(); err != nil {
			t.Fatal(err)
		}
	}
	if sent[0] != sent[1] || sent[1] == sent[2] {
		t.Errorf("sent %q", sent)
	}
}

func TestIgnorableErrorsRollBack(t *testing.T) {
	for _, test := range []struct {
		label, code string
		at          string // the statement that fails
		retryable   bool
		last        string // statement sent
	}{
		{"write-only", "1213", "UPDATE", true, "ROLLBACK"},
		{"write-only", "1020", "DELETE", true, "ROLLBACK"},
		{"write-only", "1062", "INSERT", true, "ROLLBACK"},
		{"write-only", "1213", "COMMIT", true, "ROLLBACK"},
		{"write-only", "1205", "BEGIN", true, "BEGIN"},
		{"write-only", "1064", "INSERT", false, "ROLLBACK"},
		{"insert", "1062", "INSERT", false, "INSERT"},
		{"update-index", "1205", "UPDATE", true, "UPDATE"},
	} {
		conn := &fakeConn{}
		conn.answer = func(sql string) (wire.Result, error) {
			verb, _, _ := strings.Cut(sql, " ")
			conn.sent = append(conn.sent, verb)
			if verb == test.at {
				return wire.Result{}, &wire.ServerError{Code: test.code}
			}
			return wire.Result{Affected: 1}, nil
		}
		s := bind(t, test.label, conn, testData, BindOptions{})
		_, err := s.Run()
		var refused *wire.ServerError
		if !errors.As(err, &refused) || refused.Code != test.code || refused.Retryable != test.retryable {
			t.Errorf("%+v: got %v", test, err)
		}
		if last := conn.sent[len(conn.sent)-1]; last != test.last {
			t.Errorf("%+v: the last statement is %s", test, last)
		}
	}
}

func TestLostConnectionIsNotRolledBack(t *testing.T) {
	broken := errors.New("broken pipe")
	conn := &fakeConn{}
	conn.answer = func(sql string) (wire.Result, error) {
		conn.sent = append(conn.sent, sql)
		if sql == "BEGIN" {
			return wire.Result{}, nil
		}
		return wire.Result{}, broken
	}
	s := bind(t, "write-only", conn, testData, BindOptions{})
	if _, err := s.Run(); !errors.Is(err, broken) || len(conn.sent) != 2 {
		t.Errorf("got %v after %q", err, conn.sent)
	}
}

func TestOpenRefuses(t *testing.T) {
	insert, err := Find("insert")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		data Data
		mode string
		want string
	}{
		{Data{Tables: 0, TableSize: 1}, "", "0 tables"},
		{Data{Tables: 1, TableSize: 0}, "", "table size 0"},
		{testData, "txt", "did you mean text?"},
		{Data{Tables: 1, TableSize: 1, Secondary: true}, "", "gives no id to a new row"},
	} {
		_, err := insert.Open(t.Context(), Env{Conn: &fakeConn{}, Family: dbcanary.SQLite, Data: test.data, PSMode: test.mode})
		if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q", test, err, test.want)
		}
	}
}

// BenchmarkEvent measures drawing keys and building arguments: ns/statement and,
// since a list has many, ns/key.
func BenchmarkEvent(b *testing.B) {
	for _, mode := range []string{Prepared, Text} {
		for _, label := range []string{
			"point-query", "update-one", "update-nonindex", "update-zipf", "delete", "range-covered-pk",
			"hot-points", "random-points range=1000", "update-inlist", "read-write range=100", "insert",
		} {
			b.Run(mode+"/"+label, func(b *testing.B) {
				data := Data{Tables: 8, TableSize: 10_000_000, Seed: 1}
				s := bind(b, label, &fakeConn{}, data, BindOptions{PSMode: mode})
				s.conn = nullConn{}
				keys := 0
				for i := range s.steps {
					bound := &s.steps[i]
					keys += len(bound.args) * bound.times
					bound.least, bound.most = 0, 0
					for n := range bound.stmts {
						bound.stmts[n] = nullConn{}
					}
				}
				statements := 0
				for b.Loop() {
					n, err := s.Run()
					if err != nil {
						b.Fatal(err)
					}
					statements += n
				}
				elapsed := float64(b.Elapsed().Nanoseconds())
				b.ReportMetric(elapsed/float64(statements), "ns/statement")
				b.ReportMetric(elapsed/float64(max(1, keys))/float64(b.N), "ns/argument")
			})
		}
	}
}

// nullConn does nothing, so that only drawing and building is measured.
type nullConn struct{ *fakeConn }

func (nullConn) Query([]byte) (wire.Result, error)    { return wire.Result{}, nil }
func (nullConn) Exec([]wire.Arg) (wire.Result, error) { return wire.Result{}, nil }

// sessionLabels lists the benchmarks that sessions run.
func sessionLabels() []string {
	var labels []string
	for _, b := range Catalogue() {
		if b.Program == nil {
			labels = append(labels, b.Label)
		}
	}
	return labels
}
