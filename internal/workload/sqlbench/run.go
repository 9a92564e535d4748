package sqlbench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// Tables lists every table that a test may leave, but for those of create, of
// which there are many.
func Tables() []string {
	list := []string{"bench1", "bench2", "bench3", "bench4", "tenk1", "tenk2", "onek"}
	for _, table := range atisTables() {
		list = append(list, table.name)
	}
	return list
}

// Setup lists the statements that begin a test from nothing.
func (t Test) Setup(w *World) []string {
	var list []string
	for _, table := range Tables() {
		list = append(list, "DROP TABLE IF EXISTS "+table)
	}
	return append(list, t.setup(w)...)
}

// Prepare readies the tables for operation i of the test: afresh, with what the
// operations before it do, or as the operation before left them if after is true.
func (t Test) Prepare(ctx context.Context, conn wire.Conn, w *World, i int, after bool) error {
	if !after {
		for _, text := range t.Setup(w) {
			if _, err := conn.Query([]byte(text)); err != nil {
				return fmt.Errorf("%s: %w", clip([]byte(text)), err)
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		for _, before := range t.Operations[:i] {
			if err := before.replay(ctx, conn, w); err != nil {
				return fmt.Errorf("what %s needs of %s: %w", t.Operations[i].Name, before.Name, err)
			}
		}
	}
	return analyze(conn, w, t.Operations[i].analyze)
}

// replay does the operation without measuring, if later ones need what it does.
func (o Operation) replay(ctx context.Context, conn wire.Conn, w *World) error {
	if !o.writes {
		return nil
	}
	for i := range o.Events(w.Scale) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, statement := range o.event(w, i) {
			result, err := conn.Query(statement.SQL)
			if err := statement.judge(w.Family, result, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// analyze renews the statistics of the tables, so that no plan depends on when
// the server does it by itself.
func analyze(conn wire.Conn, w *World, tables []string) error {
	command := "ANALYZE "
	switch {
	case w.isMySQL():
		command = "ANALYZE TABLE "
	case w.Family == dbcanary.Postgres:
		command = "VACUUM (ANALYZE) "
	}
	for _, table := range tables {
		if _, err := conn.Query([]byte(command + table)); err != nil {
			return fmt.Errorf("%s%s: %w", command, table, err)
		}
	}
	return nil
}

// Runner runs one operation on one connection. It belongs to one goroutine.
type Runner struct {
	operation Operation
	family    dbcanary.Family
	conn      wire.Conn
	connect   func(context.Context) (wire.Conn, error)
	ctx       context.Context
	events    []Event
	stmt      wire.Stmt
	arg       []wire.Arg
	next      int
}

// NewRunner makes the statements of an operation, so that no time is spent on it
// later. ctx ends with the benchmark; connect opens further connections.
func NewRunner(ctx context.Context, o Operation, w *World, conn wire.Conn, connect func(context.Context) (wire.Conn, error)) (*Runner, error) {
	r := &Runner{operation: o, family: w.Family, conn: conn, connect: connect, ctx: ctx, arg: make([]wire.Arg, 1)}
	for i := range o.Events(w.Scale) {
		if i > 0 && o.same {
			r.events = append(r.events, r.events[0])
			continue
		}
		r.events = append(r.events, o.event(w, i))
	}
	if o.prepared == nil {
		return r, nil
	}
	query := o.prepared(w)
	if w.Family == dbcanary.Postgres {
		query = strings.ReplaceAll(query, "?", "$1")
	}
	var err error
	r.stmt, err = conn.Prepare(ctx, query, []wire.Kind{wire.Int})
	return r, err
}

// Left is the number of events that are still to be done.
func (r *Runner) Left() int { return len(r.events) - r.next }

// Run does the next event and gives the number of its statements. Left must not be 0.
func (r *Runner) Run() (statements int, err error) {
	event := r.events[r.next]
	r.next++
	conn := r.conn
	if r.operation.Connects {
		conn, err = r.connect(r.ctx)
		if err != nil {
			return 0, fmt.Errorf("connect: %w", err)
		}
		defer func() { err = errors.Join(err, conn.Close()) }()
	}
	for i := range event {
		var result wire.Result
		if r.stmt != nil {
			r.arg[0].Int = event[i].Arg
			result, err = r.stmt.Exec(r.arg)
		} else {
			result, err = conn.Query(event[i].SQL)
		}
		if err := event[i].judge(r.family, result, err); err != nil {
			return i, err
		}
	}
	return max(1, len(event)), nil
}

// Check reads back, after the last event, what the operation must have left and
// a few of the values that it was told.
func (r *Runner) Check(ctx context.Context, admin *sql.DB, w *World) error {
	const few = 3
	var list []Statement
	if r.operation.after != nil {
		list = r.operation.after(w)
	}
	asked := map[string]bool{}
	for i := 0; i < len(r.events) && len(asked) < few; i++ {
		for _, statement := range r.events[i] {
			if statement.Value != "" && !asked[string(statement.SQL)] {
				asked[string(statement.SQL)] = true
				list = append(list, statement)
			}
		}
	}
	for _, statement := range list {
		if err := statement.ask(ctx, admin); err != nil {
			return err
		}
	}
	return nil
}

// ask runs a query that must give one value.
func (s Statement) ask(ctx context.Context, admin *sql.DB) error {
	rows, err := admin.QueryContext(ctx, string(s.SQL))
	if err != nil {
		return fmt.Errorf("%s: %w", clip(s.SQL), err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	var first sql.NullString
	into := make([]any, len(columns))
	for i := range into {
		into[i] = new(any)
	}
	into[0] = &first
	if rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("%s: %w", clip(s.SQL), err)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if got := strings.TrimSpace(first.String); got != s.Value {
		return &WrongAnswer{fmt.Sprintf("%s gives %q, expected is %q", clip(s.SQL), got, s.Value)}
	}
	return nil
}

// WrongAnswer is the error of an answer that can't be right.
type WrongAnswer struct{ text string }

// Error says what was asked, answered and expected.
func (w *WrongAnswer) Error() string { return "wrong answer: " + w.text }

// judge gives an error if an answer is not the right one.
func (s Statement) judge(family dbcanary.Family, result wire.Result, err error) error {
	var refused *wire.ServerError
	if s.Kind == Duplicate {
		if errors.As(err, &refused) && refused.Code == duplicateCode(family) {
			return nil
		}
		if err == nil {
			return &WrongAnswer{clip(s.SQL) + " added a row that is there already"}
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", clip(s.SQL), err)
	}
	got, verb := result.Rows, "returned"
	if s.Kind == Changed {
		got, verb = result.Affected, "changed"
	}
	if s.Kind != Nothing && got != s.Want {
		return &WrongAnswer{fmt.Sprintf("%s %s %d rows, expected %d", clip(s.SQL), verb, got, s.Want)}
	}
	return nil
}

func duplicateCode(family dbcanary.Family) string {
	switch family {
	case dbcanary.Postgres:
		return "23505"
	case dbcanary.SQLite:
		return "1555" // SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return "1062"
}

// clip shortens a statement for a message.
func clip(text []byte) string {
	const most = 120
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

// Example is SQL of the operation as a reader wants to see it: the statements of
// its first event, of the smallest table, on a family.
func (o Operation) Example(family dbcanary.Family) []string {
	w := &World{Family: family, Scale: Quick, Seed: 1}
	if o.prepared != nil {
		return []string{o.prepared(w)}
	}
	var list []string
	for _, statement := range o.event(w, 0) {
		list = append(list, clip(statement.SQL))
	}
	return list
}
