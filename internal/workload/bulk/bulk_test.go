package bulk_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/workload/bulk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server keeps the rows that its connections get.
type server struct {
	mu         sync.Mutex
	rows       []string
	loads      int
	refuse     error // of LOAD and COPY
	lose       int64 // rows that each load drops without a word
	statements []string
}

type conn struct{ *server }

func (s *server) connect(context.Context) (wire.Conn, error) { return conn{s}, nil }

func (c conn) Query(query []byte) (wire.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	head, values, ok := strings.Cut(string(query), "VALUES")
	if !ok {
		c.statements = append(c.statements, head)
		return wire.Result{}, nil
	}
	rows := strings.Split(strings.Trim(values, "()"), "),(")
	c.rows = append(c.rows, rows...)
	return wire.Result{Affected: int64(len(rows))}, nil
}

func (c conn) Load(statement []byte, next func([]byte) ([]byte, error)) (wire.Result, error) {
	if c.refuse != nil {
		return wire.Result{}, c.refuse
	}
	count := int64(0)
	for {
		buf, err := next([]byte("head"))
		if err != nil || string(buf) == "head" {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.loads++
			return wire.Result{Affected: count - c.lose}, err
		}
		c.mu.Lock()
		for line := range strings.Lines(strings.TrimPrefix(string(buf), "head")) {
			c.rows = append(c.rows, strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", ","))
			count++
		}
		c.mu.Unlock()
	}
}

func (c conn) Prepare(context.Context, string, []wire.Kind) (wire.Stmt, error) {
	return nil, errors.New("nothing is to be prepared")
}
func (c conn) Abort()       {}
func (c conn) Close() error { return nil }

func table(rows int64) bulk.Table {
	return bulk.Table{
		Name: "t", Columns: []string{"a", "b"}, Rows: rows, Create: []string{"CREATE TABLE t"}, Finish: []string{"CREATE INDEX i"},
		Append: func(buf []byte, n int64, format bulk.Format) []byte {
			return bulk.AppendRow(buf, format, n, n*n)
		},
	}
}

func TestLoad(t *testing.T) {
	const rows = 20_000
	var want []string
	for n := range rows {
		want = append(want, fmt.Sprintf("%d,%d", n+1, (n+1)*(n+1)))
	}
	slices.Sort(want)
	disabled := &wire.ServerError{Code: "3948", Message: "Loading local data is disabled"}
	for _, test := range []struct {
		name   string
		family dbcanary.Family
		refuse error
		loads  int
	}{
		{"LOAD DATA", dbcanary.MySQL, nil, 3},
		{"COPY", dbcanary.Postgres, nil, 3},
		{"no local files", dbcanary.MariaDB, disabled, 0},
		{"SQLite", dbcanary.SQLite, errors.New("must not be tried"), 0},
	} {
		s := &server{refuse: test.refuse}
		last := int64(0)
		err := bulk.Load(t.Context(), bulk.Options{
			Connect: s.connect, Family: test.family, Parallel: 3,
			Progress: func(done, total int64) {
				if done <= last || total != rows {
					t.Errorf("%s: progress %d of %d after %d", test.name, done, total, last)
				}
				last = done
			},
		}, []bulk.Table{table(rows)})
		slices.Sort(s.rows)
		if diff := cmp.Diff(want, s.rows); err != nil || diff != "" {
			t.Errorf("%s: %v\n%.500s", test.name, err, diff)
		}
		if s.loads != test.loads || last != rows || !slices.Equal(s.statements, []string{"CREATE TABLE t", "CREATE INDEX i"}) {
			t.Errorf("%s: %d loads, progress up to %d, statements %q", test.name, s.loads, last, s.statements)
		}
	}
}

func TestAppendRow(t *testing.T) {
	for format, want := range map[bulk.Format]string{bulk.Tuple: "head(1,'a b',-2,18446744073709551615)", bulk.Line: "head1\ta b\t-2\t18446744073709551615\n"} {
		got := bulk.AppendRow([]byte("head"), format, 1, "a b", int64(-2), uint64(1<<64-1))
		if string(got) != want {
			t.Errorf("format %d: %q, want %q", format, got, want)
		}
	}
}

func TestLoad_TellsOfLostRows(t *testing.T) {
	s := &server{lose: 2}
	err := bulk.Load(t.Context(), bulk.Options{Connect: s.connect, Family: dbcanary.MySQL}, []bulk.Table{table(100)})
	if err == nil || !strings.Contains(err.Error(), "98 of 100 rows were taken") {
		t.Errorf("got %v", err)
	}
}

func TestLoad_Stops(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	s := &server{}
	broken := table(1_000_000)
	rows := broken.Append
	broken.Append = func(buf []byte, n int64, format bulk.Format) []byte {
		if n == 5000 {
			cancel(stop)
		}
		return rows(buf, n, format)
	}
	err := bulk.Load(ctx, bulk.Options{Connect: s.connect, Family: dbcanary.MySQL}, []bulk.Table{broken})
	if !errors.Is(err, stop) || len(s.rows) > 100_000 {
		t.Errorf("%v after %d rows", err, len(s.rows))
	}
}
