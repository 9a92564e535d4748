// Package own makes benchmarks of what users bring: a YAML file with tables,
// generators and weighted transactions, pgbench scripts as they are, or statements
// as mysqlslap takes them. Everything is checked before anything starts, and told
// with file, line and column. docs/format/workload.md is its manual.
package own

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/config"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// maxText bounds what a plan keeps of one file.
const maxText = 8 << 20

// Open compiles own workloads. Two benchmarks or tables of one name are an error,
// as are all problems of the files, with dbcanary.CodeUsage.
func Open(workloads []dbcanary.OwnWorkload) ([]workload.Benchmark, error) {
	var all []workload.Benchmark
	labels, owners := map[string]bool{}, map[string]string{}
	scale := 0
	for _, w := range workloads {
		if w.Kind == dbcanary.OwnPgbench {
			if scale != 0 && scale != w.Scale {
				return nil, dbcanary.Errorf(dbcanary.CodeUsage, "pgbench's tables have one scale in a run, not %d and %d", scale, w.Scale)
			}
			scale = w.Scale
		}
		list, err := open(w)
		if err != nil {
			return nil, err
		}
		for _, b := range list {
			if labels[b.Label] {
				return nil, dbcanary.Errorf(dbcanary.CodeUsage, "two workloads have a benchmark %q: give one another name", b.Label)
			}
			labels[b.Label] = true
			data, ok := b.Tables.(*tables)
			if !ok {
				continue
			}
			for _, name := range data.Tables() {
				if owner, ok := owners[name]; ok && owner != data.name {
					return nil, dbcanary.Errorf(dbcanary.CodeUsage, "the workloads %q and %q both have a table %s", owner, data.name, name)
				}
				owners[name] = data.name
			}
		}
		all = append(all, list...)
	}
	return all, nil
}

func open(w dbcanary.OwnWorkload) ([]workload.Benchmark, error) {
	if len(w.Files) == 0 {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "an own workload has no file")
	}
	switch w.Kind {
	case dbcanary.OwnYAML:
		return openYAML(w)
	case dbcanary.OwnPgbench:
		return openPgbench(w)
	case dbcanary.OwnQuery:
		return openQuery(w)
	}
	return nil, dbcanary.Errorf(dbcanary.CodeUsage, "unknown kind %q of own workload", w.Kind)
}

// benchmark is what all own workloads have in common.
func (p *program) benchmark(data *tables) workload.Benchmark {
	b := workload.Benchmark{
		Writes: p.writes, Bounded: p.writes, AnswersOnly: !p.sleeps,
		Not: map[dbcanary.Family]string{}, Ignore: map[dbcanary.Family][]string{},
	}
	if data != nil {
		b.Tables = data
	}
	b.Program = func(ctx context.Context, env workload.Env) (workload.Work, error) {
		return p.newSession(ctx, env, b.Ignorable(env.Family))
	}
	return b
}

// ReadYAML reads a workload file and the files of values that it names, relative to it.
func ReadYAML(path string) (dbcanary.OwnWorkload, error) {
	w := dbcanary.OwnWorkload{Kind: dbcanary.OwnYAML}
	file, err := read(path)
	if err != nil {
		return w, err
	}
	w.Files = append(w.Files, file)
	var d document
	config.ReadYAML(path, []byte(file.Text), &d) // what is wrong with it is told by Open
	for _, name := range d.paths() {
		at := name
		if !filepath.IsAbs(name) {
			at = filepath.Join(filepath.Dir(path), name)
		}
		values, err := read(at)
		if err != nil {
			return w, err
		}
		values.Name = name
		w.Files = append(w.Files, values)
	}
	return w, nil
}

// paths lists the files of values.
func (d *document) paths() []string {
	var list []string
	add := func(specs config.Map[valueSpec]) {
		for _, entry := range specs {
			if file := entry.Value.File; file != nil && file.Path != "" && !slices.Contains(list, file.Path) {
				list = append(list, file.Path)
			}
		}
	}
	for _, t := range d.Tables {
		add(t.Value.Columns)
	}
	for _, b := range d.Benchmarks {
		for _, transaction := range b.Value.Transactions {
			add(transaction.Params)
			for _, statement := range transaction.Statements {
				add(statement.Params)
			}
		}
	}
	return list
}

// ReadPgbench reads scripts, each "FILE", "FILE@WEIGHT" or the name of one that pgbench
// has itself.
func ReadPgbench(scripts []string, scale int, defines map[string]string) (dbcanary.OwnWorkload, error) {
	w := dbcanary.OwnWorkload{Kind: dbcanary.OwnPgbench, Scale: scale, Defines: defines}
	if scale < 1 || scale > maxScale {
		return w, dbcanary.Errorf(dbcanary.CodeUsage, "the scale of pgbench's tables must be from 1 to %d, not %d", maxScale, scale)
	}
	for name := range defines {
		if !isName(name) {
			return w, dbcanary.Errorf(dbcanary.CodeUsage, "%q is no name of a variable", name)
		}
	}
	for _, written := range scripts {
		path, weight := written, 1
		if at := strings.LastIndexByte(written, '@'); at >= 0 {
			n, err := strconv.Atoi(written[at+1:])
			if err != nil || n < 1 || n > 1_000_000 {
				return w, dbcanary.Errorf(dbcanary.CodeUsage, "script %q: the weight %q is no number above 0", written, written[at+1:])
			}
			path, weight = written[:at], n
		}
		file := dbcanary.OwnFile{Name: path, Text: builtins()[path]}
		if file.Text == "" {
			var err error
			if file, err = read(path); err != nil {
				return w, err
			}
		}
		file.Weight = weight
		w.Files = append(w.Files, file)
	}
	return w, nil
}

// ReadQuery takes statements, or the names of files with them.
func ReadQuery(query, create, delimiter string) (dbcanary.OwnWorkload, error) {
	w := dbcanary.OwnWorkload{Kind: dbcanary.OwnQuery, Delimiter: delimiter}
	if delimiter == "" {
		return w, dbcanary.Errorf(dbcanary.CodeUsage, "the delimiter between statements is empty")
	}
	for i, given := range []string{query, create} {
		if given == "" && i > 0 {
			break
		}
		file := dbcanary.OwnFile{Name: []string{"query", "create"}[i], Text: given}
		if info, err := os.Stat(given); err == nil && info.Mode().IsRegular() {
			if file, err = read(given); err != nil {
				return w, err
			}
		}
		w.Files = append(w.Files, file)
	}
	return w, nil
}

func read(path string) (dbcanary.OwnFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return dbcanary.OwnFile{}, dbcanary.Errorf(dbcanary.CodeUsage, "read a workload: %w", err)
	}
	if len(text) > maxText {
		return dbcanary.OwnFile{}, dbcanary.Errorf(dbcanary.CodeUsage, "read a workload: %s has %d MiB, more than the %d that a plan keeps", path, len(text)>>20, maxText>>20)
	}
	if strings.ContainsRune(string(text), 0) {
		return dbcanary.OwnFile{}, dbcanary.Errorf(dbcanary.CodeUsage, "read a workload: %s is no text", path)
	}
	return dbcanary.OwnFile{Name: path, Text: string(text)}, nil
}
