package own

import (
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// Source is how a user names own workloads, in a plan or by flags.
type Source struct {
	Workload  []string // YAML files
	Pgbench   []string // scripts of one benchmark: FILE, FILE@WEIGHT or a name that pgbench has
	Scale     int      // of pgbench's tables; 0 is 1
	Define    []string // NAME=VALUE, variables of the scripts
	Query     string   // statements, or a file of them
	Create    string   // what makes their tables
	Delimiter string   // between the statements; "" is ";"
}

// Read reads the files. Nothing of them is checked: Open does that.
func (s Source) Read() ([]dbcanary.OwnWorkload, error) {
	var list []dbcanary.OwnWorkload
	for _, path := range s.Workload {
		w, err := ReadYAML(path)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	if len(s.Pgbench) > 0 {
		defines := map[string]string{}
		for _, text := range s.Define {
			name, value, ok := strings.Cut(text, "=")
			if !ok {
				return nil, dbcanary.Errorf(dbcanary.CodeUsage, "define %q: a variable is defined as NAME=VALUE", text)
			}
			defines[name] = value
		}
		w, err := ReadPgbench(s.Pgbench, max(1, s.Scale), defines)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	} else if len(s.Define) > 0 || s.Scale > 1 {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "define and pgbench-scale are for pgbench scripts, and there are none")
	}
	if s.Query != "" {
		delimiter := s.Delimiter
		if delimiter == "" {
			delimiter = ";"
		}
		w, err := ReadQuery(s.Query, s.Create, delimiter)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	} else if s.Create != "" {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "create makes tables for a query, and there is none")
	}
	return list, nil
}

// Finder finds benchmarks of own workloads and of the catalogue.
type Finder struct{ list []workload.Benchmark }

// NewFinder compiles own workloads; errors are those of Open.
func NewFinder(workloads []dbcanary.OwnWorkload) (*Finder, error) {
	list, err := Open(workloads)
	return &Finder{list}, err
}

// Own lists the benchmarks of own workloads.
func (f *Finder) Own() []workload.Benchmark { return f.list }

// Short gives the one benchmark of own workloads that a part of its label names:
// "pgbench" or "mixed" for "store.mixed". ok is false if none or several have it.
func (f *Finder) Short(name string) (b workload.Benchmark, ok bool) {
	found := 0
	for _, one := range f.list {
		first, rest, _ := strings.Cut(one.Label, ".")
		switch name {
		case one.Label:
			return one, true
		case first, rest:
			b = one
			found++
		}
	}
	return b, found == 1
}

// Find gives the benchmark of a label. Errors have dbcanary.CodeUsage.
func (f *Finder) Find(label string) (workload.Benchmark, error) {
	var labels []string
	for _, b := range f.list {
		if b.Label == label {
			return b, nil
		}
		labels = append(labels, b.Label)
	}
	b, err := workload.Find(label)
	if err != nil && len(dbcanary.Nearest(label, labels)) > 0 {
		err = dbcanary.Errorf(dbcanary.CodeUsage, "unknown benchmark %q%s", label, dbcanary.DidYouMean(label, labels))
	}
	return b, err
}
