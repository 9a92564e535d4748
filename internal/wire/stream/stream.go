// Package stream is the byte stream under a wire protocol: an ordinary net.Conn
// with deadlines while the login lasts, and after Detach a blocking file
// descriptor of its own, outside of Go's poller.
//
// Why blocking: an answer that the poller waits for costs a second read that
// fails with EAGAIN, an epoll_wait in another thread and a hand-over of the
// goroutine, more than the query itself costs in the client. A blocking read
// costs one system call, or two on a unix socket.
//
// GOMAXPROCS should exceed the number of streams in use at once: a thread keeps
// its P while it blocks, and one that comes back to find its P lent to another
// waits for the runtime's monitor, up to 10 ms. The goroutine should not be
// locked to its thread: the blocking call holds the thread anyway, and a lock
// makes every pass through the scheduler a hand-over between two threads.
package stream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// Stream is a connection to a server. It belongs to one goroutine; only Abort
// may be called from another. It is a net.Conn so that TLS can run over it.
type Stream struct {
	ctx     context.Context // bounds the login
	disarm  func() bool     // ends ctx's hold on conn; true if ctx had not ended
	conn    net.Conn        // nil after Detach
	local   bool            // a unix socket
	aborted atomic.Bool
	wait    func()        // called before a read in place of blocking; may be nil
	start   time.Time     // of the clock that yielded is on
	yielded time.Duration // when the scheduler was last let pass

	mu sync.Mutex // held to change fd and to use it from another goroutine
	fd int        // -1 before Detach and after Close
}

// Dial connects to the address. Until Detach every Read and Write fails once
// ctx ends.
func Dial(ctx context.Context, address wire.Address) (*Stream, error) {
	network, where := "tcp", net.JoinHostPort(address.Host, fmt.Sprint(address.Port))
	if address.Socket != "" {
		network, where = "unix", address.Socket
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, where)
	if err != nil {
		return nil, err
	}
	disarm := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return &Stream{ctx: ctx, disarm: disarm, conn: conn, local: network == "unix", fd: -1, start: time.Now()}, nil
}

// Detach ends the login: ctx bounds the stream no more, and reads and writes
// block in system calls. It fails if ctx has ended.
func (s *Stream) Detach() error {
	if !s.disarm() {
		return context.Cause(s.ctx)
	}
	raw, err := s.conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return err
	}
	fd := -1
	var dupErr error
	err = raw.Control(func(old uintptr) { fd, dupErr = duplicate(old) })
	if err = errors.Join(err, dupErr); err != nil {
		return fmt.Errorf("take over the socket: %w", err)
	}
	// Closing the original also takes it out of the poller; the duplicate keeps
	// the connection open.
	if err := s.conn.Close(); err != nil {
		_ = syscall.Close(fd)
		return err
	}
	s.conn = nil
	s.mu.Lock()
	s.fd = fd
	s.mu.Unlock()
	return syscall.SetNonblock(fd, false)
}

func duplicate(old uintptr) (int, error) {
	fd, _, errno := syscall.Syscall(syscall.SYS_FCNTL, old, syscall.F_DUPFD_CLOEXEC, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// Read waits for at least one byte; it gives io.EOF when the server has closed
// the connection.
func (s *Stream) Read(p []byte) (int, error) {
	if s.conn != nil {
		return s.conn.Read(p)
	}
	return s.readFD(p)
}

// Write writes all of p.
func (s *Stream) Write(p []byte) (int, error) {
	if s.conn != nil {
		return s.conn.Write(p)
	}
	return s.writeFD(p)
}

// Abort breaks the connection at once: a blocked Read or Write returns
// wire.ErrAborted. Safe from any goroutine.
func (s *Stream) Abort() {
	s.aborted.Store(true)
	// The lock keeps Close from giving the descriptor's number to another file
	// before shutdown has run.
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fd >= 0 {
		_ = syscall.Shutdown(s.fd, syscall.SHUT_RDWR)
	}
}

// FD is the socket, -1 before Detach and after Close.
func (s *Stream) FD() int { return s.fd }

// SetWait is that of wire.Waiter.
func (s *Stream) SetWait(wait func()) { s.wait = wait }

// Aborted says if Abort was called.
func (s *Stream) Aborted() bool { return s.aborted.Load() }

// Close frees the connection.
func (s *Stream) Close() error {
	s.disarm()
	if s.conn != nil {
		return s.conn.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fd < 0 {
		return nil
	}
	fd := s.fd
	s.fd = -1
	return syscall.Close(fd)
}

// LocalAddr is part of net.Conn; nil after Detach.
func (s *Stream) LocalAddr() net.Addr {
	if s.conn == nil {
		return nil
	}
	return s.conn.LocalAddr()
}

// RemoteAddr is part of net.Conn; nil after Detach.
func (s *Stream) RemoteAddr() net.Addr {
	if s.conn == nil {
		return nil
	}
	return s.conn.RemoteAddr()
}

// SetDeadline is part of net.Conn; without effect after Detach.
func (s *Stream) SetDeadline(t time.Time) error {
	if s.conn == nil {
		return nil
	}
	return s.conn.SetDeadline(t)
}

// SetReadDeadline is part of net.Conn; without effect after Detach.
func (s *Stream) SetReadDeadline(t time.Time) error {
	if s.conn == nil {
		return nil
	}
	return s.conn.SetReadDeadline(t)
}

// SetWriteDeadline is part of net.Conn; without effect after Detach.
func (s *Stream) SetWriteDeadline(t time.Time) error {
	if s.conn == nil {
		return nil
	}
	return s.conn.SetWriteDeadline(t)
}
