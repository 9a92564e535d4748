package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary/internal/bench"
	"github.com/dbcanary/dbcanary/internal/load"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// BenchOptions says what a report of bench shows.
type BenchOptions struct {
	Percentiles []float64 // of the latency; the first one stands in the lines of intervals
	Histogram   bool
}

// mix is how many statements of an event read, write, and do neither.
type mix struct{ read, write, other int64 }

func mixOf(b workload.Benchmark) mix {
	var m mix
	for _, step := range b.Steps {
		times := int64(max(1, step.Times))
		if strings.HasPrefix(step.SQL, "SELECT") {
			m.read += times
		} else {
			m.write += times
		}
	}
	if b.Transaction {
		m.other = 2
	}
	return m
}

// BenchHead writes what is run, on which server.
func BenchHead(w io.Writer, r *bench.Result) error {
	name := r.Benchmark.Label
	if r.Name != name {
		name += " (" + r.Name + ")"
	}
	loop := "closed loop"
	if r.Rate > 0 {
		arrivals := "constant"
		if r.Poisson {
			arrivals = "Poisson"
		}
		loop = fmt.Sprintf("open loop, %s arrivals, %g events/s", arrivals, r.Rate)
	}
	length := fmt.Sprintf("%v after a warm-up of %v", r.Time, r.Warmup)
	if r.Time == 0 {
		length = fmt.Sprintf("%d events after a warm-up of %v", r.Events, r.Warmup)
	} else if r.Events > 0 {
		length += fmt.Sprintf(" or %d events", r.Events)
	}
	_, err := fmt.Fprintf(w, "%s on %s %s, %s\n%s of %d rows, %s statements, %s, %s, seed %d\n\n",
		name, r.Server.Family, r.Server.Version, r.Server.Address,
		countText(r.Data.Tables, "table", "tables"), r.Data.TableSize, psMode(r.PSMode), loop, length, r.Seed)
	return err
}

func psMode(mode string) string {
	if mode == "" {
		return workload.Prepared
	}
	return mode
}

// BenchInterval writes a line of what happened since the last one.
func BenchInterval(w io.Writer, b workload.Benchmark, p load.Progress, percent float64) error {
	length := p.Length.Seconds()
	if length <= 0 {
		return nil
	}
	m := mixOf(b)
	each := float64(p.Events) / length
	line := fmt.Sprintf("[%6.1fs] connections %d  tps %.2f  qps %.2f (r/w/o %.2f/%.2f/%.2f)  p%g %s ms  errors/s %.2f  retries/s %.2f",
		p.Elapsed.Seconds(), p.Threads, each, float64(p.Operations)/length,
		each*float64(m.read), each*float64(m.write), each*float64(m.other),
		percent, ms(float64(p.Response.Percentile(percent))), float64(p.Errors)/length, float64(p.Retries)/length)
	if p.Backlog > 0 {
		line += fmt.Sprintf("  backlog %d", p.Backlog)
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// BenchStep writes all that one number of connections gave, in the blocks that
// readers of sysbench know.
func BenchStep(w io.Writer, r *bench.Result, step bench.Step, options BenchOptions) error {
	var b strings.Builder
	rec, m := step.Recording, mixOf(r.Benchmark)
	elapsed := rec.Elapsed.Seconds()
	rate := func(label string, count int64) {
		perSecond := 0.0
		if elapsed > 0 {
			perSecond = float64(count) / elapsed
		}
		fmt.Fprintf(&b, "  %-15s %12d %14.2f per second\n", label, count, perSecond)
	}
	fmt.Fprintf(&b, "Queries, %s\n", countText(step.Threads, "connection", "connections"))
	if r.Benchmark.Program == nil { // what a program sends is known in total only
		rate("read", rec.Events*m.read)
		rate("write", rec.Events*m.write)
		rate("other", rec.Events*m.other)
	}
	rate("total", rec.Operations)
	b.WriteString("\nEvents\n")
	rate("transactions", rec.Events)
	rate("retries", rec.Retries)
	rate("errors", errorCount(rec))
	for _, code := range slices.Sorted(maps.Keys(rec.Errors)) {
		fmt.Fprintf(&b, "    error %-8s %12d\n", code, rec.Errors[code])
	}
	benchTime(&b, r, rec)
	if rec.Offered > 0 {
		benchLatency(&b, "Response time (ms), from the intended start", rec.Response, options.Percentiles)
		benchLatency(&b, "Service time (ms), from the actual start", rec.Service, options.Percentiles)
	} else {
		benchLatency(&b, "Latency (ms)", rec.Response, options.Percentiles)
	}
	if options.Histogram {
		benchHistogram(&b, rec.Response)
	}
	if step.Err != nil {
		b.WriteString("\nNot a full measurement: the load ended early or with errors.\n")
	}
	b.WriteString("\n")
	return writeAll(w, &b)
}

func benchTime(b *strings.Builder, r *bench.Result, rec *load.Recording) {
	b.WriteString("\nTime\n")
	fmt.Fprintf(b, "  measured        %12.3f s\n", rec.Window.Seconds())
	if rec.Overrun > 0 {
		fmt.Fprintf(b, "  overrun         %12.3f s until the last event ended\n", rec.Overrun.Seconds())
	}
	if rec.Offered > 0 {
		achieved := 0.0
		if rec.Elapsed > 0 {
			achieved = float64(rec.Events) / rec.Elapsed.Seconds()
		}
		fmt.Fprintf(b, "\nOpen loop\n  offered         %12.2f events/s\n  achieved        %12.2f events/s\n", r.Rate, achieved)
		fmt.Fprintf(b, "  late starts     %12d more than 1 ms after the intended start\n  backlog         %12d due by the end and never started\n", rec.LateStarts, rec.Backlog)
	}
}

func benchLatency(b *strings.Builder, title string, h *load.Histogram, percentiles []float64) {
	summary := h.Summary()
	fmt.Fprintf(b, "\n%s\n  min %s  avg %s  max %s\n ", title, ms(float64(summary.Min)), ms(summary.Mean), ms(float64(summary.Max)))
	for _, percent := range percentiles {
		fmt.Fprintf(b, " p%g %s ", percent, ms(float64(h.Percentile(percent))))
	}
	b.WriteString("\n")
}

// benchHistogram draws the distribution in steps of a quarter of a power of two,
// about as fine as sysbench's.
func benchHistogram(b *strings.Builder, h *load.Histogram) {
	const bars = 50
	type bucket struct{ fromNs, toNs, count int64 }
	var buckets []bucket
	var most int64
	h.Each(func(fromNs, toNs, count int64) {
		from := quarter(fromNs)
		if n := len(buckets); n > 0 && buckets[n-1].fromNs == from {
			buckets[n-1].toNs = toNs
			buckets[n-1].count += count
		} else {
			buckets = append(buckets, bucket{from, toNs, count})
		}
		most = max(most, buckets[len(buckets)-1].count)
	})
	b.WriteString("\nHistogram (ms, events)\n")
	for _, one := range buckets {
		bar := strings.Repeat("*", int((one.count*bars+most-1)/most))
		fmt.Fprintf(b, "  %10s |%-*s %d\n", ms(float64(one.fromNs)), bars, bar, one.count)
	}
}

// quarter rounds down to a multiple of a quarter of the power of two below.
func quarter(ns int64) int64 {
	step := int64(1)
	for step*8 <= ns {
		step *= 2
	}
	return ns / step * step
}

// BenchTable writes the head of the table of a sweep, or the line of a step.
func BenchTable(w io.Writer, r *bench.Result, step *bench.Step, options BenchOptions) error {
	names := []string{"connections", "tps", "qps"}
	if r.Rate > 0 {
		names = append(names, "offered", "late", "backlog", "service_avg")
	}
	names = append(names, "avg_ms")
	for _, percent := range options.Percentiles {
		names = append(names, fmt.Sprintf("p%g_ms", percent))
	}
	names = append(names, "max_ms", "retries", "errors")
	cells := names
	if step != nil {
		cells = benchCells(r, step, options)
	}
	var b strings.Builder
	for i, cell := range cells {
		fmt.Fprintf(&b, "%*s", max(len(names[i]), 9)+2, cell)
	}
	b.WriteString("\n")
	return writeAll(w, &b)
}

func benchCells(r *bench.Result, step *bench.Step, options BenchOptions) []string {
	rec := step.Recording
	tps, qps := rates(rec)
	cells := []string{strconv.Itoa(step.Threads), fmt.Sprintf("%.2f", tps), fmt.Sprintf("%.2f", qps)}
	if r.Rate > 0 {
		cells = append(cells, fmt.Sprintf("%.2f", rec.Offered), strconv.FormatInt(rec.LateStarts, 10),
			strconv.FormatInt(rec.Backlog, 10), ms(rec.Service.Summary().Mean))
	}
	summary := rec.Response.Summary()
	cells = append(cells, ms(summary.Mean))
	for _, percent := range options.Percentiles {
		cells = append(cells, ms(float64(rec.Response.Percentile(percent))))
	}
	return append(cells, ms(float64(summary.Max)), strconv.FormatInt(rec.Retries, 10), strconv.FormatInt(errorCount(rec), 10))
}

// rates gives events and statements per second, 0 if nothing was measured.
func rates(rec *load.Recording) (tps, qps float64) {
	if rec.Elapsed <= 0 {
		return 0, 0
	}
	elapsed := rec.Elapsed.Seconds()
	return float64(rec.Events) / elapsed, float64(rec.Operations) / elapsed
}

func errorCount(rec *load.Recording) int64 {
	var count int64
	for _, n := range rec.Errors {
		count += n
	}
	return count
}

// ms gives nanoseconds as milliseconds with three digits or more.
func ms(ns float64) string {
	value := ns / float64(time.Millisecond)
	if value < 10 {
		return strconv.FormatFloat(value, 'f', 3, 64)
	}
	return strconv.FormatFloat(value, 'f', 2, 64)
}
