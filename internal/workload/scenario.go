package workload

import (
	"fmt"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// The groups of the scenarios: what users report after upgrades and the published
// suites don't see.
const (
	Connect   = "connect"
	Catalog   = "catalog"
	Plans     = "plans"
	FirstTime = "first-minutes"

	Replication = "replication"
)

// scenarios are benchmarks that each stand for a class of reported regressions;
// docs/WORKLOADS.md says for which.
func scenarios() []Benchmark {
	list := lists()
	list = append(list, plans()...)
	list = append(list, unanalyzedPlans()...)
	list = append(list, sorts()...)
	list = append(list, catalogs()...)
	list = append(list, connects()...)
	list = append(list, replicas()...)
	return append(list, contention()...)
}

// lists are IN lists as text, whose parsing and range analysis prepared statements
// don't show, and a count and a limited range on the tables of sysbench.
func lists() []Benchmark {
	var list []Benchmark
	for _, size := range []int{10, 1000, 10000} {
		list = append(list, Benchmark{
			Name: "inlist-text", Group: Point, Range: size, Keys: Uniform,
			Doc: "Fetches random rows by a list of primary keys that goes as text: long lists meet the limits of the range optimizer. random-points is the same, prepared.",
			Steps: []Step{{
				SQL: "SELECT c FROM {table} WHERE id IN ({list})", Args: []Arg{KeyList}, Text: true, Answer: ListRows,
			}},
		})
	}
	return append(list,
		Benchmark{
			Name: "count-all", Group: Range1, Keys: Uniform,
			Doc:   "Counts the rows of a table. With a table larger than the buffer pool (a large table size, or a small pool by an overlay) it shows which index is read, and whether its pages stay.",
			Steps: []Step{{SQL: "SELECT COUNT(*) FROM {table}", Text: true, Answer: Aggregate}},
		},
		Benchmark{
			Name: "range-limit-si", Group: Range1, Range: 100, Keys: Uniform,
			Doc:   "Reads the first rows from a value on in the order of a secondary index, with the rows beside it: LIMIT ends the range.",
			Steps: []Step{{SQL: "SELECT k, c FROM {table} WHERE k >= ? ORDER BY k LIMIT {range}", Args: []Arg{SpanStart}, Answer: SpanRowsByK}},
		},
		Benchmark{
			Name: "cold-points", Group: FirstTime, Keys: Uniform, Cold: true, Single: true, Time: 3 * time.Second,
			Doc:   "Fetches rows by primary key from the start of the server on, with cold caches: the first minutes after an upgrade.",
			Steps: []Step{pointSelect()},
		},
	)
}

// plans are queries whose time depends on the plan.
func plans() []Benchmark {
	one := func(name, doc string, size int, step Step) Benchmark {
		return Benchmark{Name: name, Group: Plans, Dataset: shopDataset, Range: size, UsualRange: size, Keys: Uniform, Doc: doc, Steps: []Step{step}}
	}
	list := []Benchmark{
		one("join-eqref", "Joins each order of a range with its customer by primary key.", 100,
			Step{SQL: "SELECT o.id, c.name FROM shop_order o JOIN shop_customer c ON c.id = o.customer WHERE o.id BETWEEN ? AND ?", Args: span(), Answer: SpanRows}),
		one("join-filter", "Joins two tables that are filtered by columns without index and histogram: guesses about the filters decide the order.", 0,
			Step{SQL: "SELECT COUNT(*) FROM shop_customer c JOIN shop_order o ON o.customer = c.id WHERE c.region = 3 AND o.amount < 1000", Answer: Aggregate}),
		one("order-limit-skewed", "Finds the newest of few rows among many of another status: walking the order would read nearly all of it.", 10,
			Step{SQL: "SELECT id FROM shop_order WHERE status = 1 ORDER BY created DESC LIMIT {range}", Answer: SpanRows}),
		one("order-limit-clustered", "Reads rows in the order of the primary key from a place on, where a filter lets all of them pass.", 10,
			Step{SQL: "SELECT id, note FROM shop_order WHERE id >= ? AND created >= 0 ORDER BY id LIMIT {range}", Args: []Arg{SpanStart}, Answer: SpanRows}),
		one("group-derived", "Groups a range in a derived table and filters the groups.", 1000,
			Step{SQL: "SELECT COUNT(*) FROM (SELECT customer, SUM(amount) AS total FROM shop_order WHERE id BETWEEN ? AND ? GROUP BY customer) AS t WHERE t.total > 0", Args: span(), Answer: Aggregate}),
		one("wide-rows", "Fetches a row of forty columns by primary key.", 0,
			Step{SQL: "SELECT * FROM shop_wide WHERE id = ?", Args: []Arg{Key}, Answer: OneRow}),
		one("partition-point", fmt.Sprintf("Fetches a row of a table of %d partitions by primary key.", shopPartitions), 0,
			Step{SQL: "SELECT v FROM shop_part WHERE id = ?", Args: []Arg{Key}, Answer: OneRow}),
		one("partition-all", fmt.Sprintf("Counts by an index that every one of %d partitions has a part of.", shopPartitions), 0,
			Step{SQL: "SELECT COUNT(*) FROM shop_part WHERE v = ?", Args: []Arg{Number}, Answer: Aggregate}),
	}
	for i := range list {
		if strings.HasPrefix(list[i].Name, "partition-") {
			list[i].Not = map[dbcanary.Family]string{dbcanary.SQLite: "it has no partitions"}
		}
	}
	return list
}

// sorts sort the same texts by bytes and by a collation.
func sorts() []Benchmark {
	one := func(name, column, words string) Benchmark {
		return Benchmark{
			Name: name, Group: Range2, Dataset: shopDataset, Range: 100, UsualRange: 100, Keys: Uniform,
			Doc:   "Sorts the texts of a range " + words + ".",
			Steps: []Step{{SQL: "SELECT " + column + " FROM shop_text WHERE id BETWEEN ? AND ? ORDER BY " + column, Args: span(), Answer: SpanRows}},
		}
	}
	latin := one("sort-latin1", "l", "by latin1_swedish_ci")
	latin.Not = map[dbcanary.Family]string{dbcanary.Postgres: "a database has one encoding", dbcanary.SQLite: "it has Unicode only"}
	return []Benchmark{
		one("sort-binary", "b", "by their bytes (utf8mb4_bin, COLLATE \"C\", BINARY)"), latin,
		one("sort-unicode", "u", "by the default collation of Unicode text"),
	}
}

// catalogs ask for what the catalogue says of 500 tables, as frameworks do.
func catalogs() []Benchmark {
	middle := fmt.Sprintf(catalogTable, catalogTables/2)
	one := func(name, doc string, rows int, sql, postgres, sqlite string) Benchmark {
		return Benchmark{
			Name: name, Group: Catalog, Dataset: catalogDataset, Range: rows, UsualRange: rows, Doc: doc,
			Steps: []Step{{
				SQL: sql, Text: true, Answer: SpanRows,
				Dialect: map[dbcanary.Family]string{dbcanary.Postgres: postgres, dbcanary.SQLite: sqlite},
			}},
		}
	}
	return []Benchmark{
		one("catalog-columns", "Lists the columns of one of 500 tables.", 3,
			"SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '"+middle+"' ORDER BY ordinal_position",
			"SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = '"+middle+"' ORDER BY ordinal_position",
			"SELECT name, type FROM pragma_table_info('"+middle+"')"),
		one("catalog-keys", "Finds the foreign keys of one of 500 tables.", 1,
			"SELECT k.constraint_name, k.column_name, k.referenced_table_name, r.delete_rule FROM information_schema.key_column_usage k JOIN information_schema.referential_constraints r ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name WHERE k.table_schema = DATABASE() AND k.table_name = '"+middle+"'",
			"SELECT c.conname, c.confrelid::regclass FROM pg_constraint c WHERE c.contype = 'f' AND c.conrelid = '"+middle+"'::regclass",
			"SELECT id, \"table\" FROM pragma_foreign_key_list('"+middle+"')"),
		one("catalog-tables", "Lists 500 tables.", catalogTables,
			"SELECT table_name, table_rows FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'catalog%'",
			"SELECT c.relname, c.reltuples FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname LIKE 'catalog%'",
			"SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'catalog%'"),
	}
}

// contention are benchmarks of many connections and of a long time.
func contention() []Benchmark {
	soak := Benchmark{
		Name: "soak", Group: Writes, Range: 10, UsualRange: 10, Keys: Uniform, Transaction: true, Writes: true, Single: true, Time: 10 * time.Minute,
		Doc:     "The classic mix for ten minutes on end: what gets slower while it runs shows as a falling curve.",
		Differs: wholeSpans,
		Steps:   append(readSteps(), writeSteps()...), Ignore: duplicateKey(),
	}
	return []Benchmark{
		{
			Name: "hot-row", Group: Writes, Keys: First, Writes: true, Threads: 16,
			Doc:   "Sixteen connections change an indexed column of the same row: row locks, and versions that purge has to follow.",
			Steps: []Step{updateIndex()},
		},
		{
			Name: "ddl-beside-dml", Group: Writes, Keys: Uniform, Writes: true, Background: 1, Program: ddlBesideDML,
			Doc: "Changes rows while another connection builds and drops an index of the table over and over.",
			Not: map[dbcanary.Family]string{dbcanary.SQLite: "a writer waits until the index is there"},
		},
		soak,
	}
}
