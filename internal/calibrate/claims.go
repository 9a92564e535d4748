package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// claim is what the project says of its verdicts, beside what was measured.
type claim struct {
	text, found, state string
}

// The states of a claim.
const (
	holds       = "holds"
	fails       = "does not hold"
	notMeasured = "not measured"
)

func stateOf(ok bool) string {
	if ok {
		return holds
	}
	return fails
}

// The promises about A/A runs: so many of each family, and so many of all false.
const (
	promisedRuns     = 10
	promisedFamilies = 3
	allowedFalse     = 1
)

func (p *page) claimAgainst() claim {
	c := claim{
		text:  fmt.Sprintf("Targets against themselves, quick suite, %d runs each of MariaDB, MySQL and PostgreSQL: at most %d of the %d runs has a false verdict", promisedRuns, allowedFalse, promisedRuns*promisedFamilies),
		state: notMeasured,
	}
	runs, wrong, least := 0, 0, math.MaxInt
	for _, a := range p.against {
		runs, wrong, least = runs+a.runs, wrong+a.falseRuns, min(least, a.runs)
	}
	if runs == 0 {
		return c
	}
	c.found = fmt.Sprintf("%d of %s", wrong, count(runs, "run"))
	switch {
	case wrong > allowedFalse:
		c.state = fails
	case len(p.against) >= promisedFamilies && least >= promisedRuns:
		c.state = holds
	default:
		c.state = "not shown: too few runs"
	}
	return c
}

func (p *page) claimEffects() claim {
	c := claim{text: "Known real effects are found, with the right sign", state: notMeasured}
	found, all := 0, 0
	var others []string
	for _, s := range p.effects {
		if !s.mustDiffer {
			continue
		}
		all++
		if s.outcome() == "found" {
			found++
		} else {
			others = append(others, fmt.Sprintf("%s on %s, `%s`: %s", s.about, s.base, s.comparison.Benchmark, s.outcome()))
		}
	}
	if all == 0 {
		return c
	}
	c.found = strings.Join(append([]string{fmt.Sprintf("%d of %d", found, all)}, others...), "; ")
	c.state = stateOf(found == all)
	return c
}

func (p *page) claimUntouched() claim {
	c := claim{text: "Benchmarks that a change can't touch are `same`", state: notMeasured}
	same, all := 0, 0
	var others []string
	for _, s := range p.effects {
		if s.mustDiffer {
			continue
		}
		all++
		if s.comparison.Verdict == dbcanary.Same {
			same++
		} else {
			others = append(others, fmt.Sprintf("%s on %s, `%s`: %s", s.about, s.base, s.comparison.Benchmark, s.outcome()))
		}
	}
	if all == 0 {
		return c
	}
	c.found = strings.Join(append([]string{fmt.Sprintf("%d of %d", same, all)}, others...), "; ")
	c.state = stateOf(same == all)
	return c
}

func (p *page) claimQuick() claim {
	const limit = 10 * time.Minute
	c := claim{text: "Quick suite, two targets: every effect of 10 % and more has its verdict within 10 minutes, load included", state: notMeasured}
	all, clear, last := 0, 0, time.Duration(0)
	for _, r := range of(partQuick, p.results) {
		for _, one := range clearTimes(r) {
			if !one.isLarge() {
				continue
			}
			all++
			if one.after > 0 {
				clear++
				last = max(last, one.after)
			}
		}
	}
	if all == 0 {
		return c
	}
	c.found = fmt.Sprintf("%d of %d clear, the last one after %s", clear, all, minutes(last))
	c.state = stateOf(clear == all && last <= limit)
	return c
}

// claimVariance is of METHOD.md: most of what starts differ by is layout.
func (p *page) claimVariance() claim {
	c := claim{text: "Most of what starts of a server differ by is address-space layout", state: notMeasured}
	most, all := 0, 0
	for _, one := range p.parts {
		if between := one.layout + one.between; between > 0 {
			all++
			if one.layout > between/2 {
				most++
			}
		}
	}
	if all == 0 {
		return c
	}
	c.found = fmt.Sprintf("more than half of it for %d of %d pairs of target and benchmark", most, all)
	c.state = stateOf(most == all)
	return c
}

func (p *page) claimSuites() claim {
	c := claim{text: "Simulation on recorded noise, looks included: at most 5 % of suites of 32 unchanged benchmarks have a false verdict", state: notMeasured}
	if len(p.simulated) == 0 {
		return c
	}
	worst := p.simulated[0]
	for _, s := range p.simulated {
		if s.unchanged.Wrong > worst.unchanged.Wrong {
			worst = s
		}
	}
	c.found = fmt.Sprintf("at most %s (%s, %d instances)", percent(worst.unchanged.Wrong), worst.target, worst.instances)
	c.state = stateOf(worst.unchanged.Wrong <= 0.05)
	return c
}

// claimPower has no limit to hold to: it tells what was found.
func (p *page) claimPower() claim {
	const usual = 12
	c := claim{text: fmt.Sprintf("Power for slowdowns of 3 %% and 5 %% in the time of %d instances", usual), state: notMeasured}
	var found []string
	for _, s := range p.simulated {
		if s.instances == usual {
			found = append(found, fmt.Sprintf("%s %s and %s in %s min", s.target, ofAll(s.slower[0.03]), ofAll(s.slower[0.05]), decimal(s.minutes)))
		}
	}
	if len(found) > 0 {
		c.found, c.state = strings.Join(found, "; "), "told"
	}
	return c
}

// fewInstances are so few that intervals lean on other benchmarks' variance.
const fewInstances = 5

// usual tells whether the intervals of a cell are promised to cover: starts vary as
// normal deviates do, and there are more than a few.
func (c gridCell) usual() bool { return c.machine.Normal() && c.instances >= fewInstances }

func (p *page) claimCoverage(usual bool) claim {
	c := claim{
		text:  fmt.Sprintf("Nominal 95 %% intervals cover 93–97 %% over the grid of variances, with %d instances and more of machines that vary normally", fewInstances),
		state: notMeasured,
	}
	if !usual {
		c.text = fmt.Sprintf("The same with fewer than %d instances, rare slow starts and bursts", fewInstances)
	}
	within, all := 0, 0
	var others []string
	for _, cell := range p.grid {
		if cell.usual() != usual {
			continue
		}
		all++
		if covered := cell.outcome.Covered; covered >= 0.93 && covered <= 0.97 {
			within++
		} else {
			others = append(others, fmt.Sprintf("%s, %d instances: %s", cell.machine.Name, cell.instances, percent(covered)))
		}
	}
	if all == 0 {
		return c
	}
	c.found = strings.Join(append([]string{fmt.Sprintf("%d of %d cells", within, all)}, others...), "; ")
	c.state = stateOf(within == all)
	return c
}
