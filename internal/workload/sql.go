package workload

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// tableName names table n of 1..Tables.
func tableName(n int) string { return fmt.Sprintf("sbtest%d", n) }

// template is the statement of a family with ? for placeholders.
func (s Step) template(family dbcanary.Family) string {
	if sql, ok := s.Dialect[family]; ok {
		return sql
	}
	return s.SQL
}

// expand fills in the table, {range}, and {list} with size placeholders.
func (s Step) expand(family dbcanary.Family, table string, size int) string {
	sql := strings.ReplaceAll(s.template(family), "{table}", table)
	sql = strings.ReplaceAll(sql, "{range}", strconv.Itoa(size))
	return strings.ReplaceAll(sql, "{list}", strings.TrimSuffix(strings.Repeat("?, ", size), ", "))
}

// numbered turns ? into $1, $2, … for PostgreSQL. No statement of ours has a ?
// that is not a placeholder.
func numbered(family dbcanary.Family, sql string) string {
	if family != dbcanary.Postgres {
		return sql
	}
	var out strings.Builder
	for i, piece := range strings.Split(sql, "?") {
		if i > 0 {
			fmt.Fprintf(&out, "$%d", i)
		}
		out.WriteString(piece)
	}
	return out.String()
}

// kinds gives the kind of each placeholder.
func (s Step) kinds(size int) []wire.Kind {
	var kinds []wire.Kind
	for _, arg := range s.Args {
		switch arg {
		case KeyList:
			kinds = append(kinds, make([]wire.Kind, size)...) // all Int
		case TextC, TextPad:
			kinds = append(kinds, wire.Text)
		default:
			kinds = append(kinds, wire.Int)
		}
	}
	return kinds
}

// begin is the statement that opens a transaction. SQLite takes the write lock at
// once where the transaction will write: a reader that wants to become the writer
// after another one has written can only start over.
func (b Benchmark) begin(family dbcanary.Family) string {
	if family == dbcanary.SQLite && b.Writes {
		return "BEGIN IMMEDIATE"
	}
	return "BEGIN"
}
