package sqlbench

import (
	"fmt"
	"strings"

	"github.com/dbcanary/dbcanary"
)

const (
	alterSteps   = 100 // that add columns
	alterDrops   = 91  // that take some away again
	alterColumns = 10  // of a step
	alterFirst   = 8   // columns at first
	alterIndexes = 8
)

func alterTable() Test {
	return Test{
		Name: "alter-table",
		Doc:  "a table of 1,000 rows that grows from 8 to 1,008 columns, gets indexes, and shrinks",
		setup: func(w *World) []string {
			var columns []string
			for i := 1; i <= alterFirst; i++ {
				columns = append(columns, fmt.Sprintf("i%d INTEGER NOT NULL", i))
			}
			return []string{w.createTable("bench1", strings.Join(columns, ", "))}
		},
		Operations: []Operation{
			{
				Name: "insert", Doc: "Inserts the rows.", count: times(1000), writes: true,
				event: func(_ *World, i int) Event {
					return changed(1, "INSERT INTO bench1 VALUES (%s)", strings.TrimSuffix(strings.Repeat(fmt.Sprint(i)+", ", alterFirst), ", "))
				},
				after: alterRows,
			},
			{
				Name: "alter_table_add", Doc: "Adds ten columns.", count: times(alterSteps), writes: true,
				event: func(w *World, i int) Event { return w.alter("ADD COLUMN i%d INTEGER", alterFirst+1+i*alterColumns) },
				after: alterRows,
			},
			{
				Name: "create_index", Doc: "Creates indexes on one to eight columns.", count: times(alterIndexes), writes: true,
				event: func(_ *World, i int) Event {
					var columns []string
					for n := 1; n <= i+1; n++ {
						columns = append(columns, fmt.Sprintf("i%d", n))
					}
					return done("CREATE INDEX bench1_ind%d ON bench1 (%s)", i, strings.Join(columns, ", "))
				},
			},
			{
				Name: "drop_index", Doc: "Drops them.", count: times(alterIndexes), writes: true,
				event: func(w *World, i int) Event {
					if w.isMySQL() {
						return done("DROP INDEX bench1_ind%d ON bench1", i)
					}
					return done("DROP INDEX bench1_ind%d", i)
				},
			},
			{
				Name: "alter_table_drop", Doc: "Drops ten columns.", writes: true,
				count: func(s Scale) int { return s.of(alterDrops) },
				event: func(w *World, i int) Event {
					return w.alter("DROP COLUMN i%d", alterFirst+(w.Scale.of(alterSteps)-i-1)*alterColumns+1)
				},
				after: alterRows,
			},
		},
	}
}

func alterRows(w *World) []Statement {
	n := w.Scale.of(1000)
	return counts("bench1", n, "i1", series(n))
}

// alter changes ten columns from one on, in as many statements as the family needs.
func (w *World) alter(change string, from int) Event {
	var changes []string
	for i := range alterColumns {
		changes = append(changes, fmt.Sprintf(change, from+i))
	}
	if w.Family != dbcanary.SQLite {
		return done("ALTER TABLE bench1 %s", strings.Join(changes, ", "))
	}
	var event Event
	for _, one := range changes {
		event = append(event, done("ALTER TABLE bench1 %s", one)...)
	}
	return event
}
