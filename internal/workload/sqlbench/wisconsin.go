package sqlbench

import "strings"

const (
	wiscRows    = 10_000 // of tenk1 and tenk2
	wiscSmall   = 1_000  // of onek
	wiscQueries = 114
)

// wisconsin has the relations of the Wisconsin benchmark (DeWitt, 1993): unique1
// is in random order, unique2 in that of the inserts, and the other columns are
// remainders of unique1.
func wisconsin() Test {
	tables := []string{"tenk1", "tenk2", "onek"}
	return Test{
		Name:  "wisconsin",
		Doc:   "the relations and queries of the Wisconsin benchmark",
		setup: func(*World) []string { return nil },
		Operations: []Operation{
			{
				Name: "create_table", Doc: "Creates the relations with their indexes.", count: func(Scale) int { return len(tables) }, writes: true,
				event: func(w *World, i int) Event {
					event := Event{{SQL: []byte(w.createTable(tables[i], wiscColumns()))}}
					event = append(event, done("CREATE UNIQUE INDEX %s_unique1 ON %s (unique1)", tables[i], tables[i])...)
					return append(event, done("CREATE INDEX %s_hundred ON %s (hundred)", tables[i], tables[i])...)
				},
			},
			{
				Name: "insert", Doc: "Inserts the rows, those of tenk2 and as many to be deleted again.", writes: true, event: wiscInsert,
				count: func(s Scale) int { return 3*s.of(wiscRows) + s.of(wiscSmall) },
				after: func(w *World) []Statement {
					n := w.Scale.of(wiscRows)
					return append(counts("tenk1", n, "unique1", series(n)), counts("tenk2", 2*n, "unique1", series(2*n))...)
				},
			},
			{
				Name: "delete_big", Doc: "Deletes half of tenk2.", count: times(1), writes: true,
				event: func(w *World, _ int) Event {
					n := w.Scale.of(wiscRows)
					return changed(n, "DELETE FROM tenk2 WHERE unique2 >= %d", n)
				},
				after: func(w *World) []Statement {
					n := w.Scale.of(wiscRows)
					return counts("tenk2", n, "unique1", series(n))
				},
			},
			{
				Name: "wisc_benchmark", Doc: "Selections of 1 and 10 percent, joins, projections and aggregates, by indexes and without.",
				count: times(wiscQueries), analyze: tables, event: wiscQuery,
			},
		},
	}
}

func wiscColumns() string {
	var columns []string
	for _, name := range wiscNumbers() {
		columns = append(columns, name+" INTEGER NOT NULL")
	}
	for _, name := range []string{"stringu1", "stringu2", "string4"} {
		columns = append(columns, name+" CHAR(52) NOT NULL")
	}
	return strings.Join(columns, ", ") + ", PRIMARY KEY (unique2)"
}

func wiscNumbers() []string {
	return []string{
		"unique1", "unique2", "two", "four", "ten", "twenty", "hundred",
		"thousand", "twothousand", "fivethous", "tenthous", "odd100", "even100",
	}
}

func wiscInsert(w *World, i int) Event {
	n, small := w.Scale.of(wiscRows), w.Scale.of(wiscSmall)
	row := func(table string, unique1, unique2 int) Event {
		hundred := unique1 % 100
		return changed(1, "INSERT INTO %s VALUES (%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, '%s', '%s', '%s')", table,
			unique1, unique2, unique1%2, unique1%4, unique1%10, unique1%20, hundred, unique1%1000, unique1%2000, unique1%5000, unique1%10000,
			hundred*2+1, hundred*2, wiscString(unique1), wiscString(unique2), strings.Repeat(string(rune('A'+unique1%4)), 4))
	}
	switch {
	case i < n:
		return row("tenk1", w.shuffled(i, n), i)
	case i < 2*n:
		return row("tenk2", w.shuffled(i-n, n), i-n)
	case i < 2*n+small:
		return row("onek", w.shuffled(i-2*n, small), i-2*n)
	}
	i -= 2*n + small
	return row("tenk2", n+w.shuffled(i, n), n+i)
}

// wiscString is a number in letters, with the least significant ones first.
func wiscString(number int) string {
	text := []byte("AAAAAAA")
	for i := range text {
		text[i] += byte(number % 26)
		number /= 26
	}
	return string(text)
}

// wiscQuery is one of 19 queries, in turn.
func wiscQuery(w *World, i int) Event {
	n, small := w.Scale.of(wiscRows), w.Scale.of(wiscSmall)
	queries := wiscSelections(w, i, n)
	queries = append(queries, wiscJoins(n, small)...)
	queries = append(queries, wiscAggregates(n)...)
	return queries[i%len(queries)]
}

func wiscSelections(w *World, i, n int) []Event {
	selection := func(column string, share int) Event {
		wide := n / share
		from := w.below(column, i, n-wide+1)
		return rows(wide, "SELECT * FROM tenk1 WHERE %s >= %d AND %s < %d", column, from, column, from+wide)
	}
	return []Event{
		selection("unique2", 100),
		selection("unique2", 10),
		selection("unique1", 100),
		selection("unique1", 10),
		rows(1, "SELECT * FROM tenk1 WHERE unique2 = %d", w.below("unique2", i, n)),
		rows(1, "SELECT * FROM tenk1 WHERE unique1 = %d", w.below("unique1", i, n)),
		rows((n+3)/4, "SELECT * FROM tenk1 WHERE string4 = 'AAAA'"),
		rows(min(10, n), "SELECT * FROM tenk1 ORDER BY stringu1, stringu2 LIMIT 10"),
	}
}

func wiscJoins(n, small int) []Event {
	tenth := n / 10
	return []Event{
		rows(tenth, "SELECT * FROM tenk1 t1, tenk2 t2 WHERE t1.unique2 = t2.unique2 AND t2.unique2 < %d", tenth),
		rows(tenth, "SELECT * FROM tenk1 t1, tenk2 t2 WHERE t1.unique1 = t2.unique1 AND t2.unique1 < %d", tenth),
		rows(min(small, tenth), "SELECT * FROM onek o, tenk1 t1, tenk2 t2 WHERE o.unique2 = t1.unique2 AND t1.unique2 = t2.unique2 AND t1.unique2 < %d", tenth),
		rows(n-small, "SELECT t1.unique1 FROM tenk1 t1 LEFT OUTER JOIN onek o ON o.unique1 = t1.unique1 WHERE o.unique1 IS NULL"),
	}
}

func wiscAggregates(n int) []Event {
	return []Event{
		rows(min(100, n), "SELECT DISTINCT two, four, ten, twenty, hundred, string4 FROM tenk1"),
		value(0, "SELECT MIN(unique2) FROM tenk1"),
		rows(min(100, n), "SELECT hundred, MIN(unique1) FROM tenk1 GROUP BY hundred"),
		rows(min(100, n), "SELECT hundred, SUM(unique2) FROM tenk1 GROUP BY hundred"),
		value((n+1)/2, "SELECT COUNT(*) FROM tenk1 WHERE two = 0"),
		value(min(n, 1000)-1, "SELECT MAX(thousand) FROM tenk1"),
		value(min(n, 2000), "SELECT COUNT(DISTINCT twothousand) FROM tenk1"),
	}
}
