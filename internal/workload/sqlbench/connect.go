package sqlbench

import (
	"fmt"
	"strings"
)

const (
	connects     = 10_000
	bigStringLen = 65_000
)

func connect() Test {
	const small = "a INTEGER, i INTEGER, s CHAR(10)"
	// cached is the same statement each time, which a cache of answers can hit.
	repeat := func(name, doc string, count, want int, query string, varies bool) Operation {
		return Operation{
			Name: name, Doc: doc, count: times(count),
			event: func(_ *World, i int) Event {
				if varies {
					return rows(want, query, 1000+i)
				}
				return rows(want, query, 1000)
			},
		}
	}
	const oneRow, simple = "SELECT a, i, s FROM bench1 WHERE i < %d", "SELECT 10 + %d"
	connecting := func(o Operation) Operation {
		o.Connects, o.count = true, slowTimes(connects)
		return o
	}
	return Test{
		Name: "connect",
		Doc:  "new connections, and the smallest queries there are",
		setup: func(w *World) []string {
			text := "VARCHAR(65000)"
			if w.isMySQL() {
				text = "MEDIUMTEXT"
			}
			return []string{
				w.createTable("bench1", small), "INSERT INTO bench1 VALUES (1, 100, 'AAA')",
				w.createTable("bench2", small), "INSERT INTO bench2 VALUES (1, 100, 'AAA'), (2, 200, 'BBB')",
				w.createTable("bench3", "s "+text), fmt.Sprintf("INSERT INTO bench3 VALUES ('%s')", strings.Repeat("0123456789", bigStringLen/10)),
			}
		},
		Operations: []Operation{
			{Name: "connect", Doc: "Connects and disconnects.", Connects: true, count: slowTimes(connects), event: func(*World, int) Event { return nil }},
			connecting(repeat("connect+select_simple", "Connects, and asks for a number.", connects, 1, simple, true)),
			repeat("select_simple", "Asks for a number, another one each time.", loop, 1, simple, true),
			repeat("select_simple_cache", "Asks for a number, the same each time.", loop, 1, simple, false),
			connecting(repeat("connect+select_1_row", "Connects, and reads a row.", connects, 1, oneRow, true)),
			repeat("select_1_row", "Reads a row, by another statement each time.", loop, 1, oneRow, true),
			repeat("select_1_row_cache", "Reads a row, by the same statement each time.", loop, 1, oneRow, false),
			repeat("select_2_rows", "Reads two rows.", loop, 2, "SELECT a, i, s FROM bench2 WHERE i < %d", true),
			{Name: "select_column+column", Doc: "Reads a sum of columns.", count: times(loop), event: func(_ *World, i int) Event {
				return value(101+i, "SELECT a + i + %d FROM bench1", i)
			}},
			{Name: "select_big_str", Doc: "Reads a string of 65,000 bytes.", count: times(connects), event: func(*World, int) Event {
				return value(strings.Repeat("0123456789", bigStringLen/10), "SELECT s FROM bench3")
			}},
		},
	}
}
