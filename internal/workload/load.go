package workload

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// maxStatement is the length that an INSERT of the load is filled up to. sysbench
// fills 512 KiB, which costs PostgreSQL 2.3 times and MariaDB 1.3 times the CPU
// per row that statements of 32 to 128 KiB do.
const maxStatement = 64 << 10

// Load creates the tables anew, fills them over up to parallel connections, and
// then builds the secondary indexes. The rows depend on data alone. A table is
// filled in the order of its ids by one connection, so that its pages are in the
// same order on every target; only where rows lie in the tree of the primary key
// (MySQL, MariaDB) do connections share a table, each with a range of its own.
//
// progress, if not nil, is told of rows loaded, never twice at a time. Load ends
// early when ctx does and gives its cause; the tables are then incomplete.
func Load(ctx context.Context, connect func(context.Context) (wire.Conn, error), family dbcanary.Family, data Data, parallel int, progress func(doneRows, totalRows int64)) error {
	if err := data.Check(); err != nil {
		return err
	}
	parallel = max(1, parallel)
	if family == dbcanary.SQLite {
		parallel = 1 // it has one writer
	}
	l := &loader{connect: connect, family: family, data: data, progress: progress}
	for _, phase := range [][]loadTask{l.create(), l.fill(parallel), l.index()} {
		if err := l.run(ctx, parallel, phase); err != nil {
			return fmt.Errorf("load %s: %w", family, err)
		}
	}
	return nil
}

// loadTask is work for one connection.
type loadTask func(ctx context.Context, conn wire.Conn) error

type loader struct {
	connect  func(context.Context) (wire.Conn, error)
	family   dbcanary.Family
	data     Data
	mu       sync.Mutex // guards done and calls of progress
	progress func(doneRows, totalRows int64)
	done     int64
}

// run does the tasks over up to parallel connections; the first error stops all.
func (l *loader) run(ctx context.Context, parallel int, tasks []loadTask) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan loadTask, len(tasks))
	for _, task := range tasks {
		queue <- task
	}
	close(queue)
	var group sync.WaitGroup
	for range min(parallel, len(tasks)) {
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
func (l *loader) work(ctx context.Context, queue <-chan loadTask) (err error) {
	conn, err := l.connect(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, conn.Abort)
	defer func() {
		if stop() {
			err = errors.Join(err, conn.Close())
			return
		}
		// The abort may still be under way; a goodbye on the broken connection
		// can say nothing new.
		_ = conn.Close()
	}()
	for task := range queue {
		if ctx.Err() != nil {
			return nil // the cause is known
		}
		if err := task(ctx, conn); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) create() []loadTask {
	var tasks []loadTask
	for n := 1; n <= l.data.Tables; n++ {
		tasks = append(tasks, l.statements("DROP TABLE IF EXISTS "+tableName(n), createTable(l.family, l.data, n)))
	}
	return tasks
}

func (l *loader) index() []loadTask {
	var tasks []loadTask
	for n := 1; n <= l.data.Tables; n++ {
		tasks = append(tasks, l.statements(finishTable(l.family, l.data, n)...))
	}
	return tasks
}

func (l *loader) statements(list ...string) loadTask {
	return func(_ context.Context, conn wire.Conn) error {
		for _, sql := range list {
			if _, err := conn.Query([]byte(sql)); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	}
}

// fill makes a task of each range of ids that one connection loads in order.
func (l *loader) fill(parallel int) []loadTask {
	parts := 1
	clustered := l.family == dbcanary.MySQL || l.family == dbcanary.MariaDB
	if clustered && !l.data.Secondary {
		parts = max(1, parallel/l.data.Tables)
	}
	var tasks []loadTask
	for n := 1; n <= l.data.Tables; n++ {
		for part := range parts {
			first := part*l.data.TableSize/parts + 1
			last := (part + 1) * l.data.TableSize / parts
			tasks = append(tasks, l.rows(n, first, last))
		}
	}
	return tasks
}

// rows inserts the rows first..last of table n.
func (l *loader) rows(n, first, last int) loadTask {
	return func(ctx context.Context, conn wire.Conn) error {
		head := "INSERT INTO " + tableName(n) + "(id, k, c, pad) VALUES"
		buf := make([]byte, 0, maxStatement+256)
		for id := first; id <= last; {
			buf = append(buf[:0], head...)
			from := id
			for id <= last && len(buf) < maxStatement-256 {
				if id > from {
					buf = append(buf, ',')
				}
				buf = appendRow(buf, &l.data, n, id)
				id++
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			result, err := conn.Query(buf)
			if err == nil && result.Affected != int64(id-from) {
				err = fmt.Errorf("%d rows were inserted", result.Affected)
			}
			if err != nil {
				return fmt.Errorf("insert rows %d to %d into %s: %w", from, id-1, tableName(n), err)
			}
			l.loaded(int64(id - from))
		}
		return nil
	}
}

func (l *loader) loaded(rows int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done += rows
	if l.progress != nil {
		l.progress(l.done, l.data.Rows())
	}
}
