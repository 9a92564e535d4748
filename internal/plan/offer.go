package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// leastTableSize is the smallest table that is measured.
const leastTableSize = 1000

// longest is where a time is no offer any more.
const longest = 10 * 365 * 24 * time.Hour

// comfortable tells whether a plan fits on the host, and into its budget with a few
// instances on a small machine. What is offered is so, and what is so is not refused.
func (l limits) comfortable(p dbcanary.Plan) bool {
	return l.lacksRoom(p) == "" && (p.BudgetNs <= 0 || l.enough(p) <= time.Duration(p.BudgetNs))
}

// enough is the time that a few instances of a plan take.
func (l limits) enough(p dbcanary.Plan) time.Duration {
	fitted, _ := Fit(p, l.cost)
	return Duration(fitted, l.cost, fewInstances(p))
}

// fewInstances are as many as a plan is offered with.
func fewInstances(p dbcanary.Plan) int {
	if p.Classic() {
		return max(1, p.Instances)
	}
	if p.Instances > 0 {
		return min(p.Instances, minInstances)
	}
	return minInstances
}

// offer says which plans would fit: those that change one thing, or else the nearest
// that changes several.
func (l limits) offer(p dbcanary.Plan) string {
	var offers []string
	if longer, ok := l.longer(p); ok {
		offers = append(offers, fmt.Sprintf("a time of %s (%d instances of each target)", short(time.Duration(longer.BudgetNs)), fewInstances(p)))
	}
	if smaller, ok := l.smaller(p); ok {
		offers = append(offers, fmt.Sprintf("a table-size of %d", smaller.TableSize))
	}
	if hasOwnTimes(p) && l.comfortable(withoutOwnTimes(p)) {
		offers = append(offers, "the plan without its slice, warmup and blocks")
	}
	text := l.fewer(p)
	if len(offers) > 0 {
		text = offers[0] + " would fit"
		for _, more := range offers[1:] {
			text += ", as would " + more
		}
	}
	if Needs(p, l.room, l.size).DiskBytes > l.room.DiskBytes {
		text += ", as would another data-dir"
	}
	return text
}

// longer is a plan with more time.
func (l limits) longer(p dbcanary.Plan) (longer dbcanary.Plan, ok bool) {
	if p.BudgetNs <= 0 {
		return p, false
	}
	enough := l.enough(p)
	if enough <= time.Duration(p.BudgetNs) || enough > longest {
		return p, false
	}
	p.BudgetNs = int64(roundUp(enough))
	return p, l.comfortable(p)
}

// smaller is a plan with smaller tables.
func (l limits) smaller(p dbcanary.Plan) (smaller dbcanary.Plan, ok bool) {
	smaller = p
	smaller.TableSize = largest(p.TableSize, func(rows int) bool {
		smaller.TableSize = rows
		return l.comfortable(smaller)
	})
	return smaller, smaller.TableSize >= leastTableSize && l.comfortable(smaller)
}

// hasOwnTimes tells whether times of slices were chosen.
func hasOwnTimes(p dbcanary.Plan) bool { return p.SliceNs > 0 || p.WarmupNs > 0 || p.Blocks > 0 }

// withoutOwnTimes leaves them to the plan.
func withoutOwnTimes(p dbcanary.Plan) dbcanary.Plan {
	p.SliceNs, p.WarmupNs, p.Blocks = 0, 0, 0
	return p
}

// fewer says which targets fit: the bases and those after them, as many as possible,
// with smaller tables, more time and fitted slices only if two of them don't fit
// otherwise.
func (l limits) fewer(p dbcanary.Plan) string {
	order := slices.Clone(p.Bases)
	for _, target := range p.Targets {
		if !slices.Contains(order, target) {
			order = append(order, target)
		}
	}
	least := max(2, len(p.Bases))
	for n := len(order) - 1; n >= least; n-- {
		q := p
		q.Targets = order[:n]
		if l.comfortable(q) {
			return fewerText(p, q)
		}
	}
	for n := len(order); n >= least; n-- {
		for _, q := range []dbcanary.Plan{p, withoutOwnTimes(p)} {
			q.Targets = order[:n]
			if q, ok := l.nearest(q); ok {
				return fewerText(p, q)
			}
		}
	}
	p.Targets, p.TableSize = order[:min(len(order), least)], leastTableSize
	need := Needs(p, l.room, l.size)
	return fmt.Sprintf("no plan fits on this host: %d targets with a table-size of %d take %s of memory and %s of disk",
		len(p.Targets), leastTableSize, bytesText(minServerMemory*int64(need.Servers+1)), bytesText(need.DiskBytes))
}

// nearest changes table size and time as far as it must.
func (l limits) nearest(p dbcanary.Plan) (nearest dbcanary.Plan, ok bool) {
	least := p
	least.TableSize = leastTableSize
	if longer, ok := l.longer(least); ok {
		least = longer
	}
	if !l.comfortable(least) {
		return p, false
	}
	full := least
	full.TableSize = p.TableSize
	if l.comfortable(full) {
		return full, true
	}
	if smaller, ok := l.smaller(full); ok {
		return smaller, true
	}
	return least, true
}

// fewerText says how a plan differs from the one that was asked for.
func fewerText(p, q dbcanary.Plan) string {
	text := fmt.Sprintf("%d targets", len(q.Targets))
	if q.TableSize != p.TableSize {
		text += fmt.Sprintf(" with a table-size of %d", q.TableSize)
	}
	if q.BudgetNs != p.BudgetNs {
		text += fmt.Sprintf(" in a time of %s", short(time.Duration(q.BudgetNs)))
	}
	if hasOwnTimes(p) && !hasOwnTimes(q) {
		text += " without slice, warmup and blocks of their own"
	}
	text += " would fit: " + strings.Join(q.Targets, " ")
	if len(q.Targets) < len(p.Targets) {
		text += ", and the others with the same base in another run"
	}
	return text
}

// largest gives the largest table size below one that does not fit, rounded down
// to two digits; 0 if none fits.
func largest(tooLarge int, fits func(int) bool) int {
	low, high := 0, tooLarge
	for high-low > 1 {
		if middle := (low + high) / 2; fits(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	for unit := 1; ; unit *= 10 {
		if low/unit < 100 {
			return low / unit * unit
		}
	}
}
