package sqlbench

import (
	"fmt"
	"strings"
)

// moved is the number of rows whose key update_of_key moves past the others, and
// update_of_key_big moves back.
func moved(s Scale) int { return s.of(loop / 2) }

func insertUpdates() []Operation {
	size := func(w *World) []Statement { return counts("bench1", w.size(), "id2", series(w.size())) }
	return []Operation{
		{
			Name: "update_of_key", Doc: "Moves the secondary key of a row, found by the primary key.",
			count: moved, writes: true,
			event: func(w *World, i int) Event {
				id := w.shuffled(i, moved(w.Scale))
				return changed(1, "UPDATE bench1 SET id3 = id3 + %d WHERE id = %d", w.size(), id)
			},
			after: func(w *World) []Statement {
				return counts("bench1", w.size(), "id3", series(w.size())+moved(w.Scale)*w.size())
			},
		},
		{
			Name: "update_of_key_big", Doc: "Moves the secondary keys of ranges of rows, and last of all rows.",
			count: times(501), writes: true, event: updateOfKeyBig,
			after: func(w *World) []Statement {
				return counts("bench1", w.size(), "id3", series(w.size())+w.size())
			},
		},
		{
			Name: "update_with_key", Doc: "Updates each row once by the primary key.",
			count: whole, writes: true, after: size,
			event: func(w *World, i int) Event {
				id := w.shuffled(i, w.size())
				return changed(1, "UPDATE bench1 SET dummy1 = 'updated' WHERE id = %d AND id2 = %d", id, id)
			},
		},
		{
			Name: "update_with_key_prefix", Doc: "Updates a third of the rows by the first part of the primary key.",
			count: times(loop), writes: true, after: size,
			event: func(w *World, i int) Event {
				return changed(1, "UPDATE bench1 SET dummy1 = 'updated again' WHERE id = %d", w.shuffled(i, w.size()))
			},
		},
		{
			Name: "update_big", Doc: "Updates all rows.", count: times(10), writes: true, after: size,
			event: func(w *World, i int) Event {
				return changed(w.size(), "UPDATE bench1 SET dummy1 = 'updated in pass %d'", i)
			},
		},
	}
}

func updateOfKeyBig(w *World, i int) Event {
	parts := w.Scale.of(501) - 1
	if i == parts {
		return changed(w.size(), "UPDATE bench1 SET id3 = id3 + 1")
	}
	low, high := share(i, parts, moved(w.Scale))
	return changed(high-low, "UPDATE bench1 SET id3 = id3 - %d WHERE id >= %d AND id < %d", w.size(), low, high)
}

func insertJoins() []Operation {
	join := func(name, doc, query string) Operation {
		return Operation{
			Name: name, Doc: doc, count: times(10), same: true,
			event: func(w *World, _ int) Event { return value(w.size(), "%s", query) },
		}
	}
	onKey := join("outer_join_on_key", "Joins the table with itself by columns of the primary key alone.",
		"SELECT COUNT(a.id) FROM bench1 a LEFT OUTER JOIN bench1 b ON b.id = a.id2")
	onKey.analyze = []string{"bench1"}
	return []Operation{
		onKey,
		join("outer_join", "The same with another column of each row.",
			"SELECT COUNT(b.dummy1), COUNT(a.dummy1) FROM bench1 a LEFT OUTER JOIN bench1 b ON b.id = a.id2"),
		join("outer_join_found", "The same for rows that have a partner.",
			"SELECT COUNT(a.dummy1) FROM bench1 a LEFT OUTER JOIN bench1 b ON b.id = a.id2 WHERE b.dummy1 IS NOT NULL"),
		{
			Name: "outer_join_not_found", Doc: "The same for rows that have none.", count: times(10),
			Differs: "10 statements; the published count of 500 is that of a query that is run ten times.",
			event: func(w *World, _ int) Event {
				return value(w.size(), "SELECT COUNT(a.id) FROM bench1 a LEFT OUTER JOIN bench1 b ON b.id = a.id2 + %d WHERE b.id IS NULL", w.size())
			},
		},
		{Name: "select_in", Doc: "Finds rows by lists of 10, then 100, then 1,000 keys.", count: times(1500), event: func(w *World, i int) Event {
			list, n := w.list(i)
			return rows(n, "SELECT * FROM bench1 WHERE id IN (%s)", list)
		}},
		{Name: "select_join_in", Doc: "The same, joined with the table itself.", count: times(1500), event: func(w *World, i int) Event {
			list, n := w.list(i)
			return rows(n, "SELECT a.id, b.dummy1 FROM bench1 a, bench1 b WHERE b.id = a.id2 AND a.id IN (%s)", list)
		}},
	}
}

// list is n different ids for the i-th query of three sizes.
func (w *World) list(i int) (list string, n int) {
	third := max(1, w.Scale.of(1500)/3)
	n = 10
	for range min(2, i/third) {
		n *= 10
	}
	n = min(n, w.size())
	from := w.below("list", i, w.size())
	ids := make([]string, n)
	for k := range ids {
		ids[k] = fmt.Sprint(w.shuffled((from+k)%w.size(), w.size()))
	}
	return strings.Join(ids, ", "), n
}

func insertDeletes() []Operation {
	const keys = 10_000
	copies := func(name, doc, table string) Operation {
		return Operation{
			Name: name, Doc: doc, count: times(1), writes: true,
			event: func(w *World, _ int) Event {
				return changed(w.size(), "INSERT INTO %s SELECT id, id2, id3, dummy1 FROM bench1", table)
			},
			after: func(w *World) []Statement {
				return counts(table, w.size(), "id3", series(w.size())+w.size())
			},
		}
	}
	return []Operation{
		copies("insert_select_1_key", "Copies the table into one with a primary key.", "bench2"),
		copies("insert_select_2_keys", "Copies the table into one with a primary key and a secondary index.", "bench3"),
		{Name: "drop_table", Doc: "Drops both copies.", count: times(2), writes: true, event: func(_ *World, i int) Event {
			return done("DROP TABLE bench%d", i+2)
		}},
		{
			Name: "delete_key", Doc: "Deletes a row by the primary key.", count: times(keys), writes: true,
			event: func(w *World, i int) Event {
				id := w.shuffled(i, w.Scale.of(keys))
				return changed(1, "DELETE FROM bench1 WHERE id = %d AND id2 = %d", id, id)
			},
			after: func(w *World) []Statement {
				n := w.Scale.of(keys)
				return counts("bench1", w.size()-n, "id", series(w.size())-series(n))
			},
		},
		{
			Name: "delete_range", Doc: "Deletes the other rows by ranges of the primary key.", count: func(Scale) int { return 12 }, writes: true,
			event: func(w *World, i int) Event {
				n := w.Scale.of(keys)
				low, high := share(i, 12, w.size()-n)
				return changed(high-low, "DELETE FROM bench1 WHERE id >= %d AND id < %d", n+low, n+high)
			},
			after: func(*World) []Statement { return counts("bench1", 0, "", 0) },
		},
	}
}

// manyKeys is the number of columns of bench4: all of them are its primary key,
// and all but the first have an index of their own.
const manyKeys = 16

// halved splits the rows of bench4 into those that delete_big_many_keys deletes
// and those that are left for delete_all_many_keys.
func halved(s Scale) (gone, left int) {
	n := s.of(loop)
	return n / 2, n - n/2
}

func insertManyKeys() []Operation {
	return []Operation{
		{
			Name: "insert_key", Doc: "Inserts into a table with 16 keys, the primary one of 16 columns.",
			count: times(loop), writes: true, event: insertKey,
			after: func(w *World) []Statement {
				n := w.Scale.of(loop)
				return counts("bench4", n, "c0", series(n))
			},
		},
		{
			Name: "update_of_primary_key_many_keys", Doc: "Moves the primary keys of ranges of that table.",
			count: times(256), writes: true,
			event: func(w *World, i int) Event {
				n := w.Scale.of(loop)
				low, high := share(i, w.Scale.of(256), n)
				return changed(high-low, "UPDATE bench4 SET c0 = c0 + %d WHERE c0 >= %d AND c0 < %d", n, low, high)
			},
			after: func(w *World) []Statement {
				n := w.Scale.of(loop)
				return counts("bench4", n, "c0", series(n)+n*n)
			},
		},
		{
			Name: "delete_big_many_keys", Doc: "Deletes half of that table by ranges of its primary key.",
			count: times(128), writes: true,
			event: func(w *World, i int) Event {
				n := w.Scale.of(loop)
				gone, _ := halved(w.Scale)
				low, high := share(i, w.Scale.of(128), gone)
				return changed(high-low, "DELETE FROM bench4 WHERE c0 >= %d AND c0 < %d", n+low, n+high)
			},
		},
		{
			Name: "delete_all_many_keys", Doc: "Deletes the rest of it.", count: times(1), writes: true,
			event: func(w *World, _ int) Event {
				_, left := halved(w.Scale)
				return changed(left, "DELETE FROM bench4")
			},
			after: func(*World) []Statement { return counts("bench4", 0, "", 0) },
		},
		{
			Name: "multiple_value_insert", Doc: "Inserts 100,000 rows, a hundred by statement.",
			Differs: "counted in statements; the published count is that of the rows.",
			count:   func(s Scale) int { return (s.of(loop) + batch - 1) / batch },
			event:   multipleValues,
			after: func(w *World) []Statement {
				n := w.Scale.of(loop)
				return counts("bench1", n, "id", series(n))
			},
		},
	}
}

// batch is the number of rows of an INSERT of multiple_value_insert.
const batch = 100

func insertKey(w *World, i int) Event {
	n := w.Scale.of(loop)
	key := w.shuffled(i, n)
	values := []string{fmt.Sprint(key)}
	for column := 1; column < manyKeys; column++ {
		values = append(values, fmt.Sprint(w.below("c", key*manyKeys+column, n)))
	}
	return changed(1, "INSERT INTO bench4 VALUES (%s)", strings.Join(values, ", "))
}

func multipleValues(w *World, i int) Event {
	var values []string
	for id := i * batch; id < min((i+1)*batch, w.Scale.of(loop)); id++ {
		values = append(values, fmt.Sprintf("(%d, %d, %d, '%s')", id, id, w.id3(id), first))
	}
	return changed(len(values), "INSERT INTO bench1 (id, id2, id3, dummy1) VALUES %s", strings.Join(values, ", "))
}
