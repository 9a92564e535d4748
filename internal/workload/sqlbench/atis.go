package sqlbench

import "fmt"

// atisTable is one of the tables about air travel: row i has code i, kind i%kinds
// and a parent, which is a code of another table.
type atisTable struct {
	name   string
	rows   int // published size
	kinds  int
	parent string // table, "" for none
	pair   bool   // two rows for each parent, and a primary key that begins with it
}

// atisTables lists parents before children. The sizes add up to the published
// number of inserts.
func atisTables() []atisTable {
	return []atisTable{
		{"atis_time_zone", 24, 4, "", false},
		{"atis_state", 63, 9, "atis_time_zone", false},
		{"atis_city", 120, 10, "atis_state", false},
		{"atis_airport", 91, 7, "atis_city", false},
		{"atis_airport_service", 182, 4, "atis_airport", true},
		{"atis_airline", 92, 8, "", false},
		{"atis_dual_carrier", 110, 5, "atis_airline", false},
		{"atis_aircraft", 135, 9, "", false},
		{"atis_transport", 15, 3, "", false},
		{"atis_ground_service", 132, 6, "atis_airport", false},
		{"atis_class_of_service", 140, 7, "", false},
		{"atis_compound_class", 145, 12, "atis_class_of_service", false},
		{"atis_restriction", 65, 5, "", false},
		{"atis_fare", 1340, 20, "atis_restriction", false},
		{"atis_flight", 1900, 25, "atis_airline", false},
		{"atis_flight_leg", 1600, 2, "atis_flight", true},
		{"atis_flight_day", 670, 7, "atis_flight", false},
		{"atis_flight_class", 880, 11, "atis_flight", false},
		{"atis_flight_fare", 1244, 15, "atis_fare", true},
		{"atis_connection", 120, 6, "atis_flight", false},
		{"atis_stop", 96, 4, "atis_flight", false},
		{"atis_food_service", 150, 5, "atis_class_of_service", false},
		{"atis_meal", 20, 4, "", false},
		{"atis_month_name", 12, 12, "", false},
		{"atis_day_name", 10, 10, "", false},
		{"atis_date_day", 212, 12, "atis_day_name", false},
		{"atis_time_interval", 70, 8, "", false},
		{"atis_code_description", 130, 13, "", false},
	}
}

func (w *World) atisRows(name string) int {
	for _, table := range atisTables() {
		if table.name == name {
			return table.size(w.Scale)
		}
	}
	return 0
}

func (t atisTable) size(s Scale) int { return s.of(t.rows) }

// parentOf is the parent of row i. A pair has the same one.
func (t atisTable) parentOf(w *World, i int) int {
	n := max(1, w.atisRows(t.parent))
	if t.pair {
		return i / 2 % n
	}
	return w.shuffled(i%n, n)
}

// ofKind counts the rows of a kind.
func (t atisTable) ofKind(s Scale, kind int) int {
	return (t.size(s) - kind + t.kinds - 1) / t.kinds
}

// atisJoins are the children that queries join with their parents.
func atisJoins(pair bool) []atisTable {
	var list []atisTable
	for _, table := range atisTables() {
		if table.parent != "" && table.pair == pair {
			list = append(list, table)
		}
	}
	return list
}

func atis() Test {
	tables := atisTables()
	every := func(i int) atisTable { return tables[i%len(tables)] }
	return Test{
		Name:  "ATIS",
		Doc:   "28 small tables about air travel: joins by keys, distinct values, groups",
		setup: func(*World) []string { return nil },
		Operations: []Operation{
			{
				Name: "create_table", Doc: "Creates the tables.", count: func(Scale) int { return len(tables) }, writes: true,
				event: func(w *World, i int) Event {
					key := "code"
					if tables[i].pair {
						key = "parent, code"
					}
					return Event{{SQL: []byte(w.createTable(tables[i].name,
						"code INTEGER NOT NULL, kind INTEGER NOT NULL, parent INTEGER NOT NULL, name VARCHAR(30), PRIMARY KEY ("+key+")"))}}
				},
			},
			{
				Name: "insert", Doc: "Inserts their rows.", writes: true, event: atisInsert,
				count: func(s Scale) int {
					total := 0
					for _, table := range tables {
						total += table.size(s)
					}
					return total
				},
				after: func(w *World) []Statement {
					n := w.atisRows("atis_flight")
					return counts("atis_flight", n, "code", series(n))
				},
			},
			{
				Name: "select_simple_join", Doc: "Joins rows of one kind with their parents.", count: times(500), analyze: atisNames(),
				event: func(w *World, i int) Event {
					joins := atisJoins(false)
					child := joins[i%len(joins)]
					kind := w.below("kind", i, min(child.kinds, child.size(w.Scale)))
					return rows(child.ofKind(w.Scale, kind), "SELECT c.name, p.name FROM %s c, %s p WHERE c.parent = p.code AND c.kind = %d",
						child.name, child.parent, kind)
				},
			},
			{Name: "select_join", Doc: "Joins flights with their airlines and fares of the same number.", count: times(100), event: func(w *World, _ int) Event {
				n := min(w.atisRows("atis_flight"), w.atisRows("atis_fare"))
				return rows(n, "SELECT f.name, a.name, r.name FROM atis_flight f, atis_airline a, atis_fare r WHERE f.parent = a.code AND r.code = f.code")
			}},
			{Name: "select_key_prefix_join", Doc: "Joins by the first column of a primary key.", count: times(100), event: func(w *World, i int) Event {
				joins := atisJoins(true)
				child := joins[i%len(joins)]
				return rows(child.size(w.Scale), "SELECT p.name, c.name FROM %s p, %s c WHERE c.parent = p.code", child.parent, child.name)
			}},
			{Name: "select_distinct", Doc: "Finds the distinct values of a column.", count: times(800), event: func(w *World, i int) Event {
				table := every(i)
				return rows(min(table.kinds, table.size(w.Scale)), "SELECT DISTINCT kind FROM %s", table.name)
			}},
			{Name: "select_group", Doc: "Groups by a column.", count: times(2800), event: func(w *World, i int) Event {
				table := every(i)
				return rows(min(table.kinds, table.size(w.Scale)), "SELECT kind, COUNT(*), MIN(code), MAX(parent) FROM %s GROUP BY kind", table.name)
			}},
			{
				Name: "drop_table", Doc: "Drops the tables.", count: func(Scale) int { return len(tables) }, writes: true,
				event: func(_ *World, i int) Event { return done("DROP TABLE %s", tables[i].name) },
			},
		},
	}
}

func atisNames() []string {
	var names []string
	for _, table := range atisTables() {
		names = append(names, table.name)
	}
	return names
}

// atisInsert inserts the i-th row of all tables one after the other.
func atisInsert(w *World, i int) Event {
	for _, table := range atisTables() {
		if n := table.size(w.Scale); i >= n {
			i -= n
			continue
		}
		return changed(1, "INSERT INTO %s VALUES (%d, %d, %d, '%s')", table.name, i, i%table.kinds, table.parentOf(w, i), fmt.Sprintf("name %d", i))
	}
	return nil
}
