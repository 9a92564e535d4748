package report

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// trackedName names a benchmark of a target in the formats of tools that keep a
// history of one thing and know no targets.
func trackedName(target, benchmark string) string { return target + ": " + benchmark }

// actionEntry is an entry of github-action-benchmark's customBiggerIsBetter.
type actionEntry struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Range string  `json:"range,omitempty"`
	Extra string  `json:"extra,omitempty"`
}

// writeAction writes JSON for github-action-benchmark: the rate of every benchmark
// on every target, with the least and the most of its instances. Verdict and
// interval stand in "extra", since the action judges by a single number.
func (r *Report) writeAction(w io.Writer, _ Options) error {
	entries := []actionEntry{}
	for _, target := range r.Run.Plan.Targets {
		for _, b := range r.Run.Plan.Benchmarks {
			rate, least, most, count := r.summed(b.Label, target, Instance.rate)
			if count == 0 {
				continue
			}
			entry := actionEntry{Name: trackedName(target, b.Label), Unit: "queries/s", Value: rate}
			if count > 1 {
				entry.Range = rateText(least) + "–" + rateText(most)
			}
			if c := r.comparison(b.Label, target); c.Verdict != "" {
				entry.Extra = comparisonText(c)
			}
			entries = append(entries, entry)
		}
	}
	return writeIndented(w, entries)
}

// bencherMeasure is a metric of Bencher Metric Format: the bounds hold the value.
type bencherMeasure struct {
	Value float64  `json:"value"`
	Lower *float64 `json:"lower_value,omitempty"`
	Upper *float64 `json:"upper_value,omitempty"`
}

// writeBencher writes Bencher Metric Format: medians over instances, with the least
// and the most as bounds, under Bencher's own names of measures and units
// ("throughput" in operations per second, "latency" in nanoseconds).
func (r *Report) writeBencher(w io.Writer, _ Options) error {
	benchmarks := map[string]map[string]bencherMeasure{}
	for _, target := range r.Run.Plan.Targets {
		for _, b := range r.Run.Plan.Benchmarks {
			measures := map[string]bencherMeasure{}
			for name, value := range map[string]func(Instance) float64{
				"throughput":      Instance.rate,
				"latency":         func(one Instance) float64 { return one.P95Ns },
				"server-cpu-time": func(one Instance) float64 { return one.CPUNs },
			} {
				median, least, most, count := r.summed(b.Label, target, value)
				switch {
				case count > 1:
					measures[name] = bencherMeasure{median, &least, &most}
				case count == 1:
					measures[name] = bencherMeasure{Value: median}
				}
			}
			if len(measures) > 0 {
				benchmarks[trackedName(target, b.Label)] = measures
			}
		}
	}
	return writeIndented(w, benchmarks)
}

func writeIndented(w io.Writer, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// writeOtava writes CSV for Apache Otava: a line for each start of each target, in
// the order of the plan, and a column for the rate of each benchmark. Otava sorts
// by time and the targets of a run were measured in turns, so time counts the
// targets up in seconds from the start of the run.
func (r *Report) writeOtava(w io.Writer, _ Options) error {
	var b strings.Builder
	out := csv.NewWriter(&b)
	header := []string{"time", "version", "target", "host"}
	for _, planned := range r.Run.Plan.Benchmarks {
		header = append(header, planned.Label)
	}
	if err := out.Write(header); err != nil {
		return err
	}
	last := -1
	rates := map[string]map[int]map[string]float64{}
	for _, one := range r.Instances {
		if rates[one.Target] == nil {
			rates[one.Target] = map[int]map[string]float64{}
		}
		if rates[one.Target][one.Number] == nil {
			rates[one.Target][one.Number] = map[string]float64{}
		}
		rates[one.Target][one.Number][one.Benchmark] = one.QPS
		last = max(last, one.Number)
	}
	for i, target := range r.Run.Plan.Targets {
		at := r.Run.Started.UTC().Add(time.Duration(i) * time.Second).Format(time.RFC3339)
		for number := range last + 1 {
			values, ok := rates[target][number]
			if !ok {
				continue
			}
			record := []string{at, r.versionOf(i), target, r.Run.Host.Name}
			for _, planned := range r.Run.Plan.Benchmarks {
				rate, ok := values[planned.Label]
				if !ok {
					rate = math.NaN()
				}
				record = append(record, csvNumber(rate))
			}
			if err := out.Write(record); err != nil {
				return err
			}
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return writeAll(w, &b)
}

// versionOf names target i by its version, or by its name if another target has
// the same version or it has none.
func (r *Report) versionOf(i int) string {
	name := r.Run.Plan.Targets[i]
	var own dbcanary.Build
	for _, t := range r.Run.Targets {
		if t.Name == name {
			own = t.Build
		}
	}
	for _, t := range r.Run.Targets {
		if t.Name != name && t.Build.Version == own.Version {
			return name
		}
	}
	if own.Version == "" {
		return name
	}
	return own.Version
}
