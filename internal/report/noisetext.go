package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/verdict"
)

// noiseText says how noise was treated, and how much of it there was.
func (r *Report) noiseText() string {
	if r.Noise.Slices == 0 {
		return "no slice was measured"
	}
	p := r.Run.Plan
	parts := []string{instancesText(r.Noise)}
	if p.Classic() {
		parts = append(parts, fmt.Sprintf("one target after the other, each benchmark once: slices of %s where it reads, and longer where it writes",
			durationText(time.Duration(p.SliceNs))))
	} else if p.SliceNs > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s slices per benchmark in each, in random order (seed %d)",
			countText(p.Blocks, "block", "blocks"), durationText(time.Duration(p.SliceNs)), p.Seed))
	}
	if len(p.Looks) > 0 {
		parts = append(parts, "what was clear after "+verdict.LooksText(p.Looks, "or")+" starts was measured no further, which is counted in the level")
	}
	parts = append(parts, r.voidText())
	if text := placementText(p.Placement); text != "" {
		parts = append(parts, text)
	}
	if len(r.Comparisons) > 0 {
		parts = append(parts, fmt.Sprintf("intervals at %s, smallest change that matters %s",
			percentText(r.Comparisons[0].Level), r.minEffectText()))
	}
	return strings.Join(parts, "; ")
}

// minEffectText gives the smallest change that matters, which may differ by benchmark.
func (r *Report) minEffectText() string {
	least, most := r.Comparisons[0].MinEffect, r.Comparisons[0].MinEffect
	for _, c := range r.Comparisons {
		least, most = min(least, c.MinEffect), max(most, c.MinEffect)
	}
	if least == most {
		return percentText(least)
	}
	return percentText(least) + " to " + percentText(most)
}

func instancesText(n Noise) string {
	if n.MinInstances == n.MaxInstances {
		return countText(n.MaxInstances, "server start (instance) of each target", "server starts (instances) of each target")
	}
	return fmt.Sprintf("%d to %d server starts (instances) of a target", n.MinInstances, n.MaxInstances)
}

func (r *Report) voidText() string {
	if r.Noise.Void == 0 {
		return fmt.Sprintf("none of %s void", countText(r.Noise.Slices, "slice", "slices"))
	}
	const most = 3
	var reasons []string
	for i, reason := range r.Noise.VoidReasons {
		if i == most {
			reasons = append(reasons, "other reasons")
			break
		}
		reasons = append(reasons, fmt.Sprintf("%s ×%d", reason.Reason, reason.Count))
	}
	return fmt.Sprintf("%d of %s void (%s)", r.Noise.Void, countText(r.Noise.Slices, "slice", "slices"), strings.Join(reasons, ", "))
}

func placementText(p dbcanary.Placement) string {
	switch p {
	case dbcanary.PlacementFree:
		return "placement free (the scheduler decides)"
	case dbcanary.PlacementSplit:
		return "placement split (server and client on different CPUs)"
	case dbcanary.PlacementSame:
		return "placement same (server and client share their CPUs)"
	}
	return ""
}
