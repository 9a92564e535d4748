package workload

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/dbcanary/dbcanary"
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

// shopTable is one table: its statements, and a row of it.
type shopTable struct {
	name          string
	create, after []string
	rows          func(n int) int // of a table size
	row           func(b *strings.Builder, id int)
}

func same(n int) int { return n }

func (shop) Load(ctx context.Context, l Loading) error {
	if l.Data.TableSize < leastShopRows {
		return dbcanary.Errorf(dbcanary.CodeUsage, "a table size of %d is too small for the plans: there must be %d rows", l.Data.TableSize, leastShopRows)
	}
	tables := shopTables(l.Family, l.Data.TableSize)
	total, done := int64(0), int64(0)
	for _, t := range tables {
		total += int64(t.rows(l.Data.TableSize))
	}
	return withConn(ctx, l, func(run func(string) error) error {
		for _, t := range tables {
			if err := runAll(run, append([]string{"DROP TABLE IF EXISTS " + t.name}, t.create...)); err != nil {
				return err
			}
			rows := t.rows(l.Data.TableSize)
			for first := 1; first <= rows; first += slapInsertRows {
				var b strings.Builder
				b.WriteString("INSERT INTO " + t.name + " VALUES ")
				last := min(rows, first+slapInsertRows-1)
				for id := first; id <= last; id++ {
					if id > first {
						b.WriteByte(',')
					}
					t.row(&b, id)
				}
				if err := run(b.String()); err != nil {
					return err
				}
				if done += int64(last - first + 1); l.Progress != nil {
					l.Progress(done, total)
				}
			}
			if err := runAll(run, t.after); err != nil {
				return err
			}
		}
		return nil
	})
}

// withConn gives work what runs statements on a connection that ctx breaks.
func withConn(ctx context.Context, l Loading, work func(run func(string) error) error) error {
	conn, err := l.Connect(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, conn.Abort)
	defer func() {
		stop()
		_ = conn.Close() // after the work is done or has failed a bad goodbye is no news
	}()
	err = work(func(statement string) error {
		if _, err := conn.Query([]byte(statement)); err != nil {
			return fmt.Errorf("%s: %w", fitStatement(statement), err)
		}
		return nil
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func runAll(run func(string) error, statements []string) error {
	for _, statement := range statements {
		if err := run(statement); err != nil {
			return err
		}
	}
	return nil
}

func shopTables(family dbcanary.Family, size int) []shopTable {
	customers := func(n int) int { return max(1, n/10) }
	tables := []shopTable{
		{
			name: "shop_customer", rows: customers,
			create: []string{"CREATE TABLE shop_customer (id INTEGER NOT NULL PRIMARY KEY, region INTEGER NOT NULL, name VARCHAR(40) NOT NULL)"},
			row:    func(b *strings.Builder, id int) { fmt.Fprintf(b, "(%d,%d,'customer %d')", id, id%10, id) },
		},
		{
			name: "shop_order", rows: same,
			create: []string{"CREATE TABLE shop_order (id INTEGER NOT NULL PRIMARY KEY, customer INTEGER NOT NULL, status INTEGER NOT NULL, created INTEGER NOT NULL, amount INTEGER NOT NULL, note VARCHAR(60) NOT NULL)"},
			// One order in a hundred is open; amounts are scattered.
			row: func(b *strings.Builder, id int) {
				status := 9
				if id%100 == 0 {
					status = 1
				}
				fmt.Fprintf(b, "(%d,%d,%d,%d,%d,'order %d of the shop')", id, (id-1)%customers(size)+1, status, id, draw.Mix(uint64(id))%1_000_000, id)
			},
			after: []string{"CREATE INDEX shop_order_customer ON shop_order (customer)", "CREATE INDEX shop_order_created ON shop_order (created)"},
		},
		shopWide(),
		shopText(family),
	}
	if family != dbcanary.SQLite {
		tables = append(tables, shopPart(family, size))
	}
	return tables
}

func shopWide() shopTable {
	var columns strings.Builder
	for i := range wideColumns {
		fmt.Fprintf(&columns, ", n%d INTEGER NOT NULL, t%d VARCHAR(20) NOT NULL", i, i)
	}
	return shopTable{
		name: "shop_wide", rows: same, create: []string{"CREATE TABLE shop_wide (id INTEGER NOT NULL PRIMARY KEY" + columns.String() + ")"},
		row: func(b *strings.Builder, id int) {
			fmt.Fprintf(b, "(%d", id)
			for i := range wideColumns {
				fmt.Fprintf(b, ",%d,'text %d %d'", id+i, i, id%1000)
			}
			b.WriteByte(')')
		},
	}
}

func shopText(family dbcanary.Family) shopTable {
	columns := "b VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, l VARCHAR(60) CHARACTER SET latin1 COLLATE latin1_swedish_ci, u VARCHAR(60) CHARACTER SET utf8mb4"
	switch family {
	case dbcanary.Postgres:
		columns = `b VARCHAR(60) COLLATE "C", l VARCHAR(60), u VARCHAR(60)`
	case dbcanary.SQLite:
		columns = "b VARCHAR(60) COLLATE BINARY, l VARCHAR(60), u VARCHAR(60) COLLATE NOCASE"
	}
	return shopTable{
		name: "shop_text", rows: same, create: []string{"CREATE TABLE shop_text (id INTEGER NOT NULL PRIMARY KEY, " + columns + ")"},
		row: func(b *strings.Builder, id int) {
			text := fmt.Sprintf("%016x the quick text of row %d", draw.Mix(uint64(id)), id)
			fmt.Fprintf(b, "(%d,'%s','%s','%s')", id, text, text, text)
		},
	}
}

func shopPart(family dbcanary.Family, size int) shopTable {
	t := shopTable{
		name: "shop_part", rows: same,
		row:   func(b *strings.Builder, id int) { fmt.Fprintf(b, "(%d,%d)", id, draw.Mix(uint64(id))%uint64(size)+1) },
		after: []string{"CREATE INDEX shop_part_v ON shop_part (v)"},
	}
	const table = "CREATE TABLE shop_part (id INTEGER NOT NULL, v INTEGER NOT NULL, PRIMARY KEY (id)) PARTITION BY "
	step := (size + shopPartitions - 1) / shopPartitions
	if family == dbcanary.Postgres {
		t.create = []string{table + "RANGE (id)"}
		for i := range shopPartitions {
			t.create = append(t.create, fmt.Sprintf("CREATE TABLE shop_part_%d PARTITION OF shop_part FOR VALUES FROM (%d) TO (%d)", i, i*step+1, (i+1)*step+1))
		}
		return t
	}
	var parts []string
	for i := range shopPartitions {
		parts = append(parts, fmt.Sprintf("PARTITION p%d VALUES LESS THAN (%d)", i, (i+1)*step+1))
	}
	t.create = []string{table + "RANGE (id) (" + strings.Join(parts, ", ") + ")"}
	return t
}

func (shop) Warm(ctx context.Context, admin *sql.DB, family dbcanary.Family, data Data) error {
	for _, t := range shopTables(family, data.TableSize) {
		if err := countRows(ctx, admin, t.name, t.rows(data.TableSize)); err != nil {
			return err
		}
	}
	return nil
}

// countRows reads a table and fails if it has another number of rows.
func countRows(ctx context.Context, admin *sql.DB, table string, want int) error {
	var rows int
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
	return withConn(ctx, l, func(run func(string) error) error {
		for n := catalogTables; n >= 1; n-- {
			if err := run("DROP TABLE IF EXISTS " + fmt.Sprintf(catalogTable, n)); err != nil {
				return err
			}
		}
		for n := 1; n <= catalogTables; n++ {
			reference := ""
			if n > 1 {
				reference = fmt.Sprintf(", FOREIGN KEY (parent) REFERENCES "+catalogTable+" (id)", n-1)
			}
			if err := run(fmt.Sprintf("CREATE TABLE "+catalogTable+" (id INTEGER NOT NULL PRIMARY KEY, parent INTEGER, name VARCHAR(40)%s)", n, reference)); err != nil {
				return err
			}
			if l.Progress != nil {
				l.Progress(int64(n), catalogTables)
			}
		}
		return nil
	})
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
