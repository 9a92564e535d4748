package workload

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// Data says which tables a benchmark runs on.
type Data struct {
	Tables    int
	TableSize int    // rows of each table after the load; the ids are 1..TableSize
	Seed      uint64 // decides the content of every row
	Secondary bool   // no primary key: a secondary index on id in its place
}

// maxTableSize is what the INTEGER columns id and k hold with room for inserts.
const maxTableSize = 1 << 30

// Check gives an error with dbcanary.CodeUsage for data that can't be loaded.
func (d Data) Check() error {
	if d.Tables < 1 {
		return dbcanary.Errorf(dbcanary.CodeUsage, "%d tables: there must be at least one", d.Tables)
	}
	if d.TableSize < 1 || d.TableSize > maxTableSize {
		return dbcanary.Errorf(dbcanary.CodeUsage, "table size %d: it must be from 1 to %d", d.TableSize, maxTableSize)
	}
	return nil
}

// Rows is the number of rows of all tables after the load.
func (d Data) Rows() int64 { return int64(d.Tables) * int64(d.TableSize) }

// Benchmark is one kind of SQL work: an entry of the catalogue.
type Benchmark struct {
	Name  string // "read-only"
	Label string // unique: "read-only range=100", "point-query.pre"
	Group string // what it is summed up in; a suite may name another
	Doc   string // what it is for, in a sentence
	// Differs says how the benchmark was changed from the published one, and why; "" if it was not.
	Differs string

	Range int // keys of an IN list or rows of a span; 0 if the steps have neither
	// UsualRange is the number after "range=" in published results, also where it
	// means nothing, if there is only one; a label then doesn't say it.
	UsualRange int

	Listed int // keys of an IN list in fact, where that is not Range; else 0

	Keys        Keys   // how ids are drawn
	Transaction bool   // the steps of an event are one transaction
	OwnTable    bool   // each connection stays on a table of its own, as far as there are so many
	Steps       []Step // of one event, in order

	Dataset string  // name of the tables that it runs on; "" is sbtest
	Tables  Dataset // the tables of a user's own work, in place of those that Dataset names
	Program Program // makes the work in place of Keys, Transaction and Steps
	// AnswersOnly says that the work of Program waits for nothing but answers on its
	// own connection.
	AnswersOnly bool
	Shown       func() string // what a Program sends, for reading: lines of SQL
	Threads     int           // workers, where the benchmark decides; 0 for those of the plan
	// Background is how many of the workers, the last ones, do what is not measured:
	// they run beside the others and end with them.
	Background int
	// Single says that each instance has one slice of it, without warm-up, of exactly
	// Events events or of Time: it can't be repeated on the same copy of the data.
	Single  bool
	Events  int64         // of a Single slice, over all workers that are measured
	Time    time.Duration // of a Single slice without Events
	Servers bool          // needs two servers of its own beside the target's, so a build of the target and its loaded data
	Cold    bool          // runs before the caches of the instance are warmed, so before all that are not cold

	Writes  bool // changes rows
	Shrinks bool // takes rows away for good, and draws their ids again; those that Keys is Once for are drawn once
	Bounded bool // changes the number of rows, so a slice ends after a number of events that is equal for all targets

	// Ignore holds error codes, by family, that end an event and not the slice,
	// beside those of deadlocks, lock timeouts and serialization failures.
	Ignore map[dbcanary.Family][]string
	// Not says for which families the benchmark makes no sense, with the reason.
	Not map[dbcanary.Family]string
}

// Step is a statement of an event, run Times times.
type Step struct {
	// SQL is the statement with {table} for the table's name, ? for an argument and
	// {list} for the placeholders of a KeyList, {range} for Range as a number.
	SQL string
	// Dialect holds the statement for the families that need another one.
	Dialect   map[dbcanary.Family]string
	Args      []Arg
	Times     int  // 0 is once
	SameTable bool // stays on the table of the step before; otherwise a table is drawn, once for all Times
	Text      bool // by the text protocol in every mode
	Answer    Answer
}

// Keys is a distribution of ids.
type Keys string

// The distributions.
const (
	Uniform Keys = "uniform" // 1..TableSize
	Zipf    Keys = "zipf"    // 1..TableSize with probability proportional to id^-0.8: low ids are the hottest
	First   Keys = "first"   // always 1
	Hot     Keys = "hot"     // a list is always TableSize/2+1 .. TableSize/2+Range
	Once    Keys = "once"    // every initial row of every table exactly once, in random order, over all sessions of a State

	// Those that sysbench has beside, over 1..TableSize and with its parameters.
	Gaussian Keys = "gaussian" // around the middle: the mean of 12 uniform draws
	Pareto   Keys = "pareto"   // four fifths of all draws in the lowest fifth, and so on within that
	Special  Keys = "special"  // sysbench 1.0: three quarters of all draws in the middle 1 %, the rest gaussian
)

// Arg is how the value of a placeholder is made.
type Arg string

// The arguments.
const (
	Key       Arg = "key"        // an id from the benchmark's distribution
	KeyList   Arg = "key list"   // Range ids, drawn one by one, for {list}
	SameKey   Arg = "same key"   // the id of the step before
	SpanStart Arg = "span start" // from the distribution, such that the span of Range ids ends within the table; uniform for First, Hot and Once
	SpanEnd   Arg = "span end"   // span start + Range - 1
	KeyEnd    Arg = "key end"    // key + Range - 1, which may lie beyond the table
	KeyBeyond Arg = "key beyond" // key + Range
	Number    Arg = "number"     // uniform in 1..TableSize, for k
	TextC     Arg = "text c"     // 10 groups of 11 digits
	TextPad   Arg = "text pad"   // 5 groups of 11 digits
)

// Statements is the number of statements of one event, BEGIN and COMMIT
// included, as sysbench counts queries.
func (b Benchmark) Statements() int {
	total := 0
	for _, step := range b.Steps {
		total += max(1, step.Times)
	}
	if b.Transaction {
		total += 2
	}
	return total
}

// Deletes tells whether rows are gone for good after the benchmark.
func (b Benchmark) Deletes() bool { return b.Keys == Once || b.Shrinks }

// PublishedName is the name in published results: "hot-points_range=100".
func (b Benchmark) PublishedName() string {
	name, _, _ := strings.Cut(b.Label, " ")
	if b.Program != nil {
		return strings.ReplaceAll(b.Label, " ", "_")
	}
	size := b.Range
	if size == 0 {
		size = b.UsualRange
	}
	if size == 0 {
		return name
	}
	return fmt.Sprintf("%s_range=%d", name, size)
}

// NotApplicable gives the reason why the benchmark can't run on a family with
// these data, "" if it can.
func (b Benchmark) NotApplicable(family dbcanary.Family, data Data) string {
	if reason := b.Not[family]; reason != "" {
		return reason
	}
	if family == dbcanary.SQLite && data.Secondary && b.Name == "insert" {
		return "a SQLite table without a primary key gives no id to a new row"
	}
	return ""
}

// span is the number of ids of a span or list in a table that may be smaller.
func (b Benchmark) span(data Data) int {
	if b.datasetName() != defaultDataset {
		return b.size()
	}
	return min(b.size(), data.TableSize)
}

// size is the number of keys of a list or rows of a span.
func (b Benchmark) size() int { return cmp.Or(b.Listed, b.Range) }

// retryable holds the codes of deadlocks, lock timeouts and serialization
// failures, after which every benchmark goes on; sysbench ignores the same.
func retryable(family dbcanary.Family) []string {
	switch family {
	case dbcanary.MySQL, dbcanary.MariaDB:
		return []string{"1213", "1205", "1020"}
	case dbcanary.Postgres:
		return []string{"40P01", "40001"}
	case dbcanary.SQLite:
		return []string{"5", "6", "261", "517"} // BUSY, LOCKED, BUSY_RECOVERY, BUSY_SNAPSHOT
	}
	return nil
}

// Ignorable lists the error codes after which an event is rolled back, counted
// and run again with other keys.
func (b Benchmark) Ignorable(family dbcanary.Family) []string {
	return append(retryable(family), b.Ignore[family]...)
}
