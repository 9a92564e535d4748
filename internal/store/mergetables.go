package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// runTable is a table whose rows belong to runs: runs itself, and those that refer
// to it, through others if need be. They are found in the schema, so that a table
// that a later version adds is never left out of a merge.
type runTable struct {
	name    string
	columns []string
	key     string            // the column that SQLite numbers, "" for none
	refers  map[string]string // table that a column refers to
	path    string            // condition on the run
}

func (t runTable) selection() string {
	order := "rowid"
	if t.key == "" {
		order = strings.Join(t.columns[:1], "") // tables without row numbers keep their own order
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY %s", strings.Join(t.columns, ", "), t.name, t.path, order)
}

// tablesOfRuns lists the tables, each after those that it refers to.
func tablesOfRuns(ctx context.Context, tx *sql.Tx) ([]runTable, error) {
	rows, err := tx.QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
	if err != nil {
		return nil, err
	}
	names, err := collect(rows, func(row scanner) (string, error) {
		var name string
		return name, row.Scan(&name)
	})
	if err != nil {
		return nil, err
	}
	var tables []runTable
	for _, name := range names {
		t, err := describeTable(ctx, tx, name)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return ofRuns(tables), nil
}

func describeTable(ctx context.Context, tx *sql.Tx, name string) (runTable, error) {
	t := runTable{name: name, refers: map[string]string{}}
	rows, err := tx.QueryContext(ctx, `SELECT c.name, c.pk = 1 AND c.type = 'INTEGER' AND
		(SELECT count(*) FROM pragma_table_info(?1) WHERE pk > 0) = 1 FROM pragma_table_info(?1) c ORDER BY c.cid`, name)
	if err != nil {
		return t, err
	}
	t.columns, err = collect(rows, func(row scanner) (string, error) {
		var column string
		var key bool
		err := row.Scan(&column, &key)
		if key {
			t.key = column
		}
		return column, err
	})
	if err != nil {
		return t, err
	}
	rows, err = tx.QueryContext(ctx, `SELECT "from", "table" FROM pragma_foreign_key_list(?)`, name)
	if err != nil {
		return t, err
	}
	_, err = collect(rows, func(row scanner) (struct{}, error) {
		var column, table string
		err := row.Scan(&column, &table)
		t.refers[column] = table
		return struct{}{}, err
	})
	return t, err
}

// ofRuns keeps the tables that belong to runs, in an order to copy them.
func ofRuns(tables []runTable) []runTable {
	var ordered []runTable
	at := slices.IndexFunc(tables, func(t runTable) bool { return t.name == "runs" })
	if at < 0 {
		return nil
	}
	runs := tables[at]
	runs.path = "id = ?"
	ordered = append(ordered, runs)
	for progress := true; progress; {
		progress = false
		for _, t := range tables {
			if slices.ContainsFunc(ordered, func(o runTable) bool { return o.name == t.name }) {
				continue
			}
			for _, column := range t.columns {
				parent := slices.IndexFunc(ordered, func(o runTable) bool { return t.refers[column] == o.name })
				if parent < 0 {
					continue
				}
				t.path = fmt.Sprintf("%s IN (SELECT %s FROM %s WHERE %s)", column, ordered[parent].key, ordered[parent].name, ordered[parent].path)
				ordered = append(ordered, t)
				progress = true
				break
			}
		}
	}
	return ordered
}
