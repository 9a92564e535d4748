package report

import (
	"encoding/json"
	"io"
	"math"
	"slices"
	"time"

	"github.com/dbcanary/dbcanary"
)

// formatVersion of the JSON report; it changes when a field changes its meaning
// or goes, not when one is added.
const formatVersion = 1

// The JSON form: docs/format/report.md describes it and report.schema.json there
// holds it. Numbers that are not known are null, lists are never null.
type (
	jsonReport struct {
		Format      int                `json:"format"`
		Headline    []string           `json:"headline"`
		Run         jsonRun            `json:"run"`
		Host        dbcanary.Host      `json:"host"`
		Targets     []jsonTarget       `json:"targets"`
		Comparisons []jsonComparison   `json:"comparisons"`
		Groups      []jsonGroup        `json:"groups"`
		Differences []jsonDifference   `json:"differences"`
		Builds      []jsonDifference   `json:"build_differences"`
		NoEffect    []dbcanary.Setting `json:"without_effect"`
		Noise       jsonNoise          `json:"noise"`
	}
	jsonRun struct {
		ID       int64             `json:"id"`
		UID      string            `json:"uid"`
		State    dbcanary.RunState `json:"state"`
		Started  time.Time         `json:"started"`
		Ended    *time.Time        `json:"ended"`
		Program  string            `json:"program"`
		Plan     dbcanary.Plan     `json:"plan"`
		Problems []string          `json:"problems"`

		Missing []dbcanary.MissingProbe `json:"missing"`
	}
	jsonTarget struct {
		Name     string             `json:"name"`
		Base     bool               `json:"base"`
		Family   dbcanary.Family    `json:"family"`
		Version  string             `json:"version"`
		Provider string             `json:"provider"`
		Origin   string             `json:"origin"`
		Checksum string             `json:"checksum"`
		Config   string             `json:"config"`
		Overlays []dbcanary.Setting `json:"overlays"`
		Made     []dbcanary.Setting `json:"made"`
		Dropped  string             `json:"dropped"`
	}
	jsonComparison struct {
		Benchmark string           `json:"benchmark"`
		Group     string           `json:"group"`
		Target    string           `json:"target"`
		Base      string           `json:"base"`
		Verdict   dbcanary.Verdict `json:"verdict"`
		Reason    string           `json:"reason"`
		Ratio     *float64         `json:"ratio"`
		Low       *float64         `json:"low"`
		High      *float64         `json:"high"`
		Level     float64          `json:"level"`
		MinEffect float64          `json:"min_effect"`
		QPS       *float64         `json:"qps"`
		BaseQPS   *float64         `json:"base_qps"`
		CPURatio  *float64         `json:"cpu_ratio"`
		CPULow    *float64         `json:"cpu_low"`
		CPUHigh   *float64         `json:"cpu_high"`
		CPUUs     *float64         `json:"cpu_us"`
		BaseCPUUs *float64         `json:"base_cpu_us"`
		Instances int              `json:"instances"`
		Blocks    int              `json:"blocks"`
		Void      int              `json:"void_slices"`
		MinDetect *float64         `json:"min_detectable"`
		Warnings  []string         `json:"warnings"`
	}
	jsonGroup struct {
		Group        *string          `json:"group"` // null for the whole suite
		Target       string           `json:"target"`
		Base         string           `json:"base"`
		Verdict      dbcanary.Verdict `json:"verdict"`
		Reason       string           `json:"reason"`
		Min          *float64         `json:"min"`
		Max          *float64         `json:"max"`
		Avg          *float64         `json:"avg"`
		Median       *float64         `json:"median"`
		Benchmarks   int              `json:"benchmarks"`
		Slower       int              `json:"slower"`
		Faster       int              `json:"faster"`
		Same         int              `json:"same"`
		Inconclusive int              `json:"inconclusive"`
	}
	jsonDifference struct {
		Name    string             `json:"name"`
		Chosen  bool               `json:"chosen"`
		Partial bool               `json:"partial"`
		Values  map[string]*string `json:"values"` // by target; null where it has no such setting
	}
	jsonNoise struct {
		Slices       int           `json:"slices"`
		Void         int           `json:"void_slices"`
		VoidReasons  []ReasonCount `json:"void_reasons"`
		MinInstances int           `json:"min_instances"`
		MaxInstances int           `json:"max_instances"`
	}
)

func (r *Report) writeJSON(w io.Writer, options Options) error {
	var text []byte
	var err error
	if options.Compact {
		text, err = json.Marshal(r.json())
	} else {
		text, err = json.MarshalIndent(r.json(), "", "  ")
		text = append(text, '\n')
	}
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func (r *Report) json() jsonReport {
	run := r.Run
	form := jsonReport{
		Format:   formatVersion,
		Headline: r.headlines(),
		Run: jsonRun{
			ID: run.ID, UID: run.UID, State: run.State, Started: run.Started, Program: run.Program,
			Plan: run.Plan, Problems: list(run.Problems), Missing: list(run.Missing),
		},
		Host:        run.Host,
		Targets:     []jsonTarget{},
		Comparisons: []jsonComparison{},
		Groups:      r.jsonGroups(),
		Differences: r.jsonDifferences(r.Differences),
		Builds:      r.jsonDifferences(r.Builds),
		NoEffect:    list(withoutEffect(run.Targets)),
		Noise: jsonNoise{
			Slices: r.Noise.Slices, Void: r.Noise.Void, VoidReasons: list(r.Noise.VoidReasons),
			MinInstances: r.Noise.MinInstances, MaxInstances: r.Noise.MaxInstances,
		},
	}
	form.Run.Plan.Targets, form.Run.Plan.Benchmarks = list(run.Plan.Targets), list(run.Plan.Benchmarks)
	if !run.Ended.IsZero() {
		form.Run.Ended = &run.Ended
	}
	var bases []string
	for _, view := range r.views() {
		bases = append(bases, view.base())
	}
	for _, t := range run.Targets {
		form.Targets = append(form.Targets, jsonTarget{
			Name: t.Name, Base: slices.Contains(bases, t.Name), Family: t.Build.Family, Version: t.Build.Version, Provider: t.Build.Provider,
			Origin: t.Build.Origin, Checksum: t.Build.Checksum, Config: t.Config.Name, Overlays: list(t.Config.Settings), Made: list(t.Made), Dropped: t.Dropped,
		})
	}
	for _, c := range r.comparisons() {
		form.Comparisons = append(form.Comparisons, comparisonJSON(c))
	}
	return form
}

func comparisonJSON(c dbcanary.Comparison) jsonComparison {
	return jsonComparison{
		Benchmark: c.Benchmark, Group: c.Group, Target: c.Target, Base: c.Base, Verdict: c.Verdict, Reason: c.Reason,
		Ratio: number(c.QPSRatio.Ratio), Low: number(c.QPSRatio.Low), High: number(c.QPSRatio.High),
		Level: c.Level, MinEffect: c.MinEffect, QPS: number(c.QPS), BaseQPS: number(c.BaseQPS),
		CPURatio: number(c.CPURatio.Ratio), CPULow: number(c.CPURatio.Low), CPUHigh: number(c.CPURatio.High),
		CPUUs: number(c.CPUUs), BaseCPUUs: number(c.BaseCPU),
		Instances: c.Instances, Blocks: c.Blocks, Void: c.VoidSlices, MinDetect: number(c.MinDetectable), Warnings: list(c.Warnings),
	}
}

func (r *Report) jsonGroups() []jsonGroup {
	groups := []jsonGroup{}
	for _, g := range r.allGroups() {
		one := jsonGroup{
			Target: g.Target, Base: g.Base, Verdict: g.Verdict, Reason: g.Reason,
			Min: number(g.Min), Max: number(g.Max), Avg: number(g.Avg), Median: number(g.Median), Benchmarks: g.Benchmarks,
			Slower: g.Slower, Faster: g.Faster, Same: g.Same, Inconclusive: g.Inconclusive,
		}
		if g.Name != "" {
			one.Group = &g.Name
		}
		groups = append(groups, one)
	}
	return groups
}

func (r *Report) jsonDifferences(all []SettingDifference) []jsonDifference {
	differences := []jsonDifference{}
	for _, d := range all {
		values := map[string]*string{}
		for i, value := range d.Values {
			values[r.Run.Targets[i].Name] = value
		}
		differences = append(differences, jsonDifference{Name: d.Name, Chosen: d.Chosen, Partial: d.Partial, Values: values})
	}
	return differences
}

// number is a JSON number, null for what JSON has no number for.
func number(value float64) *float64 {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return nil
	}
	return &value
}

// list is never null in JSON.
func list[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}
