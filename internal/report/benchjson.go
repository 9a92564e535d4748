package report

import (
	"encoding/json"
	"io"
	"strconv"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/bench"
	"github.com/dbcanary/dbcanary/internal/load"
)

// benchFormat is the version of the JSON that docs/format/bench.md describes.
const benchFormat = 1

type (
	benchJSON struct {
		Format    int             `json:"format"`
		Program   string          `json:"program"`
		Started   time.Time       `json:"started"`
		Name      string          `json:"name"`
		Benchmark string          `json:"benchmark"`
		Server    benchServerJSON `json:"server"`
		Tables    int             `json:"tables"`
		TableSize int             `json:"table_size"`
		Secondary bool            `json:"secondary"`
		PSMode    string          `json:"ps_mode"`
		Seed      uint64          `json:"seed"`
		WarmupS   float64         `json:"warmup_s"`
		TimeS     float64         `json:"time_s"`
		MaxEvents int64           `json:"max_events"`
		Rate      *float64        `json:"rate"`
		Poisson   bool            `json:"poisson"`
		Results   []benchStepJSON `json:"results"`
	}
	benchServerJSON struct {
		Family  dbcanary.Family `json:"family"`
		Version string          `json:"version"`
		Address string          `json:"address"`
	}
	benchStepJSON struct {
		Threads    int                 `json:"threads"`
		Started    *time.Time          `json:"started"`
		WindowS    float64             `json:"window_s"`
		ElapsedS   float64             `json:"elapsed_s"`
		OverrunS   float64             `json:"overrun_s"`
		Events     int64               `json:"events"`
		Statements int64               `json:"statements"`
		Reads      int64               `json:"reads"`
		Writes     int64               `json:"writes"`
		Other      int64               `json:"other"`
		TPS        float64             `json:"tps"`
		QPS        float64             `json:"qps"`
		Retries    int64               `json:"retries"`
		Errors     map[string]int64    `json:"errors"`
		Failure    string              `json:"failure"`
		LateStarts int64               `json:"late_starts"`
		Backlog    int64               `json:"backlog"`
		Response   benchLatencyJSON    `json:"response"`
		Service    benchLatencyJSON    `json:"service"`
		PerSecond  []int64             `json:"statements_by_second"`
		Intervals  []benchIntervalJSON `json:"intervals"`
	}
	benchLatencyJSON struct {
		MinUs       float64            `json:"min_us"`
		MeanUs      float64            `json:"mean_us"`
		MaxUs       float64            `json:"max_us"`
		Percentiles map[string]float64 `json:"percentiles_us"`
		Histogram   string             `json:"histogram,omitempty"`
	}
	benchIntervalJSON struct {
		ElapsedS   float64          `json:"elapsed_s"`
		LengthS    float64          `json:"length_s"`
		Events     int64            `json:"events"`
		Statements int64            `json:"statements"`
		Retries    int64            `json:"retries"`
		Errors     int64            `json:"errors"`
		Backlog    int64            `json:"backlog"`
		Response   benchLatencyJSON `json:"response"`
	}
)

// WriteBenchJSON writes a run of bench as docs/format/bench.md describes it.
func WriteBenchJSON(w io.Writer, r *bench.Result, options BenchOptions) error {
	form := benchJSON{
		Format: benchFormat, Program: r.Program, Started: r.Started, Name: r.Name, Benchmark: r.Benchmark.Label,
		Server: benchServerJSON{r.Server.Family, r.Server.Version, r.Server.Address},
		Tables: r.Data.Tables, TableSize: r.Data.TableSize, Secondary: r.Data.Secondary, PSMode: psMode(r.PSMode), Seed: r.Seed,
		WarmupS: r.Warmup.Seconds(), TimeS: r.Time.Seconds(), MaxEvents: r.Events, Poisson: r.Rate > 0 && r.Poisson,
		Results: []benchStepJSON{},
	}
	if r.Rate > 0 {
		form.Rate = &r.Rate
	}
	for _, step := range r.Steps {
		one, err := stepJSON(r, step, options)
		if err != nil {
			return err
		}
		form.Results = append(form.Results, one)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(form)
}

func stepJSON(r *bench.Result, step bench.Step, options BenchOptions) (benchStepJSON, error) {
	rec, m := step.Recording, mixOf(r.Benchmark)
	form := benchStepJSON{
		Threads: step.Threads, WindowS: rec.Window.Seconds(), ElapsedS: rec.Elapsed.Seconds(), OverrunS: max(0, rec.Overrun.Seconds()),
		Events: rec.Events, Statements: rec.Operations, Reads: rec.Events * m.read, Writes: rec.Events * m.write, Other: rec.Events * m.other,
		Retries: rec.Retries, Errors: rec.Errors, LateStarts: rec.LateStarts, Backlog: rec.Backlog,
		PerSecond: list(rec.PerSecond), Intervals: []benchIntervalJSON{},
	}
	if r.Benchmark.Program != nil {
		form.Reads, form.Writes, form.Other = -1, -1, -1
	}
	form.TPS, form.QPS = rates(rec)
	if form.Errors == nil {
		form.Errors = map[string]int64{}
	}
	if !rec.Started.IsZero() {
		form.Started = &rec.Started
	}
	if step.Err != nil {
		form.Failure = step.Err.Error()
	}
	var err error
	if form.Response, err = latencyJSON(rec.Response, options); err != nil {
		return form, err
	}
	if form.Service, err = latencyJSON(rec.Service, options); err != nil {
		return form, err
	}
	for _, p := range step.Intervals {
		response, err := latencyJSON(p.Response, BenchOptions{Percentiles: options.Percentiles})
		if err != nil {
			return form, err
		}
		form.Intervals = append(form.Intervals, benchIntervalJSON{
			p.Elapsed.Seconds(), p.Length.Seconds(), p.Events, p.Operations, p.Retries, p.Errors, p.Backlog, response,
		})
	}
	return form, nil
}

func latencyJSON(h *load.Histogram, options BenchOptions) (benchLatencyJSON, error) {
	const us = 1e3
	summary := h.Summary()
	form := benchLatencyJSON{
		MinUs: float64(summary.Min) / us, MeanUs: summary.Mean / us, MaxUs: float64(summary.Max) / us,
		Percentiles: map[string]float64{},
	}
	for _, percent := range options.Percentiles {
		form.Percentiles[strconv.FormatFloat(percent, 'g', -1, 64)] = float64(h.Percentile(percent)) / us
	}
	if options.Histogram {
		encoded, err := h.Encode()
		if err != nil {
			return form, err
		}
		form.Histogram = string(encoded)
	}
	return form, nil
}
