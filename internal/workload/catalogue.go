package workload

import (
	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload/insertbench"
	"github.com/dbcanary/dbcanary/internal/workload/sqlbench"
)

// The groups of the 2026 suite, which are a benchmark's own; the suite of 2024
// sums up in others.
const (
	Point  = "point"
	Range1 = "range-1" // without aggregation
	Range2 = "range-2" // with aggregation
	Writes = "writes"
)

// Catalogue lists every benchmark in the order of the published suites. Those
// with several published ranges appear once for each.
func Catalogue() []Benchmark {
	list := fixed()
	list = append(list, sqlBenchmarks(sqlbench.Quick)...)
	return append(list, insertBenchmarks(insertbench.Usual())...)
}

// fixed are the benchmarks whose names have no parameters, see kind.
func fixed() []Benchmark {
	var all []Benchmark
	for _, list := range fixedLists() {
		all = append(all, list()...)
	}
	for i := range all {
		all[i].Label = all[i].label()
	}
	return all
}

// fixedLists make the fixed benchmarks; those of one name are in one list.
func fixedLists() []func() []Benchmark {
	return []func() []Benchmark{
		updates, mixedWrites, scans, readOnly, pointQueries, pointsAndRanges, sizeChanging, slap, scenarios,
	}
}

func updates() []Benchmark {
	return []Benchmark{
		{
			Name: "update-inlist", Group: Writes, Range: 100, UsualRange: 100, Keys: Uniform, Writes: true,
			Doc:     "Gives many rows, found by primary key, a new value of a column without index.",
			Differs: "100 ids, as its label says; the published runs have 10, sysbench's default.",
			Steps: []Step{{
				SQL:  "UPDATE {table} SET c=? WHERE id IN ({list})",
				Args: []Arg{TextC, KeyList}, Answer: ListChanged,
			}},
		},
		{
			Name: "update-index", Group: Writes, UsualRange: 100, Keys: Uniform, Writes: true,
			Doc:   "Changes the indexed column of a row: the secondary index is maintained.",
			Steps: []Step{updateIndex()},
		},
		{
			Name: "update-nonindex", Group: Writes, UsualRange: 100, Keys: Uniform, Writes: true,
			Doc:   "Changes a column without index of a row.",
			Steps: []Step{updateNonIndex()},
		},
		{
			Name: "update-one", Group: Writes, UsualRange: 100, Keys: First, Writes: true,
			Doc:   "Changes the same row of each table over and over: row locks and versions of one row.",
			Steps: []Step{updateNonIndex()},
		},
		{
			Name: "update-zipf", Group: Writes, UsualRange: 100, Keys: Zipf, Writes: true,
			Doc:   "Changes rows of which some are much hotter than others; the hot ones lie side by side.",
			Steps: []Step{updateNonIndex()},
		},
	}
}

func mixedWrites() []Benchmark {
	list := []Benchmark{{
		Name: "write-only", Group: Writes, UsualRange: 10000, Keys: Uniform, Transaction: true, Writes: true,
		Doc:    "The writes of a small transaction: two updates, and a row deleted and inserted again.",
		Steps:  writeSteps(),
		Ignore: duplicateKey(),
	}}
	for _, size := range []int{10, 100} {
		list = append(list, Benchmark{
			Name: "read-write", Group: Writes, Range: size, Keys: Uniform, Transaction: true, Writes: true,
			Doc:     "The classic mix: ten point queries, four ranges, two updates, and a row deleted and inserted again.",
			Differs: wholeSpans,
			Steps:   append(readSteps(), writeSteps()...),
			Ignore:  duplicateKey(),
		})
	}
	return list
}

func scans() []Benchmark {
	return []Benchmark{{
		Name: "scan", Group: Range1, UsualRange: 100, Keys: Uniform,
		Doc:     "Reads a whole table and returns nothing of it.",
		Differs: "each event draws a table; the published one gives each connection its own. Counted in statements per second over all connections, not in rows of one connection.",
		Steps:   []Step{{SQL: "SELECT * from {table} WHERE LENGTH(c) < 0", Text: true, Answer: NoRow}},
	}}
}

func readOnly() []Benchmark {
	var list []Benchmark
	for _, size := range []int{10, 100, 10000} {
		list = append(list, Benchmark{
			Name: "read-only", Group: Range2, Range: size, Keys: Uniform, Transaction: true,
			Doc:     "A transaction of ten point queries and four ranges: plain, summed, sorted, distinct.",
			Differs: wholeSpans, Steps: readSteps(),
		})
	}
	const alone = "the range query alone in autocommit; the published one has BEGIN, ten point selects before it and COMMIT, so that most of its statements are not what it is named for. " + wholeSpans
	one := func(name, doc string, step Step, differs string) Benchmark {
		return Benchmark{
			Name: name, Group: Range2, Range: 1000, UsualRange: 1000, Keys: Uniform,
			Doc: doc, Differs: differs, Steps: []Step{step},
		}
	}
	return append(list,
		one("read-only-simple", "Returns a range of rows by primary key.", simpleRange(), alone),
		one("read-only-sum", "Sums a column over a range of rows.", sumRange(), alone),
		one("read-only-order", "Sorts a range of rows by a column without index.", orderRange(), alone),
		one("read-only-distinct", "Finds the distinct values of a range of rows, sorted.", distinctRange(), alone),
		one("read-only-count", "Counts the values of a column over a range of rows.",
			Step{SQL: "SELECT count(c) FROM {table} WHERE id BETWEEN ? AND ?", Args: span(), Answer: Aggregate}, wholeSpans),
	)
}

func pointQueries() []Benchmark {
	list := []Benchmark{{
		Name: "point-query", Group: Point, UsualRange: 100, Keys: Uniform,
		Doc:   "Fetches one row by primary key.",
		Steps: []Step{pointSelect()},
	}}
	points := Step{SQL: "SELECT c FROM {table} WHERE id IN ({list})", Args: []Arg{KeyList}, Answer: ListRows}
	for _, size := range []int{10, 100, 1000} {
		list = append(list, Benchmark{
			Name: "random-points", Group: Point, Range: size, Keys: Uniform,
			Doc:   "Fetches random rows by a list of primary keys.",
			Steps: []Step{points},
		})
	}
	points.Answer = HotRows
	return append(list, Benchmark{
		Name: "hot-points", Group: Point, Range: 100, UsualRange: 100, Keys: Hot,
		Doc:   "Fetches the same neighbouring rows by a list of primary keys, always.",
		Steps: []Step{points},
	})
}

// pointsAndRanges crosses lists and spans with index and coverage.
func pointsAndRanges() []Benchmark {
	var list []Benchmark
	for _, index := range []struct{ suffix, column, words string }{
		{"pk", "id", "primary key"},
		{"si", "k", "secondary index"},
	} {
		for _, kind := range []struct{ verb, condition string }{
			{"points", index.column + " IN ({list})"},
			{"range", index.column + " BETWEEN ? AND ?"},
		} {
			for _, cover := range []struct{ word, columns, words string }{
				{"covered", index.column, "all columns asked for are in the index"},
				{"notcovered", index.column + ", c", "the row is needed beside the index"},
			} {
				step := Step{SQL: "SELECT " + cover.columns + " FROM {table} WHERE " + kind.condition}
				b := Benchmark{
					Name: kind.verb + "-" + cover.word + "-" + index.suffix, Range: 100, UsualRange: 100, Keys: Uniform,
				}
				byID := index.column == "id"
				if kind.verb == "points" {
					b.Group, b.Doc = Point, "Looks up a list of values by "+index.words+"; "+cover.words+"."
					step.Args, step.Answer = []Arg{KeyList}, pick(byID, ListRows, ListRowsByK)
				} else {
					b.Group, b.Doc = Range1, "Reads a span of values by "+index.words+"; "+cover.words+"."
					b.Differs = "a span of as many values as its label says; the published one has one more, 101. " + wholeSpans
					step.Args, step.Answer = span(), pick(byID, SpanRows, SpanRowsByK)
				}
				b.Steps = []Step{step}
				list = append(list, b)
			}
		}
	}
	return list
}

func pick(first bool, a, b Answer) Answer {
	if first {
		return a
	}
	return b
}

func sizeChanging() []Benchmark {
	// The id of a new row comes from the server: MySQL is asked by id 0.
	const withoutID = "INSERT INTO {table} (k, c, pad) VALUES (?, ?, ?)"
	return []Benchmark{
		{
			Name: "delete", Group: Writes, UsualRange: 100, Keys: Once, Writes: true, Bounded: true,
			Doc:     "Deletes a row by primary key.",
			Differs: "every statement deletes a row: ids come from a random order of all rows, each once, and a slice has a number of events that is equal for all targets. In the published one ids repeat, so that late in a run most statements find nothing, sooner on a faster server.",
			Steps:   []Step{{SQL: "DELETE FROM {table} WHERE id=?", Args: []Arg{Key}, Answer: OneChanged}},
		},
		{
			Name: "insert", Group: Writes, UsualRange: 100, Keys: Uniform, Writes: true, Bounded: true,
			Doc:     "Inserts a row whose id the server gives.",
			Differs: "a slice has a number of events that is equal for all targets, so that all tables grow alike.",
			Steps: []Step{{
				SQL: "INSERT INTO {table} (id, k, c, pad) VALUES (0, ?, ?, ?)",
				Dialect: map[dbcanary.Family]string{
					dbcanary.Postgres: withoutID,
					dbcanary.SQLite:   withoutID,
				},
				Args: []Arg{Number, TextC, TextPad}, Text: true, Answer: OneInserted,
			}},
		},
	}
}

const wholeSpans = "Spans start so that they end within the table, so each has as many rows as the range says; published spans are cut at the table's end."

func span() []Arg { return []Arg{SpanStart, SpanEnd} }

func pointSelect() Step {
	return Step{SQL: "SELECT c FROM {table} WHERE id=?", Args: []Arg{Key}, Answer: OneRow}
}

func simpleRange() Step {
	return Step{SQL: "SELECT c FROM {table} WHERE id BETWEEN ? AND ?", Args: span(), Answer: SpanRows}
}

func sumRange() Step {
	return Step{SQL: "SELECT SUM(k) FROM {table} WHERE id BETWEEN ? AND ?", Args: span(), Answer: Aggregate}
}

func orderRange() Step {
	return Step{SQL: "SELECT c FROM {table} WHERE id BETWEEN ? AND ? ORDER BY c", Args: span(), Answer: SpanRows}
}

func distinctRange() Step {
	return Step{SQL: "SELECT DISTINCT c FROM {table} WHERE id BETWEEN ? AND ? ORDER BY c", Args: span(), Answer: SpanDistinct}
}

func readSteps() []Step {
	points := pointSelect()
	points.Times = 10
	return []Step{points, simpleRange(), sumRange(), orderRange(), distinctRange()}
}

func updateIndex() Step {
	return Step{SQL: "UPDATE {table} SET k=k+1 WHERE id=?", Args: []Arg{Key}, Answer: OneChanged}
}

func updateNonIndex() Step {
	return Step{SQL: "UPDATE {table} SET c=? WHERE id=?", Args: []Arg{TextC, Key}, Answer: OneChanged}
}

// writeSteps are the writes of a transaction. Two can meet at a row that one of
// them replaces, and on PostgreSQL the later one then finds no row to update or
// delete, and one with the same id when it inserts.
func writeSteps() []Step {
	index, nonIndex := updateIndex(), updateNonIndex()
	index.Answer, nonIndex.Answer = AtMostOne, AtMostOne
	return []Step{
		index,
		nonIndex,
		{SQL: "DELETE FROM {table} WHERE id=?", Args: []Arg{Key}, Answer: AtMostOne},
		{
			SQL:  "INSERT INTO {table} (id, k, c, pad) VALUES (?, ?, ?, ?)",
			Args: []Arg{SameKey, Number, TextC, TextPad}, SameTable: true, Answer: OneInserted,
		},
	}
}

// duplicateKey is what the later of two transactions that replace the same row gets.
func duplicateKey() map[dbcanary.Family][]string {
	return map[dbcanary.Family][]string{
		dbcanary.MySQL:    {"1062"},
		dbcanary.MariaDB:  {"1062"},
		dbcanary.Postgres: {"23505"},
	}
}
