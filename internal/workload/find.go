package workload

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// maxRange bounds IN lists and spans: a protocol counts placeholders in 16 bits.
const maxRange = 10000

// DefaultRange is the range of a benchmark with several that is named without one.
const DefaultRange = 100

// Labels lists the label of every benchmark in the order of the catalogue.
func Labels() []string {
	var labels []string
	for _, b := range Catalogue() {
		labels = append(labels, b.Label)
	}
	return labels
}

// Find gives the benchmark with a label: "scan", "read-only range=10", or
// "read-only" for its default range. The published spelling "read-only_range=10"
// is the same; a suffix to the name, ".pre" for before the writes, gives the same
// benchmark under a label of its own. Ranges other than the published ones are
// made on demand, and "threads=16" at the end gives a benchmark its own number of
// connections. Errors have dbcanary.CodeUsage.
func Find(label string) (Benchmark, error) {
	if b, ok, err := ofKind(strings.TrimSpace(label)); ok {
		return b, err
	}
	text, threads, err := cutThreads(strings.TrimSpace(label))
	if err != nil {
		return Benchmark{}, err
	}
	name, after, ranged := strings.Cut(text, "range=")
	name = strings.TrimRight(name, " _")
	size := 0
	if ranged {
		n, err := strconv.Atoi(after)
		if err != nil || n < 1 || n > maxRange {
			return Benchmark{}, dbcanary.Errorf(dbcanary.CodeUsage, "benchmark %q: the range must be a number from 1 to %d", label, maxRange)
		}
		size = n
	}
	name, phase, phased := strings.Cut(name, ".")
	if phased && phase != "pre" && phase != "warm" && phase != "warmpre" {
		return Benchmark{}, dbcanary.Errorf(dbcanary.CodeUsage, "benchmark %q: unknown suffix %q%s", label, "."+phase,
			dbcanary.DidYouMean("."+phase, []string{".pre", ".warm", ".warmpre"}))
	}
	b, err := findName(name, size)
	if err != nil {
		return Benchmark{}, err
	}
	if ranged && b.Range == 0 && size != b.UsualRange {
		return Benchmark{}, dbcanary.Errorf(dbcanary.CodeUsage, "benchmark %q: %s has no range", label, name)
	}
	if ranged && b.Range > 0 {
		b.Range = size
		b.Label = b.label()
	}
	if phased {
		b.Label = b.Name + "." + phase + strings.TrimPrefix(b.Label, b.Name)
	}
	if threads > 0 {
		b.Threads = threads
		b.Label += fmt.Sprintf(" threads=%d", threads)
	}
	return b, nil
}

// mostThreads bounds the connections of a benchmark that names their number.
const mostThreads = 10_000

// cutThreads takes "threads=16" from the end of a label; 0 if it is not there.
func cutThreads(label string) (rest string, threads int, err error) {
	rest, text, found := strings.Cut(label, "threads=")
	if !found {
		return label, 0, nil
	}
	threads, err = strconv.Atoi(text)
	if err != nil || threads < 1 || threads > mostThreads {
		return "", 0, dbcanary.Errorf(dbcanary.CodeUsage, "benchmark %q: the number of threads must be one from 1 to %d", label, mostThreads)
	}
	return strings.TrimRight(rest, " _"), threads, nil
}

// findName gives the fixed benchmark of that name, of the given range if there are several.
func findName(name string, size int) (Benchmark, error) {
	if size == 0 {
		size = DefaultRange
	}
	for _, make := range fixedLists() {
		var found *Benchmark
		list := make()
		for i := range list {
			if list[i].Name == name && (found == nil || list[i].Range == size) {
				found = &list[i]
			}
		}
		if found != nil {
			found.Label = found.label()
			return *found, nil
		}
	}
	return Benchmark{}, dbcanary.Errorf(dbcanary.CodeUsage, "unknown benchmark %q%s", name, dbcanary.DidYouMean(name, names(Catalogue())))
}

// label is the name, with the range where that is needed to tell what is meant.
func (b Benchmark) label() string {
	if b.Range == 0 || b.Range == b.UsualRange {
		return b.Name
	}
	return fmt.Sprintf("%s range=%d", b.Name, b.Range)
}

func names(list []Benchmark) []string {
	var names []string
	for _, b := range list {
		if len(names) == 0 || names[len(names)-1] != b.Name {
			names = append(names, b.Name)
		}
	}
	return names
}
