package sqlbench

import (
	"fmt"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// loop is the loop count of insert: a third of the rows of bench1.
const loop = 100_000

// size is the number of rows of bench1: their ids are 0..size-1, id2 is id, and id3
// each of 0..size-1 once.
func (w *World) size() int { return 3 * w.Scale.of(loop) }

func (w *World) id3(id int) int { return w.shuffled(id, w.size()) }

// first is the content of dummy1 before it is updated.
const first = "ABCDEFGHIJ"

func insert() Test {
	return Test{
		Name:       "insert",
		Doc:        "a table of 300,000 rows: inserts, then queries, updates, joins and deletes by keys, ranges and whole",
		setup:      insertSetup,
		Operations: concat(insertRows(), insertSorts(), insertKeys(), insertAggregates(), insertUpdates(), insertJoins(), insertDeletes(), insertManyKeys()),
	}
}

func concat(lists ...[]Operation) []Operation {
	var all []Operation
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

func insertSetup(w *World) []string {
	const columns = "id INTEGER NOT NULL, id2 INTEGER NOT NULL, id3 INTEGER NOT NULL, dummy1 CHAR(30)"
	var parts, names []string
	for i := range manyKeys {
		parts = append(parts, fmt.Sprintf("c%d INTEGER NOT NULL", i))
		names = append(names, fmt.Sprintf("c%d", i))
	}
	list := []string{
		w.createTable("bench1", columns+", PRIMARY KEY (id, id2)"),
		"CREATE INDEX bench1_id3 ON bench1 (id3)",
		w.createTable("bench2", columns+", PRIMARY KEY (id, id2)"),
		w.createTable("bench3", columns+", PRIMARY KEY (id, id2)"),
		"CREATE INDEX bench3_id3 ON bench3 (id3)",
		w.createTable("bench4", strings.Join(parts, ", ")+", PRIMARY KEY ("+strings.Join(names, ", ")+")"),
	}
	for i := 1; i < manyKeys; i++ {
		list = append(list, fmt.Sprintf("CREATE INDEX bench4_c%d ON bench4 (c%d)", i, i))
	}
	return list
}

func (w *World) insertBench1(id int) string {
	return fmt.Sprintf("INSERT INTO bench1 (id, id2, id3, dummy1) VALUES (%d, %d, %d, '%s')", id, id, w.id3(id), first)
}

// insertOrder is the id of the i-th insert: a third ascending, one descending, one in random order.
func (w *World) insertOrder(i int) int {
	n := w.Scale.of(loop)
	switch {
	case i < n:
		return i
	case i < 2*n:
		return 3*n - 1 - i
	}
	return 2*n + w.shuffled(i-2*n, n)
}

func whole(s Scale) int { return 3 * s.of(loop) }

// noPrepare is the reason of an operation that SQLite has in another one.
const noPrepare = "a statement as text is prepared, run and freed there by itself: see select_key"

func insertRows() []Operation {
	return []Operation{
		{
			Name: "insert", Doc: "Inserts the rows, a third by ascending, a third by descending, a third by random keys.",
			count: whole, writes: true,
			event: func(w *World, i int) Event { return changed(1, "%s", w.insertBench1(w.insertOrder(i))) },
			after: func(w *World) []Statement { return counts("bench1", w.size(), "id3", series(w.size())) },
		},
		{
			Name: "insert_duplicates", Doc: "Inserts rows that are there already; each is refused.",
			count: times(loop),
			event: func(w *World, i int) Event {
				return Event{{SQL: []byte(w.insertBench1(w.shuffled(i, w.size()))), Kind: Duplicate}}
			},
			after: func(w *World) []Statement { return counts("bench1", w.size(), "", 0) },
		},
		{
			Name: "prepared_select", Doc: "Prepares a query, runs it once and frees it, in SQL.",
			count: times(loop), analyze: []string{"bench1"}, event: preparedSelect,
			Not: map[dbcanary.Family]string{dbcanary.SQLite: noPrepare},
		},
		{
			Name: "once_prepared_select", Doc: "Runs a query that was prepared once, by the binary protocol.",
			count:    times(loop),
			prepared: func(*World) string { return "SELECT * FROM bench1 WHERE id = ?" },
			event: func(w *World, i int) Event {
				return Event{{SQL: []byte("(prepared)"), Arg: int64(w.shuffled(i, w.size())), Want: 1, Kind: Rows}}
			},
		},
	}
}

func preparedSelect(w *World, i int) Event {
	id := w.shuffled(i, w.size())
	if w.Family == dbcanary.Postgres {
		return Event{
			{SQL: []byte("PREPARE once (INTEGER) AS SELECT * FROM bench1 WHERE id = $1")},
			rows(1, "EXECUTE once (%d)", id)[0],
			{SQL: []byte("DEALLOCATE once")},
		}
	}
	return Event{
		{SQL: []byte("PREPARE once FROM 'SELECT * FROM bench1 WHERE id = ?'")},
		done("SET @id = %d", id)[0],
		rows(1, "EXECUTE once USING @id")[0],
		{SQL: []byte("DEALLOCATE PREPARE once")},
	}
}

// all is an operation of ten queries that each return the whole table.
func all(name, doc, query string) Operation {
	return Operation{
		Name: name, Doc: doc, count: times(10), same: true,
		event: func(w *World, _ int) Event { return rows(w.size(), "%s", query) },
	}
}

// ranges is an operation of queries on ranges of a column that holds 0..size-1.
func ranges(name, doc, query, column, order string, published int, width func(i int) int) Operation {
	return Operation{
		Name: name, Doc: doc, count: times(published),
		event: func(w *World, i int) Event {
			wide := min(width(i), w.size())
			from := w.below(name, i, w.size()-wide+1)
			return rows(wide, "%s WHERE %s >= %d AND %s < %d%s", query, column, from, column, from+wide, order)
		},
	}
}

func insertSorts() []Operation {
	wider := func(i int) int { return i%500 + 1 }
	twice := func(i int) int { return 2 * wider(i) }
	narrow := func(i int) int { return i%15 + 1 }
	return []Operation{
		all("select_big", "Returns the whole table.", "SELECT dummy1 FROM bench1"),
		all("order_by_big_key", "Returns the table sorted by the primary key.", "SELECT id, id2 FROM bench1 ORDER BY id, id2"),
		all("order_by_big_key_desc", "The same in descending order.", "SELECT id, id2 FROM bench1 ORDER BY id DESC, id2 DESC"),
		all("order_by_big_key_prefix", "The same by the first part of the key.", "SELECT id FROM bench1 ORDER BY id"),
		all("order_by_big_key2", "The same by the secondary index.", "SELECT id3 FROM bench1 ORDER BY id3"),
		all("order_by_big_key_diff", "The same by columns of two indexes.", "SELECT id FROM bench1 ORDER BY id, id3"),
		all("order_by_big", "The same by columns without an index for it.", "SELECT id, id3, dummy1 FROM bench1 ORDER BY dummy1, id3"),
		ranges("order_by_range", "Sorts a range of the primary key by another column.", "SELECT * FROM bench1", "id", " ORDER BY id3", 500, wider),
		ranges("order_by_key_prefix", "Returns a range of the primary key in its order.", "SELECT id FROM bench1", "id", " ORDER BY id", 500, wider),
		ranges("order_by_key2_diff", "Sorts a range of the secondary index by the primary key.", "SELECT id, id3 FROM bench1", "id3", " ORDER BY id", 500, twice),
		{
			Name: "select_diff_key", Doc: "Finds two rows by a condition on either index.", count: times(500),
			event: func(w *World, i int) Event {
				id := w.below("diff", i, w.size())
				return rows(2, "SELECT * FROM bench1 WHERE id = %d OR id3 = %d", id, w.id3((id+1)%w.size()))
			},
		},
		ranges("select_range_prefix", "Returns short ranges by the first part of the primary key.", "SELECT * FROM bench1", "id", "", 25_010, narrow),
		ranges("select_range_key2", "Returns short ranges by the secondary index.", "SELECT * FROM bench1", "id3", "", 25_010, narrow),
	}
}

func insertKeys() []Operation {
	byKey := func(name, doc string, query func(id, id3 int) string) Operation {
		return Operation{
			Name: name, Doc: doc, count: times(2 * loop),
			event: func(w *World, i int) Event {
				id := w.below(name, i, w.size())
				return rows(1, "%s", query(id, w.id3(id)))
			},
		}
	}
	return []Operation{
		byKey("select_key_prefix", "Returns a row by the first part of the primary key.", func(id, _ int) string {
			return fmt.Sprintf("SELECT * FROM bench1 WHERE id = %d", id)
		}),
		byKey("select_key", "Returns a row by the primary key.", func(id, _ int) string {
			return fmt.Sprintf("SELECT * FROM bench1 WHERE id = %d AND id2 = %d", id, id)
		}),
		byKey("select_key_return_key", "Returns columns of the key alone.", func(id, _ int) string {
			return fmt.Sprintf("SELECT id, id2 FROM bench1 WHERE id = %d AND id2 = %d", id, id)
		}),
		byKey("select_key2", "Returns a row by the secondary index.", func(_, id3 int) string {
			return fmt.Sprintf("SELECT * FROM bench1 WHERE id3 = %d", id3)
		}),
		byKey("select_key2_return_key", "Returns the column of the secondary index alone.", func(_, id3 int) string {
			return fmt.Sprintf("SELECT id3 FROM bench1 WHERE id3 = %d", id3)
		}),
		byKey("select_key2_return_prim", "Returns the primary key by the secondary index.", func(_, id3 int) string {
			return fmt.Sprintf("SELECT id, id2 FROM bench1 WHERE id3 = %d", id3)
		}),
	}
}

func insertAggregates() []Operation {
	return []Operation{
		{Name: "select_group", Doc: "Groups the whole table.", count: times(111), event: func(w *World, i int) Event {
			if i%2 == 0 {
				return rows(1, "SELECT dummy1, COUNT(*) FROM bench1 GROUP BY dummy1")
			}
			return rows(10, "SELECT id3 %% 10, COUNT(*) FROM bench1 GROUP BY id3 %% 10")
		}},
		{Name: "min_max_on_key", Doc: "Finds the least and the greatest key.", count: times(15_000), event: func(w *World, i int) Event {
			from := w.below("minmax", i, w.size())
			switch i % 3 {
			case 0:
				return value(0, "SELECT MIN(id), MAX(id) FROM bench1")
			case 1:
				return value(0, "SELECT MIN(id3), MAX(id3) FROM bench1")
			}
			return value(from, "SELECT MIN(id) FROM bench1 WHERE id >= %d", from)
		}},
		{Name: "min_max", Doc: "Finds the least and the greatest value of a column without index.", count: times(60), event: func(*World, int) Event {
			return value(first, "SELECT MIN(dummy1), MAX(dummy1) FROM bench1")
		}},
		{Name: "count_on_key", Doc: "Counts rows by a range of the primary key.", count: times(100), event: func(w *World, i int) Event {
			from := w.below("count", i, w.size())
			return value(w.size()-from, "SELECT COUNT(*) FROM bench1 WHERE id >= %d", from)
		}},
		{Name: "count", Doc: "Counts rows by a condition without index.", count: times(100), event: func(w *World, _ int) Event {
			return value(w.size(), "SELECT COUNT(dummy1) FROM bench1 WHERE dummy1 >= 'A'")
		}},
		{Name: "count_distinct_big", Doc: "Counts the distinct values of a column.", count: times(20), event: func(w *World, i int) Event {
			if i%2 == 0 {
				return value(1, "SELECT COUNT(DISTINCT dummy1) FROM bench1")
			}
			return value(w.size(), "SELECT COUNT(DISTINCT id3) FROM bench1")
		}},
	}
}
