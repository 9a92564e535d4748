package planfile

import (
	"fmt"
	"slices"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/plan"
	"github.com/dbcanary/dbcanary/internal/workload"
)

const (
	paired  = "paired"
	classic = string(dbcanary.ModeClassic)
)

// Modes lists the values of mode, the default one first.
func Modes() []string { return []string{paired, classic} }

// mode sets what the mode of a plan decides, once all else of it is there.
func (c *checker) mode(p *dbcanary.Plan) {
	if c.file.Time != nil {
		p.BudgetNs = int64(*c.file.Time)
	} else if c.file.Mode != classic {
		p.BudgetNs = int64(DefaultTime)
	}
	if c.file.Mode != classic {
		return
	}
	p.Mode = dbcanary.ModeClassic
	if p.Blocks > 1 {
		c.key("blocks", "can't be %d in the classic mode, which runs each benchmark once in an instance", p.Blocks)
	}
	for _, one := range p.Benchmarks {
		if benchmark, err := c.own.Find(one.Label); err == nil && benchmark.Cold {
			c.value("mode", "mode can't be classic with %s: it needs a server that has just started, and the classic mode measures on the one that was loaded", one.Label)
		}
	}
}

// steps gives what an instance does where that is more than the benchmarks, which are
// those before each is repeated for several numbers of connections.
func (c *checker) steps(planned []dbcanary.PlannedBenchmark) []dbcanary.PlannedStep {
	var suite workload.Suite
	if len(c.file.Benchmarks) == 0 && !c.onlyOwn() {
		suite, _ = workload.FindSuite(c.file.Suite) // what is wrong with the name is told already
	}
	inSuite := map[string]bool{}
	for _, step := range suite.Steps {
		inSuite[step.Label] = true
	}
	var list []workload.SuiteStep
	for _, one := range planned {
		if !inSuite[one.Label] { // a list, or work of the user beside the suite
			list = append(list, workload.SuiteStep{Label: one.Label, Group: one.Group})
		}
	}
	list = append(list, suite.Steps...)
	if c.file.Mode == classic {
		return c.classicSteps(list)
	}
	return c.pairedSteps(list)
}

// classicSteps are all steps, each with its published time.
func (c *checker) classicSteps(list []workload.SuiteStep) []dbcanary.PlannedStep {
	var steps []dbcanary.PlannedStep
	for _, step := range list {
		label, suffixes := step.Label, []string{""}
		switch {
		case step.PerTable:
			label += fmt.Sprintf(" threads=%d", c.file.Tables)
		case step.Group != "":
			suffixes = c.threadsOf(label)
		}
		slices := 0.0
		if benchmark, err := c.own.Find(step.Label); err == nil && !step.Settle {
			slices = step.Slices(benchmark)
		}
		for _, suffix := range suffixes {
			steps = append(steps, dbcanary.PlannedStep{Label: label + suffix, Slices: slices})
		}
	}
	return steps
}

// pairedSteps are the benchmarks that are reported, and maintenance after those that
// write: warm-ups are in vain where the caches of each instance are warmed, and loaded
// data are settled before they are copied. Without maintenance there are none.
func (c *checker) pairedSteps(list []workload.SuiteStep) []dbcanary.PlannedStep {
	var steps []dbcanary.PlannedStep
	wrote := false
	for _, step := range list {
		if step.Settle && wrote {
			steps = append(steps, dbcanary.PlannedStep{})
		}
		if step.Group == "" {
			continue
		}
		benchmark, err := c.own.Find(step.Label)
		wrote = wrote || err == nil && benchmark.Writes
		for _, suffix := range c.threadsOf(step.Label) {
			steps = append(steps, dbcanary.PlannedStep{Label: step.Label + suffix})
		}
	}
	if !slices.Contains(steps, dbcanary.PlannedStep{}) {
		return nil
	}
	return steps
}

// classicSteps says what a run in the classic mode does.
func (o *Outline) classicSteps(line func(string, ...any)) {
	p := o.Plan
	settles, warmups := 0, 0
	for _, step := range p.Steps {
		switch {
		case step.Label == "":
			settles++
		case !p.Reports(step.Label):
			warmups++
		}
	}
	line("Steps, in the classic mode")
	line("  1. find or fetch %d builds (not part of the time)", len(p.Targets))
	line("  2. for each target, one after the other, %s: initialise, start, load, settle;", countText(p.Instances, "time"))
	line("     %s once each, as published: %s of reads, longer of writes, %s before it;",
		countText(len(p.Benchmarks), "benchmark"), time.Duration(p.SliceNs), time.Duration(p.WarmupNs))
	if warmups+settles > 0 {
		line("     between them %s that no report shows; the debt of writes is paid %s;", countText(warmups, "benchmark"), countText(settles, "time"))
	}
	line("     stop, remove the data")
	line("  3. %d comparisons without a verdict: what changes on the host between two targets passes for their difference", len(p.Benchmarks)*(len(p.Targets)-1))
	text := "Expected time: " + rounded(plan.Duration(p, o.Cost, p.Instances))
	if p.BudgetNs > 0 {
		text += " of " + short(p.BudgetNs)
	}
	if o.Cost.Unknown > 0 {
		text += fmt.Sprintf(", and as long as the work of %s takes", countText(o.Cost.Unknown, "benchmark"))
	}
	line("%s", text)
}
