// Package bulk fills tables over several connections, by the fastest way that a
// server takes: LOAD DATA LOCAL INFILE on MySQL and MariaDB, COPY on PostgreSQL,
// and INSERT of many rows at a time where neither is to be had. It knows nothing
// of what the rows are.
package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// Format is how a row is written.
type Format int

// The formats.
const (
	Tuple Format = iota // of an INSERT: (1,'x',NULL)
	Line                // of LOAD DATA and COPY, by their defaults: values with a tab between them, \N for NULL, a line feed at the end
)

// Table is a table to be made and filled.
type Table struct {
	Name    string
	Columns []string // nil for all of them, in their order
	Rows    int64
	Create  []string // statements that make it
	Finish  []string // statements once its rows are in: indexes
	// InOrder says that rows lie where they came, so that one connection has to load
	// the whole table for its pages to be in the same order on every target. Where
	// rows lie in the tree of the primary key, connections share the table.
	InOrder bool
	// ASCII says that texts have no other characters: a server then needs not look at
	// each one's encoding, which takes a fifth of the CPU time of a load.
	ASCII bool
	// Append appends row n, from 1, which depends on n alone. It is called from
	// several goroutines.
	Append func(buf []byte, n int64, format Format) []byte
}

// columns is the list of columns of a statement that fills the table.
func (t *Table) columns() string {
	if len(t.Columns) == 0 {
		return ""
	}
	return " (" + strings.Join(t.Columns, ", ") + ")"
}

// AppendRow appends a row of cells: whole numbers, and texts without quotes,
// backslashes, tabs and line feeds.
func AppendRow(buf []byte, format Format, cells ...any) []byte {
	head, between, quote, tail := "(", byte(','), "'", ")"
	if format == Line {
		head, between, quote, tail = "", '\t', "", "\n"
	}
	buf = append(buf, head...)
	for i, cell := range cells {
		if i > 0 {
			buf = append(buf, between)
		}
		if text, ok := cell.(string); ok {
			buf = append(append(append(buf, quote...), text...), quote...)
			continue
		}
		buf = fmt.Append(buf, cell)
	}
	return append(buf, tail...)
}

// Options says over what to load.
type Options struct {
	Connect  func(context.Context) (wire.Conn, error)
	Family   dbcanary.Family
	Parallel int                             // most connections
	Progress func(doneRows, totalRows int64) // nil, or never called twice at a time
}

// Sizes of what is sent. sysbench fills statements of 512 KiB, which costs
// PostgreSQL 2.3 times and MariaDB 1.3 times the CPU per row that those of 32 to
// 128 KiB do. What LOAD DATA loads at once is one transaction, so it has an end.
const (
	insertBytes = 64 << 10
	packetBytes = 64 << 10
	loadBytes   = 32 << 20
	rowReserve  = 256 // room after the last row that fits
)

// Load makes the tables, fills them, and then finishes them. It ends early when
// ctx does and gives its cause; the tables are then incomplete.
func Load(ctx context.Context, options Options, tables []Table) error {
	l := &loader{Options: options}
	l.Parallel = max(1, l.Parallel)
	if l.Family == dbcanary.SQLite {
		l.Parallel = 1 // it has one writer
	}
	l.byInsert.Store(l.Family == dbcanary.SQLite)
	var create, fill, finish []task
	for i := range tables {
		table := &tables[i]
		l.total += table.Rows
		create = append(create, statements(table.Create))
		finish = append(finish, statements(table.Finish))
		parts := int64(1)
		if !table.InOrder {
			parts = max(1, min(int64(l.Parallel/len(tables)), table.Rows))
		}
		for part := range parts {
			fill = append(fill, l.rows(table, part*table.Rows/parts+1, (part+1)*table.Rows/parts))
		}
	}
	for _, phase := range [][]task{create, fill, finish} {
		if err := l.run(ctx, phase); err != nil {
			return fmt.Errorf("load %s: %w", l.Family, err)
		}
	}
	return nil
}

// task is work for one connection.
type task func(ctx context.Context, conn wire.Conn) error

type loader struct {
	Options
	total    int64
	byInsert atomic.Bool // the server takes rows in no other way

	mu   sync.Mutex // guards done and calls of Progress
	done int64
}

// run does the tasks over up to Parallel connections; the first error stops all.
func (l *loader) run(ctx context.Context, tasks []task) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan task, len(tasks))
	for _, task := range tasks {
		queue <- task
	}
	close(queue)
	var group sync.WaitGroup
	for range min(l.Parallel, len(tasks)) {
		group.Go(func() {
			if err := l.work(ctx, queue); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// work does tasks of the queue on one connection until none is left or ctx ends.
func (l *loader) work(ctx context.Context, queue <-chan task) error {
	return WithConn(ctx, l.Connect, func(conn wire.Conn) error {
		for task := range queue {
			if ctx.Err() != nil {
				return nil // the cause is known
			}
			if err := task(ctx, conn); err != nil {
				return err
			}
		}
		return nil
	})
}

// WithConn does work on a connection of its own, which it closes after. The end of
// ctx breaks the connection, and its cause is then the error, whatever work says.
func WithConn(ctx context.Context, connect func(context.Context) (wire.Conn, error), work func(wire.Conn) error) error {
	conn, err := connect(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, conn.Abort)
	err = work(conn)
	if stop() {
		return errors.Join(err, conn.Close())
	}
	// The abort may still be under way; a goodbye on the broken connection can say
	// nothing new.
	_ = conn.Close()
	return context.Cause(ctx)
}

func statements(list []string) task {
	return func(_ context.Context, conn wire.Conn) error {
		for _, sql := range list {
			if _, err := conn.Query([]byte(sql)); err != nil {
				return fmt.Errorf("%s: %w", clip(sql), err)
			}
		}
		return nil
	}
}

// clip shortens a statement for an error.
func clip(text string) string {
	const most = 200
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// rows loads the rows first..last of a table.
func (l *loader) rows(table *Table, first, last int64) task {
	return func(ctx context.Context, conn wire.Conn) error {
		for from := first; from <= last; {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var next int64
			var err error
			if fast, ok := conn.(wire.Loader); ok && !l.byInsert.Load() {
				next, err = l.stream(ctx, fast, table, from, last)
				if takesNoRows(err) {
					l.byInsert.Store(true)
					continue
				}
			} else {
				next, err = l.insert(conn, table, from, last)
			}
			if err != nil {
				return fmt.Errorf("load rows from %d on into %s: %w", from, table.Name, err)
			}
			from = next
		}
		return nil
	}
}

// takesNoRows tells a server that is set up not to take rows by LOAD DATA LOCAL.
func takesNoRows(err error) bool {
	var refused *wire.ServerError
	return errors.As(err, &refused) && slices.Contains([]string{"1148", "3948", "4166"}, refused.Code)
}

// stream sends rows in lines, and gives the first that it did not send.
func (l *loader) stream(ctx context.Context, conn wire.Loader, table *Table, from, last int64) (next int64, err error) {
	statement, most := "COPY "+table.Name+table.columns()+" FROM STDIN", -1
	if l.Family != dbcanary.Postgres {
		encoding := "utf8mb4"
		if table.ASCII {
			encoding = "binary"
		}
		statement, most = "LOAD DATA LOCAL INFILE 'rows' INTO TABLE "+table.Name+" CHARACTER SET "+encoding+table.columns(), loadBytes
	}
	next, sent, counted := from, 0, from
	result, err := conn.Load([]byte(statement), func(buf []byte) ([]byte, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		l.loaded(next - counted) // the server has taken what was sent before
		counted = next
		if most > 0 && sent >= most {
			return buf, nil
		}
		buf = slices.Grow(buf, packetBytes)
		start := len(buf)
		for ; next <= last && len(buf)-start < packetBytes-rowReserve; next++ {
			buf = table.Append(buf, next, Line)
		}
		sent += len(buf) - start
		return buf, nil
	})
	if err == nil && result.Affected != next-from {
		err = fmt.Errorf("%d of %d rows were taken", result.Affected, next-from)
	}
	return next, err
}

// insert inserts as many rows as fit into a statement, and gives the first that it did not.
func (l *loader) insert(conn wire.Conn, table *Table, from, last int64) (next int64, err error) {
	buf := make([]byte, 0, insertBytes+rowReserve)
	buf = append(buf, "INSERT INTO "+table.Name+table.columns()+" VALUES"...)
	for next = from; next <= last && len(buf) < insertBytes-rowReserve; next++ {
		if next > from {
			buf = append(buf, ',')
		}
		buf = table.Append(buf, next, Tuple)
	}
	result, err := conn.Query(buf)
	if err == nil && result.Affected != next-from {
		err = fmt.Errorf("%d of %d rows were inserted", result.Affected, next-from)
	}
	if err == nil {
		l.loaded(next - from)
	}
	return next, err
}

func (l *loader) loaded(rows int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done += rows
	if l.Progress != nil && rows > 0 {
		l.Progress(l.done, l.total)
	}
}
