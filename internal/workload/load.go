package workload

import (
	"context"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/workload/bulk"
)

// Load creates the tables anew, fills them over up to parallel connections, and
// then builds the secondary indexes. The rows depend on data alone. A table is
// filled in the order of its ids by one connection, so that its pages are in the
// same order on every target; only where rows lie in the tree of the primary key
// (MySQL, MariaDB) do connections share a table, each with a range of its own.
//
// progress, if not nil, is told of rows loaded, never twice at a time. Load ends
// early when ctx does and gives its cause; the tables are then incomplete.
func Load(ctx context.Context, connect func(context.Context) (wire.Conn, error), family dbcanary.Family, data Data, parallel int, progress func(doneRows, totalRows int64)) error {
	if err := data.Check(); err != nil {
		return err
	}
	inOrder := !clustered(family) || data.Secondary
	var tables []bulk.Table
	for n := 1; n <= data.Tables; n++ {
		tables = append(tables, bulk.Table{
			Name: tableName(n), Columns: []string{"id", "k", "c", "pad"}, Rows: int64(data.TableSize), InOrder: inOrder, ASCII: true,
			Create: []string{"DROP TABLE IF EXISTS " + tableName(n), createTable(family, data, n)},
			Finish: finishTable(family, data, n),
			Append: func(buf []byte, id int64, format bulk.Format) []byte {
				if format == bulk.Line {
					return appendLine(buf, &data, n, int(id))
				}
				return appendRow(buf, &data, n, int(id))
			},
		})
	}
	return bulk.Load(ctx, bulk.Options{Connect: connect, Family: family, Parallel: parallel, Progress: progress}, tables)
}

// Fill makes, fills and finishes tables.
func (l Loading) Fill(ctx context.Context, tables []bulk.Table) error {
	return bulk.Load(ctx, bulk.Options{Connect: l.Connect, Family: l.Family, Parallel: l.Parallel, Progress: l.Progress}, tables)
}

// clustered tells a family where rows lie in the tree of the primary key, if the
// storage engine is the usual one.
func clustered(family dbcanary.Family) bool {
	return family == dbcanary.MySQL || family == dbcanary.MariaDB
}
