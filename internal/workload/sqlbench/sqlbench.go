// Package sqlbench is the work of the classic single-connection benchmark of SQL
// servers: nine tests, each a list of operations that build on the tables the one
// before left, each a fixed number of events. Names and published counts are those
// of sql-bench; SQL and data are our own.
//
// What the tables hold depends on scale and seed alone, and so does every
// statement but for the dialect: the answers are the same on every family, and
// each statement says how many rows it must give or change.
package sqlbench

import (
	"fmt"
	"math"

	"github.com/dbcanary/dbcanary"
)

// Scale is the size of all tables and the number of all statements as a fraction
// of the published ones.
type Scale float64

// The scales that have a name.
const (
	Quick     Scale = 0.03 // all of it takes about a minute
	Published Scale = 1
)

// Check gives an error with dbcanary.CodeUsage for a scale that makes no sense.
func (s Scale) Check() error {
	if !(s >= 0.001 && s <= 10) {
		return dbcanary.Errorf(dbcanary.CodeUsage, "scale %g: it must be from 0.001 to 10, where 1 is the published size", float64(s))
	}
	return nil
}

// fewest is the number that a published number above it is never scaled below.
const fewest = 10

// of scales a published number. Small ones stay: ten sorts of a whole table are
// less work by the size of the table alone.
func (s Scale) of(published int) int {
	if published <= fewest {
		return published
	}
	return max(fewest, int(math.Round(float64(published)*float64(s))))
}

// Test is a list of operations on tables of their own.
type Test struct {
	Name       string
	Doc        string
	Operations []Operation

	setup func(w *World) []string // creates the tables of the test and what is not measured in them
}

// Operation is what is measured: so many events, in order, on one connection.
type Operation struct {
	Name string
	Doc  string
	// Differs says how it was changed from the published one beside its SQL, and why.
	Differs string
	// Connects says that each event opens a connection of its own and closes it.
	Connects bool
	// Not says for which families it makes no sense, with the reason.
	Not map[dbcanary.Family]string

	count    func(s Scale) int
	event    func(w *World, i int) Event
	prepared func(w *World) string // with one number for ?, prepared once; events then are its arguments
	same     bool                  // each event is the same as the first
	analyze  []string              // tables whose statistics are renewed before it, which is not measured
	writes   bool                  // later operations need what it does
	after    func(w *World) []Statement
}

// Events is the number of events at a scale.
func (o Operation) Events(s Scale) int { return o.count(s) }

// Event is what is counted as one: a statement, or a few that belong together.
type Event []Statement

// Statement is SQL with the answer that is right.
type Statement struct {
	SQL   []byte
	Arg   int64  // of an operation with a prepared statement
	Want  int64  // rows
	Kind  Kind   // what Want counts
	Value string // first column of the first row; "" if it is not told
}

// Kind says what of an answer is checked.
type Kind uint8

// The kinds.
const (
	Nothing   Kind = iota // that there was no error
	Rows                  // rows returned
	Changed               // rows changed
	Duplicate             // that the server refuses a second row with the same key
)

// World is what the statements of a test depend on.
type World struct {
	Family dbcanary.Family
	Scale  Scale
	Seed   uint64
}

// Tests lists all tests in the order of the published tables.
func Tests() []Test {
	return []Test{
		alterTable(), atis(), bigTables(), connect(), create(), insert(), selects(), transactions(), wisconsin(),
	}
}

// rows is a query that returns so many rows.
func rows(want int, format string, args ...any) Event {
	return Event{{SQL: fmt.Appendf(nil, format, args...), Want: int64(want), Kind: Rows}}
}

// value is a query that returns one row with the value in its first column.
func value(want any, format string, args ...any) Event {
	return Event{{SQL: fmt.Appendf(nil, format, args...), Want: 1, Kind: Rows, Value: fmt.Sprint(want)}}
}

// changed is a statement that changes so many rows.
func changed(want int, format string, args ...any) Event {
	return Event{{SQL: fmt.Appendf(nil, format, args...), Want: int64(want), Kind: Changed}}
}

// done is a statement whose answer is that it worked.
func done(format string, args ...any) Event {
	return Event{{SQL: fmt.Appendf(nil, format, args...)}}
}

// counts is the check that a table has so many rows, and that a sum over them is right.
func counts(table string, rows int, sum string, total int) []Statement {
	list := value(rows, "SELECT COUNT(*) FROM %s", table)
	if sum != "" {
		list = append(list, value(total, "SELECT COALESCE(SUM(%s), 0) FROM %s", sum, table)...)
	}
	return list
}

// times is a number of events that scales.
func times(published int) func(Scale) int {
	return func(s Scale) int { return s.of(published) }
}

// slowTimes is that of events that take tens of milliseconds on a family: there are
// fewer of them at small scales, 93 of 10,000 at the quick one.
func slowTimes(published int) func(Scale) int {
	return func(s Scale) int { return Scale(math.Pow(float64(s), 4./3)).of(published) }
}

// isMySQL tells the two families that share a dialect.
func (w *World) isMySQL() bool {
	return w.Family == dbcanary.MySQL || w.Family == dbcanary.MariaDB
}

// createTable is a table of the family's usual engine.
func (w *World) createTable(name, columns string) string {
	engine := ""
	if w.isMySQL() {
		engine = " ENGINE=InnoDB"
	}
	return "CREATE TABLE " + name + " (" + columns + ")" + engine
}

// shuffled gives each of 0..n-1 for one i of 0..n-1: the step has no divisor in
// common with any n that is smaller.
func (w *World) shuffled(i, n int) int {
	const step = 1_000_000_007 // prime
	return int((uint64(i)*step + w.Seed%uint64(n)) % uint64(n))
}

// below draws from 0..n-1 for place i of a sequence.
func (w *World) below(sequence string, i, n int) int {
	x := w.Seed + uint64(i)*0x9e3779b97f4a7c15
	for _, c := range []byte(sequence) {
		x = (x ^ uint64(c)) * 0x100000001b3
	}
	// The finisher of SplitMix64 (Steele, Lea and Flood, 2014).
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) % uint64(n))
}

// share gives the bounds of part i of n rows that are split into so many parts.
func share(i, parts, n int) (low, high int) { return i * n / parts, (i + 1) * n / parts }

// series sums 0..n-1.
func series(n int) int { return n * (n - 1) / 2 }
