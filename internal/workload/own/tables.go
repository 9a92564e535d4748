package own

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/workload"
	"github.com/dbcanary/dbcanary/internal/workload/bulk"
	"github.com/dbcanary/dbcanary/internal/workload/draw"
)

// table is a table with what its rows hold.
type table struct {
	name    string
	rows    int64
	columns []column
	primary []string
	indexes []index
	unicode bool // its texts, or those compared with them, are not all ASCII
}

type column struct {
	name string
	generator
	auto     bool // the server numbers new rows
	nullable bool
}

type index struct {
	name    string
	columns []string
	unique  bool
}

// tables is the dataset of an own workload.
type tables struct {
	name   string
	list   []table
	create []statementText // in place of list: what the user says, from one connection
}

var _ workload.Dataset = (*tables)(nil)

// mark is the comment by which tables are known to be ours: others are never dropped.
const mark = "made by dbcanary"

// Name implements workload.Dataset.
func (d *tables) Name() string { return "own " + d.name }

// SizeBytes implements workload.Dataset. What statements of the user make is unknown.
func (d *tables) SizeBytes(workload.Data) int64 {
	var size int64
	for i := range d.list {
		t := &d.list[i]
		row := int64(40) // of the row itself and its place in the tree
		for _, c := range t.columns {
			row += c.width()
		}
		size += t.rows * (row + 20*int64(len(t.indexes)+1))
	}
	return size
}

func (c column) width() int64 {
	switch {
	case c.kind != text:
		return 8
	case c.word == "char":
		return int64(c.size)
	case c.longest > 0:
		return int64(c.longest)
	case c.size > 0:
		return int64(c.size) / 2
	}
	return 50
}

// Load implements workload.Dataset.
func (d *tables) Load(ctx context.Context, l workload.Loading) error {
	var fill []bulk.Table
	err := bulk.WithConn(ctx, l.Connect, func(conn wire.Conn) error {
		for _, one := range d.create {
			if _, err := conn.Query([]byte(one.sql)); err != nil {
				return fmt.Errorf("%s: %w", one.sql, err)
			}
		}
		for i := range d.list {
			t := &d.list[i]
			if err := t.makeRoom(conn, l.Family); err != nil {
				return err
			}
			fill = append(fill, t.bulk(l.Family, l.Data.Seed))
		}
		return nil
	})
	if err != nil || len(fill) == 0 {
		return err
	}
	return l.Fill(ctx, fill)
}

// makeRoom drops the table if it is there and ours.
func (t *table) makeRoom(conn wire.Conn, family dbcanary.Family) error {
	foreign := map[dbcanary.Family]string{
		dbcanary.Postgres: "SELECT 1 FROM pg_class WHERE oid = to_regclass('" + t.name + "') AND COALESCE(obj_description(oid, 'pg_class'), '') <> '" + mark + "'",
		dbcanary.MySQL:    "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '" + t.name + "' AND table_comment <> '" + mark + "'",
	}
	foreign[dbcanary.MariaDB] = foreign[dbcanary.MySQL]
	if query := foreign[family]; query != "" {
		found, err := conn.Query([]byte(query))
		if err != nil {
			return fmt.Errorf("look for a table %s: %w", t.name, err)
		}
		if found.Rows > 0 {
			return &dbcanary.Error{
				Code: dbcanary.CodeUsage, Err: fmt.Errorf("there is a table %s that dbcanary has not made", t.name),
				Hint: "use a database of its own, or drop the table yourself",
			}
		}
	}
	if _, err := conn.Query([]byte("DROP TABLE IF EXISTS " + t.name)); err != nil {
		return fmt.Errorf("drop the table %s: %w", t.name, err)
	}
	return nil
}

func (t *table) bulk(family dbcanary.Family, seed uint64) bulk.Table {
	clustered := (family == dbcanary.MySQL || family == dbcanary.MariaDB) && len(t.primary) > 0
	b := bulk.Table{
		Name: t.name, Rows: t.rows, InOrder: !clustered, ASCII: !t.unicode,
		Create: t.create(family), Finish: t.finish(family),
	}
	seeds := make([]uint64, len(t.columns))
	for i, c := range t.columns {
		b.Columns = append(b.Columns, c.name)
		seeds[i] = nameSeed(seed, t.name, c.name)
	}
	b.Append = func(buf []byte, n int64, format bulk.Format) []byte {
		return t.appendRow(buf, seeds, n, family, format)
	}
	return b
}

// appendRow appends row n. Each value depends on the seed of its column and on n alone.
func (t *table) appendRow(buf []byte, seeds []uint64, n int64, family dbcanary.Family, format bulk.Format) []byte {
	var r draw.Source
	var text []byte
	if format == bulk.Tuple {
		buf = append(buf, '(')
	}
	for i := range t.columns {
		if i > 0 {
			buf = append(buf, map[bulk.Format]byte{bulk.Tuple: ',', bulk.Line: '\t'}[format])
		}
		r.Reseed(draw.Mix(seeds[i] + uint64(n)*draw.Golden))
		var v value
		v, text = t.columns[i].value(&r, n, text[:0])
		buf = v.appendRow(buf, family, format)
	}
	if format == bulk.Tuple {
		return append(buf, ')')
	}
	return append(buf, '\n')
}

func (t *table) create(family dbcanary.Family) []string {
	mysql := family == dbcanary.MySQL || family == dbcanary.MariaDB
	var lines []string
	automatic := false
	for _, c := range t.columns {
		line := c.name + " " + c.sql(family)
		if !c.nullable {
			line += " NOT NULL"
		}
		switch {
		case c.auto && mysql:
			line += " AUTO_INCREMENT"
		case c.auto && family == dbcanary.Postgres:
			line += " GENERATED BY DEFAULT AS IDENTITY"
		case c.auto:
			line, automatic = c.name+" INTEGER PRIMARY KEY", true // that is how SQLite numbers rows
		}
		lines = append(lines, line)
	}
	if len(t.primary) > 0 && family != dbcanary.Postgres && !automatic {
		lines = append(lines, "PRIMARY KEY ("+strings.Join(t.primary, ", ")+")")
	}
	create := "CREATE TABLE " + t.name + " (" + strings.Join(lines, ", ") + ")"
	if mysql {
		create += " ENGINE=InnoDB COMMENT='" + mark + "'"
		if t.unicode {
			create += " DEFAULT CHARSET=utf8mb4" // the server's own may be too small
		}
	}
	list := []string{create}
	if family == dbcanary.Postgres {
		list = append(list, "COMMENT ON TABLE "+t.name+" IS '"+mark+"'")
	}
	return list
}

// finish is what a table gets when its rows are in.
func (t *table) finish(family dbcanary.Family) []string {
	var list []string
	if len(t.primary) > 0 && family == dbcanary.Postgres {
		list = append(list, "ALTER TABLE "+t.name+" ADD PRIMARY KEY ("+strings.Join(t.primary, ", ")+")")
	}
	for _, i := range t.indexes {
		unique := ""
		if i.unique {
			unique = "UNIQUE "
		}
		list = append(list, "CREATE "+unique+"INDEX "+i.name+" ON "+t.name+" ("+strings.Join(i.columns, ", ")+")")
	}
	for _, c := range t.columns {
		if c.auto && family == dbcanary.Postgres && t.rows > 0 {
			list = append(list, fmt.Sprintf("SELECT setval(pg_get_serial_sequence('%s', '%s'), (SELECT MAX(%s) FROM %s))", t.name, c.name, c.name, t.name))
		}
	}
	return list
}

// Warm implements workload.Dataset: it reads every table and every index.
func (d *tables) Warm(ctx context.Context, admin *sql.DB, _ dbcanary.Family, _ workload.Data) error {
	for i := range d.list {
		for _, query := range d.list[i].reads() {
			var count int64
			if err := admin.QueryRowContext(ctx, query).Scan(&count); err != nil {
				return fmt.Errorf("warm the caches: %s: %w", query, err)
			}
		}
	}
	return nil
}

// reads are queries that need every row and every entry of the indexes.
func (t *table) reads() []string {
	var all []string
	for _, c := range t.columns {
		all = append(all, "COUNT("+c.name+")")
	}
	list := []string{"SELECT " + strings.Join(all, " + ") + " FROM " + t.name}
	for _, i := range t.indexes {
		first := i.columns[0]
		at := slices.IndexFunc(t.columns, func(c column) bool { return c.name == first })
		condition := first + " <> ''"
		if t.columns[at].kind != text {
			condition = first + " IS NOT NULL"
		}
		list = append(list, "SELECT COUNT("+first+") FROM "+t.name+" WHERE "+condition)
	}
	return list
}

// Drop drops the tables that Load has made, and gives the names of those that it
// went through. One that is not ours is an error with dbcanary.CodeUsage, as are
// tables that statements of the user made.
func (d *tables) Drop(ctx context.Context, connect func(context.Context) (wire.Conn, error), family dbcanary.Family) (dropped []string, err error) {
	if len(d.create) > 0 {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "what your statements made is not known: drop it yourself")
	}
	err = bulk.WithConn(ctx, connect, func(conn wire.Conn) error {
		for i := range d.list {
			if err := d.list[i].makeRoom(conn, family); err != nil {
				return err
			}
			dropped = append(dropped, d.list[i].name)
		}
		return nil
	})
	return dropped, err
}

// Tables lists the names of the tables that Load makes.
func (d *tables) Tables() []string {
	var names []string
	for i := range d.list {
		names = append(names, d.list[i].name)
	}
	return names
}
