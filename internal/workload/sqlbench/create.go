package sqlbench

import "fmt"

const manyTables = 10_000

func create() Test {
	const columns = "i INTEGER NOT NULL, d DOUBLE PRECISION, f REAL, s CHAR(10), v VARCHAR(100)"
	const keyed = columns + ", PRIMARY KEY (i)"
	table := func(i int) string { return fmt.Sprintf("bench_%d", i) }
	drop := func(key string) func(*World, int) Event {
		return func(w *World, i int) Event {
			return Event{
				{SQL: []byte(w.createTable(table(i), key))},
				{SQL: []byte("DROP TABLE " + table(i))},
			}
		}
	}
	return Test{
		Name: "create",
		Doc:  "many tables: they are created, used and dropped, all of them and one by one",
		setup: func(w *World) []string {
			var list []string
			for i := range w.Scale.of(manyTables) {
				list = append(list, "DROP TABLE IF EXISTS "+table(i))
			}
			return list
		},
		Operations: []Operation{
			{
				Name: "create_MANY_tables", Doc: "Creates a table beside the others.", count: times(manyTables), writes: true,
				event: func(w *World, i int) Event { return Event{{SQL: []byte(w.createTable(table(i), columns))}} },
			},
			{
				Name: "select_group_when_MANY_tables", Doc: "Asks each of the tables.", count: times(manyTables),
				event: func(w *World, i int) Event {
					return rows(0, "SELECT d, COUNT(*) FROM %s GROUP BY d", table(i))
				},
			},
			{
				Name: "drop_table_when_MANY_tables", Doc: "Drops each of the tables.", count: times(manyTables), writes: true,
				event: func(_ *World, i int) Event { return done("DROP TABLE %s", table(i)) },
			},
			{Name: "create+drop", Doc: "Creates a table and drops it.", count: times(manyTables), event: drop(columns)},
			{Name: "create_key+drop", Doc: "The same with a primary key.", count: times(manyTables), event: drop(keyed)},
		},
	}
}
