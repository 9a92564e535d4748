package own

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the parser that statements are checked by

	"github.com/dbcanary/dbcanary"
)

// misnamed is a statement that names what its tables don't have.
type misnamed struct {
	op   *sqlOp
	text string
}

// What SQLite says of a name that is not there. Whatever else it says is about
// its dialect, which is not the statement's.
var (
	noColumn = regexp.MustCompile(`no such column: ([\w.]+)|table \w+ has no column named (\w+)`)
	noTable  = regexp.MustCompile(`no such table: (?:main\.)?(\w+)`)
)

// systemNames look like columns and are none: they are the server's.
var systemNames = []string{
	"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "oid", "user", "session_user", "current_user", "current_role", "system_user",
	"current_schema", "current_catalog", "localtime", "localtimestamp", "sysdate", "utc_date", "utc_time", "utc_timestamp", "dual",
}

// checkColumns compiles each statement on empty tables in SQLite and gives those with
// names that the tables don't have, and if all tables are known those of other tables.
// A statement that SQLite can't read is left to the server.
func (p *program) checkColumns(data *tables, closed bool) (wrong []misnamed, err error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, fmt.Errorf("check the statements of %s: %w", p.label, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // each connection has a database of its own
	ctx := context.Background()
	var columns, names []string
	for i := range data.list {
		t := &data.list[i]
		for _, statement := range append(t.create(dbcanary.SQLite), t.finish(dbcanary.SQLite)...) {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return nil, fmt.Errorf("check the statements of %s: %s: %w", p.label, statement, err)
			}
		}
		names = append(names, t.name)
		for _, c := range t.columns {
			columns = append(columns, c.name)
		}
	}
	for _, o := range p.sql {
		if word := firstWord(o.sql); word == "CREATE" || word == "ALTER" || word == "DROP" {
			return wrong, nil // the tables don't stay what they are
		}
	}
	for _, o := range p.sql {
		for _, text := range append([]string{o.sql}, dialects(o)...) {
			said := compile(ctx, db, text)
			if text := judge(said, columns, names, closed); text != "" {
				wrong = append(wrong, misnamed{o, text})
				break
			}
		}
	}
	return wrong, nil
}

func dialects(o *sqlOp) []string {
	var list []string
	for _, family := range dbcanary.Families() {
		if text, ok := o.dialect[family]; ok {
			list = append(list, text)
		}
	}
	return list
}

// compile gives what SQLite says of a statement, "" if it can read it.
func compile(ctx context.Context, db *sql.DB, statement string) string {
	var text strings.Builder
	text.WriteString("EXPLAIN ")
	for _, p := range pieces(statement) {
		if p.variable != "" {
			text.WriteByte('1')
		}
		text.WriteString(p.text)
	}
	rows, err := db.QueryContext(ctx, text.String())
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	if err := rows.Err(); err != nil {
		return err.Error()
	}
	return ""
}

// judge gives the problem in what SQLite said, "" if there is none.
func judge(said string, columns, names []string, closed bool) string {
	if match := noColumn.FindStringSubmatch(said); match != nil {
		name := match[1] + match[2]
		bare := name[strings.LastIndexByte(name, '.')+1:]
		if slices.Contains(systemNames, strings.ToLower(bare)) {
			return ""
		}
		return fmt.Sprintf("there is no column %q%s", name, dbcanary.DidYouMean(bare, columns))
	}
	if match := noTable.FindStringSubmatch(said); match != nil && closed {
		if strings.EqualFold(match[1], "dual") || strings.HasPrefix(match[1], "pg_") {
			return ""
		}
		return fmt.Sprintf("there is no table %q%s", match[1], dbcanary.DidYouMean(match[1], names))
	}
	return ""
}
