package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dial gives a detached stream to a server that runs handler.
func dial(t *testing.T, handler func(net.Conn)) *Stream {
	t.Helper()
	s, err := Dial(wiretest.Context(t), wiretest.Serve(t, handler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Detach(); err != nil {
		t.Fatal(err)
	}
	return s
}

func echo(conn net.Conn) { _, _ = io.Copy(conn, conn) }

func silent(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// TestLargeTransfer sends more than the socket's buffers hold, so that writes
// are partial.
func TestLargeTransfer(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	got := make(chan []byte, 1)
	s := dial(t, func(conn net.Conn) {
		all := make([]byte, len(want))
		_, _ = io.ReadFull(conn, all)
		got <- all
		_, _ = conn.Write(all)
	})
	if n, err := s.Write(want); n != len(want) || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if !bytes.Equal(<-got, want) {
		t.Error("the server got something else")
	}
	back := make([]byte, len(want))
	if _, err := io.ReadFull(s, back); err != nil || !bytes.Equal(back, want) {
		t.Errorf("something else came back, %v", err)
	}
	if n, err := s.Read(back); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v, want %v", n, err, io.EOF)
	}
}

// TestSignals holds that neither signals nor collections break or are held up by
// a read that waits.
func TestSignals(t *testing.T) {
	release := make(chan struct{})
	s := dial(t, func(conn net.Conn) {
		<-release
		_, _ = conn.Write([]byte("x"))
	})
	thread := make(chan int, 1)
	read := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // so that the signals hit the thread that reads
		defer runtime.UnlockOSThread()
		thread <- syscall.Gettid()
		_, err := s.Read(make([]byte, 8))
		read <- err
	}()
	tid := <-thread
	start := time.Now()
	for range 200 {
		if err := syscall.Tgkill(syscall.Getpid(), tid, syscall.SIGURG); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	for range 5 {
		runtime.GC()
	}
	if took := time.Since(start); took > wiretest.Timeout/2 {
		t.Errorf("collections took %v beside a read that waits", took)
	}
	select {
	case err := <-read:
		t.Fatalf("the read ended: %v", err)
	default:
	}
	close(release)
	if err := <-read; err != nil {
		t.Error(err)
	}
}

// TestAbort breaks reads and writes that block, and races with Close.
func TestAbort(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)                 // before the server waits for its handlers
	full := func(net.Conn) { <-stuck } // reads nothing, so a long write blocks
	operations := map[string]struct {
		handler func(net.Conn)
		run     func(*Stream) error
	}{
		"read": {silent, func(s *Stream) error { _, err := s.Read(make([]byte, 8)); return err }},
		"write": {full, func(s *Stream) error {
			_, err := s.Write(make([]byte, 32<<20))
			return err
		}},
	}
	for name, operation := range operations {
		s := dial(t, operation.handler)
		ended := make(chan error, 1)
		go func() { ended <- operation.run(s) }()
		// Whether the abort comes before the call or in the middle, it ends it.
		runtime.Gosched()
		s.Abort()
		if err := <-ended; !errors.Is(err, wire.ErrAborted) {
			t.Errorf("%s: error %v, want %v", name, err, wire.ErrAborted)
		}
		if !s.Aborted() {
			t.Errorf("%s: not marked as aborted", name)
		}
	}
}

// TestAbortAndClose holds that an abort never hits a descriptor that another
// connection has got after Close.
func TestAbortAndClose(t *testing.T) {
	address := wiretest.Serve(t, echo)
	for range 100 {
		s, err := Dial(wiretest.Context(t), address)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Detach(); err != nil {
			t.Fatal(err)
		}
		var aborts sync.WaitGroup
		for range 4 {
			aborts.Go(s.Abort)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		next, err := Dial(wiretest.Context(t), address)
		if err != nil {
			t.Fatal(err)
		}
		if err := next.Detach(); err != nil {
			t.Fatal(err)
		}
		aborts.Wait()
		if _, err := next.Write([]byte("x")); err != nil {
			t.Fatalf("the next connection was hit: %v", err)
		}
		if _, err := next.Read(make([]byte, 1)); err != nil {
			t.Fatalf("the next connection was hit: %v", err)
		}
		if err := errors.Join(next.Close(), next.Close(), s.Close()); err != nil {
			t.Errorf("closing again: %v", err)
		}
	}
}

// TestDetachTooLate holds that a login whose time is up is none.
func TestDetachTooLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Dial(ctx, wiretest.Serve(t, silent))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := s.Read(make([]byte, 1)); err == nil {
		t.Error("a read went on after the context's end")
	}
	if err := s.Detach(); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestClosed holds that a closed stream fails.
func TestClosed(t *testing.T) {
	s := dial(t, echo)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(make([]byte, 1)); err == nil {
		t.Error("read from a closed stream")
	}
	if _, err := s.Write([]byte("x")); err == nil {
		t.Error("wrote to a closed stream")
	}
}
