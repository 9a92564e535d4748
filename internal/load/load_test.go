package load

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/dbcanary/dbcanary/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeConn is a connection whose Abort ends a running fakeEvent.
type fakeConn struct{ aborted chan struct{} }

func newFakeConn() *fakeConn { return &fakeConn{aborted: make(chan struct{})} }

func (c *fakeConn) Prepare(context.Context, string, []wire.Kind) (wire.Stmt, error) {
	return nil, errors.New("the load generator prepares nothing")
}

func (c *fakeConn) Query([]byte) (wire.Result, error) {
	return wire.Result{}, errors.New("the load generator asks nothing")
}
func (c *fakeConn) Abort()       { close(c.aborted) }
func (c *fakeConn) Close() error { return nil }

// eventFunc makes an Event of a function.
type eventFunc func() (int, error)

func (f eventFunc) Run() (int, error) { return f() }

// fakeWorker takes length(n) for its event n, from 0, and sends statements.
func fakeWorker(statements int, length func(n int) time.Duration) Worker {
	conn := newFakeConn()
	n := 0
	return Worker{Conn: conn, Event: eventFunc(func() (int, error) {
		timer := time.NewTimer(length(n))
		defer timer.Stop()
		n++
		select {
		case <-timer.C:
			return statements, nil
		case <-conn.aborted:
			return 0, wire.ErrAborted
		}
	})}
}

func constant(d time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return d }
}

// run is Run with the virtual clock of synctest also for the pauses of an open loop.
func run(t *testing.T, workers []Worker, options Options) (*Recording, error) {
	t.Helper()
	if err := check(workers, options); err != nil {
		return nil, err
	}
	return newSlice(workers, options, time.Sleep).run(t.Context())
}

// An event of length L gives exactly 1/L, however short the slice is.
func TestRun_ConstantLength(t *testing.T) {
	for _, row := range []struct{ length, time, warmup time.Duration }{
		{time.Millisecond, time.Second, 0},
		{time.Millisecond, time.Second, 100 * time.Millisecond},
		{7 * time.Millisecond, time.Second, 10 * time.Millisecond},
		{3 * time.Second, 500 * time.Millisecond, 200 * time.Millisecond}, // a scan longer than the slice
		{time.Second, time.Second, 0},
		{time.Second, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			workers := []Worker{fakeWorker(3, constant(row.length)), fakeWorker(3, constant(row.length))}
			r, err := run(t, workers, Options{Warmup: row.warmup, Time: row.time})
			if err != nil {
				t.Fatal(err)
			}
			perWorker := r.Elapsed / row.length
			if r.Elapsed%row.length != 0 || r.Events != 2*int64(perWorker) || r.Operations != 3*r.Events {
				t.Errorf("%+v: %d events, %d operations in %v", row, r.Events, r.Operations, r.Elapsed)
			}
			if r.Elapsed < row.time || r.Elapsed >= row.time+row.length || r.Overrun != r.Elapsed-row.time {
				t.Errorf("%+v: elapsed %v, overrun %v", row, r.Elapsed, r.Overrun)
			}
			if got := r.Response.Count(); got != r.Events {
				t.Errorf("%+v: %d latencies of %d events", row, got, r.Events)
			}
			if r.Void() != "" {
				t.Errorf("%+v: void: %s", row, r.Void())
			}
		})
	}
}
