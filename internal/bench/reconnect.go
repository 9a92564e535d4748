package bench

import (
	"sync"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// session is a connection with what a worker repeats on it.
type session struct {
	wire.Conn
	work workload.Work
}

// reconnecting is a session that is replaced by a new one after every so many
// events, the time for which belongs to the event before, as with sysbench. As a
// wire.Conn it only aborts and closes.
type reconnecting struct {
	wire.Conn // nil: a worker neither prepares nor queries by itself
	every     int
	open      func() (session, error)
	events    int // on the current connection

	mu      sync.Mutex
	current session
	aborted bool
}

// Run is an event, and after every so many of them a login.
func (r *reconnecting) Run() (statements int, err error) {
	statements, err = r.current.work.Run()
	if err != nil {
		return statements, err
	}
	r.events++
	if r.events < r.every {
		return statements, nil
	}
	r.events = 0
	// What a closing connection says can't change what was measured.
	_ = r.current.Close()
	next, err := r.open()
	if err != nil {
		return statements, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = next
	if r.aborted {
		next.Abort()
	}
	return statements, nil
}

// Abort breaks the current connection and those that follow. Safe from any goroutine.
func (r *reconnecting) Abort() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.aborted = true
	r.current.Abort()
}

func (r *reconnecting) Close() error { return r.current.Close() }
