package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// Prepare makes the tables sbtest1, sbtest2, … and loads them over so many
// connections. A table that is there already is an error, and nothing is made.
func (s *Server) Prepare(ctx context.Context, data workload.Data, parallel int, progress func(doneRows, totalRows int64)) error {
	if err := data.Check(); err != nil {
		return err
	}
	tables, err := s.columns(ctx)
	if err != nil {
		return err
	}
	for _, name := range tableNames(data.Tables) {
		if len(tables[name]) > 0 {
			return &dbcanary.Error{
				Code: dbcanary.CodeUsage, Op: "prepare " + s.Address,
				Err:  fmt.Errorf("the table %s exists", name),
				Hint: "use it as it is, or drop it with cleanup first",
			}
		}
	}
	if err := workload.Load(ctx, s.connect, s.Family, data, parallel, progress); err != nil {
		return fmt.Errorf("prepare %s: %w", s.Address, err)
	}
	return nil
}

// Cleanup drops the tables sbtest1, … and gives the names of those that were
// there. If one of them has other columns than sysbench's, nothing is dropped.
func (s *Server) Cleanup(ctx context.Context, count int) ([]string, error) {
	if count < 1 {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "--tables must be above 0")
	}
	tables, err := s.columns(ctx)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range tableNames(count) {
		if len(tables[name]) == 0 {
			continue
		}
		if !slices.Equal(tables[name], s.shape()) {
			return nil, &dbcanary.Error{
				Code: dbcanary.CodeUsage, Op: "cleanup " + s.Address,
				Err:  fmt.Errorf("the table %s is not as bench or sysbench makes it: its columns are %s", name, strings.Join(tables[name], ", ")),
				Hint: "nothing was dropped; drop it yourself if you don't need it",
			}
		}
		found = append(found, name)
	}
	for i, name := range found {
		if _, err := s.server.Admin().ExecContext(ctx, "DROP TABLE "+name); err != nil {
			return found[:i], fmt.Errorf("cleanup %s: drop %s: %w", s.Address, name, err)
		}
	}
	return found, nil
}

func tableNames(count int) []string {
	var names []string
	for n := 1; n <= count; n++ {
		names = append(names, fmt.Sprintf("sbtest%d", n))
	}
	return names
}

// shape is the columns of a table of sysbench's.
func (s *Server) shape() []string {
	integer, text := "int", "char"
	if s.Family == dbcanary.Postgres {
		integer, text = "integer", "character"
	}
	return []string{"id " + integer, "k " + integer, "c " + text + "(120)", "pad " + text + "(60)"}
}

// columns gives the columns of every table whose name begins as ours do.
func (s *Server) columns(ctx context.Context) (_ map[string][]string, err error) {
	schema := "DATABASE()"
	if s.Family == dbcanary.Postgres {
		schema = "current_schema()"
	}
	rows, err := s.server.Admin().QueryContext(ctx,
		"SELECT table_name, column_name, data_type, COALESCE(character_maximum_length, 0) FROM information_schema.columns"+
			" WHERE table_schema = "+schema+" AND table_name LIKE 'sbtest%' ORDER BY table_name, ordinal_position")
	if err != nil {
		return nil, fmt.Errorf("look for tables in %s: %w", s.Address, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	tables := map[string][]string{}
	for rows.Next() {
		var table, column, kind string
		var length int64
		if err := rows.Scan(&table, &column, &kind, &length); err != nil {
			return nil, fmt.Errorf("look for tables in %s: %w", s.Address, err)
		}
		if length > 0 {
			kind = fmt.Sprintf("%s(%d)", kind, length)
		}
		tables[table] = append(tables[table], column+" "+kind)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for tables in %s: %w", s.Address, err)
	}
	return tables, nil
}
