package dbms

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"syscall"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// Handle is the part of a Server that is the same for every family with a server
// process: drivers embed it. It serves a process that was started, or a server
// that somebody else runs.
type Handle struct {
	Release string       // exact version
	Where   wire.Address // of the measured path
	DB      *sql.DB      // administration

	process *Process                        // nil when attached
	polite  syscall.Signal                  // asks the process to shut down
	detach  func(ctx context.Context) error // nil unless attached

	done    chan struct{} // of an attached server: closed by Stop
	stop    sync.Once
	stopErr error
}

// NewStarted makes the handle of a process that shuts down at the signal polite.
func NewStarted(process *Process, where wire.Address, polite syscall.Signal) *Handle {
	return &Handle{process: process, Where: where, polite: polite}
}

// NewAttached makes the handle of a server that somebody else runs; Stop calls
// detach, which leaves the server as it was.
func NewAttached(where wire.Address, detach func(ctx context.Context) error) *Handle {
	return &Handle{Where: where, detach: detach, done: make(chan struct{})}
}

// Version is the exact version.
func (h *Handle) Version() string { return h.Release }

// PID is the server's process, 0 when attached.
func (h *Handle) PID() int {
	if h.process == nil {
		return 0
	}
	return h.process.PID()
}

// Address is where the measured path connects.
func (h *Handle) Address() wire.Address { return h.Where }

// Admin is the administration handle.
func (h *Handle) Admin() *sql.DB { return h.DB }

// Done is closed when the process has ended or the attached server was left.
func (h *Handle) Done() <-chan struct{} {
	if h.process == nil {
		return h.done
	}
	return h.process.Done()
}

// LogTail gives the last lines of the server's log, none when attached.
func (h *Handle) LogTail(n int) []string {
	if h.process == nil {
		return nil
	}
	return h.process.LogTail(n)
}

// Stop shuts the process down, or leaves the attached server.
func (h *Handle) Stop(ctx context.Context) error {
	h.stop.Do(func() {
		if h.process == nil {
			h.stopErr = errors.Join(h.detach(ctx), h.DB.Close())
			close(h.done)
			return
		}
		_ = h.DB.Close() // fails when the server is dead already
		h.stopErr = h.process.Stop(ctx, h.polite)
	})
	return h.stopErr
}
