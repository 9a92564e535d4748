package report

import (
	"slices"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build"
	"github.com/dbcanary/dbcanary/internal/history"
)

// pageLine is the targets of one family and config in the order of their versions,
// and where benchmarks changed along them.
type pageLine struct {
	Name    string       `json:"name"`    // "mariadb", "mysql+noahi"
	Targets []int        `json:"targets"` // three or more
	Changes []pageChange `json:"changes"`
}

// pageChange is a change point of the rate of a benchmark.
type pageChange struct {
	Benchmark int    `json:"benchmark"`
	Target    int    `json:"target"`   // the first one after the change
	Relative  figure `json:"relative"` // size as a part of the level before
	Word      string `json:"word"`     // "slower", "faster"
	State     string `json:"state"`    // "confirmed", "suspect"
}

// leastVersions is how many make a line: with fewer there is no place to tell of.
const leastVersions = 3

func (r *Report) pageLines() ([]pageLine, error) {
	lines := []pageLine{}
	var names []string
	for i, t := range r.Run.Targets {
		name := lineName(t)
		at := slices.Index(names, name)
		if at < 0 {
			at = len(names)
			names, lines = append(names, name), append(lines, pageLine{Name: name, Changes: []pageChange{}})
		}
		lines[at].Targets = append(lines[at].Targets, i)
	}
	lines = slices.DeleteFunc(lines, func(l pageLine) bool { return len(l.Targets) < leastVersions })
	if len(lines) == 0 {
		return lines, nil
	}
	measured := history.FromRun(r.Run, r.trials)
	if len(measured.Series) == 0 { // every slice is void
		return lines, nil
	}
	found, err := history.New(measured, nil, history.Options{Method: "auto"})
	if err != nil {
		return lines, err
	}
	for i := range lines {
		line := &lines[i]
		slices.SortStableFunc(line.Targets, func(a, b int) int {
			return build.CompareVersions(r.Run.Targets[a].Build.Version, r.Run.Targets[b].Build.Version)
		})
		line.Changes = r.pageChanges(*line, found)
	}
	return lines, nil
}

// lineName is what the targets of a line have in common.
func lineName(t dbcanary.Target) string { return string(t.Build.Family) + t.Config.Name }

func (r *Report) pageChanges(line pageLine, found *history.Report) []pageChange {
	changes := []pageChange{}
	benchmarks, _ := r.indexes()
	for _, f := range found.Findings {
		if f.Series.Metric != "qps" || f.Series.Config != line.Name {
			continue
		}
		for _, c := range f.Changes {
			at := slices.IndexFunc(line.Targets, func(i int) bool { return r.Run.Targets[i].Build.Version == c.At })
			if at < 0 {
				continue
			}
			size, _, _ := c.Relative()
			changes = append(changes, pageChange{
				Benchmark: benchmarks[f.Series.Benchmark], Target: line.Targets[at],
				Relative: figure(size), Word: c.Word, State: string(c.State),
			})
		}
	}
	return changes
}
