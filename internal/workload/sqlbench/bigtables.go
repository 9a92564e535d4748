package sqlbench

import (
	"fmt"
	"strings"
)

const (
	bigColumns = 1000
	bigLoop    = 1000
)

func bigTables() Test {
	return Test{
		Name: "big-tables",
		Doc:  "a table of 1,000 columns: rows of all columns are read and inserted",
		setup: func(w *World) []string {
			return []string{
				w.createTable("bench1", "i1 INTEGER, "+bigNames(2, " INTEGER")),
				"INSERT INTO bench1 VALUES (" + bigValues(0) + ")",
			}
		},
		Operations: []Operation{
			{
				Name: "select_many_fields", Doc: "Reads a row of all columns: by *, then by their names.", count: times(2 * bigLoop),
				event: func(w *World, i int) Event {
					if i < w.Scale.of(2*bigLoop)/2 {
						return rows(1, "SELECT * FROM bench1")
					}
					return rows(1, "SELECT i1, %s FROM bench1", bigNames(2, ""))
				},
			},
			{
				Name: "insert_many_fields", Doc: "Inserts a row of all columns: with their names, then without.", count: times(2 * bigLoop), writes: true,
				event: func(w *World, i int) Event {
					names := ""
					if i < w.Scale.of(2*bigLoop)/2 {
						names = " (i1, " + bigNames(2, "") + ")"
					}
					return changed(1, "INSERT INTO bench1%s VALUES (%s)", names, bigValues(i))
				},
				after: func(w *World) []Statement {
					n := w.Scale.of(2 * bigLoop)
					return counts("bench1", n+1, "i1000", series(n)+(n+1)*(bigColumns-1))
				},
			},
		},
	}
}

// bigNames lists the columns from one on, each with its type.
func bigNames(from int, kind string) string {
	var names []string
	for i := from; i <= bigColumns; i++ {
		names = append(names, fmt.Sprintf("i%d%s", i, kind))
	}
	return strings.Join(names, ", ")
}

func bigValues(row int) string {
	var values []string
	for i := range bigColumns {
		values = append(values, fmt.Sprint(row+i))
	}
	return strings.Join(values, ", ")
}
