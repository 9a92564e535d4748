package probe

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// DefaultWaits are the wait events that are looked at unless a user chooses others:
// those that the published reports print. Waits of other kinds hold these within
// them (wait/io/table), or are for the client (wait/io/socket, idle).
const DefaultWaits = "wait/synch/*,wait/io/file/*"

// NewWaits looks at what the threads of a server wait for; admin is its
// administration handle. Of MySQL and MariaDB it is the events whose names match the
// pattern: names with * for any text, separated by commas; "" is DefaultWaits.
// PostgreSQL is asked for all events many times a second.
func NewWaits(family dbcanary.Family, admin *sql.DB, pattern string) Instrument {
	switch family {
	case dbcanary.MySQL, dbcanary.MariaDB:
		return &timedWaits{admin: admin, patterns: waitPatterns(cmp.Or(pattern, DefaultWaits))}
	case dbcanary.Postgres:
		return &sampledWaits{admin: admin}
	default:
		return noWaits{family}
	}
}

// noWaits is of a family that does not tell what it waits for.
type noWaits struct{ family dbcanary.Family }

func (n noWaits) Prepare(context.Context) error { return fmt.Errorf("%s tells no waits", n.family) }
func (noWaits) Begin(context.Context)           {}
func (noWaits) End(context.Context)             {}
func (noWaits) Finish(context.Context) (Seen, error) {
	return Seen{}, nil
}

// waitPatterns turns a user's patterns into those of SQL's LIKE with | for escape.
func waitPatterns(text string) []string {
	var patterns []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			patterns = append(patterns, strings.NewReplacer("|", "||", "_", "|_", "*", "%").Replace(part))
		}
	}
	return patterns
}

// timedWaits reads the summary of wait events of the Performance Schema before and
// after. Instruments and consumers are switched on for that time alone: they cost
// the server some ten percent.
type timedWaits struct {
	admin    *sql.DB
	patterns []string

	instruments []switched // as they were
	consumers   []switched
	before      map[string]waited
	after       map[string]waited
	err         error // the first one of Begin and End
}

// switched is a row of a setup table as it was found.
type switched struct{ name, enabled, timed string }

// waited is what threads waited for an event since the server started.
type waited struct{ count, picoseconds int64 }

// matching is a condition for names of events, with its arguments.
func (w *timedWaits) matching(column string) (condition string, args []any) {
	var parts []string
	for _, pattern := range w.patterns {
		parts = append(parts, column+" LIKE ? ESCAPE '|'")
		args = append(args, pattern)
	}
	return "(" + strings.Join(parts, " OR ") + ")", args
}

// Prepare switches the instruments on that match, and what they need.
func (w *timedWaits) Prepare(ctx context.Context) error {
	var on string
	if err := w.admin.QueryRowContext(ctx, "SELECT @@performance_schema").Scan(&on); err != nil {
		return fmt.Errorf("ask for performance_schema: %w", err)
	}
	if on != "1" && !strings.EqualFold(on, "ON") {
		return errors.New("performance_schema is off, which only a start of the server changes: measure a target with the overlay ps, such as mysql@9.7+ps, for its waits")
	}
	condition, args := w.matching("NAME")
	var err error
	w.instruments, err = readSwitched(ctx, w.admin, "SELECT NAME, ENABLED, TIMED FROM performance_schema.setup_instruments WHERE "+condition, args)
	if err != nil {
		return fmt.Errorf("read the instruments of the Performance Schema: %w", err)
	}
	if len(w.instruments) == 0 {
		return fmt.Errorf("no instrument of this server matches %q", strings.Join(w.patterns, ","))
	}
	const needed = "NAME IN ('global_instrumentation', 'thread_instrumentation')"
	w.consumers, err = readSwitched(ctx, w.admin, "SELECT NAME, ENABLED, '' FROM performance_schema.setup_consumers WHERE "+needed, nil)
	if err != nil {
		return fmt.Errorf("read the consumers of the Performance Schema: %w", err)
	}
	_, err = w.admin.ExecContext(ctx, "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE "+needed)
	if err == nil {
		_, err = w.admin.ExecContext(ctx, "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE "+condition, args...)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("switch instruments of the Performance Schema on: %w", err), w.putBack(ctx))
	}
	return nil
}

func readSwitched(ctx context.Context, db *sql.DB, query string, args []any) (list []switched, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var one switched
		var timed sql.NullString // NULL where an instrument can't be timed
		if err := rows.Scan(&one.name, &one.enabled, &timed); err != nil {
			return nil, err
		}
		one.timed = timed.String
		list = append(list, one)
	}
	return list, rows.Err()
}

// putBack switches off what was off.
func (w *timedWaits) putBack(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	var errs []error
	set := func(table, column string, list []switched, off func(switched) bool) {
		var names []any
		for _, one := range list {
			if off(one) {
				names = append(names, one.name)
			}
		}
		const most = 500 // names in a statement
		for chunk := range slices.Chunk(names, most) {
			update := fmt.Sprintf("UPDATE performance_schema.%s SET %s = 'NO' WHERE NAME IN (?%s)", table, column, strings.Repeat(", ?", len(chunk)-1))
			_, err := w.admin.ExecContext(ctx, update, chunk...)
			errs = append(errs, err)
		}
	}
	set("setup_instruments", "TIMED", w.instruments, func(s switched) bool { return s.timed == "NO" })
	set("setup_instruments", "ENABLED", w.instruments, func(s switched) bool { return s.enabled == "NO" })
	set("setup_consumers", "ENABLED", w.consumers, func(s switched) bool { return s.enabled == "NO" })
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("switch instruments of the Performance Schema off again: %w", err)
	}
	return nil
}

// Begin reads what was waited for until now.
func (w *timedWaits) Begin(ctx context.Context) { w.before, w.err = w.read(ctx) }

// End reads it again.
func (w *timedWaits) End(ctx context.Context) {
	if w.err == nil {
		w.after, w.err = w.read(ctx)
	}
}

func (w *timedWaits) read(ctx context.Context) (events map[string]waited, err error) {
	condition, args := w.matching("EVENT_NAME")
	rows, err := w.admin.QueryContext(ctx, `SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT
		FROM performance_schema.events_waits_summary_global_by_event_name WHERE COUNT_STAR > 0 AND `+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("read the waits of the Performance Schema: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	events = map[string]waited{}
	for rows.Next() {
		var name string
		var one waited
		if err := rows.Scan(&name, &one.count, &one.picoseconds); err != nil {
			return nil, err
		}
		events[name] = one
	}
	return events, rows.Err()
}

// Finish puts the instruments back and gives what was waited for meanwhile.
func (w *timedWaits) Finish(ctx context.Context) (Seen, error) {
	err := w.putBack(ctx)
	if w.err != nil || w.after == nil {
		return Seen{}, errors.Join(w.err, err, ctx.Err())
	}
	var waits []dbcanary.Wait
	for name, after := range w.after {
		before := w.before[name]
		if after.count > before.count && after.picoseconds >= before.picoseconds {
			waits = append(waits, dbcanary.Wait{Event: name, Count: after.count - before.count, TotalNs: (after.picoseconds - before.picoseconds) / 1000})
		}
	}
	return Seen{Waits: sortWaits(waits)}, err
}

// sortWaits puts the most time first.
func sortWaits(waits []dbcanary.Wait) []dbcanary.Wait {
	slices.SortFunc(waits, func(a, b dbcanary.Wait) int {
		return cmp.Or(cmp.Compare(b.TotalNs, a.TotalNs), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Event, b.Event))
	})
	return waits
}
