package stream

import (
	"io"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// YieldEvery is how often a busy thread lets the scheduler pass. The runtime's
// monitor calls a goroutine that has had its P for 10 ms a hog, takes the P away
// in the next system call, and then looks around every 20 us for a while. That
// cost a process with one connection a quarter of its CPU time. Each pass wakes an
// idle thread, so it is as rare as it may be.
const YieldEvery = 7 * time.Millisecond

// pollFD is struct pollfd of ppoll(2).
type pollFD struct {
	fd      int32
	events  int16
	revents int16
}

const pollIn = 0x1

// Sockets are read and written by recvfrom and sendto, which are 0.5 us cheaper
// for a query than read and write: those ask the file system's watchers first.
//
// A call that may wait goes through syscall.Syscall and not RawSyscall, which
// would hide it from the scheduler: a collection would then wait for every blocked
// read, that is, as long as the slowest query, and hold up all other connections
// meanwhile. A call that never waits is hidden.
//
// A signal, such as the one by which the runtime preempts, may end a call early;
// the call is then made again.

func (s *Stream) readFD(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, errno := s.receive(p)
		switch {
		case errno == syscall.EINTR, errno == syscall.EAGAIN:
			continue
		case errno != 0:
			return 0, s.failure(errno)
		case n == 0:
			return 0, s.failure(io.EOF)
		}
		if s.wait == nil {
			s.yield()
		}
		return n, nil
	}
}

// yield lets the scheduler pass if it is time.
func (s *Stream) yield() {
	if now := time.Since(s.start); now-s.yielded > YieldEvery {
		s.yielded = now
		runtime.Gosched()
	}
}

// receive waits for bytes and takes them. A blocking recvfrom on a unix socket
// wakes up twice for a query, the first time because the server has taken the
// request out of the queue, and two switches of the context cost more than ppoll
// before recvfrom does. TCP wakes up once.
func (s *Stream) receive(p []byte) (int, syscall.Errno) {
	if s.wait != nil {
		s.wait()
		return s.take(p)
	}
	if !s.local || s.fd < 0 { // ppoll would wait for a descriptor below 0 for ever
		n, _, errno := syscall.Syscall6(syscall.SYS_RECVFROM,
			uintptr(s.fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), 0, 0, 0)
		return int(n), errno
	}
	wanted := pollFD{fd: int32(s.fd), events: pollIn}
	if _, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&wanted)), 1, 0, 0, 0, 0); errno != 0 {
		return 0, errno
	}
	return s.take(p)
}

// take gives the bytes that are there.
func (s *Stream) take(p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM,
		uintptr(s.fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), syscall.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

func (s *Stream) writeFD(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		n, errno := s.send(p[written:])
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return written, s.failure(errno)
		}
		written += n
	}
	return written, nil
}

// send writes what fits into the socket's buffer, or waits if nothing does.
func (s *Stream) send(p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO,
		uintptr(s.fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), syscall.MSG_NOSIGNAL|syscall.MSG_DONTWAIT, 0, 0)
	if errno == syscall.EAGAIN {
		n, _, errno = syscall.Syscall6(syscall.SYS_SENDTO,
			uintptr(s.fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), syscall.MSG_NOSIGNAL, 0, 0)
	}
	return int(n), errno
}

// failure gives wire.ErrAborted if that is why a call failed.
func (s *Stream) failure(err error) error {
	if s.aborted.Load() {
		return wire.ErrAborted
	}
	return err
}
