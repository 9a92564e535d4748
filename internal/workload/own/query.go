package own

import (
	"fmt"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// openQuery compiles statements as mysqlslap takes them: an event is all of them in
// their order. Without statements that make tables they run on sbtest1, sbtest2, ….
func openQuery(w dbcanary.OwnWorkload) ([]workload.Benchmark, error) {
	query := w.Files[0]
	p := &program{label: "query"}
	if name := nameOf(query.Name); name != "query" && labelWord.MatchString(name) {
		p.label = "query." + name
	}
	var ops []op
	for _, one := range splitStatements(query.Text, w.Delimiter) {
		line, column := place(query.Text, one.offset)
		o := p.statement(fmt.Sprintf("%s:%d:%d", query.Name, line, column), one.sql)
		o.asText = true // as mysqlslap sends them; nothing in them varies
		o.verbatim = true
		ops = append(ops, o)
	}
	if len(ops) == 0 {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%s: there is no statement in it", query.Name)
	}
	p.scripts, p.total = []script{{name: query.Name, weight: 1, ops: ops}}, 1
	var data *tables
	if len(w.Files) > 1 {
		data = &tables{name: p.label, create: splitStatements(w.Files[1].Text, w.Delimiter)}
		if len(data.create) == 0 {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%s: there is no statement in it", w.Files[1].Name)
		}
	}
	b := p.benchmark(data)
	b.Name, b.Label, b.Group = p.label, p.label, "query"
	b.Doc = "Runs the statements of a user in their order."
	b.Shown = func() string {
		text := ""
		for _, one := range p.sql {
			text += one.sql + w.Delimiter + "\n"
		}
		return text
	}
	return []workload.Benchmark{b}, nil
}
