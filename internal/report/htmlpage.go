package report

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/verdict"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// The data of the page; web/src/data.ts has the same shapes. Targets, benchmarks
// and texts are named by their index, and numbers that are not known are null.
type (
	page struct {
		Title       string           `json:"title"`
		Notes       []string         `json:"notes"`
		Run         pageRun          `json:"run"`
		Facts       [][2]string      `json:"facts"` // label and text: host, work, noise
		Problems    []string         `json:"problems"`
		Missing     [][3]string      `json:"missing"` // target, probe, reason
		MinEffect   figure           `json:"minEffect"`
		Targets     []pageTarget     `json:"targets"`
		Benchmarks  []pageBenchmark  `json:"benchmarks"`
		Bases       []pageBase       `json:"bases"` // by target: the report against each
		Shown       []int            `json:"shown"` // bases that were asked for; the first one is shown first
		Costs       [][]pageCost     `json:"costs"` // by benchmark and target
		Lines       []pageLine       `json:"lines"`
		Differences []pageDifference `json:"differences"`
		Builds      []pageDifference `json:"builds"`
		Profiles    []pageProfile    `json:"profiles"`
		Trials      pageTrials       `json:"trials"`
		Texts       []string         `json:"texts"`
	}
	pageRun struct {
		ID      int64  `json:"id"`
		UID     string `json:"uid"`
		Started string `json:"started"`
		Ended   string `json:"ended"`
		State   string `json:"state"`
		Program string `json:"program"`
	}
	pageTarget struct {
		Name     string `json:"name"`
		Version  string `json:"version"` // family and exact version
		Provider string `json:"provider"`
		Origin   string `json:"origin"`
		Checksum string `json:"checksum"`
		Dropped  string `json:"dropped"`
	}
	pageBenchmark struct {
		Label string `json:"label"`
		Group string `json:"group"`
		About string `json:"about"`
	}
	pageBase struct {
		Headlines []string     `json:"headlines"`
		Cells     [][]pageCell `json:"cells"` // by benchmark and target; null for the base itself
		Groups    []pageGroup  `json:"groups"`
	}
	// pageCell is a comparison: verdict, ratio, low, high, the same four of CPU,
	// instances, void slices, smallest detectable effect, reason, and then the warnings.
	pageCell  []any
	pageGroup struct {
		Group   string `json:"group"` // "" for the whole suite
		Target  int    `json:"target"`
		Verdict int    `json:"verdict"`
		Min     ratio  `json:"min"`
		Max     ratio  `json:"max"`
		Avg     ratio  `json:"avg"`
		Median  ratio  `json:"median"`
		Counts  [4]int `json:"counts"` // by verdict
	}
	// pageCost is operations by second and what one operation took, as pageCosts names them.
	pageCost       []figure
	pageDifference struct {
		Name   string    `json:"name"`
		Chosen bool      `json:"chosen"`
		Values []*string `json:"values"` // by target; null where it has no such setting
	}
	// pageTrials is one column for each field, one entry for each slice.
	pageTrials struct {
		Benchmark []int    `json:"benchmark"`
		Target    []int    `json:"target"`
		Instance  []int    `json:"instance"`
		Block     []int    `json:"block"`
		Seconds   []figure `json:"seconds"` // since the run started
		QPS       []figure `json:"qps"`
		CPUUs     []figure `json:"cpuUs"`
		P95Ms     []figure `json:"p95Ms"`
		Void      []int    `json:"void"` // text; 0 is "", for slices that count
	}
)

// verdictCodes are the verdicts by their number in the page.
func verdictCodes() []dbcanary.Verdict {
	return []dbcanary.Verdict{dbcanary.Slower, dbcanary.Faster, dbcanary.Same, dbcanary.Inconclusive}
}

// figure is a JSON number of six digits, null for one that is not known.
type figure float64

// MarshalJSON is that of json.Marshaler.
func (f figure) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
		return []byte("null"), nil
	}
	return shortNumber(strconv.FormatFloat(float64(f), 'g', 6, 64))
}

// ratio is a JSON number as the other formats print it, so that no two of them
// differ in the last digit; null for one that is not known.
type ratio float64

// MarshalJSON is that of json.Marshaler.
func (r ratio) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(r)) || math.IsInf(float64(r), 0) {
		return []byte("null"), nil
	}
	return shortNumber(ratioText(float64(r)))
}

func shortNumber(text string) ([]byte, error) {
	rounded, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, err
	}
	return json.Marshal(rounded)
}

// texts numbers the sentences of a page, of which many come again.
type texts struct {
	list    []string
	numbers map[string]int
}

func newTexts() *texts { return &texts{list: []string{""}, numbers: map[string]int{"": 0}} }

func (t *texts) number(text string) int {
	n, ok := t.numbers[text]
	if !ok {
		n = len(t.list)
		t.list = append(t.list, text)
		t.numbers[text] = n
	}
	return n
}

// page puts the data of the page together.
func (r *Report) page() (page, error) {
	texts := newTexts()
	p := page{
		Title: r.pageTitle(), Notes: r.pageNotes(), Problems: list(r.Run.Problems), Missing: [][3]string{},
		MinEffect: figure(r.Run.Plan.MinEffect), Targets: []pageTarget{}, Benchmarks: []pageBenchmark{},
		Bases: []pageBase{}, Shown: []int{}, Costs: [][]pageCost{},
	}
	p.Run = pageRun{
		ID: r.Run.ID, UID: r.Run.UID, State: string(r.Run.State), Program: r.Run.Program,
		Started: pageTime(r.Run.Started), Ended: pageTime(r.Run.Ended),
	}
	for _, fact := range [][2]string{{"host", hostText(r.Run.Host)}, {"work", workText(r.Run.Plan)}, {"noise", r.noiseText()}} {
		if fact[1] != "" {
			p.Facts = append(p.Facts, fact)
		}
	}
	for _, m := range r.Run.Missing {
		p.Missing = append(p.Missing, [3]string{m.Target, m.Probe, m.Reason})
	}
	for _, t := range r.Run.Targets {
		p.Targets = append(p.Targets, pageTarget{
			Name: t.Name, Version: string(t.Build.Family) + " " + t.Build.Version, Provider: t.Build.Provider,
			Origin: t.Build.Origin, Checksum: shortChecksum(t.Build.Checksum), Dropped: t.Dropped,
		})
	}
	for _, b := range r.Run.Plan.Benchmarks {
		about := ""
		if found, err := workload.Find(b.Label); err == nil {
			about = found.Doc
		}
		p.Benchmarks = append(p.Benchmarks, pageBenchmark{b.Label, b.Group, about})
	}
	for i, view := range r.viewsOfAll() {
		p.Bases = append(p.Bases, r.pageBase(view, texts))
		if slices.ContainsFunc(r.views(), func(v *Report) bool { return v.base() == r.Run.Targets[i].Name }) {
			p.Shown = append(p.Shown, i)
		}
	}
	slices.SortFunc(p.Shown, func(a, b int) int { return r.viewIndex(a) - r.viewIndex(b) })
	p.Costs = r.pageCosts()
	p.Differences, p.Builds = pageDifferences(r.Differences), pageDifferences(r.Builds)
	p.Trials = r.pageTrials(texts)
	var err error
	if p.Lines, err = r.pageLines(); err != nil {
		return p, err
	}
	p.Profiles, err = r.pageProfiles(texts)
	p.Texts = texts.list
	return p, err
}

// pageNotes are what a reader must know before the verdicts.
func (r *Report) pageNotes() []string {
	notes := []string{r.stateNote(), r.basesNote()}
	if len(r.Run.Targets) == 0 { // so there is no base with sentences of its own
		notes = append(notes, r.ownHeadlines()...)
	}
	return slices.DeleteFunc(notes, func(note string) bool { return note == "" })
}

func pageTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func (r *Report) pageTitle() string {
	title := "dbcanary"
	if r.base() != "" {
		title += ": " + clean(r.base())
	}
	switch others := r.compared(); len(others) {
	case 0:
	case 1:
		title += " and " + clean(others[0])
	default:
		title += " and " + countText(len(others), "other target", "other targets")
	}
	return title
}

// viewIndex is the place of a target among the bases that were asked for.
func (r *Report) viewIndex(target int) int {
	return slices.IndexFunc(r.views(), func(v *Report) bool { return v.base() == r.Run.Targets[target].Name })
}

// viewsOfAll gives a report against every target. Those that were asked for are
// as they are; each other one is what it would be as the only base.
func (r *Report) viewsOfAll() []*Report {
	views := make([]*Report, len(r.Run.Targets))
	var judging sync.WaitGroup
	for i, target := range r.Run.Targets {
		if at := r.viewIndex(i); at >= 0 {
			views[i] = r.views()[at]
			continue
		}
		judging.Go(func() { views[i] = newReport(rebased(r.Run, target.Name), r.trials, verdict.Options{}) })
	}
	judging.Wait()
	return views
}

func (r *Report) pageBase(view *Report, texts *texts) pageBase {
	base := pageBase{Headlines: []string{}, Cells: make([][]pageCell, len(r.Run.Plan.Benchmarks)), Groups: []pageGroup{}}
	base.Headlines = append(base.Headlines, view.ownHeadlines()...)
	benchmarks, targets := r.indexes()
	for i := range base.Cells {
		base.Cells[i] = make([]pageCell, len(r.Run.Targets))
	}
	codes := verdictCodes()
	for _, c := range view.Comparisons {
		row, known := benchmarks[c.Benchmark]
		column, also := targets[c.Target]
		if !known || !also {
			continue
		}
		qps, cpu := pageEstimate(c.QPSRatio), pageEstimate(c.CPURatio)
		cell := pageCell{
			slices.Index(codes, c.Verdict), qps[0], qps[1], qps[2],
			slices.Index(codes, c.CPUVerdict), cpu[0], cpu[1], cpu[2],
			c.Instances, c.VoidSlices, figure(c.MinDetectable), texts.number(c.Reason),
		}
		for _, warning := range c.Warnings {
			cell = append(cell, texts.number(warning))
		}
		base.Cells[row][column] = cell
	}
	for _, g := range view.Groups {
		base.Groups = append(base.Groups, pageGroup{
			Group: g.Name, Target: targets[g.Target], Verdict: slices.Index(codes, g.Verdict),
			Min: ratio(g.Min), Max: ratio(g.Max), Avg: ratio(g.Avg), Median: ratio(g.Median),
			Counts: [4]int{g.Slower, g.Faster, g.Same, g.Inconclusive},
		})
	}
	return base
}

// pageEstimate is a ratio with the ends of its interval, which are null where it says
// nothing: an end at 0 alone would pass for known.
func pageEstimate(e dbcanary.Estimate) [3]ratio {
	if !bounded(e) {
		return [3]ratio{ratio(e.Ratio), ratio(math.NaN()), ratio(math.NaN())}
	}
	return [3]ratio{ratio(e.Ratio), ratio(e.Low), ratio(e.High)}
}

func pageDifferences(differences []SettingDifference) []pageDifference {
	rows := []pageDifference{}
	for _, d := range differences {
		rows = append(rows, pageDifference{Name: d.Name, Chosen: d.Chosen, Values: d.Values})
	}
	return rows
}

// indexes numbers benchmarks by label and targets by name.
func (r *Report) indexes() (benchmarks, targets map[string]int) {
	benchmarks, targets = map[string]int{}, map[string]int{}
	for i, b := range r.Run.Plan.Benchmarks {
		benchmarks[b.Label] = i
	}
	for i, t := range r.Run.Targets {
		targets[t.Name] = i
	}
	return benchmarks, targets
}

func (r *Report) pageCosts() [][]pageCost {
	benchmarks, targets := r.indexes()
	costs := make([][]pageCost, len(benchmarks))
	for i := range costs {
		costs[i] = make([]pageCost, len(targets))
	}
	for _, c := range r.Costs {
		row, known := benchmarks[c.Benchmark]
		column, also := targets[c.Target]
		if !known || !also {
			continue
		}
		var cost pageCost
		for _, value := range []float64{c.Rate, c.ServerUs, c.ClientUs, c.HostUs, c.Switches, c.Reads, c.ReadKB, c.WriteKB} {
			cost = append(cost, figure(value))
		}
		costs[row][column] = cost
	}
	return costs
}

func (r *Report) pageTrials(texts *texts) pageTrials {
	benchmarks, targets := r.indexes()
	var t pageTrials
	for i := range r.trials {
		trial := &r.trials[i]
		benchmark, known := benchmarks[trial.Benchmark]
		target, also := targets[trial.Target]
		if !known || !also {
			continue
		}
		t.Benchmark, t.Target = append(t.Benchmark, benchmark), append(t.Target, target)
		t.Instance, t.Block = append(t.Instance, trial.Instance), append(t.Block, trial.Block)
		t.Seconds = append(t.Seconds, figure(math.Round(trial.Started.Sub(r.Run.Started).Seconds())))
		t.QPS = append(t.QPS, figure(trial.QPS()))
		cpu := math.NaN()
		if trial.ServerCPUNs >= 0 && trial.Operations > 0 {
			cpu = float64(trial.ServerCPUNs) / float64(trial.Operations) / 1e3
		}
		t.CPUUs = append(t.CPUUs, figure(cpu))
		t.P95Ms = append(t.P95Ms, figure(float64(trial.LatencyNs.P95)/1e6))
		t.Void = append(t.Void, texts.number(clean(trial.Void)))
	}
	return t
}
