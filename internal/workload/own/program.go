package own

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/workload"
	"github.com/dbcanary/dbcanary/internal/workload/draw"
)

// program is a benchmark of an own workload: weighted scripts over variables.
// Sessions share it.
type program struct {
	label    string
	scripts  []script
	total    int64 // weight of all scripts
	slots    map[string]int
	initial  []value // of the variables
	kinds    []kind  // of the variables, where one is certain
	sql      []*sqlOp
	known    map[string]kind // of variables, as far as was found out before
	counters int             // sequences
	writes   bool
	sleeps   bool // it waits for more than answers
	several  bool // a message has several statements, which PostgreSQL alone takes
}

// script is a transaction.
type script struct {
	name   string
	weight int64
	ops    []op
}

// op is a step of a script.
type op interface{ run(s *session) error }

// slot gives the variable of a name, which it makes if it is new.
func (p *program) slot(name string) int {
	if p.slots == nil {
		p.slots = map[string]int{}
	}
	if at, ok := p.slots[name]; ok {
		return at
	}
	at := len(p.initial)
	p.slots[name] = at
	p.initial = append(p.initial, value{})
	p.kinds = append(p.kinds, unset)
	return at
}

// sqlOp sends a statement.
type sqlOp struct {
	index    int
	where    string // "shop.yaml:12:9"
	path     string // in a YAML file
	verbatim bool   // it has no variables
	sql      string
	dialect  map[dbcanary.Family]string
	answer   answer
	asText   bool // in every mode
}

// answer is how many rows a statement may return or change.
type answer struct {
	checked, changed bool
	least, most      int64
}

// text is the statement for a family.
func (o *sqlOp) text(family dbcanary.Family) string {
	if sql, ok := o.dialect[family]; ok {
		return sql
	}
	if family != dbcanary.Postgres && strings.EqualFold(strings.TrimSpace(o.sql), "END") {
		return "COMMIT" // which only PostgreSQL and SQLite spell so, too
	}
	return o.sql
}

// bound is a statement readied on a connection.
type bound struct {
	*sqlOp
	pieces        []piece // as text, variables by slot
	slots         []int   // of the variables, -1 for none
	stmt          wire.Stmt
	args          []wire.Arg
	kinds         []wire.Kind
	begins, close bool
}

// session runs a program on one connection.
type session struct {
	program  *program
	env      workload.Env
	conn     wire.Conn
	family   dbcanary.Family
	ignore   []string
	random   draw.Source
	begun    draw.Source // random as the event began
	again    bool        // the event begins anew with the same choices
	vars     []value
	buffers  [][]byte // of texts, by slot
	bound    []bound
	counters []*atomic.Int64
	zipf     map[zipfKey]draw.Distribution
	query    []byte
	sent     int  // statements of the event
	open     bool // a transaction is
	done     context.Context
}

var _ workload.Work = (*session)(nil)

// counters are the sequences of a copy of the data, by benchmark.
type counters struct{ list []atomic.Int64 }

// newSession readies every statement on the connection of env.
func (p *program) newSession(ctx context.Context, env workload.Env, ignore []string) (*session, error) {
	s := &session{
		program: p, env: env, conn: env.Conn, family: env.Family, ignore: ignore, done: ctx,
		vars: slices.Clone(p.initial), buffers: make([][]byte, len(p.initial)), zipf: map[zipfKey]draw.Distribution{},
	}
	if at, ok := p.slots["client_id"]; ok && s.vars[at].kind == unset {
		s.vars[at] = integerValue(int64(env.Worker))
	}
	shared := workload.Shared(env.State, "own "+p.label, func() *counters { return &counters{make([]atomic.Int64, p.counters)} })
	for i := range shared.list {
		s.counters = append(s.counters, &shared.list[i])
	}
	for i := range s.vars {
		s.vars[i].list = slices.Clone(s.vars[i].list)
	}
	s.bound = make([]bound, len(p.sql))
	for i, op := range p.sql {
		if err := s.bind(ctx, &s.bound[i], op); err != nil {
			return nil, fmt.Errorf("%s: %w", op.where, err)
		}
	}
	return s, nil
}

// bind prepares a statement, unless it goes as text.
func (s *session) bind(ctx context.Context, b *bound, o *sqlOp) error {
	sql := o.text(s.family)
	if s.family == dbcanary.SQLite && opens(sql) && s.program.writes {
		sql = "BEGIN IMMEDIATE" // a reader that wants to write later can only start over
	}
	*b = bound{sqlOp: o, pieces: pieces(sql), begins: opens(sql), close: closes(sql)}
	if o.verbatim {
		b.pieces = []piece{{text: sql}}
	}
	asText := o.asText || s.env.PSMode == workload.Text || b.begins || b.close
	var text strings.Builder
	for _, p := range b.pieces {
		at, known := s.program.slots[p.variable]
		if p.variable == "" || !known {
			if p.variable != "" { // within quotes only, where it is no variable
				text.WriteByte(':')
			}
			text.WriteString(p.text + p.variable)
			b.slots = append(b.slots, -1)
			continue
		}
		b.slots = append(b.slots, at)
		asText = asText || p.inside || !preparable(s.program.kinds[at])
		for n := range max(1, len(s.vars[at].list)) {
			if n > 0 {
				text.WriteString(", ")
			}
			b.kinds = append(b.kinds, wireKind(s.program.kinds[at], &s.vars[at]))
			if s.family == dbcanary.Postgres {
				fmt.Fprintf(&text, "$%d", len(b.kinds))
			} else {
				text.WriteByte('?')
			}
		}
	}
	if asText {
		return nil
	}
	stmt, err := s.conn.Prepare(ctx, text.String(), b.kinds)
	var refused *wire.ServerError
	if errors.As(err, &refused) && refused.Code == "1295" { // it can't be prepared there
		return nil
	}
	if err != nil {
		return &dbcanary.Error{Code: dbcanary.CodeUsage, Err: err}
	}
	b.stmt, b.args = stmt, make([]wire.Arg, len(b.kinds))
	return nil
}

// preparable tells whether every value of a kind can be the argument of a prepared statement.
func preparable(k kind) bool {
	return slices.Contains([]kind{integer, decimal, double, text, date, timestamp, list}, k)
}

func wireKind(k kind, initial *value) wire.Kind {
	if k == list {
		k = initial.list[0].kind
	}
	if k == integer {
		return wire.Int
	}
	return wire.Text
}

// Reseed implements workload.Work.
func (s *session) Reseed(seed uint64) {
	s.random.Reseed(seed)
	s.again = false
}

// Run implements workload.Work: one transaction of one script. What is repeated after
// a deadlock has the same values, but for sequences, which go on.
func (s *session) Run() (statements int, err error) {
	if s.again {
		s.random = s.begun
	}
	s.begun, s.again, s.sent = s.random, false, 0
	chosen := &s.program.scripts[0]
	if len(s.program.scripts) > 1 {
		at := s.random.UpTo(uint64(s.program.total))
		for i := 0; at > chosen.weight; chosen = &s.program.scripts[i] {
			at -= chosen.weight
			i++
		}
	}
	if err := s.runAll(chosen.ops); err != nil {
		return s.sent, s.failed(err)
	}
	return s.sent, nil
}

func (s *session) runAll(ops []op) error {
	for _, op := range ops {
		if err := op.run(s); err != nil {
			return err
		}
	}
	return nil
}

// failed ends the transaction that is open, and lets errors that the benchmark
// ignores be retried.
func (s *session) failed(cause error) error {
	var refused *wire.ServerError
	server := errors.As(cause, &refused)
	if s.open && (server || errors.As(cause, new(*wrongAnswer))) {
		s.open = false
		if _, err := s.conn.Query([]byte("ROLLBACK")); err != nil && !errors.As(err, new(*wire.ServerError)) {
			return fmt.Errorf("roll back after %w: %w", cause, err)
		}
	}
	s.open, s.again = false, server && (refused.Retryable || slices.Contains(s.ignore, refused.Code))
	if server && !refused.Retryable && slices.Contains(s.ignore, refused.Code) {
		return &wire.ServerError{Code: refused.Code, Message: refused.Message, Retryable: true}
	}
	return cause
}

// wrongAnswer is the error of an answer that is not the expected one.
type wrongAnswer struct{ text string }

func (w *wrongAnswer) Error() string { return w.text }

func (o *sqlOp) run(s *session) error {
	b := &s.bound[o.index]
	var result wire.Result
	var err error
	if b.stmt != nil {
		s.fill(b)
		result, err = b.stmt.Exec(b.args)
	} else {
		if err := s.write(b); err != nil {
			return err
		}
		result, err = s.conn.Query(s.query)
	}
	if err != nil {
		return err
	}
	s.sent++
	s.open = (s.open || b.begins) && !b.close
	if a := o.answer; a.checked {
		size, verb := result.Rows, "returned"
		if a.changed {
			size, verb = result.Affected, "changed"
		}
		if size < a.least || size > a.most {
			return &wrongAnswer{fmt.Sprintf("%s: wrong answer: %s %s %d rows, expected %s", o.where, o.sql, verb, size, a.expected())}
		}
	}
	return nil
}

func (a answer) expected() string {
	if a.least == a.most {
		return fmt.Sprint(a.least)
	}
	return fmt.Sprintf("%d to %d", a.least, a.most)
}

// fill sets the arguments of a prepared statement.
func (s *session) fill(b *bound) {
	at := 0
	for _, slot := range b.slots {
		if slot < 0 {
			continue
		}
		v := &s.vars[slot]
		if v.kind != list {
			b.set(at, v)
			at++
			continue
		}
		for i := range v.list {
			b.set(at, &v.list[i])
			at++
		}
	}
}

func (b *bound) set(at int, v *value) {
	if b.kinds[at] == wire.Int {
		b.args[at].Int = v.integer
		return
	}
	b.args[at].Text = v.appendPlain(b.args[at].Text[:0])
}

// write puts a statement together as text.
func (s *session) write(b *bound) error {
	s.query = s.query[:0]
	for i, p := range b.pieces {
		switch slot := b.slots[i]; {
		case slot >= 0 && s.vars[slot].kind == unset:
			return fmt.Errorf("%s: variable %q has no value yet", b.where, p.variable)
		case slot >= 0 && p.inside:
			s.query = s.vars[slot].appendPlain(s.query)
		case slot >= 0:
			s.query = s.vars[slot].appendSQL(s.query, s.family)
		case p.variable != "":
			s.query = append(append(s.query, ':'), p.variable...)
		default:
			s.query = append(s.query, p.text...)
		}
	}
	return nil
}

// drawOp assigns a value of a generator.
type drawOp struct {
	slot      int
	generator *generator
	counter   int // of a sequence
}

func (o *drawOp) run(s *session) error {
	buf := s.buffers[o.slot][:0]
	one := func() (v value) {
		place := int64(0)
		if o.generator.sequence {
			place = s.counters[o.counter].Add(1)
		}
		v, buf = o.generator.value(&s.random, place, buf)
		return v
	}
	v := &s.vars[o.slot]
	if o.generator.count == 0 {
		*v = one()
	}
	for i := range o.generator.count {
		v.list[i] = one()
	}
	s.buffers[o.slot] = buf
	return nil
}

// repeatOp does steps so many times.
type repeatOp struct {
	times int
	ops   []op
}

func (o *repeatOp) run(s *session) error {
	for range o.times {
		if err := s.runAll(o.ops); err != nil {
			return err
		}
	}
	return nil
}
