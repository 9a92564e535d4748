package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
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

// PrepareOwn makes and loads the tables of a user's own work. One that is there
// already and that dbcanary has not made is an error.
func (s *Server) PrepareOwn(ctx context.Context, tables workload.Dataset, data workload.Data, parallel int) error {
	err := tables.Load(ctx, workload.Loading{Connect: s.connect, Family: s.Family, Data: data, Parallel: parallel})
	if err != nil {
		return fmt.Errorf("prepare %s: %w", s.Address, err)
	}
	return nil
}

// dropper is a dataset that can take its tables away.
type dropper interface {
	Drop(ctx context.Context, connect func(context.Context) (wire.Conn, error), family dbcanary.Family) ([]string, error)
}

// CleanupOwn drops the tables of a user's own work that dbcanary has made, and gives
// their names.
func (s *Server) CleanupOwn(ctx context.Context, tables workload.Dataset) ([]string, error) {
	d, ok := tables.(dropper)
	if !ok {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "the tables of %s have no cleanup", tables.Name())
	}
	dropped, err := d.Drop(ctx, s.connect, s.Family)
	if err != nil {
		err = fmt.Errorf("cleanup %s: %w", s.Address, err)
	}
	return dropped, err
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

// columnsQuery lists table, column and type. PostgreSQL's information_schema
// would hide the tables of other users.
func (s *Server) columnsQuery() string {
	if s.Family == dbcanary.Postgres {
		return "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)" +
			" FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid" +
			" WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')" +
			" AND c.relname LIKE 'sbtest%' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum"
	}
	return "SELECT table_name, column_name, CONCAT(data_type, COALESCE(CONCAT('(', character_maximum_length, ')'), ''))" +
		" FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name LIKE 'sbtest%'" +
		" ORDER BY table_name, ordinal_position"
}

// columns gives the columns of every table whose name begins as ours do.
func (s *Server) columns(ctx context.Context) (_ map[string][]string, err error) {
	rows, err := s.server.Admin().QueryContext(ctx, s.columnsQuery())
	if err != nil {
		return nil, fmt.Errorf("look for tables in %s: %w", s.Address, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	tables := map[string][]string{}
	for rows.Next() {
		var table, column, kind string
		if err := rows.Scan(&table, &column, &kind); err != nil {
			return nil, fmt.Errorf("look for tables in %s: %w", s.Address, err)
		}
		tables[table] = append(tables[table], column+" "+kind)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for tables in %s: %w", s.Address, err)
	}
	return tables, nil
}
