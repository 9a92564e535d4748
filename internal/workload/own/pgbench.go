package own

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload"
	"github.com/dbcanary/dbcanary/internal/workload/draw"
)

// Sizes of pgbench's tables at scale 1.
const (
	pgbenchTellers  = 10
	pgbenchAccounts = 100_000
	maxScale        = 20_000 // beyond which pgbench's ids have another type
)

// builtins are the scripts that pgbench has itself, by the names of its -b.
func builtins() map[string]string {
	const (
		random = "\\set aid random(1, 100000 * :scale)\n"
		rest   = "\\set bid random(1, 1 * :scale)\n\\set tid random(1, 10 * :scale)\n\\set delta random(-5000, 5000)\n"
		update = "UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n"
		read   = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n"
		both   = "UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\n" +
			"UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n"
		insert = "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n"
	)
	return map[string]string{
		"tpcb-like":     random + rest + "BEGIN;\n" + update + read + both + insert + "END;\n",
		"simple-update": random + rest + "BEGIN;\n" + update + read + insert + "END;\n",
		"select-only":   random + read,
	}
}

// pgbenchTables are those of "pgbench -i".
func pgbenchTables(scale int) *tables {
	integerType, _ := parseType("int")
	number := func(name string, number func(*draw.Source, int64) int64) column {
		return column{name: name, generator: generator{columnType: integerType, number: number, from: 1, step: 1}}
	}
	row := func(_ *draw.Source, place int64) int64 { return place }
	zero := func(*draw.Source, int64) int64 { return 0 }
	filler := func(size int, fixed value) column {
		t, _ := parseType(fmt.Sprintf("char(%d)", size))
		return column{name: "filler", generator: generator{columnType: t, fixed: &fixed}, nullable: true}
	}

	loose := func(c column) column { c.nullable = true; return c }
	branches, tellers, accounts := int64(scale), int64(scale*pgbenchTellers), int64(scale*pgbenchAccounts)
	timestampType, _ := parseType("timestamp")
	return &tables{name: "pgbench", list: []table{
		{name: "pgbench_branches", rows: branches, primary: []string{"bid"}, columns: []column{
			number("bid", row), loose(number("bbalance", zero)), filler(88, value{kind: null}),
		}},
		{name: "pgbench_tellers", rows: tellers, primary: []string{"tid"}, columns: []column{
			number("tid", row), loose(number("bid", clustered(branches, tellers, 0))), loose(number("tbalance", zero)), filler(84, value{kind: null}),
		}},
		{name: "pgbench_accounts", rows: accounts, primary: []string{"aid"}, columns: []column{
			number("aid", row), loose(number("bid", clustered(branches, accounts, 0))), loose(number("abalance", zero)), filler(84, value{kind: text}),
		}},
		{name: "pgbench_history", columns: []column{
			loose(number("tid", zero)), loose(number("bid", zero)), loose(number("aid", zero)), loose(number("delta", zero)),
			{name: "mtime", generator: generator{columnType: timestampType}, nullable: true},
			filler(22, value{kind: null}),
		}},
	}}
}

// openPgbench compiles scripts into one benchmark, which does one of them in each
// event, by their weights.
func openPgbench(w dbcanary.OwnWorkload) ([]workload.Benchmark, error) {
	var names []string
	for _, file := range w.Files {
		base := file.Name[strings.LastIndexByte(file.Name, '/')+1:]
		names = append(names, strings.TrimSuffix(strings.TrimSuffix(base, ".sql"), ".pgbench"))
	}
	label := "pgbench." + strings.Join(names, "+")
	var p *program
	known := map[string]kind{}
	for range 8 { // until the kinds of the variables follow from each other
		next, problems := compileScripts(w, label, known)
		if len(problems) > 0 {
			return nil, usage(problems)
		}
		p = next
		kinds := map[string]kind{}
		for name, slot := range p.slots {
			kinds[name] = p.kinds[slot]
		}
		if maps.Equal(kinds, known) {
			break
		}
		known = kinds
	}
	b := p.benchmark(pgbenchTables(w.Scale))
	b.Label, b.Name, b.Group = label, label, "pgbench"
	b.Doc = fmt.Sprintf("Runs pgbench scripts on the tables of pgbench -i at scale %d.", w.Scale)
	if p.several {
		for _, family := range dbcanary.Families() {
			if family != dbcanary.Postgres {
				b.Not[family] = "its script sends several statements at once"
			}
		}
	}
	b.Shown = func() string {
		text := ""
		for _, file := range w.Files {
			text += fmt.Sprintf("-- %s, weight %d\n%s\n", file.Name, max(1, file.Weight), strings.TrimRight(file.Text, "\n"))
		}
		return text
	}
	wrong, err := p.checkColumns(pgbenchTables(w.Scale), false)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, one := range wrong {
		problems = append(problems, one.op.where+": "+one.text)
	}
	return []workload.Benchmark{b}, usage(problems)
}

// compileScripts reads the scripts once, with the kinds of variables as known so far.
func compileScripts(w dbcanary.OwnWorkload, label string, known map[string]kind) (*program, []string) {
	p := &program{label: label, known: known}
	defined := map[string]bool{"scale": true, "client_id": true, "random_seed": true, "default_seed": true}
	p.preset("scale", integerValue(int64(w.Scale)))
	p.preset("default_seed", integerValue(1))
	p.preset("random_seed", integerValue(1))
	p.preset("client_id", value{})
	p.kinds[p.slot("client_id")] = integer
	for _, name := range slices.Sorted(maps.Keys(w.Defines)) {
		defined[name] = true
		p.preset(name, constantOf(w.Defines[name]))
	}
	for _, file := range w.Files {
		for _, name := range assigned(file.Text) {
			defined[name] = true
		}
	}
	var problems []string
	for _, file := range w.Files {
		r := &reader{program: p, name: file.Name, text: file.Text, defined: defined}
		ops, _, _ := r.block()
		if len(ops) == 0 && len(r.problems) == 0 {
			r.problem(0, "the script is empty")
		}
		weight := int64(max(1, file.Weight))
		p.scripts = append(p.scripts, script{file.Name, weight, ops})
		p.total += weight
		problems = append(problems, r.problems...)
	}
	if len(problems) == 0 && len(p.sql) == 0 {
		problems = append(problems, w.Files[0].Name+":1:1: the script sends no statement")
	}
	return p, problems
}

// preset gives a variable its first value.
func (p *program) preset(name string, v value) {
	at := p.slot(name)
	p.initial[at], p.kinds[at] = v, v.kind
}

// constantOf is a value given on a command line.
func constantOf(written string) value {
	if n, err := strconv.ParseInt(written, 10, 64); err == nil {
		return integerValue(n)
	}
	if f, err := strconv.ParseFloat(written, 64); err == nil {
		return doubleValue(f)
	}
	return value{kind: raw, text: []byte(written)}
}

// assigned lists the variables that a script sets.
func assigned(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), `\set`)
		if !ok || strings.TrimLeft(rest, " \t") == rest {
			continue
		}
		rest = strings.TrimLeft(rest, " \t")
		if end := nameEnd(rest, 0); end > 0 {
			names = append(names, rest[:end])
		}
	}
	return names
}

// usage is the error of what is wrong with an own workload, one problem a line.
func usage(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return dbcanary.Errorf(dbcanary.CodeUsage, "%s", strings.Join(problems, "\n"))
}
