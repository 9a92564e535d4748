package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/exchange"
)

// sweep is a benchmark that was measured at several numbers of connections.
type sweep struct {
	name   string // without the number
	points []sweepPoint
}

type sweepPoint struct {
	label   string
	threads int // 0 if nobody knows
}

// sweeps gathers the benchmarks of the plan that differ by their number of
// connections alone, in the order of the plan. One that names no number has the plan's.
func (r *Report) sweeps() []sweep {
	var list []sweep
	for _, planned := range r.Run.Plan.Benchmarks {
		name, threads := planned.Label, r.Run.Plan.Threads
		// The label says it, of benchmarks that the catalogue does not have, too.
		if rest, text, ok := strings.Cut(planned.Label, " threads="); ok {
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				name, threads = rest, n
			}
		}
		at := slices.IndexFunc(list, func(s sweep) bool { return s.name == name })
		if at < 0 {
			at = len(list)
			list = append(list, sweep{name: name})
		}
		list[at].points = append(list[at].points, sweepPoint{planned.Label, threads})
	}
	return list
}

// clients is how many connections there were, as tables have it.
func (p sweepPoint) clients() string {
	if p.threads == 0 {
		return "NA"
	}
	return strconv.Itoa(p.threads)
}

// eventRates gives events by second, by benchmark and target: the median over
// instances. Of imported results that tell no events it is the rate that they tell.
func (r *Report) eventRates() map[[2]string]float64 {
	imported := map[string]bool{}
	for _, target := range r.Run.Targets {
		imported[target.Name] = target.Build.Provider == exchange.ProviderImport
	}
	events := func(t *dbcanary.Trial) float64 {
		switch {
		case t.Events > 0:
			return float64(t.Events)
		case imported[t.Target]:
			return float64(t.Operations)
		}
		return math.NaN()
	}
	rates := map[[2]string]float64{}
	for key, trials := range counted(r.trials) {
		rates[key] = medianOfSums(trials, events, func(t *dbcanary.Trial) float64 { return float64(t.ElapsedNs) / 1e9 })
	}
	return rates
}

// writeSweep writes the table of bug reports on concurrency: events by second at
// each number of connections, and how many times the base's is each target's.
func (r *Report) writeSweep(w io.Writer, _ Options) error {
	rates := r.eventRates()
	var b strings.Builder
	for i, s := range r.sweeps() {
		if i > 0 {
			b.WriteString("\n")
		}
		rows := [][]string{append([]string{clean(s.name)}, versionNames(r.Run)...), {"threads"}}
		for range r.Run.Plan.Targets {
			rows[1] = append(rows[1], "throughput")
		}
		for range r.compared() {
			rows[0], rows[1] = append(rows[0], ""), append(rows[1], "throughput ratio")
		}
		for _, p := range s.points {
			row := []string{p.clients()}
			base := rateOf(rates, p.label, r.base())
			for _, target := range r.Run.Plan.Targets {
				row = append(row, fixed(rateOf(rates, p.label, target), 2, ""))
			}
			for _, target := range r.compared() {
				row = append(row, fixed(base/rateOf(rates, p.label, target), 2, ""))
			}
			rows = append(rows, row)
		}
		boxed(&b, rows)
	}
	return writeAll(w, &b)
}

// rateOf is NaN where nothing was measured.
func rateOf(rates map[[2]string]float64, label, target string) float64 {
	if rate, ok := rates[[2]string{label, target}]; ok {
		return rate
	}
	return math.NaN()
}

// versionNames gives family and version of each target, or its name where two are alike.
func versionNames(run dbcanary.Run) []string {
	var names []string
	for _, t := range run.Targets {
		name := strings.TrimSpace(string(t.Build.Family) + " " + t.Build.Version)
		alike := slices.ContainsFunc(run.Targets, func(other dbcanary.Target) bool {
			return other.Name != t.Name && other.Build.Version == t.Build.Version && other.Build.Family == t.Build.Family
		})
		if alike || t.Build.Version == "" {
			name = t.Name
		}
		names = append(names, clean(name))
	}
	return names
}

// boxed draws a table as the mysql client does.
func boxed(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], displayWidth(text))
		}
	}
	rule := "+"
	for _, width := range widths {
		rule += strings.Repeat("-", width+2) + "+"
	}
	b.WriteString(rule + "\n")
	for _, row := range rows {
		for i, text := range row {
			fmt.Fprintf(b, "| %s%s ", text, strings.Repeat(" ", widths[i]-displayWidth(text)))
		}
		b.WriteString("|\n" + rule + "\n")
	}
}

// writeResponse writes response times as the reports on low concurrency have them:
// seconds that a client takes for a query, over those of the base at the fewest
// connections. Above 1 is slower.
func (r *Report) writeResponse(w io.Writer, _ Options) error {
	rates := r.eventRates()
	var b strings.Builder
	t := &table{columns: []column{{title: "query"}, {title: "clients", right: true}}}
	for _, target := range r.Run.Plan.Targets {
		t.columns = append(t.columns, column{title: target, right: true})
	}
	for _, s := range r.sweeps() {
		first := slices.MinFunc(s.points, func(a, b sweepPoint) int { return a.threads - b.threads })
		unit := float64(first.threads) / rateOf(rates, first.label, r.base())
		for _, p := range s.points {
			cells := []cell{{text: s.name}, {text: p.clients()}}
			for _, target := range r.Run.Plan.Targets {
				cells = append(cells, cell{text: fixed(float64(p.threads)/rateOf(rates, p.label, target)/unit, 2, "")})
			}
			t.add(cells...)
		}
	}
	fmt.Fprintf(&b, "Response time relative to %s at the fewest clients; above 1 is slower\n\n%s", clean(r.base()), t.text(0, false))
	return writeAll(w, &b)
}
