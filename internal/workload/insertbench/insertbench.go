// Package insertbench is the work of the Insert Benchmark: a table for each client
// that is a queue, filled at its head and emptied at its tail, first as fast as it
// goes and then at a fixed rate beside queries. SQL, steps and rates are the
// published ones.
//
// A row depends on seed, client and place alone, so tables are the same on every
// family after the same statements.
package insertbench

import (
	"fmt"
	"strconv"
	"time"

	"github.com/dbcanary/dbcanary"
)

// Params are the sizes of a run, each for one client.
type Params struct {
	Rows    int // of step l.i0
	Rows1   int // inserted, and deleted, by l.i1
	Rows2   int // by l.i2
	Seconds int // of each step with queries
	Clients int // each with a table of its own
}

// Usual are the sizes where none are told: all steps take about a minute.
func Usual() Params {
	return Params{Rows: 100_000, Rows1: 50_000, Rows2: 10_000, Seconds: 5, Clients: 1}
}

// Check gives an error with dbcanary.CodeUsage for sizes that can't be run.
func (p Params) Check() error {
	const most = 1 << 40
	for _, size := range []struct {
		name        string
		value, unit int
	}{
		{"rows", p.Rows, rowsLoad}, {"i1", p.Rows1, rowsChurn}, {"i2", p.Rows2, rowsSmall}, {"secs", p.Seconds, 1}, {"clients", p.Clients, 1},
	} {
		if size.value < 1 || size.value > most || size.value%size.unit != 0 {
			return dbcanary.Errorf(dbcanary.CodeUsage, "%s=%d: it must be above 0 and divide by %d", size.name, size.value, size.unit)
		}
	}
	if p.Clients > 1000 {
		return dbcanary.Errorf(dbcanary.CodeUsage, "clients=%d: there are at most 1000", p.Clients)
	}
	return nil
}

// Rows of a commit.
const (
	rowsLoad  = 100
	rowsChurn = 50
	rowsSmall = 5
)

// Kind is what a step does.
type Kind uint8

// The kinds.
const (
	Load  Kind = iota // inserts into a table with a primary key alone
	Index             // inserts a little and creates the secondary indexes
	Churn             // inserts, and deletes as much from the other end
	Range             // range queries beside inserts and deletes at a rate
	Point             // queries by primary key beside them
)

// Step is one of the ten steps.
type Step struct {
	Name   string
	Doc    string
	Kind   Kind
	Commit int // rows of a statement that inserts or deletes
	Rate   int // inserts a second of each client in the background, and as many deletes
}

// Steps lists the steps in order.
func Steps() []Step {
	steps := []Step{
		{"l.i0", "Loads the tables in the order of the primary key, a hundred rows a statement; there is no other index.", Load, rowsLoad, 0},
		{"l.x", "Inserts a hundred rows and creates three secondary indexes.", Index, rowsLoad, 0},
		{"l.i1", "Inserts fifty rows a statement; another connection deletes as many of the oldest.", Churn, rowsChurn, 0},
		{"l.i2", "Inserts five rows a statement; another connection deletes as many of the oldest.", Churn, rowsSmall, 0},
	}
	for _, rate := range []int{100, 500, 1000} {
		beside := fmt.Sprintf(" beside %d inserts and deletes a second of each client", rate)
		steps = append(
			steps,
			Step{fmt.Sprintf("qr%d", rate), "Short range queries by the secondary indexes" + beside + ".", Range, rowsChurn, rate},
			Step{fmt.Sprintf("qp%d", rate), "Queries by ten primary keys" + beside + ".", Point, rowsChurn, rate},
		)
	}
	return steps
}

// Queries tells a step with queries, whose inserts are in the background.
func (s Step) Queries() bool { return s.Kind == Range || s.Kind == Point }

// Background is how many workers of the step are not measured: those that delete,
// and beside queries those that insert.
func (s Step) Background(p Params) int {
	switch {
	case s.Queries():
		return 2 * p.Clients
	case s.Kind == Churn:
		return p.Clients
	}
	return 0
}

// Events is the number of measured events of all clients, 0 for a step of Seconds.
func (s Step) Events(p Params) int {
	switch {
	case s.Queries():
		return 0
	case s.Kind == Index:
		return p.Clients
	}
	return p.Clients * s.rows(p) / s.Commit
}

// rows that a client inserts in a step without a rate.
func (s Step) rows(p Params) int {
	switch s.Name {
	case "l.i0":
		return p.Rows
	case "l.i1":
		return p.Rows1
	case "l.i2":
		return p.Rows2
	}
	return rowsLoad
}

// Table names the table of a client, from 0.
func Table(client int) string { return "pi" + strconv.Itoa(client+1) }

func isMySQL(family dbcanary.Family) bool {
	return family == dbcanary.MySQL || family == dbcanary.MariaDB
}

// create is the table of a client.
func create(family dbcanary.Family, client int) string {
	id, when, engine := "bigserial", "timestamp without time zone", ""
	if isMySQL(family) {
		id, when, engine = "bigint not null auto_increment", "datetime", " engine=InnoDB"
	}
	return fmt.Sprintf("create table %s (transactionid %s, dateandtime %s, cashregisterid int not null, customerid int not null, "+
		"productid int not null, price int not null, data varchar(4000), primary key (transactionid))%s", Table(client), id, when, engine)
}

// index lists the statements that create the secondary indexes.
func index(family dbcanary.Family, client int) []string {
	table := Table(client)
	market, register, pdc := "(productid, customerid, price)", "(cashregisterid, customerid, price)", "(price, dateandtime, customerid)"
	if isMySQL(family) {
		return []string{fmt.Sprintf("alter table %s add index %s_marketsegment %s, add index %s_registersegment %s, add index %s_pdc %s",
			table, table, market, table, register, table, pdc)}
	}
	return []string{
		fmt.Sprintf("create index %s_marketsegment on %s %s", table, table, market),
		fmt.Sprintf("create index %s_registersegment on %s %s", table, table, register),
		fmt.Sprintf("create index %s_pdc on %s %s", table, table, pdc),
	}
}

// Numbers of different values.
const (
	registers = 1_000
	products  = 10_000
	customers = 100_000
	prices    = 500
)

// appendInsert appends the statement that inserts rows first..first+count-1 of a client, from 1.
func appendInsert(out []byte, seed uint64, client int, first int64, count int) []byte {
	out = append(out, "insert into "...)
	out = append(out, Table(client)...)
	out = append(out, " (dateandtime,cashregisterid,customerid,productid,price,data) values "...)
	for i := range count {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendRow(out, seed, client, first+int64(i))
	}
	return out
}

// appendRow appends the values of a row: uniform numbers, a text of 10 to 20
// letters of which half are random, and a second later in time than the row before.
func appendRow(out []byte, seed uint64, client int, row int64) []byte {
	state := seed ^ uint64(client+1)*0xd1342543de82ef95 ^ uint64(row)*0x9e3779b97f4a7c15
	next := func(n uint64) uint64 {
		// SplitMix64 (Steele, Lea and Flood, 2014).
		state += 0x9e3779b97f4a7c15
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return (z ^ z>>31) % n
	}
	out = append(out, "('"...)
	out = time.Unix(1_700_000_000+row, 0).UTC().AppendFormat(out, time.DateTime)
	out = append(out, "',"...)
	for _, n := range []uint64{registers, customers, products, prices} {
		out = strconv.AppendUint(out, next(n), 10)
		out = append(out, ',')
	}
	out = append(out, '\'')
	length := 10 + next(11)
	for i := range length {
		if i < length/2 {
			out = append(out, 'a'+byte(next(26)))
		} else {
			out = append(out, 'a')
		}
	}
	return append(out, "')"...)
}

// appendDelete appends the statement that deletes the oldest rows from an id on.
func appendDelete(out []byte, family dbcanary.Family, client int, from int64, count int) []byte {
	table := Table(client)
	if isMySQL(family) {
		return fmt.Appendf(out, "delete from %s where transactionid >= %d order by transactionid asc limit %d", table, from, count)
	}
	return fmt.Appendf(out, "delete from %s where transactionid in (select transactionid from %s where transactionid >= %d order by transactionid asc limit %d)",
		table, table, from, count)
}

// rangeQuery is one of the three range queries, with ? for the value.
func rangeQuery(family dbcanary.Family, client, which int) (query string, values int) {
	table, force := Table(client), ""
	forced := func(name string) string {
		if isMySQL(family) {
			return " force index (" + table + "_" + name + ")"
		}
		return force
	}
	switch which {
	case 0:
		return fmt.Sprintf("select productid, customerid, price from %s%s where (productid >= ?) order by productid, customerid, price limit 10",
			table, forced("marketsegment")), products
	case 1:
		return fmt.Sprintf("select cashregisterid, customerid, price from %s%s where (cashregisterid > ?) order by cashregisterid, customerid, price limit 10",
			table, forced("registersegment")), registers
	}
	return fmt.Sprintf("select price, dateandtime, customerid from %s%s where (price >= ?) order by price, dateandtime, customerid limit 10",
		table, forced("pdc")), prices
}

// limit is the number of rows of a range query and of keys of a point query.
const limit = 10

// pointQuery is the query by primary keys, with ? for each.
func pointQuery(client int) string {
	return "select transactionid, productid, data from " + Table(client) + " where transactionid in (?,?,?,?,?,?,?,?,?,?)"
}

// Example is the SQL of a step as a reader wants to see it, on MySQL.
func (s Step) Example() []string {
	const family = dbcanary.MySQL
	insert := string(appendInsert(nil, 1, 0, 1, 1)) + ", …"
	remove := string(appendDelete(nil, family, 0, 1, s.Commit))
	var list []string
	switch s.Kind {
	case Load:
		return []string{create(family, 0), insert}
	case Index:
		return append([]string{insert}, index(family, 0)...)
	case Churn:
		return []string{insert, remove, "select min(transactionid) from pi1"}
	case Range:
		for which := range 3 {
			query, _ := rangeQuery(family, 0, which)
			list = append(list, query)
		}
	case Point:
		list = append(list, pointQuery(0), "select max(transactionid) from pi1")
	}
	return append(list, "in the background: "+insert, "in the background: "+remove)
}
