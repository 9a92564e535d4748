package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/verdict"
)

// noiseInstances are the numbers of instances for which the noise table tells what
// they would find.
var noiseInstances = [...]int{5, 10, 20}

// writeNoise prints how much slices, blocks and instances vary on each benchmark, and
// what more or fewer instances would find. On two targets that are the same thing
// each faster or slower is a false verdict.
func (r *Report) writeNoise(w io.Writer, _ Options) error {
	variations := verdict.Variations(r.Run.Plan, r.trials)
	if len(variations) == 0 {
		return dbcanary.Errorf(dbcanary.CodeUsage, "noise is that of at least two targets; dbcanary noise TARGET measures one against itself")
	}
	var text strings.Builder
	fmt.Fprintf(&text, "host %s, %s, %s\n\n", clean(r.Run.Host.Name), clean(strings.Join(r.Run.Plan.Targets, " and ")), r.noiseText())
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	header := []string{"benchmark", "slices", "blocks", "instances", "verdict"}
	for _, n := range noiseInstances {
		header = append(header, fmt.Sprintf("found by %d", n))
	}
	fmt.Fprintln(table, strings.Join(header, "\t"))
	for _, v := range variations {
		cells := []string{
			r.noiseLabel(v.Comparison), spreadText(v.Slice), spreadText(v.Block), spreadText(v.Instance), string(v.Comparison.Verdict),
		}
		for _, n := range noiseInstances {
			cells = append(cells, spreadText(v.Detectable(n, len(variations), v.Comparison.MinEffect)))
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	// What it writes to takes everything.
	_ = table.Flush()
	text.WriteString("\nslices, blocks, instances: standard deviation of the rate of a slice within a server start, of the ratio of a\n" +
		"block, and of the ratio between pairs of starts. found by: smallest change that so many instances get a verdict\nfor in four runs of five")
	if each := r.instanceTime(); each > 0 {
		fmt.Fprintf(&text, "; an instance took %s", each.Round(100*time.Millisecond))
	}
	text.WriteString(".\n")
	if againstItself(r.Run.Plan) {
		text.WriteString(falseText(variations))
	}
	return writeAll(w, &text)
}

// noiseLabel names the target where there are several beside the base.
func (r *Report) noiseLabel(c dbcanary.Comparison) string {
	if len(r.Run.Plan.Targets) > 2 {
		return clean(c.Benchmark + ", " + c.Target)
	}
	return clean(c.Benchmark)
}

// againstItself tells whether the targets of a plan are one thing, several times: an
// A/A run.
func againstItself(p dbcanary.Plan) bool {
	for _, target := range p.Targets {
		if target != p.Targets[0] && !strings.HasPrefix(target, p.Targets[0]+"#") {
			return false
		}
	}
	return len(p.Targets) > 1
}

func falseText(variations []verdict.Variation) string {
	var wrong []string
	for _, v := range variations {
		if v.Comparison.Verdict.Differs() {
			wrong = append(wrong, clean(v.Comparison.Benchmark))
		}
	}
	text := fmt.Sprintf("Nothing differs between the targets: %d of %s false", len(wrong), countText(len(variations), "verdict is", "verdicts are"))
	if len(wrong) > 0 {
		text += " (" + strings.Join(wrong, ", ") + ")"
	}
	return text + fmt.Sprintf("; in %s of runs any may be.\n", percentText(1-variations[0].Comparison.Level))
}

// instanceTime is what one instance of every target took, from its first slice to that
// of the next; 0 with one instance.
func (r *Report) instanceTime() time.Duration {
	first := map[int]time.Time{}
	last := 0
	for i := range r.trials {
		t := &r.trials[i]
		if began, ok := first[t.Instance]; !ok || t.Started.Before(began) {
			first[t.Instance] = t.Started
		}
		last = max(last, t.Instance)
	}
	began, ok := first[0]
	if ended, there := first[last]; ok && there && last > 0 {
		return ended.Sub(began) / time.Duration(last)
	}
	return 0
}

// spreadText is a standard deviation or a change as a percentage.
func spreadText(fraction float64) string {
	switch {
	case math.IsNaN(fraction):
		return "-"
	case math.IsInf(fraction, 1) || fraction >= 10:
		return "beyond"
	case fraction < 0.01:
		return fmt.Sprintf("%.2f %%", 100*fraction)
	case fraction < 0.1:
		return fmt.Sprintf("%.1f %%", 100*fraction)
	}
	return fmt.Sprintf("%.0f %%", 100*fraction)
}
