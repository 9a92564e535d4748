package report

import (
	"io"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/profile"
)

// FlameOptions say which stacks of a run are drawn or exported.
type FlameOptions struct {
	Benchmark string // label; "" if only one has stacks
	Target    string // name; "" if only one has stacks on the benchmark
	Base      string // name of a target to compare with, "" for none
	Sampler   string // "" for what perf sampled, else whatever there is
	Format    string // of FlameFormats
}

// FlameFormats lists the formats of Flame: a drawing, folded stacks, a pprof profile,
// and a tree of calls as text.
func FlameFormats() []string { return []string{"svg", "folded", "pprof", "tree"} }

// leastTree is the share of all samples below which a function is left out of a tree.
const leastTree = 0.01

// Flame writes the stacks of a target, or what differs from those of a base. What
// the run does not have is an error with dbcanary.CodeUsage that names what it has.
func (r *Report) Flame(w io.Writer, o FlameOptions) error {
	sides, err := r.sides()
	if err != nil {
		return err
	}
	if len(sides) == 0 {
		return r.noProfiles("stacks")
	}
	if sides, err = narrow(sides, "benchmark", o.Benchmark, func(s sampledSide) string { return s.benchmark }); err != nil {
		return err
	}
	name := func(s sampledSide) string { return s.Name }
	if o.Target != "" {
		if _, err := narrow(sides, "target", o.Target, name); err != nil {
			return err
		}
	}
	if o.Sampler == "" {
		o.Sampler = preferredSampler(sides, o.Target)
	}
	if sides, err = narrow(sides, "sampler", o.Sampler, func(s sampledSide) string { return s.sampler }); err != nil {
		return err
	}
	target, err := narrow(sides, "target", o.Target, name)
	if err != nil {
		return err
	}
	title := target[0].benchmark + ", " + target[0].sampler
	if o.Base == "" {
		return writeSide(w, o.Format, title, target[0].Side)
	}
	base, err := narrow(sides, "base", o.Base, name)
	if err != nil {
		return err
	}
	switch o.Format {
	case "svg":
		return profile.WriteDifference(w, title, base[0].Side, target[0].Side)
	case "folded":
		return profile.WriteFoldedPair(w, base[0].Stacks, target[0].Stacks)
	default:
		return dbcanary.Errorf(dbcanary.CodeUsage, "--format %s takes no --base; svg and folded do, and go tool pprof has -diff_base", o.Format)
	}
}

func writeSide(w io.Writer, format, title string, side profile.Side) error {
	switch format {
	case "svg":
		return profile.WriteFlameGraph(w, title, side)
	case "folded":
		return profile.WriteFolded(w, side.Stacks)
	case "tree":
		return profile.WriteTopDown(w, side.Stacks, profile.Limits{MinShare: leastTree})
	case "pprof":
		packed, err := profile.Encode(side.Stacks)
		if err != nil {
			return err
		}
		_, err = w.Write(packed)
		return err
	default:
		return dbcanary.Errorf(dbcanary.CodeUsage, "unknown format %q of stacks%s", format, dbcanary.DidYouMean(format, FlameFormats()))
	}
}

// narrow keeps the sides with a name; without one there may be only one to choose.
func narrow(sides []sampledSide, what, name string, of func(sampledSide) string) ([]sampledSide, error) {
	var names []string
	for _, side := range sides {
		if !slices.Contains(names, of(side)) {
			names = append(names, of(side))
		}
	}
	if name == "" && len(names) > 1 {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "which %s? --%s names one of %s", what, what, strings.Join(names, ", "))
	}
	kept := slices.DeleteFunc(slices.Clone(sides), func(s sampledSide) bool { return name != "" && of(s) != name })
	if len(kept) == 0 {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "there are no stacks of the %s %q; there are some of %s", what, name, strings.Join(names, ", "))
	}
	return kept, nil
}

// preferredSampler is what perf sampled of the target, else its first sampler.
func preferredSampler(sides []sampledSide, target string) string {
	first := ""
	for _, side := range sides {
		if target != "" && side.Name != target {
			continue
		}
		if isCPUSampler(side.sampler) {
			return side.sampler
		}
		if first == "" {
			first = side.sampler
		}
	}
	return first
}
