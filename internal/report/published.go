package report

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dbcanary/dbcanary/internal/verdict"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// writeRQPS writes relative QPS in the layout of the published reports, tab
// separated. It holds no interval and no verdict: other tools read it.
func (r *Report) writeRQPS(w io.Writer, _ Options) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Relative to: %s\n", clean(r.base()))
	var header []string
	for i, target := range r.compared() {
		fmt.Fprintf(&b, "col-%d : %s\n", i+1, clean(target))
		header = append(header, fmt.Sprintf("col-%d", i+1))
	}
	fmt.Fprintf(&b, "\n%s\n", strings.Join(header, "\t"))
	names, rows := r.rqps()
	for _, name := range names {
		fmt.Fprintf(&b, "%s\t%s\n", strings.Join(rows[name], "\t"), name)
	}
	return writeAll(w, &b)
}

// writeRQPSMarkdown writes the same as a table.
func (r *Report) writeRQPSMarkdown(w io.Writer, _ Options) error {
	var b strings.Builder
	t := &table{columns: []column{{title: "benchmark"}}}
	for _, target := range r.compared() {
		t.columns = append(t.columns, column{title: target, right: true})
	}
	names, rows := r.rqps()
	for _, name := range names {
		cells := []cell{{text: name}}
		for _, text := range rows[name] {
			cells = append(cells, cell{text: text})
		}
		t.add(cells...)
	}
	block{title: "QPS relative to " + r.base(), table: t}.markdown(&b)
	return writeAll(w, &b)
}

// rqps gives the published names of the benchmarks in their order, and of each the
// relative QPS of the targets.
func (r *Report) rqps() (names []string, rows map[string][]string) {
	rows = map[string][]string{}
	published := map[string]string{}
	for _, c := range r.Comparisons {
		name := published[c.Benchmark]
		if name == "" {
			name = publishedName(c.Benchmark)
			published[c.Benchmark] = name
			names = append(names, name)
		}
		rows[name] = append(rows[name], hundredths(c.QPSRatio.Ratio))
	}
	sortPublished(names)
	return names, rows
}

// writeSummary writes the summary of groups in the layout of the published
// reports: min, max, avg and median of the relative QPS. With several targets
// each has a table, with its name in the corner.
func (r *Report) writeSummary(w io.Writer, _ Options) error {
	var b strings.Builder
	for i, target := range r.compared() {
		corner := ""
		if len(r.compared()) > 1 {
			corner = clean(target)
		}
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s\tmin\tmax\tavg\tmedian\n", corner)
		groups := slices.DeleteFunc(slices.Clone(r.Groups), func(g verdict.Group) bool { return g.Target != target })
		for _, g := range groups {
			switch {
			case g.Name == "" && len(groups) > 1:
				continue
			case g.Name == "": // benchmarks of other tools, of which nobody knows a group
				g.Name = "all"
			}
			fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\n", clean(g.Name), hundredths(g.Min), hundredths(g.Max), hundredths(g.Avg), hundredths(g.Median))
		}
	}
	return writeAll(w, &b)
}

// hundredths prints a ratio as the published scripts do (awk's "%.2f"), "NA" if there is none.
func hundredths(ratio float64) string {
	return fixed(ratio, 2, "NA")
}

// publishedName is the name of a benchmark in published tables. One that the
// catalogue does not have keeps its label, with no blanks in it, and so does the
// number of connections where the label has one: it tells rows apart.
func publishedName(label string) string {
	if benchmark, err := workload.Find(label); err == nil {
		name := benchmark.PublishedName()
		if _, threads, ok := strings.Cut(label, " threads="); ok && !strings.Contains(name, "threads=") {
			name += "_threads=" + threads
		}
		return name
	}
	return strings.ReplaceAll(clean(label), " ", "_")
}

var (
	publishedPoint = regexp.MustCompile(`point`)
	publishedWrite = regexp.MustCompile(`delete|insert|update|write`)
	publishedRange = regexp.MustCompile(`^(.*)_range=([0-9]+)$`)
	namedThreads   = regexp.MustCompile(`^(.*)_threads=([0-9]+)$`)
)

// sortPublished puts names into the order of the published tables: point
// queries, other reads, writes (they match names in this way); by letters and
// digits alone within, the larger range first, and fewer connections before more.
func sortPublished(names []string) {
	type key struct {
		class   int
		stem    string
		size    int
		threads int
	}
	keyOf := func(name string) key {
		k := key{class: 1}
		switch {
		case publishedPoint.MatchString(name):
			k.class = 0
		case publishedWrite.MatchString(name):
			k.class = 2
		}
		stem := name
		if match := namedThreads.FindStringSubmatch(stem); match != nil {
			stem = match[1]
			k.threads, _ = strconv.Atoi(match[2]) // as below
		}
		if match := publishedRange.FindStringSubmatch(stem); match != nil {
			stem = match[1] + "range"
			k.size, _ = strconv.Atoi(match[2]) // digits; too many of them sort as equal
		}
		k.stem = strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, stem)
		return k
	}
	slices.SortStableFunc(names, func(a, b string) int {
		x, y := keyOf(a), keyOf(b)
		return cmp.Or(cmp.Compare(x.class, y.class), cmp.Compare(x.stem, y.stem), cmp.Compare(y.size, x.size), cmp.Compare(x.threads, y.threads), cmp.Compare(a, b))
	})
}
