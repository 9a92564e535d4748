package workload

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload/bulk"
	"github.com/dbcanary/dbcanary/internal/workload/draw"
)

const (
	shopDataset    = "shop"
	shopPartitions = 64
	wideColumns    = 20 // of each of two types
	leastShopRows  = 1000

	catalogDataset = "catalog"
	catalogTables  = 500
	catalogTable   = "catalog_%03d"
)

// shop is the dataset of the plans: as many rows in each table as the table size says.
type shop struct{}

func (shop) Name() string { return shopDataset }

// SizeBytes is that of some 100 bytes for an order with its indexes, 500 for a
// wide row, and 250 for texts and partitions.
func (shop) SizeBytes(data Data) int64 { return int64(data.TableSize) * 850 }

func (shop) Load(ctx context.Context, l Loading) error {
	if l.Data.TableSize < leastShopRows {
		return dbcanary.Errorf(dbcanary.CodeUsage, "a table size of %d is too small for the plans: there must be %d rows", l.Data.TableSize, leastShopRows)
	}
	return l.Fill(ctx, shopTables(l.Family, l.Data.TableSize))
}

// appendCustomer writes a customer of one of ten regions.
func appendCustomer(buf []byte, id int64, format bulk.Format) []byte {
	return bulk.AppendRow(buf, format, id, id%10, fmt.Sprintf("customer %d", id))
}

// shopTables are the tables of a table size.
func shopTables(family dbcanary.Family, size int) []bulk.Table {
	customers := int64(max(1, size/10))
	tables := []bulk.Table{
		{
			Name: "shop_customer", Rows: customers,
			Create: []string{"CREATE TABLE shop_customer (id INTEGER NOT NULL PRIMARY KEY, region INTEGER NOT NULL, name VARCHAR(40) NOT NULL)"},
			Append: appendCustomer,
		},
		{
			Name:   "shop_order",
			Create: []string{"CREATE TABLE shop_order (id INTEGER NOT NULL PRIMARY KEY, customer INTEGER NOT NULL, status INTEGER NOT NULL, created INTEGER NOT NULL, amount INTEGER NOT NULL, note VARCHAR(60) NOT NULL)"},
			// One order in a hundred is open; amounts are scattered.
			Append: func(buf []byte, id int64, format bulk.Format) []byte {
				status := 9
				if id%100 == 0 {
					status = 1
				}
				return bulk.AppendRow(buf, format, id, (id-1)%customers+1, status, id, draw.Mix(uint64(id))%1_000_000, fmt.Sprintf("order %d of the shop", id))
			},
			Finish: []string{"CREATE INDEX shop_order_customer ON shop_order (customer)", "CREATE INDEX shop_order_created ON shop_order (created)"},
		},
		shopWide(),
		shopText(family),
	}
	if family != dbcanary.SQLite {
		tables = append(tables, shopPart(family, size))
	}
	for i := range tables {
		t := &tables[i]
		t.Create = append([]string{"DROP TABLE IF EXISTS " + t.Name}, t.Create...)
		t.InOrder, t.ASCII = !clustered(family), true
		if t.Rows == 0 {
			t.Rows = int64(size)
		}
	}
	return tables
}

func shopWide() bulk.Table {
	var columns strings.Builder
	for i := range wideColumns {
		fmt.Fprintf(&columns, ", n%d INTEGER NOT NULL, t%d VARCHAR(20) NOT NULL", i, i)
	}
	return bulk.Table{
		Name: "shop_wide", Create: []string{"CREATE TABLE shop_wide (id INTEGER NOT NULL PRIMARY KEY" + columns.String() + ")"},
		Append: func(buf []byte, id int64, format bulk.Format) []byte {
			cells := []any{id}
			for i := range int64(wideColumns) {
				cells = append(cells, id+i, fmt.Sprintf("text %d %d", i, id%1000))
			}
			return bulk.AppendRow(buf, format, cells...)
		},
	}
}

func shopText(family dbcanary.Family) bulk.Table {
	columns := "b VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, l VARCHAR(60) CHARACTER SET latin1 COLLATE latin1_swedish_ci, u VARCHAR(60) CHARACTER SET utf8mb4"
	switch family {
	case dbcanary.Postgres:
		columns = `b VARCHAR(60) COLLATE "C", l VARCHAR(60), u VARCHAR(60)`
	case dbcanary.SQLite:
		columns = "b VARCHAR(60) COLLATE BINARY, l VARCHAR(60), u VARCHAR(60) COLLATE NOCASE"
	}
	return bulk.Table{
		Name: "shop_text", Create: []string{"CREATE TABLE shop_text (id INTEGER NOT NULL PRIMARY KEY, " + columns + ")"},
		Append: func(buf []byte, id int64, format bulk.Format) []byte {
			text := fmt.Sprintf("%016x the quick text of row %d", draw.Mix(uint64(id)), id)
			return bulk.AppendRow(buf, format, id, text, text, text)
		},
	}
}

func shopPart(family dbcanary.Family, size int) bulk.Table {
	t := bulk.Table{
		Name: "shop_part",
		Append: func(buf []byte, id int64, format bulk.Format) []byte {
			return bulk.AppendRow(buf, format, id, draw.Mix(uint64(id))%uint64(size)+1)
		},
		Finish: []string{"CREATE INDEX shop_part_v ON shop_part (v)"},
	}
	const table = "CREATE TABLE shop_part (id INTEGER NOT NULL, v INTEGER NOT NULL, PRIMARY KEY (id)) PARTITION BY "
	step := (size + shopPartitions - 1) / shopPartitions
	if family == dbcanary.Postgres {
		t.Create = []string{table + "RANGE (id)"}
		for i := range shopPartitions {
			t.Create = append(t.Create, fmt.Sprintf("CREATE TABLE shop_part_%d PARTITION OF shop_part FOR VALUES FROM (%d) TO (%d)", i, i*step+1, (i+1)*step+1))
		}
		return t
	}
	var parts []string
	for i := range shopPartitions {
		parts = append(parts, fmt.Sprintf("PARTITION p%d VALUES LESS THAN (%d)", i, (i+1)*step+1))
	}
	t.Create = []string{table + "RANGE (id) (" + strings.Join(parts, ", ") + ")"}
	return t
}

func (shop) Warm(ctx context.Context, admin *sql.DB, family dbcanary.Family, data Data) error {
	for _, t := range shopTables(family, data.TableSize) {
		if err := countRows(ctx, admin, t.Name, t.Rows); err != nil {
			return err
		}
	}
	return nil
}

// countRows reads a table and fails if it has another number of rows.
func countRows(ctx context.Context, admin *sql.DB, table string, want int64) error {
	var rows int64
	query := "SELECT COUNT(*) FROM " + table + " WHERE id > 0"
	if err := admin.QueryRowContext(ctx, query).Scan(&rows); err != nil {
		return fmt.Errorf("warm the caches: %s: %w", query, err)
	}
	if rows != want {
		return fmt.Errorf("%s has %d rows, loaded were %d", table, rows, want)
	}
	return nil
}

// catalog is the dataset of 500 small tables, each with a foreign key to the one before.
type catalog struct{}

func (catalog) Name() string { return catalogDataset }

// SizeBytes is that of 500 tables with two indexes in files of their own.
func (catalog) SizeBytes(Data) int64 { return catalogTables * 200 << 10 }

func (catalog) Load(ctx context.Context, l Loading) error {
	tables := bulk.Table{Name: catalogDataset} // which hold no row, and have to be made one after another
	for n := catalogTables; n >= 1; n-- {
		tables.Create = append(tables.Create, fmt.Sprintf("DROP TABLE IF EXISTS "+catalogTable, n))
	}
	for n := 1; n <= catalogTables; n++ {
		reference := ""
		if n > 1 {
			reference = fmt.Sprintf(", FOREIGN KEY (parent) REFERENCES "+catalogTable+" (id)", n-1)
		}
		tables.Create = append(tables.Create,
			fmt.Sprintf("CREATE TABLE "+catalogTable+" (id INTEGER NOT NULL PRIMARY KEY, parent INTEGER, name VARCHAR(40)%s)", n, reference))
	}
	return l.Fill(ctx, []bulk.Table{tables})
}

// Warm opens every table once.
func (catalog) Warm(ctx context.Context, admin *sql.DB, _ dbcanary.Family, _ Data) error {
	for n := 1; n <= catalogTables; n++ {
		if err := countRows(ctx, admin, fmt.Sprintf(catalogTable, n), 0); err != nil {
			return err
		}
	}
	return nil
}
