package stream

import (
	"io"
	"syscall"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// readFD and writeFD go through syscall.Syscall and not RawSyscall: the raw one
// hides the call from the scheduler, and a collection would then wait for every
// blocked read, that is, as long as the slowest query.
//
// A signal, such as the one by which the runtime preempts, may end a call early;
// the call is then made again.

func (s *Stream) readFD(p []byte) (int, error) {
	for {
		n, err := syscall.Read(s.fd, p)
		switch {
		case err == syscall.EINTR:
			continue
		case s.aborted.Load():
			return 0, wire.ErrAborted
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

func (s *Stream) writeFD(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		n, err := syscall.Write(s.fd, p[written:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			if s.aborted.Load() {
				err = wire.ErrAborted
			}
			return written, err
		}
		written += n
	}
	return written, nil
}
