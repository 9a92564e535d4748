package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/workload/draw"
)

// The ways to send a statement.
const (
	Prepared = "prepared" // server-side prepared statements, except where a benchmark says text
	Text     = "text"     // every statement as text with its values in it
)

// BindOptions says how a session sends its statements and what it shares.
type BindOptions struct {
	PSMode string // Prepared or Text; "" is Prepared
	Worker int    // number of the connection, from 0: it decides which table is its own
	State  *State // of the copy of the data that the connection sees; nil for one that only this session uses
}

// State is what benchmarks have done to one loaded copy of the data. All
// sessions on that copy share it; it is safe for concurrent use. The zero value
// is for a copy as Load left it.
type State struct {
	next    atomic.Uint64 // next position in the order of deletes
	changed atomic.Bool   // rows were changed, or added
	deleted atomic.Bool   // rows are gone for good
	shared  sync.Map      // what programs keep, by a name of theirs
}

// Shared gives what the programs on a copy of the data keep under a name, made by
// the first one that asks.
func Shared[T any](state *State, name string, make func() T) T {
	if kept, ok := state.shared.Load(name); ok {
		return kept.(T)
	}
	kept, _ := state.shared.LoadOrStore(name, make())
	return kept.(T)
}

// ChangedState gives the State of data whose rows others may have changed since
// the load, but not taken away for good.
func ChangedState() *State {
	state := new(State)
	state.changed.Store(true)
	return state
}

// Bind readies a benchmark of steps that is applicable, as Open has checked, on a
// connection: it prepares each statement for each table, for as long as the
// connection lives. The session must be given a seed by Reseed before its first
// Run. It fails with dbcanary.CodeUsage if an option is wrong.
func (b Benchmark) Bind(ctx context.Context, conn wire.Conn, family dbcanary.Family, data Data, options BindOptions) (*Session, error) {
	if mode := options.PSMode; mode != "" && mode != Prepared && mode != Text {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "unknown mode %q of sending statements%s", mode, dbcanary.DidYouMean(mode, []string{Prepared, Text}))
	}
	if options.State == nil {
		options.State = new(State)
	}
	s := &Session{
		conn:        conn,
		benchmark:   b,
		tableSize:   data.TableSize,
		tables:      uint64(data.Tables),
		span:        b.span(data),
		transaction: b.Transaction,
		begin:       []byte(b.begin(family)),
		commit:      []byte("COMMIT"),
		rollback:    []byte("ROLLBACK"),
		ignorable:   b.Ignorable(family),
		state:       options.State,
		textC:       make([]byte, cSize),
		textPad:     make([]byte, padSize),
	}
	s.table = options.Worker % data.Tables
	s.hot = int64(data.TableSize/2 + 1)
	if s.hot+int64(s.span)-1 > int64(data.TableSize) {
		s.hot = int64(data.TableSize - s.span + 1)
	}
	s.ids = newDistribution(b.Keys, data.TableSize)
	starts := b.Keys
	if starts == First {
		starts = Uniform
	}
	s.starts = newDistribution(starts, data.TableSize-s.span+1)
	if b.Keys == Once {
		s.order = draw.NewPermutation(uint64(data.Rows()), data.Seed)
	}
	for _, step := range b.Steps {
		bound, err := s.bindStep(ctx, step, family, data, step.Text || options.PSMode == Text)
		if err != nil {
			return nil, fmt.Errorf("benchmark %q: %w", b.Label, err)
		}
		s.steps = append(s.steps, bound)
	}
	s.setBounds()
	return s, nil
}

func (s *Session) bindStep(ctx context.Context, step Step, family dbcanary.Family, data Data, text bool) (boundStep, error) {
	kinds := step.kinds(s.span)
	bound := boundStep{
		step:  step,
		times: max(1, step.Times),
		args:  make([]wire.Arg, len(kinds)),
		kinds: kinds,
	}
	for n := 1; n <= data.Tables; n++ {
		sql := step.expand(family, tableName(n), s.span)
		if text {
			var pieces [][]byte
			for _, piece := range strings.Split(sql, "?") {
				pieces = append(pieces, []byte(piece))
			}
			if len(pieces) != len(kinds)+1 {
				return bound, fmt.Errorf("%s: %d placeholders for %d arguments", step.SQL, len(pieces)-1, len(kinds))
			}
			bound.texts = append(bound.texts, pieces)
			continue
		}
		stmt, err := s.conn.Prepare(ctx, numbered(family, sql), kinds)
		if err != nil {
			return bound, prepareError(tableName(n), step, err)
		}
		bound.stmts = append(bound.stmts, stmt)
	}
	return bound, nil
}

// prepareError adds to the usual causes of a failed prepare what to do about them.
func prepareError(table string, step Step, err error) error {
	failure := &dbcanary.Error{Code: dbcanary.ErrorCode(err), Op: fmt.Sprintf("prepare %q for %s", step.SQL, table), Err: err}
	var refused *wire.ServerError
	if errors.As(err, &refused) {
		switch refused.Code {
		case "1461":
			failure.Hint = "raise the server's max_prepared_stmt_count, or use fewer tables or connections"
		case "1146", "42P01":
			failure.Hint = "the tables must be loaded first"
		}
	}
	return failure
}
