package sqlbench

import (
	"fmt"

	"github.com/dbcanary/dbcanary"
)

const (
	selectRows = 10_000
	regions    = 10
	groups     = 50
)

// Row i of the test select is in region 'A' + i%10 and group i/10%50; idn is i and
// rev_idn counts down.
func region(i int) string { return string(rune('A' + i%regions)) }

func group(i int) int { return i / regions % groups }

// having counts the rows of a condition.
func (w *World) having(condition func(i int) bool) int {
	n := 0
	for i := range w.Scale.of(selectRows) {
		if condition(i) {
			n++
		}
	}
	return n
}

// distinct counts the different values over all rows.
func (w *World) distinct(of func(i int) string) int {
	seen := map[string]bool{}
	for i := range w.Scale.of(selectRows) {
		seen[of(i)] = true
	}
	return len(seen)
}

func parts(i int) string { return fmt.Sprint(region(i), group(i)) }

// always is an operation of the same query each time.
func always(name, doc string, published int, query func(w *World) Event) Operation {
	return Operation{
		Name: name, Doc: doc, count: times(published), same: true,
		event: func(w *World, _ int) Event { return query(w) },
	}
}

func selects() Test {
	size := func(w *World) int { return w.Scale.of(selectRows) }
	grp := func(i int) string { return fmt.Sprint(group(i)) }
	cache := func(varies bool) func(w *World, i int) Event {
		return func(w *World, i int) Event {
			g := 7
			if varies {
				g = i % groups
			}
			return value(w.inGroup(g), "SELECT COUNT(*) FROM bench1 WHERE grp = %d", g)
		}
	}
	return Test{
		Name: "select",
		Doc:  "a table of 10,000 rows with keys of several columns: counts, extremes, groups and distinct values",
		setup: func(w *World) []string {
			return []string{
				w.createTable("bench1", "region CHAR(1) NOT NULL, idn INTEGER NOT NULL, rev_idn INTEGER NOT NULL, grp INTEGER NOT NULL, PRIMARY KEY (region, idn)"),
				"CREATE UNIQUE INDEX bench1_rev ON bench1 (region, rev_idn)",
				"CREATE UNIQUE INDEX bench1_grp ON bench1 (region, grp, idn)",
			}
		},
		Operations: append([]Operation{
			{
				Name: "insert", Doc: "Inserts the rows.", count: times(selectRows), writes: true,
				event: func(w *World, i int) Event {
					return changed(1, "INSERT INTO bench1 VALUES ('%s', %d, %d, %d)", region(i), i, size(w)-1-i, group(i))
				},
				after: func(w *World) []Statement { return counts("bench1", size(w), "rev_idn", series(size(w))) },
			},
			{Name: "select_cache", Doc: "Counts a group, by the same statement each time.", count: times(10_000), analyze: []string{"bench1"}, event: cache(false)},
			{Name: "select_cache2", Doc: "Counts a group, another one each time.", count: times(10_000), event: cache(true)},
			{Name: "select_big", Doc: "Returns the table in the order of each of its keys.", count: times(70), event: func(w *World, i int) Event {
				order := []string{"region, idn", "region, rev_idn", "region, grp, idn"}[i%3]
				return rows(size(w), "SELECT * FROM bench1 ORDER BY %s", order)
			}},
			{Name: "select_range", Doc: "Returns one to ten regions.", count: times(410), event: func(w *World, i int) Event {
				from := i % regions
				to := from + w.below("range", i, regions-from)
				n := w.having(func(row int) bool { return row%regions >= from && row%regions <= to })
				return rows(n, "SELECT * FROM bench1 WHERE region >= '%s' AND region <= '%s'", region(from), region(to))
			}},
			{Name: "min_max_on_key", Doc: "Finds extremes by keys and their first parts.", count: times(70_000), event: selectMinMax},
			{Name: "count_on_key", Doc: "Counts rows by keys and their first parts.", count: times(50_000), event: selectCount},
		}, selectGroups(size, grp)...),
	}
}

// inGroup counts the rows of a group.
func (w *World) inGroup(g int) int {
	n, rest := w.Scale.of(selectRows)/(regions*groups), w.Scale.of(selectRows)%(regions*groups)
	return n*regions + min(max(rest-g*regions, 0), regions)
}

func selectGroups(size func(*World) int, grp func(int) string) []Operation {
	return []Operation{
		always("count_group_on_key_parts", "Groups by the first columns of a key.", 1000, func(w *World) Event {
			return rows(w.distinct(parts), "SELECT region, grp, COUNT(*) FROM bench1 GROUP BY region, grp")
		}),
		always("count_distinct_key_prefix", "Counts the distinct values of the first column of a key.", 1000, func(w *World) Event {
			return value(w.distinct(region), "SELECT COUNT(DISTINCT region) FROM bench1")
		}),
		always("count_distinct", "Counts the distinct values of a later column.", 1000, func(w *World) Event {
			return value(w.distinct(grp), "SELECT COUNT(DISTINCT grp) FROM bench1")
		}),
		always("count_distinct_2", "Counts the distinct pairs of two columns.", 1000, func(w *World) Event {
			switch {
			case w.isMySQL():
				return value(size(w), "SELECT COUNT(DISTINCT grp, rev_idn) FROM bench1")
			case w.Family == dbcanary.Postgres:
				return value(size(w), "SELECT COUNT(DISTINCT (grp, rev_idn)) FROM bench1")
			}
			return value(size(w), "SELECT COUNT(*) FROM (SELECT DISTINCT grp, rev_idn FROM bench1)")
		}),
		always("count_distinct_group_on_key", "Counts distinct values in each region.", 1000, func(w *World) Event {
			return rows(w.distinct(region), "SELECT region, COUNT(DISTINCT idn) FROM bench1 GROUP BY region")
		}),
		always("count_distinct_group_on_key_parts", "Counts distinct values in each group of each region.", 1000, func(w *World) Event {
			return rows(w.distinct(parts), "SELECT region, grp, COUNT(DISTINCT idn) FROM bench1 GROUP BY region, grp")
		}),
		always("count_distinct_group", "Counts distinct values in each group.", 1000, func(w *World) Event {
			return rows(w.distinct(grp), "SELECT grp, COUNT(DISTINCT rev_idn) FROM bench1 GROUP BY grp")
		}),
		always("count_distinct_big", "Counts distinct values for each row.", 100, func(w *World) Event {
			return rows(size(w), "SELECT idn, COUNT(DISTINCT region) FROM bench1 GROUP BY idn")
		}),
	}
}

func selectMinMax(w *World, i int) Event {
	r := w.below("region", i, regions)
	last := w.Scale.of(selectRows) - 1
	greatest := last - (last-r)%regions // id of the last row of the region
	switch i % 7 {
	case 0:
		return value("A", "SELECT MIN(region) FROM bench1")
	case 1:
		return value("J", "SELECT MAX(region) FROM bench1")
	case 2:
		return value(r, "SELECT MIN(idn) FROM bench1 WHERE region = '%s'", region(r))
	case 3:
		return value(greatest, "SELECT MAX(idn) FROM bench1 WHERE region = '%s'", region(r))
	case 4:
		return value(last-r, "SELECT MAX(rev_idn) FROM bench1 WHERE region = '%s'", region(r))
	case 5:
		return value(last-greatest, "SELECT MIN(rev_idn) FROM bench1 WHERE region = '%s'", region(r))
	}
	return value(0, "SELECT MIN(grp) FROM bench1 WHERE region = '%s'", region(r))
}

func selectCount(w *World, i int) Event {
	id := w.below("count", i, w.Scale.of(selectRows))
	n := w.Scale.of(selectRows)
	inRegion := (n - id%regions + regions - 1) / regions
	switch i % 5 {
	case 0:
		return value(inRegion, "SELECT COUNT(*) FROM bench1 WHERE region = '%s'", region(id))
	case 1:
		return value(1, "SELECT COUNT(*) FROM bench1 WHERE region = '%s' AND idn = %d", region(id), id)
	case 2:
		return value(1, "SELECT COUNT(*) FROM bench1 WHERE region = '%s' AND rev_idn = %d", region(id), n-1-id)
	case 3:
		// Rows of a region and group are regions*groups apart.
		first := id%regions + group(id)*regions
		return value((n-1-first)/(regions*groups)+1, "SELECT COUNT(*) FROM bench1 WHERE region = '%s' AND grp = %d", region(id), group(id))
	}
	return value(inRegion, "SELECT COUNT(*) FROM bench1 WHERE region >= '%s' AND region <= '%s'", region(id), region(id))
}
