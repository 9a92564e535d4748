package workload

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/workload/draw"
)

// ErrExhausted is returned by Session.Run when a benchmark that uses rows up has
// none left: the slice, and with it the benchmark on this copy of the data, is over.
var ErrExhausted = &dbcanary.Error{
	Code: dbcanary.CodeFailed,
	Err:  errors.New("every row of the initial data is deleted"),
	Hint: "load more rows or run fewer events",
}

// ErrDone is returned by the Work of a Single benchmark that is run again.
var ErrDone = &dbcanary.Error{
	Code: dbcanary.CodeFailed,
	Err:  errors.New("every event is done, and can't be repeated on the same tables"),
}

// Session runs one benchmark on one connection. It belongs to one goroutine.
type Session struct {
	conn      wire.Conn
	benchmark Benchmark
	tableSize int
	tables    uint64
	span      int // Range, or the table's size if that is less

	transaction             bool
	begin, commit, rollback []byte
	ignorable               []string
	steps                   []boundStep
	state                   *State
	marked                  bool // state knows of our writes

	random draw.Source
	ids    draw.Distribution
	starts draw.Distribution // of spans
	hot    int64             // first of the hot ids
	order  draw.Permutation  // of all rows, for Once
	row    uint64            // taken from order
	pinned bool              // row's event has not succeeded yet

	table   int   // of the current step, from 0
	key     int64 // last key or span start drawn
	textC   []byte
	textPad []byte
	query   []byte // the last statement sent as text
}

// boundStep is a step readied on a connection. One of stmts and texts has an
// entry for each table.
type boundStep struct {
	step        Step
	times       int
	args        []wire.Arg
	kinds       []wire.Kind
	stmts       []wire.Stmt
	texts       [][][]byte // the pieces between the values
	least, most int64      // bounds of the answer
}

// Reseed starts the sequence of keys that belongs to seed: the same on every
// target and family. It may be called between two events only, and must be
// called before a slice, as what other benchmarks did since the last one changes
// what answers are right.
func (s *Session) Reseed(seed uint64) {
	s.random.Reseed(seed)
	s.setBounds()
}

func (s *Session) setBounds() {
	// A writing benchmark finds its own changes.
	changed := s.state.changed.Load() || s.benchmark.Writes
	deleted := s.state.deleted.Load() && s.benchmark.Keys != Once // no row is deleted twice
	for i := range s.steps {
		bound := &s.steps[i]
		bound.least, bound.most = bound.step.Answer.bounds(s.span, s.tableSize, changed, deleted)
	}
}

// Run does one event and gives the number of statements that the server
// answered, BEGIN and COMMIT included. After a deadlock or another error that
// the benchmark ignores it has rolled back and returns a *wire.ServerError that
// is Retryable. A wrong answer is an error that is no *wire.ServerError;
// ErrExhausted says that there is nothing left to do.
func (s *Session) Run() (statements int, err error) {
	if !s.marked && s.benchmark.Writes {
		s.mark()
	}
	if s.transaction {
		if _, err := s.conn.Query(s.begin); err != nil {
			return 0, s.failed(err, false)
		}
		statements++
	}
	for i := range s.steps {
		bound := &s.steps[i]
		if !bound.step.SameTable && !s.benchmark.OwnTable {
			s.table = int(s.random.UpTo(s.tables)) - 1
		}
		for range bound.times {
			if err := s.draw(bound); err != nil {
				return statements, err
			}
			result, err := s.send(bound)
			if err != nil {
				return statements, s.failed(err, s.transaction)
			}
			statements++
			size := result.Rows
			if bound.step.Answer.judgesAffected() {
				size = result.Affected
			}
			if size < bound.least || size > bound.most {
				return statements, s.failed(s.wrongAnswer(bound, size), s.transaction)
			}
		}
	}
	if s.transaction {
		if _, err := s.conn.Query(s.commit); err != nil {
			return statements, s.failed(err, true)
		}
		statements++
	}
	s.pinned = false
	return statements, nil
}

func (s *Session) mark() {
	s.state.changed.Store(true)
	if s.benchmark.Deletes() {
		s.state.deleted.Store(true)
	}
	s.marked = true
}

// draw makes the arguments of a step.
func (s *Session) draw(bound *boundStep) error {
	at := 0
	for _, arg := range bound.step.Args {
		value := &bound.args[at]
		at++
		switch arg {
		case Key:
			if err := s.drawKey(); err != nil {
				return err
			}
			value.Int = s.key
		case KeyList:
			list := bound.args[at-1 : at-1+s.span]
			s.drawList(list)
			at += len(list) - 1
		case SameKey:
			value.Int = s.key
		case SpanStart:
			s.key = s.starts(&s.random)
			value.Int = s.key
		case SpanEnd:
			value.Int = s.key + int64(s.span) - 1
		case KeyEnd:
			value.Int = s.key + int64(s.span) - 1
		case KeyBeyond:
			value.Int = s.key + int64(s.span)
		case Number:
			value.Int = s.random.UpTo(uint64(s.tableSize))
		case TextC:
			putText(s.textC, &s.random)
			value.Text = s.textC
		case TextPad:
			putText(s.textPad, &s.random)
			value.Text = s.textPad
		}
	}
	return nil
}

// drawKey draws an id from the benchmark's distribution, for Once also the table.
func (s *Session) drawKey() error {
	if s.benchmark.Keys != Once {
		s.key = s.ids(&s.random)
		return nil
	}
	if !s.pinned { // otherwise the event that took the row was rolled back
		position := s.state.next.Add(1) - 1
		if position >= s.order.Len() {
			return ErrExhausted
		}
		s.row, s.pinned = s.order.At(position), true
	}
	s.table = int(s.row / uint64(s.tableSize))
	s.key = int64(s.row%uint64(s.tableSize)) + 1
	return nil
}

func (s *Session) drawList(list []wire.Arg) {
	for i := range list {
		if s.benchmark.Keys == Hot {
			list[i].Int = s.hot + int64(i)
		} else {
			list[i].Int = s.ids(&s.random)
		}
	}
}

// send runs a step on the current table with the arguments that were drawn.
func (s *Session) send(bound *boundStep) (wire.Result, error) {
	if bound.stmts != nil {
		return bound.stmts[s.table].Exec(bound.args)
	}
	pieces := bound.texts[s.table]
	s.query = append(s.query[:0], pieces[0]...)
	for i := range bound.args {
		if bound.kinds[i] == wire.Text {
			// Our texts are digits and '-', so there is nothing to escape.
			s.query = append(s.query, '\'')
			s.query = append(s.query, bound.args[i].Text...)
			s.query = append(s.query, '\'')
		} else {
			s.query = strconv.AppendInt(s.query, bound.args[i].Int, 10)
		}
		s.query = append(s.query, pieces[i+1]...)
	}
	return s.conn.Query(s.query)
}

// failed ends the open transaction, if the connection still works, and gives the
// error that Run returns.
func (s *Session) failed(cause error, open bool) error {
	var refused *wire.ServerError
	server := errors.As(cause, &refused)
	var wrong *wrongAnswer
	if open && (server || errors.As(cause, &wrong)) {
		if _, err := s.conn.Query(s.rollback); err != nil && !errors.As(err, new(*wire.ServerError)) {
			return fmt.Errorf("roll back after %w: %w", cause, err)
		}
	}
	if server && slices.Contains(s.ignorable, refused.Code) && !refused.Retryable {
		return &wire.ServerError{Code: refused.Code, Message: refused.Message, Retryable: true}
	}
	return cause
}

// wrongAnswer is the error of an answer that can't be right.
type wrongAnswer struct {
	label, sql  string
	table       int
	verb        string
	size        int64
	least, most int64
}

// IsWrongAnswer tells whether an error of Run is about an answer that can't be right.
func IsWrongAnswer(err error) bool {
	var wrong *wrongAnswer
	return errors.As(err, &wrong)
}

func (s *Session) wrongAnswer(bound *boundStep, size int64) error {
	verb := "returned"
	if bound.step.Answer.judgesAffected() {
		verb = "changed"
	}
	return &wrongAnswer{s.benchmark.Label, bound.step.SQL, s.table + 1, verb, size, bound.least, bound.most}
}

func (w *wrongAnswer) Error() string {
	expected := strconv.FormatInt(w.least, 10)
	if w.most != w.least {
		expected = fmt.Sprintf("%d to %d", w.least, w.most)
	}
	return fmt.Sprintf("benchmark %q: wrong answer: %s (table %d) %s %d rows, expected %s", w.label, w.sql, w.table, w.verb, w.size, expected)
}
