package report

import (
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// HostOptions say what a report of several hosts shows.
type HostOptions struct {
	Benchmarks []string // by label or published name, also as patterns of path.Match; nil for all
	Targets    []string // by version or name; nil for all
	Verbose    bool     // below each table the verdict and interval of each number
	Markdown   bool     // else text
}

// hostRow is one run of the report: a line of its tables.
type hostRow struct {
	name   string
	report *Report
	// targets names the run's target of each column, "" if it has none.
	targets map[string]string
}

// Hosts writes tables of one benchmark over servers and targets, in the layout of
// the published reports or as Markdown: relative QPS with two decimals, a line for
// each report, in their order. What differs between the hosts beside the host stands above
// them. Reports against bases that are not the same release, an unknown benchmark
// or target, and no report at all are errors with CodeUsage.
func Hosts(w io.Writer, reports []*Report, options HostOptions) error {
	if len(reports) == 0 {
		return dbcanary.Errorf(dbcanary.CodeUsage, "there is no run to compare hosts of")
	}
	h := &hostTables{options: options}
	for _, r := range reports {
		h.rows = append(h.rows, hostRow{name: hostName(r, reports), report: r, targets: map[string]string{}})
	}
	if err := h.chooseColumns(); err != nil {
		return err
	}
	benchmarks, err := h.benchmarks()
	if err != nil {
		return err
	}
	var b strings.Builder
	h.writeDifferences(&b)
	for _, label := range benchmarks {
		if options.Markdown {
			h.markdownTable(&b, label)
		} else {
			h.writeTable(&b, label)
		}
	}
	return writeAll(w, &b)
}

// item writes a line of what differs: text of its own, or of the list below one.
func (h *hostTables) item(b *strings.Builder, inList bool, text string) {
	text = clean(text)
	switch {
	case h.options.Markdown && inList:
		text = "  - " + escapeMarkdown(text)
	case h.options.Markdown:
		text = "- " + escapeMarkdown(text)
	case inList:
		text = "- " + text
	}
	b.WriteString(text + "\n")
}

// hostTables puts the report together.
type hostTables struct {
	options HostOptions
	rows    []hostRow
	base    string
	columns []string
}

// hostName is the name of a run's host, with the run where a host has several.
func hostName(r *Report, reports []*Report) string {
	name := shortHost(r)
	for _, other := range reports {
		if other != r && shortHost(other) == name {
			return fmt.Sprintf("%s, run %d", name, r.Run.ID)
		}
	}
	return name
}

// shortHost leaves off what an import says about its numbers.
func shortHost(r *Report) string {
	name, _, _ := strings.Cut(r.Run.Host.Name, ", relative to ")
	return clean(name)
}

// columnOf names a target across runs: by its release, since the names of configs
// say on which machine they are for, or by its name where that says no more.
func (r *Report) columnOf(target string) string {
	var own dbcanary.Build
	for _, t := range r.Run.Targets {
		if t.Name == target {
			own = t.Build
		}
	}
	if own.Version == "" {
		return target
	}
	for _, t := range r.Run.Targets {
		if t.Name != target && t.Build.Version == own.Version {
			return target // two configs, or two DBMS, of one version
		}
	}
	return own.Version
}

// chooseColumns finds the base and the columns that the runs share, in the order
// in which they first appear.
func (h *hostTables) chooseColumns() error {
	var all []string
	for i := range h.rows {
		row := &h.rows[i]
		base := row.report.columnOf(row.report.base())
		if i == 0 {
			h.base = base
		}
		if base != h.base {
			return dbcanary.Errorf(dbcanary.CodeUsage, "the numbers of %s are relative to %s and those of %s to %s: name one base with --base",
				h.rows[0].name, h.base, row.name, base)
		}
		for _, target := range row.report.compared() {
			column := row.report.columnOf(target)
			row.targets[column] = target
			if !slices.Contains(all, column) {
				all = append(all, column)
			}
		}
	}
	if h.options.Targets == nil {
		h.columns = all
		return nil
	}
	for _, wanted := range h.options.Targets {
		at := slices.IndexFunc(all, func(column string) bool {
			return column == wanted || slices.ContainsFunc(h.rows, func(row hostRow) bool { return row.targets[column] == wanted })
		})
		if at < 0 {
			return dbcanary.Errorf(dbcanary.CodeUsage, "no run compares a target %q%s", wanted, dbcanary.DidYouMean(wanted, all))
		}
		if !slices.Contains(h.columns, all[at]) {
			h.columns = append(h.columns, all[at])
		}
	}
	return nil
}

// benchmarks lists those that are asked for, in the order in which they first appear.
func (h *hostTables) benchmarks() ([]string, error) {
	var all []string
	for _, row := range h.rows {
		for _, planned := range row.report.Run.Plan.Benchmarks {
			if !slices.Contains(all, planned.Label) {
				all = append(all, planned.Label)
			}
		}
	}
	if h.options.Benchmarks == nil {
		return all, nil
	}
	return chooseBenchmarks(all, h.options.Benchmarks)
}

// chooseBenchmarks gives the labels that are asked for by label, published name or
// pattern, in the order in which they are asked for.
func chooseBenchmarks(labels, wanted []string) ([]string, error) {
	var chosen []string
	for _, want := range wanted {
		found := false
		for _, label := range labels {
			matched, err := path.Match(want, label)
			if err != nil {
				return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%q is no pattern: %w", want, err)
			}
			if !matched && label != want && publishedName(label) != want {
				continue
			}
			found = true
			if !slices.Contains(chosen, label) {
				chosen = append(chosen, label)
			}
		}
		if !found {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "no run has a benchmark %q%s", want, dbcanary.DidYouMean(want, labels))
		}
	}
	return chosen, nil
}

// writeDifferences lists the servers and whatever differs beside the target.
func (h *hostTables) writeDifferences(b *strings.Builder) {
	h.item(b, false, "The servers are")
	for _, row := range h.rows {
		text := strings.TrimPrefix(strings.TrimPrefix(hostText(row.report.Run.Host), row.report.Run.Host.Name), ", ")
		if text == "" {
			text = "nothing else is known of it"
		}
		h.item(b, true, row.name+": "+text)
	}
	h.writeFact(b, "The benchmark is run with", func(r *Report) string { return workText(r.Run.Plan) })
	h.writeFact(b, "CPUs of server and client", func(r *Report) string { return string(r.Run.Plan.Placement) })
	h.writeFact(b, "Slices", func(r *Report) string { return r.noiseText() })
	h.writeFact(b, "State of the run", func(r *Report) string { return string(r.Run.State) })
	h.writeFact(b, "Problems", func(r *Report) string { return strings.Join(r.Run.Problems, "; ") })
	h.writeFact(b, h.base+" is", func(r *Report) string { return r.identity(r.base()) })
	for _, column := range h.columns {
		h.writeFact(b, column+" is", func(r *Report) string {
			for _, row := range h.rows {
				if target := row.targets[column]; row.report == r && target != "" {
					return r.identity(target)
				}
			}
			return "not in this run"
		})
	}
	about := "rQPS is QPS / QPS of " + clean(h.base) + ": above 1 is faster"
	if h.options.Markdown {
		about = escapeMarkdown(about)
	}
	b.WriteString("\n" + about + "\n")
}

// writeFact writes what a fact is: once if it is the same everywhere and nothing
// to tell otherwise, else for each run.
func (h *hostTables) writeFact(b *strings.Builder, title string, fact func(*Report) string) {
	facts := make([]string, len(h.rows))
	for i, row := range h.rows {
		facts[i] = clean(fact(row.report))
	}
	same := !slices.ContainsFunc(facts, func(one string) bool { return one != facts[0] })
	switch {
	case same && facts[0] == "":
	case same:
		h.item(b, false, title+": "+facts[0])
	default:
		h.item(b, false, title)
		for i, row := range h.rows {
			if facts[i] == "" {
				facts[i] = "not known"
			}
			h.item(b, true, row.name+": "+facts[i])
		}
	}
}

// identity says which target a column is on a host: its name, build, overlays, and
// that it was dropped.
func (r *Report) identity(target string) string {
	for _, t := range r.Run.Targets {
		if t.Name != target {
			continue
		}
		parts := []string{t.Name}
		if version := strings.TrimSpace(string(t.Build.Family) + " " + t.Build.Version); version != "" && version != t.Name {
			parts = append(parts, version)
		}
		if t.Build.Provider != "" && t.Build.Provider != "import" {
			parts = append(parts, "from "+t.Build.Provider)
		}
		if t.Build.Checksum != "" {
			parts = append(parts, shortChecksum(t.Build.Checksum))
		}
		if t.Dropped != "" {
			parts = append(parts, "dropped: "+t.Dropped)
		}
		return strings.Join(parts, ", ")
	}
	return ""
}

// ratios are the relative QPS of a benchmark by row and column, as they are printed.
func (h *hostTables) ratios(label string) [][]string {
	all := make([][]string, len(h.rows))
	for i, row := range h.rows {
		for _, column := range h.columns {
			all[i] = append(all[i], hundredths(row.comparison(label, column).QPSRatio.Ratio))
		}
	}
	return all
}

// markdownTable writes a benchmark as a table below a heading.
func (h *hostTables) markdownTable(b *strings.Builder, label string) {
	t := &table{columns: []column{{title: "server"}}}
	for _, name := range h.columns {
		t.columns = append(t.columns, column{title: "rQPS " + name, right: true})
	}
	for i, ratios := range h.ratios(label) {
		cells := []cell{{text: h.rows[i].name}}
		for _, text := range ratios {
			cells = append(cells, cell{text: text})
		}
		t.add(cells...)
	}
	one := block{title: label, table: t}
	if h.options.Verbose {
		one.after = h.verdicts(label)
	}
	b.WriteString("\n")
	one.markdown(b)
}

// writeTable writes a benchmark in the layout of the published tables.
func (h *hostTables) writeTable(b *strings.Builder, label string) {
	fmt.Fprintf(b, "\n%s\n", clean(label))
	const gap = 2
	first := len("server")
	for _, row := range h.rows {
		first = max(first, displayWidth(row.name))
	}
	write := func(head string, cells []string) {
		b.WriteString(head)
		pending := first - displayWidth(head)
		for i, one := range cells {
			b.WriteString(strings.Repeat(" ", pending+gap) + one)
			pending = max(len("rQPS"), displayWidth(clean(h.columns[i]))) - displayWidth(one)
		}
		b.WriteString("\n")
	}
	titles, rules, above := []string{}, []string{}, []string{}
	for _, column := range h.columns {
		above = append(above, "rQPS")
		titles = append(titles, clean(column))
		rules = append(rules, strings.Repeat("-", max(len("rQPS"), displayWidth(clean(column)))))
	}
	write("", above)
	write("server", titles)
	write(strings.Repeat("-", len("server")), rules)
	for i, ratios := range h.ratios(label) {
		write(h.rows[i].name, ratios)
	}
	if h.options.Verbose {
		for _, one := range h.verdicts(label) {
			b.WriteString(clean(one.text) + "\n")
		}
	}
}

// comparison finds the number of a cell; one without numbers if there is none.
func (row hostRow) comparison(label, column string) dbcanary.Comparison {
	return row.report.comparison(label, row.targets[column])
}

// verdicts says of each number of a benchmark what it means.
func (h *hostTables) verdicts(label string) []line {
	var list []line
	for _, row := range h.rows {
		for _, column := range h.columns {
			c := row.comparison(label, column)
			if math.IsNaN(c.QPSRatio.Ratio) {
				continue
			}
			list = append(list, line{text: fmt.Sprintf("%s, %s: %s, %s interval %s", row.name, column, c.Verdict, percentText(c.Level), intervalText(c.QPSRatio))})
		}
	}
	return list
}
