package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// buildDifferences lists what is not the same of how the servers were made and of
// the libraries that they load, over all targets of which it is known: what decides
// most about speed first, then what differs before what only some have.
func buildDifferences(targets []dbcanary.Target) []SettingDifference {
	values := map[string][]*string{}
	known := 0
	for i := range targets {
		if len(targets[i].Made) > 0 {
			known++
		}
		for j := range targets[i].Made {
			one := &targets[i].Made[j]
			if values[one.Name] == nil {
				values[one.Name] = make([]*string, len(targets))
			}
			values[one.Name][i] = &one.Value
		}
	}
	var differences []SettingDifference
	for name, list := range values {
		equal, present := sameValues(list)
		if !equal || present < known {
			differences = append(differences, SettingDifference{Name: name, Values: list, Partial: equal})
		}
	}
	slices.SortFunc(differences, func(a, b SettingDifference) int {
		return cmp.Or(cmp.Compare(buildRank(a), buildRank(b)), cmp.Compare(a.Name, b.Name))
	})
	return differences
}

// weightyParts of a build decide how fast the same source is.
var weightyParts = []string{"compiler", "executable", "libc", "libjemalloc*", "libtcmalloc*", "libmimalloc*"}

func buildRank(d SettingDifference) int {
	switch {
	case matches(d.Name, weightyParts):
		return 0
	case d.Partial:
		return 2
	}
	return 1
}

// buildLines tell how the builds differ beside their release: the weighty parts,
// or all of them.
func (r *Report) buildLines(verbose bool) []line {
	var lines []line
	hidden := 0
	for _, d := range r.Builds {
		if !verbose && buildRank(d) > 0 {
			hidden++
			continue
		}
		lines = append(lines, line{text: "built differently: " + r.settingLine(d)})
	}
	if hidden > 0 {
		lines = append(lines, line{"… and " + countText(hidden, "library or mark of the builds differs", "libraries and marks of the builds differ") + "; --verbose or --format json lists them", dim})
	}
	return lines
}

// missingLines tell what could not be probed, each reason once with the targets that it holds for.
func (r *Report) missingLines() []line {
	var order []string
	targets := map[string][]string{}
	for _, m := range r.Run.Missing {
		key := m.Probe + "\x00" + m.Reason
		if targets[key] == nil {
			order = append(order, key)
		}
		targets[key] = append(targets[key], m.Target)
	}
	var lines []line
	for _, key := range order {
		probe, reason, _ := strings.Cut(key, "\x00")
		of := strings.Join(slices.DeleteFunc(targets[key], func(target string) bool { return target == "" }), ", ")
		if of != "" {
			of = " of " + of
		}
		lines = append(lines, line{fmt.Sprintf("not probed: %s%s: %s", probe, of, reason), dim})
	}
	return lines
}
