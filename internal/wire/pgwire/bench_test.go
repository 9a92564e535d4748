package pgwire

import (
	"bufio"
	"net"
	"testing"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/stream"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest"
)

// replies answers each execution with ready bytes and without allocating.
func replies(answer []byte) func(net.Conn) {
	return func(conn net.Conn) {
		f := &fake{answer: func([]byte) []byte {
			_, _ = conn.Write(described(oidInt4))
			buf := make([]byte, 4096)
			for {
				if _, err := conn.Read(buf); err != nil {
					return nil
				}
				if _, err := conn.Write(answer); err != nil {
					return nil
				}
			}
		}}
		f.serve(conn)
	}
}

// rowsOf is a result of n rows of size bytes.
func rowsOf(n, size int) []byte {
	answer := bound
	for range n {
		answer = join(answer, row(size))
	}
	return join(answer, complete("SELECT"), ready)
}

func prepareAt(t testing.TB, address wire.Address) wire.Stmt {
	t.Helper()
	ctx := wiretest.Context(t)
	c, err := Dial(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	s, err := c.Prepare(ctx, "SELECT c FROM t WHERE id = $1", []wire.Kind{wire.Int})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNoAllocations(t *testing.T) {
	s := prepareAt(t, wiretest.Serve(t, replies(rowsOf(100, 120))))
	args := make([]wire.Arg, 1)
	allocated := testing.AllocsPerRun(200, func() {
		args[0].Int++
		if result, err := s.Exec(args); err != nil || result.Rows != 100 {
			t.Fatalf("%v, %v", result, err)
		}
	})
	if allocated != 0 {
		t.Errorf("%v allocations per query, want 0", allocated)
	}
}

func BenchmarkPointQuery(b *testing.B) { benchmark(b, 1) }
func BenchmarkRange100(b *testing.B)   { benchmark(b, 100) }

func benchmark(b *testing.B, rows int64) {
	s := prepareAt(b, wiretest.Serve(b, replies(rowsOf(int(rows), 120))))
	args := make([]wire.Arg, 1)
	b.ReportAllocs()
	for b.Loop() {
		args[0].Int++
		if result, err := s.Exec(args); err != nil || result.Rows != rows || result.Bytes != 120*rows {
			b.Fatalf("%v, %v", result, err)
		}
	}
}

// BenchmarkUserSpace leaves the system calls out: what the packet loop costs.
func BenchmarkUserSpace(b *testing.B) {
	answer := rowsOf(1, 120)
	memory := &wiretest.Pieces{Size: len(answer)}
	c := &conn{r: bufio.NewReaderSize(memory, readBuffer), w: memory, stream: &stream.Stream{}}
	s := newStmt(c, "s1", []wire.Kind{wire.Int}, []uint32{oidInt4})
	args := make([]wire.Arg, 1)
	b.ReportAllocs()
	for b.Loop() {
		memory.Answer = answer
		args[0].Int++
		if result, err := s.Exec(args); err != nil || result.Rows != 1 || result.Bytes != 120 {
			b.Fatalf("%v, %v", result, err)
		}
	}
}
