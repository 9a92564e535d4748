package plan

import (
	"fmt"
	"time"

	"github.com/dbcanary/dbcanary"
)

// publishedWarmup is the time before each published slice that is not measured.
const publishedWarmup = 5 * time.Second

// fitClassic fills the zero fields of a plan in the classic mode: the published times,
// or as much of them as fits into the budget, one block and one instance.
func fitClassic(p dbcanary.Plan, cost Cost) (fitted dbcanary.Plan, warnings []string) {
	p.Blocks, p.Instances = 1, max(1, p.Instances)
	if p.SliceNs == 0 {
		p.SliceNs = int64(dbcanary.PublishedSlice)
		if p.BudgetNs > 0 {
			p.SliceNs = min(p.SliceNs, classicSlice(p, cost))
		}
	}
	if p.WarmupNs == 0 {
		warmup := time.Duration(float64(p.SliceNs) * publishedWarmup.Seconds() / dbcanary.PublishedSlice.Seconds())
		p.WarmupNs = int64(warmup.Truncate(time.Millisecond))
	}
	if slice := time.Duration(p.SliceNs); slice != dbcanary.PublishedSlice {
		warnings = append(warnings, fmt.Sprintf("slices are of %s where the published reports have %s: rates compare less well with theirs", slice, dbcanary.PublishedSlice))
	}
	return p, warnings
}

// classicSlice is the slice that fills the budget, at least the shortest one.
func classicSlice(p dbcanary.Plan, cost Cost) int64 {
	p.SliceNs = 0
	left := time.Duration(p.BudgetNs) - classicDuration(p, cost)
	shares := 0.0
	for _, step := range p.Steps {
		shares += step.Slices
		if p.WarmupNs == 0 && step.Slices > 0 {
			shares += publishedWarmup.Seconds() / dbcanary.PublishedSlice.Seconds()
		}
	}
	if shares == 0 {
		return int64(dbcanary.PublishedSlice)
	}
	slice := span(left.Seconds() / float64(p.Instances*len(p.Targets)) / shares)
	return int64(max(minSlice, slice.Truncate(time.Millisecond)))
}

// classicDuration is the expected time of a plan in the classic mode: each instance
// is loaded anew.
func classicDuration(p dbcanary.Plan, cost Cost) time.Duration {
	one := (loadTime(p, cost) + cost.Single*time.Duration(len(p.Targets))).Seconds()
	for _, step := range p.Steps {
		switch {
		case step.Label == "":
			one += cost.settle(p) * float64(len(p.Targets))
		case step.Slices > 0:
			one += (step.Slices*time.Duration(p.SliceNs).Seconds() + time.Duration(p.WarmupNs).Seconds()) * float64(len(p.Targets))
		}
	}
	return span(float64(max(1, p.Instances)) * one)
}

// settle is the time in seconds in which a target pays the debt of writes once.
func (c Cost) settle(p dbcanary.Plan) float64 {
	seconds := c.Settle.Seconds()
	if c.CopyRowsPerSecond > 0 {
		seconds += rows(p) / c.CopyRowsPerSecond
	}
	return seconds
}

// settles is the time of all such steps of an instance: all targets do it at once.
func (c Cost) settles(p dbcanary.Plan) time.Duration {
	seconds := 0.0
	for _, step := range p.Steps {
		if step.Label == "" {
			seconds += c.settle(p)
		}
	}
	return span(seconds)
}

// classicLacksRoom says why one target at a time does not fit on a host, or "".
func (l limits) classicLacksRoom(need Need) string {
	switch {
	case need.Servers == 0:
		return ""
	case need.ServerBytes < minServerMemory:
		return fmt.Sprintf("no memory for a server: %s available / (1 server + 1 for the client and the page cache) = %s, and a server needs %s",
			bytesText(l.room.MemoryBytes), bytesText(need.ServerBytes), bytesText(minServerMemory))
	case need.DiskBytes > l.room.DiskBytes:
		return fmt.Sprintf("no room in %s for one target at a time: %s + %s of data = %s, and %s are free",
			l.room.Dir, bytesText(directoryBytes), bytesText(need.DataBytes), bytesText(need.DiskBytes), bytesText(l.room.DiskBytes))
	}
	return ""
}

// classicLacksTime says that a budget is too short even on a fast machine.
func classicLacksTime(p dbcanary.Plan, least Cost) string {
	return fmt.Sprintf("a budget of %s has no room for the classic mode: %d targets, one after the other, with %d rows to load at %.0f a second at most and %d steps, of %s where they read, take %s",
		short(time.Duration(p.BudgetNs)), len(p.Targets), p.Tables*p.TableSize, least.LoadRowsPerSecond, len(p.Steps),
		short(time.Duration(p.SliceNs)), short(classicDuration(p, least)))
}
