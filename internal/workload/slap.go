package workload

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload/bulk"
)

// The tables and queries of the published tests with mysqlslap on low concurrency
// and range scans: one small table for each storage engine, and always the same key.
const (
	slapDataset = "slap"
	slapRows    = 64_000
	slapPoint   = 100 // key of the point queries
	slapStart   = 1000
)

// memoryEngine is the suffix of benchmarks on tables that a start of the server empties.
const memoryEngine = "memory"

// slapEngine is a storage engine that the table lies in.
type slapEngine struct {
	suffix string // of benchmarks' names; "" for the usual engine
	words  string
	engine map[dbcanary.Family]string // "" for the usual one
	not    map[dbcanary.Family]string // why a family lacks it
}

func slapEngines() []slapEngine {
	const mysqlOnly = "its tables have one storage engine"
	none := map[dbcanary.Family]string{dbcanary.Postgres: mysqlOnly, dbcanary.SQLite: mysqlOnly}
	return []slapEngine{
		{words: "InnoDB, or the family's usual table", engine: map[dbcanary.Family]string{dbcanary.MySQL: "InnoDB", dbcanary.MariaDB: "InnoDB"}},
		{suffix: "myisam", words: "MyISAM on MySQL, Aria on MariaDB", engine: map[dbcanary.Family]string{dbcanary.MySQL: "MyISAM", dbcanary.MariaDB: "Aria"}, not: none},
		{suffix: memoryEngine, words: "MEMORY", engine: map[dbcanary.Family]string{dbcanary.MySQL: "MEMORY", dbcanary.MariaDB: "MEMORY"}, not: none},
	}
}

func (e slapEngine) table() string {
	if e.suffix == "" {
		return "slap"
	}
	return "slap_" + e.suffix
}

func (e slapEngine) name(query string) string {
	if e.suffix == "" {
		return "slap-" + query
	}
	return "slap-" + e.suffix + "-" + query
}

// slap are the five point queries and, for each length of a scan, the three range
// queries, on each engine.
func slap() []Benchmark {
	var list []Benchmark
	for _, engine := range slapEngines() {
		for _, q := range []struct{ name, column, index, key, words string }{
			{"pk", "j", "", "i", "by primary key"},
			{"pk-force", "j", "PRIMARY", "i", "by primary key, which is forced"},
			{"cover-noforce", "k", "", "j", "by a secondary index that holds all that is asked for, if the optimizer takes it"},
			{"nocover-force", "k", "xj", "j", "by a secondary index that does not hold what is asked for, which is forced"},
			{"cover-force", "k", "xjk", "j", "by a secondary index that holds all that is asked for, which is forced"},
		} {
			list = append(list, slapBenchmark(engine, q.name, Point, "Fetches the same row over and over "+q.words+"; "+engine.words+".", q.index != "", 0,
				fmt.Sprintf("SELECT %s FROM %s%s WHERE %s = %d", q.column, engine.table(), slapForce(q.index), q.key, slapPoint), OneRow))
		}
		for _, q := range []struct{ name, column, index, key, words string }{
			{"range-pk", "j", "", "i", "by primary key"},
			{"range-nocover", "k", "xj", "j", "by a secondary index that does not hold what is asked for, which is forced"},
			{"range-cover", "k", "xjk", "j", "by a secondary index that holds all that is asked for, which is forced"},
		} {
			for _, length := range []int{10, 100, 1000} {
				list = append(list, slapBenchmark(engine, q.name, Range1, "Reads the same rows over and over "+q.words+", in its order; "+engine.words+".", q.index != "", length,
					fmt.Sprintf("SELECT %s FROM %s%s WHERE %s >= %d ORDER BY %s LIMIT %d", q.column, engine.table(), slapForce(q.index), q.key, slapStart, q.key, length), SpanRows))
			}
		}
	}
	return list
}

func slapForce(index string) string {
	if index == "" {
		return ""
	}
	return " FORCE INDEX (" + index + ")"
}

func slapBenchmark(engine slapEngine, query, group, doc string, forced bool, length int, text string, answer Answer) Benchmark {
	b := Benchmark{
		Name: engine.name(query), Group: group, Doc: doc, Dataset: slapDataset, Range: length, Not: map[dbcanary.Family]string{},
		Steps: []Step{{SQL: text, Text: true, Answer: answer}},
	}
	if length > 0 {
		b.Steps[0].SQL = strings.TrimSuffix(text, fmt.Sprint(length)) + "{range}"
	}
	if forced {
		b.Not[dbcanary.Postgres] = "it has no FORCE INDEX"
		b.Not[dbcanary.SQLite] = "it has no FORCE INDEX"
	}
	for family, reason := range engine.not {
		b.Not[family] = reason
	}
	return b
}

// slapTables is the dataset: the same rows in a table of each engine that there is.
type slapTables struct{}

func (slapTables) Name() string { return slapDataset }

// SizeBytes is that of three tables of four numbers with two indexes.
func (slapTables) SizeBytes(Data) int64 { return 3 * slapRows * 100 }

func (slapTables) Load(ctx context.Context, l Loading) error {
	var tables []bulk.Table
	for _, engine := range slapEngines() {
		if engine.not[l.Family] == "" {
			tables = append(tables, slapTable(l.Family, engine))
		}
	}
	return l.Fill(ctx, tables)
}

// slapTable is the table of an engine: a row is (i, i, i, 0).
func slapTable(family dbcanary.Family, engine slapEngine) bulk.Table {
	table, options, using := engine.table(), "", ""
	if name := engine.engine[family]; name != "" {
		options = " ENGINE=" + name
		if name == "MEMORY" {
			using = " USING BTREE" // its usual hash has no order
		}
	}
	index := func(name, columns string) string {
		if using != "" {
			return fmt.Sprintf("CREATE INDEX %s%s ON %s (%s)", name, using, table, columns)
		}
		return fmt.Sprintf("CREATE INDEX %s ON %s (%s)", name, table, columns)
	}
	t := bulk.Table{
		Name: table, Rows: slapRows, InOrder: engine.suffix != "" || !clustered(family), ASCII: true,
		Create: []string{
			"DROP TABLE IF EXISTS " + table,
			fmt.Sprintf("CREATE TABLE %s (i INTEGER NOT NULL, j INTEGER, k INTEGER, l INTEGER, PRIMARY KEY (i)%s)%s", table, using, options),
		},
		Append: func(buf []byte, i int64, format bulk.Format) []byte { return bulk.AppendRow(buf, format, i, i, i, 0) },
		Finish: []string{index("xj", "j"), index("xjk", "j, k")},
	}
	if engine.suffix == memoryEngine {
		t.Rows, t.Finish = 0, append([]string{fillMemory(table)}, t.Finish...)
	}
	return t
}

// fillMemory fills an empty table of the MEMORY engine from the usual one.
func fillMemory(table string) string {
	return "INSERT INTO " + table + " SELECT i, j, k, l FROM slap ORDER BY i"
}

// Warm reads the tables, and fills those of the MEMORY engine again, which a start
// of the server has emptied.
func (slapTables) Warm(ctx context.Context, admin *sql.DB, family dbcanary.Family, _ Data) error {
	for _, engine := range slapEngines() {
		if engine.not[family] != "" {
			continue
		}
		var rows int64
		count := "SELECT COUNT(*) FROM " + engine.table() + " WHERE j + k >= 0"
		if err := admin.QueryRowContext(ctx, count).Scan(&rows); err != nil {
			return fmt.Errorf("warm the caches: %s: %w", count, err)
		}
		if rows == slapRows {
			continue
		}
		if rows > 0 || engine.suffix != memoryEngine {
			return fmt.Errorf("%s has %d rows, loaded were %d", engine.table(), rows, slapRows)
		}
		if err := execAll(ctx, admin, fillMemory(engine.table())); err != nil {
			return fmt.Errorf("fill %s again: %w", engine.table(), err)
		}
	}
	return nil
}
