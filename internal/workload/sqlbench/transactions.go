package sqlbench

const (
	txLoop      = 10_000
	txRollbacks = 100 // of as many rows together
)

// Rows of bench1 in the course of the test: ids 0..n-1 are inserted in one
// transaction and n..2n-1 each in its own; they go in the same way.
func transactions() Test {
	left := func(factor int) func(w *World) []Statement {
		return func(w *World) []Statement { return counts("bench1", factor*w.Scale.of(txLoop), "", 0) }
	}
	add := func(id int) Event { return changed(1, "INSERT INTO bench1 VALUES (%d, %d, 'AAA')", id, id%1000) }
	update := func(id int) Event { return changed(1, "UPDATE bench1 SET k = k + 1 WHERE id = %d", id) }
	remove := func(id int) Event { return changed(1, "DELETE FROM bench1 WHERE id = %d", id) }
	updated := func(passes int) func(w *World) []Statement {
		return func(w *World) []Statement {
			n, sum := w.Scale.of(txLoop), 0
			for id := range 2 * n {
				sum += id % 1000
			}
			return counts("bench1", 2*n, "k", sum+passes*n)
		}
	}
	return Test{
		Name: "transactions",
		Doc:  "inserts, updates and deletes, committed one by one, committed together, and rolled back",
		setup: func(w *World) []string {
			return []string{
				w.createTable("bench1", "id INTEGER NOT NULL, k INTEGER NOT NULL, s CHAR(10), PRIMARY KEY (id)"),
				"CREATE INDEX bench1_k ON bench1 (k)",
			}
		},
		Operations: []Operation{
			together("insert_commit", "Inserts rows in one transaction.", add, 0, left(1)),
			alone("insert_autocommit", "Inserts rows, each in a transaction of its own.", add, 1, left(2)),
			back("insert_rollback", "Inserts a hundred rows and takes them back.", add, 2, left(2)),
			back("update_rollback", "Updates a hundred rows and takes it back.", update, 0, updated(0)),
			back("delete_rollback", "Deletes a hundred rows and takes it back.", remove, 0, left(2)),
			together("update_commit", "Updates rows in one transaction.", update, 0, updated(1)),
			alone("update_autocommit", "Updates rows, each in a transaction of its own.", update, 0, updated(2)),
			together("delete_commit", "Deletes rows in one transaction.", remove, 0, left(1)),
			alone("delete_autocommit", "Deletes rows, each in a transaction of its own.", remove, 1, left(0)),
		},
	}
}

// alone is an operation of statements that each commit by themselves, on the
// part'th rows.
func alone(name, doc string, statement func(id int) Event, part int, after func(*World) []Statement) Operation {
	return Operation{
		Name: name, Doc: doc, count: times(txLoop), writes: true, after: after,
		event: func(w *World, i int) Event { return statement(part*w.Scale.of(txLoop) + i) },
	}
}

// together is an operation of statements that are one transaction.
func together(name, doc string, statement func(id int) Event, part int, after func(*World) []Statement) Operation {
	o := alone(name, doc, statement, part, after)
	single := o.event
	o.event = func(w *World, i int) Event {
		event := single(w, i)
		if i == 0 {
			event = append(done("BEGIN"), event...)
		}
		if i == w.Scale.of(txLoop)-1 {
			event = append(event, done("COMMIT")...)
		}
		return event
	}
	return o
}

// back is an operation of transactions that are rolled back.
func back(name, doc string, statement func(id int) Event, part int, after func(*World) []Statement) Operation {
	return Operation{
		Name: name, Doc: doc, count: times(txRollbacks), after: after,
		event: func(w *World, i int) Event {
			event := done("BEGIN")
			n := w.Scale.of(txLoop)
			low, high := share(i, w.Scale.of(txRollbacks), n)
			for id := low; id < high; id++ {
				event = append(event, statement(part*n+id)...)
			}
			return append(event, done("ROLLBACK")...)
		},
	}
}
