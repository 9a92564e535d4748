package load

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/stream"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest"
)

// streamConn is a connection of which only the stream matters.
type streamConn struct {
	wire.Conn
	*stream.Stream
}

func (c streamConn) Abort()       { c.Stream.Abort() }
func (c streamConn) Close() error { return c.Stream.Close() }

// sharing gives a worker whose event sends a byte and waits for the answer.
func sharing(t *testing.T, address wire.Address) Worker {
	t.Helper()
	s, err := stream.Dial(wiretest.Context(t), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Detach(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1)
	return Worker{Conn: streamConn{Stream: s}, Multiplex: true, Event: eventFunc(func() (int, error) {
		if _, err := s.Write(buf); err != nil {
			return 0, err
		}
		_, err := io.ReadFull(s, buf)
		return 1, err
	})}
}

func sharers(t *testing.T, n int, address wire.Address) []Worker {
	t.Helper()
	var workers []Worker
	for range n {
		workers = append(workers, sharing(t, address))
	}
	return workers
}

func echo(conn net.Conn) { _, _ = io.Copy(conn, conn) }

// Workers that share threads do what others do, and need few threads.
func TestGroup_Shares(t *testing.T) {
	workers := sharers(t, 40, wiretest.Serve(t, echo))
	before := threads(t)
	most := before
	options := Options{Events: 4000, CPUs: oneCPU(t), Begin: func() { most = max(most, threads(t)) }, End: func() { most = max(most, threads(t)) }}
	r, err := Run(t.Context(), workers, options)
	if err != nil {
		t.Fatal(err)
	}
	if r.Events != 4000 || r.Operations != 4000 || r.Void() != "" {
		t.Errorf("%d events, %d operations, void %q", r.Events, r.Operations, r.Void())
	}
	if most-before >= len(workers) {
		t.Errorf("%d workers took %d more threads", len(workers), most-before)
	}
	// A connection that shared a thread blocks again by itself.
	if n, err := workers[0].Event.Run(); n != 1 || err != nil {
		t.Errorf("after the slice: %d, %v", n, err)
	}
	r, err = Run(t.Context(), workers, Options{Time: 50 * time.Millisecond})
	if err != nil || r.Events == 0 {
		t.Errorf("the second slice: %v", err)
	}
}

func oneCPU(t *testing.T) []int {
	t.Helper()
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for !allowed.IsSet(cpu) {
		cpu++
	}
	return []int{cpu}
}

func threads(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// An answer that does not come ends one worker and holds up none of the others.
func TestGroup_Abort(t *testing.T) {
	address := wiretest.Serve(t, echo)
	workers := append(sharers(t, 6, address), sharing(t, wiretest.Serve(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })))
	r, err := Run(t.Context(), workers, Options{Events: 60, CPUs: oneCPU(t), OverrunLimit: 50 * time.Millisecond})
	if !errors.Is(err, wire.ErrAborted) {
		t.Errorf("error %v, want %v", err, wire.ErrAborted)
	}
	if r == nil || r.Events < 59 {
		t.Errorf("recording %+v", r)
	}
}

// A server that goes away ends the slice.
func TestGroup_Lost(t *testing.T) {
	address := wiretest.Serve(t, func(conn net.Conn) {
		_, _ = io.CopyN(conn, conn, 100)
		_ = conn.Close()
	})
	r, err := Run(t.Context(), sharers(t, 8, address), Options{Time: time.Minute, CPUs: oneCPU(t)})
	if r == nil || err == nil || errors.Is(err, wire.ErrAborted) {
		t.Errorf("%+v, %v", r, err)
	}
}

// A slice that is cancelled ends.
func TestGroup_Cancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	options := Options{Time: time.Minute, CPUs: oneCPU(t), Begin: cancel}
	if _, err := Run(ctx, sharers(t, 8, wiretest.Serve(t, echo)), options); err == nil {
		t.Error("no error")
	}
}
