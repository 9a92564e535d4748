package stream

import (
	"io"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// yieldEvery is how often a busy stream lets the scheduler pass. The runtime's
// monitor calls a goroutine that has had its P for 10 ms a hog, takes the P away
// in the next system call, and then looks around every 20 us for a while. That
// cost a process with one connection a quarter of its CPU time.
const yieldEvery = 4 * time.Millisecond

// readFD and writeFD use recvfrom and sendto, which are 0.5 us cheaper for a
// query than read and write: those ask the file system's watchers first.
//
// They go through syscall.Syscall6 and not RawSyscall6, which would save another
// 0.5 us by hiding the call from the scheduler: a collection would then wait for
// every blocked read, that is, as long as the slowest query, and hold up all
// other connections meanwhile.
//
// A signal, such as the one by which the runtime preempts, may end a call early;
// the call is then made again.

func (s *Stream) readFD(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, _, errno := syscall.Syscall6(syscall.SYS_RECVFROM,
			uintptr(s.fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), 0, 0, 0)
		switch {
		case errno == syscall.EINTR:
			continue
		case errno != 0:
			return 0, s.failure(errno)
		case n == 0:
			return 0, s.failure(io.EOF)
		}
		if now := time.Since(s.start); now-s.yielded > yieldEvery {
			s.yielded = now
			runtime.Gosched()
		}
		return int(n), nil
	}
}

func (s *Stream) writeFD(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		n, _, errno := syscall.Syscall6(syscall.SYS_SENDTO,
			uintptr(s.fd), uintptr(unsafe.Pointer(&p[written])), uintptr(len(p)-written), syscall.MSG_NOSIGNAL, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return written, s.failure(errno)
		}
		written += int(n)
	}
	return written, nil
}

// failure gives wire.ErrAborted if that is why a call failed.
func (s *Stream) failure(err error) error {
	if s.aborted.Load() {
		return wire.ErrAborted
	}
	return err
}
