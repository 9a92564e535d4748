package probe

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dbcanary/dbcanary"
)

// sampledWaits asks PostgreSQL many times a second what its processes wait for. It
// counts no waits: a wait that is shorter than the time between two samples may be
// seen or not, and only the sum over many is right.
type sampledWaits struct {
	admin *sql.DB

	conn  *sql.Conn // of our own, so that no other work waits for it
	query *sql.Stmt
	stop  chan struct{}
	done  sync.WaitGroup

	seen map[string]*dbcanary.Wait
	err  error // of the sampling; read after done
}

// waitsEvery is how often the server is asked; an answer costs it some 0.1 ms for ten sessions.
const waitsEvery = 5 * time.Millisecond

// What processes wait for in their own main loop is no wait of a statement, nor what
// a session without a transaction waits for from its client.
const activeWaits = `SELECT wait_event_type || ':' || wait_event, count(*) FROM pg_stat_activity
	WHERE wait_event IS NOT NULL AND wait_event_type <> 'Activity' AND pid <> pg_backend_pid() AND state IS DISTINCT FROM 'idle'
	GROUP BY 1`

// Prepare connects.
func (w *sampledWaits) Prepare(ctx context.Context) error {
	var err error
	if w.conn, err = w.admin.Conn(ctx); err != nil {
		return fmt.Errorf("connect to see waits: %w", err)
	}
	if w.query, err = w.conn.PrepareContext(ctx, activeWaits); err != nil {
		return errors.Join(fmt.Errorf("ask for waits, which PostgreSQL tells since 9.6: %w", err), w.conn.Close())
	}
	return nil
}

// Begin starts to ask.
func (w *sampledWaits) Begin(ctx context.Context) {
	w.stop, w.seen = make(chan struct{}), map[string]*dbcanary.Wait{}
	w.done.Go(func() { w.err = w.watch(ctx) })
}

func (w *sampledWaits) watch(ctx context.Context) error {
	ticker := time.NewTicker(waitsEvery)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-w.stop:
			return ctx.Err() // ended before it was stopped, the look is no whole one
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		sampled := time.Now()
		if err := w.sample(ctx, sampled.Sub(last)); err != nil {
			return fmt.Errorf("ask for waits: %w", err)
		}
		last = sampled
	}
}

// sample adds what is waited for now, which stands for the time since the last sample.
func (w *sampledWaits) sample(ctx context.Context, since time.Duration) (err error) {
	rows, err := w.query.QueryContext(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var event string
		var sessions int64
		if err := rows.Scan(&event, &sessions); err != nil {
			return err
		}
		wait := w.seen[event]
		if wait == nil {
			wait = &dbcanary.Wait{Event: event, Sampled: true}
			w.seen[event] = wait
		}
		wait.Count += sessions
		wait.TotalNs += sessions * since.Nanoseconds()
	}
	return rows.Err()
}

// End asks no more.
func (w *sampledWaits) End(context.Context) {
	if w.stop == nil {
		return
	}
	select {
	case <-w.stop:
	default:
		close(w.stop)
	}
	w.done.Wait()
}

// Finish disconnects and gives what was seen.
func (w *sampledWaits) Finish(ctx context.Context) (Seen, error) {
	w.End(ctx)
	// What a connection that goes says changes nothing of what was seen.
	_ = errors.Join(w.query.Close(), w.conn.Close())
	if w.err != nil {
		return Seen{}, w.err
	}
	var waits []dbcanary.Wait
	for _, wait := range w.seen {
		waits = append(waits, *wait)
	}
	return Seen{Waits: sortWaits(waits)}, nil
}
