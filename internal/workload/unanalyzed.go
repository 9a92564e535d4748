package workload

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload/bulk"
)

// unanalyzedDataset is the name of tables that have no statistics: none were made, and
// the server makes none by itself.
const unanalyzedDataset = "unanalyzed"

// unanalyzedTables are their names, as SQL has them in a list.
const unanalyzedTables = "'unanalyzed_customer', 'unanalyzed_order'"

// unanalyzedPlans are queries whose plan statistics would decide.
func unanalyzedPlans() []Benchmark {
	return []Benchmark{{
		Name: "join-unanalyzed", Group: Plans, Dataset: unanalyzedDataset, Range: 100, UsualRange: 100, Keys: Uniform,
		Doc: "Joins a range of orders with the customers of one region, on tables without statistics. With them the range comes first; without, a tenth of all customers may.",
		Steps: []Step{{
			SQL:  "SELECT COUNT(*) FROM unanalyzed_customer c JOIN unanalyzed_order o ON o.customer = c.id WHERE c.region = 3 AND o.created BETWEEN ? AND ?",
			Args: span(), Answer: Aggregate,
		}},
	}}
}

// unanalyzed are the tables: as many orders as the table size says, and a tenth as
// many customers.
type unanalyzed struct{}

func (unanalyzed) Name() string { return unanalyzedDataset }

// SizeBytes is that of some 100 bytes for an order with its indexes.
func (unanalyzed) SizeBytes(data Data) int64 { return int64(data.TableSize) * 110 }

func (unanalyzed) Load(ctx context.Context, l Loading) error {
	return l.Fill(ctx, unanalyzedData(l.Family, l.Data.TableSize))
}

// unanalyzedData has the indexes made before the rows, since making them counts rows.
func unanalyzedData(family dbcanary.Family, size int) []bulk.Table {
	customers := int64(max(1, size/10))
	tables := []bulk.Table{
		{
			Name: "unanalyzed_customer", Rows: customers,
			Create: unanalyzedTable(family, "unanalyzed_customer", "region INTEGER NOT NULL, name VARCHAR(40) NOT NULL", "region"),
			Append: appendCustomer,
		},
		{
			Name: "unanalyzed_order", Rows: int64(size),
			Create: unanalyzedTable(family, "unanalyzed_order", "customer INTEGER NOT NULL, created INTEGER NOT NULL, note VARCHAR(40) NOT NULL", "customer", "created"),
			Append: func(buf []byte, id int64, format bulk.Format) []byte {
				return bulk.AppendRow(buf, format, id, (id-1)%customers+1, id, fmt.Sprintf("order %d", id))
			},
		},
	}
	for i := range tables {
		tables[i].InOrder, tables[i].ASCII = !clustered(family), true
	}
	return tables
}

// unanalyzedTable makes a table whose statistics the server leaves alone.
func unanalyzedTable(family dbcanary.Family, name, columns string, indexed ...string) []string {
	option := ""
	switch family {
	case dbcanary.MySQL, dbcanary.MariaDB:
		option = " ENGINE = InnoDB STATS_PERSISTENT = 1 STATS_AUTO_RECALC = 0"
	case dbcanary.Postgres:
		option = " WITH (autovacuum_enabled = false)"
	}
	statements := []string{
		"DROP TABLE IF EXISTS " + name,
		"CREATE TABLE " + name + " (id INTEGER NOT NULL PRIMARY KEY, " + columns + ")" + option,
	}
	for _, column := range indexed {
		statements = append(statements, fmt.Sprintf("CREATE INDEX %s_%s ON %s (%s)", name, column, name, column))
	}
	return statements
}

func (unanalyzed) Warm(ctx context.Context, admin *sql.DB, family dbcanary.Family, data Data) error {
	for _, t := range unanalyzedData(family, data.TableSize) {
		if err := countRows(ctx, admin, t.Name, t.Rows); err != nil {
			return err
		}
	}
	return nil
}
