package workload

import (
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// kind is a set of benchmarks, and suites of them, whose names have parameters:
// "sql-bench.insert.select_key scale=1". Those without are in the catalogue.
type kind struct {
	prefix     string   // of the names of all its benchmarks
	parameters []string // that may follow a name
	find       func(name string, parameters map[string]string) (Benchmark, error)
	suite      func(parameters map[string]string) (Suite, error) // named like the prefix
}

func kinds() []kind {
	return []kind{sqlBenchKind(), insertBenchmarkKind()}
}

// ofKind finds a benchmark of a kind; ok tells whether the label is one of such.
func ofKind(label string) (b Benchmark, ok bool, err error) {
	for _, k := range kinds() {
		if !strings.HasPrefix(label, k.prefix+".") {
			continue
		}
		for _, parameter := range k.parameters { // spelled as published names are
			label = strings.ReplaceAll(label, "_"+parameter+"=", " "+parameter+"=")
		}
		name, _, _ := strings.Cut(label, " ")
		parameters, err := k.parse(label)
		if err != nil {
			return b, true, err
		}
		b, err = k.find(name, parameters)
		return b, true, err
	}
	return b, false, nil
}

// suiteOfKind finds a suite of a kind by its name with parameters.
func suiteOfKind(label string) (s Suite, ok bool, err error) {
	name, _, _ := strings.Cut(label, " ")
	for _, k := range kinds() {
		if name != k.prefix {
			continue
		}
		parameters, err := k.parse(label)
		if err != nil {
			return s, true, err
		}
		s, err = k.suite(parameters)
		return s, true, err
	}
	return s, false, nil
}

// parse reads what follows the name: "scale=1 clients=2".
func (k kind) parse(label string) (map[string]string, error) {
	parameters := map[string]string{}
	for _, field := range strings.Fields(label)[1:] {
		name, value, ok := strings.Cut(field, "=")
		if !ok || !slices.Contains(k.parameters, name) {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%q: unknown parameter %q%s", label, name, dbcanary.DidYouMean(name, k.parameters))
		}
		if _, twice := parameters[name]; twice {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%q: %s is given twice", label, name)
		}
		parameters[name] = value
	}
	return parameters, nil
}
