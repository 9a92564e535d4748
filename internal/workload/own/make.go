package own

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/config"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// Limits of an own workload.
const (
	maxRows  = 1 << 31
	maxTimes = 10_000
	maxList  = 10_000 // a protocol counts placeholders in 16 bits
)

var (
	identifier = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,59}$`)
	labelWord  = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	reserved   = regexp.MustCompile(`^(sbtest\d+|pgbench_.*)$`)
)

// openYAML compiles the benchmarks of a YAML file.
func openYAML(w dbcanary.OwnWorkload) ([]workload.Benchmark, error) {
	d := document{Name: nameOf(w.Files[0].Name)}
	m := &maker{files: map[string]string{}, seen: map[string]bool{}}
	for _, file := range w.Files[1:] {
		m.files[file.Name] = file.Text
	}
	m.File = config.ReadYAML(w.Files[0].Name, []byte(w.Files[0].Text), &d)
	if err := m.Err(); err != nil {
		return nil, err
	}
	if !labelWord.MatchString(d.Name) {
		m.Problem("name", "the name %q has other characters than letters, digits, - and _", d.Name)
	}
	data := &tables{name: d.Name}
	for _, entry := range d.Tables {
		data.list = append(data.list, m.table("tables."+entry.Key, entry.Key, entry.Value))
	}
	if len(d.Benchmarks) == 0 {
		m.Problem("", "the file has no benchmarks")
	}
	var programs []*program
	for _, entry := range d.Benchmarks {
		programs = append(programs, m.program("benchmarks."+entry.Key, d.Name, entry.Key, entry.Value))
	}
	if err := m.Err(); err != nil {
		return nil, err
	}
	for i := range data.list {
		data.list[i].unicode = m.unicode
	}
	var list []workload.Benchmark
	for i, entry := range d.Benchmarks {
		problems, err := programs[i].checkColumns(data, true)
		if err != nil {
			return nil, err
		}
		for _, one := range problems {
			m.Problem(one.op.path, "%s", one.text)
		}
		list = append(list, m.benchmark(programs[i], data, "benchmarks."+entry.Key, entry.Value))
	}
	return list, m.Err()
}

// nameOf is the name of a workload that has no other: the file's without its end.
func nameOf(path string) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for _, end := range []string{".yaml", ".yml", ".sql"} {
		base = strings.TrimSuffix(base, end)
	}
	return base
}

func (m *maker) benchmark(p *program, data *tables, path string, spec benchmarkSpec) workload.Benchmark {
	b := p.benchmark(data)
	b.Name, b.Label, b.Doc, b.Group, b.Threads = p.label, p.label, spec.Doc, spec.Group, spec.Threads
	if b.Group == "" {
		b.Group = data.name
	}
	if spec.Threads < 0 {
		m.Problem(path+".threads", "threads must be above 0")
	}
	b.Not, b.Ignore = families(m, path+".not", spec.Not), families(m, path+".ignore", spec.Ignore)
	b.Shown = func() string {
		text := ""
		for i, one := range spec.Transactions {
			text += shownTransaction(one, p.scripts[i].weight)
		}
		return text
	}
	return b
}

func shownTransaction(t transactionSpec, weight int64) string {
	var out strings.Builder
	fmt.Fprintf(&out, "-- %sweight %d\n", strings.TrimLeft(t.Name+", ", ", "), weight)
	if t.Begin {
		out.WriteString("BEGIN\n")
	}
	for _, s := range t.Statements {
		if s.Times != nil && *s.Times > 1 {
			fmt.Fprintf(&out, "%d x ", *s.Times)
		}
		out.WriteString(strings.TrimRight(s.SQL, "\n") + "\n")
	}
	if t.Begin {
		out.WriteString("COMMIT\n")
	}
	return out.String()
}

// table compiles a table.
func (m *maker) table(path, name string, spec tableSpec) table {
	t := table{name: name, rows: spec.Rows, primary: spec.PrimaryKey}
	m.identifier(path, name)
	if reserved.MatchString(name) {
		m.KeyProblem(path, "the table %s is one of dbcanary's or pgbench's own; take another name", name)
	}
	m.once(path, name)
	if spec.Rows < 0 || spec.Rows > maxRows {
		m.Problem(path+".rows", "rows must be from 0 to %d", maxRows)
		t.rows = 0
	}
	if len(spec.Columns) == 0 {
		m.Problem(path, "the table has no columns")
	}
	var names []string
	for _, entry := range spec.Columns {
		at := path + ".columns." + entry.Key
		m.identifier(at, entry.Key)
		c := column{name: entry.Key, auto: entry.Value.Auto, nullable: entry.Value.Nulls > 0}
		if entry.Value.Type == "" {
			m.KeyProblem(at, "column %s has no type; there are %q", entry.Key, typeWords())
		} else {
			c.generator = m.generator(at, entry.Value, max(1, t.rows))
		}
		if entry.Value.List != 0 {
			m.Problem(at+".list", "a column has no list: that is for parameters")
		}
		if c.auto && (c.kind != integer || !slices.Equal(t.primary, []string{entry.Key})) {
			m.Problem(at+".auto", "auto is for an integer that is the primary key alone")
		}
		names = append(names, entry.Key)
		t.columns = append(t.columns, c)
	}
	m.columns(path+".primary-key", spec.PrimaryKey, names)
	for _, column := range t.columns {
		if column.nullable && slices.Contains(t.primary, column.name) {
			m.Problem(path+".primary-key", "column %s has nulls, which no primary key may", column.name)
		}
	}
	for _, entry := range spec.Indexes {
		at := path + ".indexes." + entry.Key
		m.identifier(at, entry.Key)
		m.once(at, entry.Key)
		if len(entry.Value.Columns) == 0 {
			m.Problem(at, "the index has no columns")
		}
		m.columns(at+".columns", entry.Value.Columns, names)
		t.indexes = append(t.indexes, index{entry.Key, entry.Value.Columns, entry.Value.Unique})
	}
	return t
}

func (m *maker) identifier(path, name string) {
	if !identifier.MatchString(name) {
		m.KeyProblem(path, "the name %q has other characters than small letters, digits and _", name)
	}
}

// once tells of a name that two tables or indexes have: some families have one
// space of names for both.
func (m *maker) once(path, name string) {
	if m.seen[name] {
		m.KeyProblem(path, "another table or index has the name %s", name)
	}
	m.seen[name] = true
}

func (m *maker) columns(path string, given, known []string) {
	for i, name := range given {
		if !slices.Contains(known, name) {
			m.Problem(fmt.Sprintf("%s[%d]", path, i), "the table has no column %q%s", name, dbcanary.DidYouMean(name, known))
		}
	}
}

// program compiles the transactions of a benchmark.
func (m *maker) program(path, workloadName, name string, spec benchmarkSpec) *program {
	p := &program{label: workloadName + "." + name}
	if !labelWord.MatchString(name) {
		m.KeyProblem(path, "the name %q has other characters than letters, digits, - and _", name)
	}
	if len(spec.Transactions) == 0 {
		m.KeyProblem(path, "the benchmark has no transactions")
	}
	for i, one := range spec.Transactions {
		at := fmt.Sprintf("%s.transactions[%d]", path, i)
		weight := 1
		if one.Weight != nil {
			weight = *one.Weight
		}
		if weight < 1 {
			m.Problem(at+".weight", "weight must be above 0, not %d; leave out what shall not run", weight)
		}
		p.scripts = append(p.scripts, script{name: one.Name, weight: int64(weight), ops: m.transaction(p, at, one)})
		p.total += int64(weight)
	}
	return p
}

// transaction compiles one. Its parameters are drawn once, those of a statement each
// time that it runs.
func (m *maker) transaction(p *program, path string, spec transactionSpec) []op {
	scope := map[string]bool{}
	ops := m.params(p, path+".params", spec.Params, scope)
	if len(spec.Statements) == 0 {
		m.Problem(path, "the transaction has no statements")
	}
	if spec.Begin {
		ops = append(ops, p.statement(m.Where(path+".begin"), "BEGIN"))
	}
	used := map[string]bool{}
	for i, one := range spec.Statements {
		ops = append(ops, m.statement(p, fmt.Sprintf("%s.statements[%d]", path, i), one, scope, used))
	}
	if spec.Begin {
		ops = append(ops, p.statement(m.Where(path+".begin"), "COMMIT"))
	}
	for _, entry := range spec.Params {
		if !used[entry.Key] {
			m.KeyProblem(path+".params."+entry.Key, "no statement uses the parameter %s", entry.Key)
		}
	}
	return ops
}

// statement adds a statement to the program.
func (p *program) statement(where, sql string) *sqlOp {
	o := &sqlOp{index: len(p.sql), where: where, sql: sql}
	p.sql = append(p.sql, o)
	p.writes = p.writes || changes(sql)
	return o
}

func (m *maker) params(p *program, path string, specs config.Map[valueSpec], scope map[string]bool) []op {
	var ops []op
	for _, entry := range specs {
		at := path + "." + entry.Key
		if !isName(entry.Key) {
			m.KeyProblem(at, "the name %q has other characters than letters, digits and _", entry.Key)
		}
		if scope[entry.Key] {
			m.KeyProblem(at, "the transaction has a parameter %s already", entry.Key)
		}
		scope[entry.Key] = true
		spec := entry.Value
		g := m.generator(at, spec, 0)
		if spec.Auto || spec.Nulls != 0 {
			m.Problem(at, "a parameter has neither auto nor nulls: those are for columns")
		}
		if spec.List < 0 || spec.List > maxList {
			m.Problem(at+".list", "a list has 1 to %d values", maxList)
			spec.List = 1
		}
		g.count = spec.List
		slot := p.slot(entry.Key)
		k := g.kind
		if g.count > 0 {
			k = list
			p.initial[slot].list = make([]value, g.count)
			for i := range p.initial[slot].list {
				p.initial[slot].list[i].kind = g.kind
			}
		}
		if p.kinds[slot] != unset && p.kinds[slot] != k || k == list && p.initial[slot].kind == list && len(p.initial[slot].list) != g.count {
			m.KeyProblem(at, "the parameter %s has another type or length in another transaction", entry.Key)
		}
		p.kinds[slot], p.initial[slot].kind = k, k
		o := &drawOp{slot: slot, generator: &g}
		if g.sequence {
			o.counter = p.counters
			p.counters++
		}
		ops = append(ops, o)
	}
	return ops
}

// statement compiles one with its own parameters.
func (m *maker) statement(p *program, path string, spec statementSpec, outer, used map[string]bool) op {
	scope := map[string]bool{}
	for name := range outer {
		scope[name] = true
	}
	ops := m.params(p, path+".params", spec.Params, scope)
	if strings.TrimSpace(spec.SQL) == "" {
		m.Problem(path, "the statement has no sql")
		return &repeatOp{}
	}
	at := path + ".sql"
	if !m.Has(at) {
		at = path
	}
	o := p.statement(m.Where(at), strings.TrimRight(strings.TrimSpace(spec.SQL), "; \n"))
	o.path = at
	o.dialect = families(m, path+".on", spec.On)
	o.asText = spec.Text
	texts := map[string]string{at: o.sql}
	for name, sql := range spec.On {
		texts[path+".on."+name] = sql
		p.writes = p.writes || changes(sql)
	}
	for where, sql := range texts {
		m.parameters(where, sql, scope, used)
	}
	for _, entry := range spec.Params {
		if !used[entry.Key] {
			m.KeyProblem(path+".params."+entry.Key, "the statement does not use the parameter %s", entry.Key)
		}
	}
	if m.Has(path+".rows") && m.Has(path+".changed") {
		m.Problem(path+".changed", "a statement returns rows or changes some: give one of rows and changed")
	}
	o.answer = answer{spec.Rows.given || spec.Changed.given, spec.Changed.given, spec.Rows.least, spec.Rows.most}
	if spec.Changed.given {
		o.answer.least, o.answer.most = spec.Changed.least, spec.Changed.most
	}
	ops = append(ops, o)
	times := 1
	if spec.Times != nil {
		times = *spec.Times
	}
	if times < 1 || times > maxTimes {
		m.Problem(path+".times", "times must be from 1 to %d", maxTimes)
	}
	return &repeatOp{times, ops}
}

// parameters tells of variables of a statement that no parameter has.
func (m *maker) parameters(path, sql string, scope, used map[string]bool) {
	if len(splitStatements(sql, ";")) > 1 {
		m.Problem(path, "a statement of several: write each as one of its own")
	}
	for _, piece := range pieces(sql) {
		if piece.variable == "" || piece.inside {
			continue
		}
		used[piece.variable] = true
		if !scope[piece.variable] {
			m.Problem(path, "the statement has no parameter :%s%s", piece.variable, didYouMean(piece.variable, scope))
		}
	}
}
