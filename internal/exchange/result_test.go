package exchange

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/cockroachdb/datadriven"

	"github.com/dbcanary/dbcanary"
)

func sharedDir() string { return filepath.Join("..", "..", "..", "shared") }

// The files in testdata/results hold outputs of other tools and what is read of them:
//
//	read name=before.txt [gzip] [utf16=le|be] [crlf] [bom] [cut] [warmup=SECONDS] [published]
//	sample name=sysbench_cpu.txt      (a file of the samples beside the repository)
func TestReadResults(t *testing.T) {
	datadriven.Walk(t, filepath.Join("testdata", "results"), func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var name string
			d.ScanArgs(t, "name", &name)
			content := encode(t, d)
			if d.Cmd == "sample" {
				var err error
				if content, err = os.ReadFile(filepath.Join(sharedDir(), "samples", name)); err != nil {
					t.Fatal(err)
				}
			}
			recording := recordingOptions{sinceBoot: !d.HasArg("published")}
			if d.HasArg("warmup") {
				var seconds int
				d.ScanArgs(t, "warmup", &seconds)
				recording.warmupS = float64(seconds)
			}
			results, err := readResults(name, bytes.NewReader(content), recording)
			return describeResults(results, err)
		})
	})
}

// encode writes the input as shells and tools of other systems do.
func encode(t *testing.T, d *datadriven.TestData) []byte {
	content := []byte(strings.NewReplacer(`\t`, "\t", `\r`, "\r", `\0`, "\x00").Replace(d.Input))
	if !d.HasArg("cut") {
		content = append(content, '\n')
	}
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "crlf":
			content = bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n"))
		case "bom":
			content = append([]byte("\ufeff"), content...)
		case "utf16":
			var out []byte
			for _, unit := range utf16.Encode([]rune("\ufeff" + string(content))) {
				if arg.Vals[0] == "le" {
					out = append(out, byte(unit), byte(unit>>8))
				} else {
					out = append(out, byte(unit>>8), byte(unit))
				}
			}
			content = out
		case "gzip":
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			if _, err := w.Write(content); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			content = packed.Bytes()
			if arg.Vals != nil { // cut
				content = content[:len(content)/2]
			}
		}
	}
	return content
}

func describeResults(results Results, err error) string {
	var b strings.Builder
	if results.Format != "" {
		fmt.Fprintf(&b, "format: %s\n", results.Format)
	}
	for _, m := range results.Measurements {
		fmt.Fprintf(&b, "%d: %s", m.Line, m.Tool)
		for _, part := range []struct{ name, value string }{
			{"benchmark", m.Benchmark}, {"target", m.Target}, {"relative to", m.Relative}, {"family", string(m.Family)}, {"unit", m.Unit},
		} {
			if part.value != "" {
				fmt.Fprintf(&b, ", %s %q", part.name, part.value)
			}
		}
		if m.Threads > 0 {
			fmt.Fprintf(&b, ", %d threads", m.Threads)
		}
		if !m.Started.IsZero() {
			fmt.Fprintf(&b, ", started %s", m.Started.Format("2006-01-02T15:04:05.999999Z"))
		}
		fmt.Fprintf(&b, "\n  %d operations, %d events in %.6gs = %.2f/s, step %.2g %%\n", m.Operations, m.Events, float64(m.ElapsedNs)/1e9,
			float64(m.Operations)/(float64(m.ElapsedNs)/1e9), 100*m.RateStep)
		if l := m.Latency; l.Max > 0 || l.Mean > 0 {
			fmt.Fprintf(&b, "  latency ms: min %g, mean %.4g, p50 %g, p95 %g, p99 %g, max %g, step %.2g %%\n",
				float64(l.Min)/1e6, l.Mean/1e6, float64(l.P50)/1e6, float64(l.P95)/1e6, float64(l.P99)/1e6, float64(l.Max)/1e6, 100*m.LatencyStep)
		}
		if m.Retries > 0 || len(m.Errors) > 0 {
			fmt.Fprintf(&b, "  retries %d, errors %v\n", m.Retries, m.Errors)
		}
		if n := len(m.Intervals); n > 0 {
			fmt.Fprintf(&b, "  %d intervals, last %+v, %d per second\n", n, m.Intervals[n-1], len(m.perSecond()))
		}
	}
	for _, rec := range results.Recordings {
		describeRecording(&b, rec)
	}
	for _, rejected := range results.Rejected {
		fmt.Fprintf(&b, "rejected (%s): %v\n", dbcanary.ErrorCode(rejected), rejected)
	}
	for _, note := range results.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	if err != nil {
		fmt.Fprintf(&b, "error (%s): %v\n", dbcanary.ErrorCode(err), err)
	}
	return b.String()
}

func describeRecording(b *strings.Builder, rec Recording) {
	fmt.Fprintf(b, "%d: recording of %s, %d samples", rec.Line, rec.Tool, rec.Samples)
	if rec.StepS > 0 {
		fmt.Fprintf(b, " of %gs", rec.StepS)
	}
	if rec.CPUs > 0 {
		fmt.Fprintf(b, ", %d CPUs", rec.CPUs)
	}
	b.WriteString("\n")
	for _, rate := range rec.Rates {
		if rate.PerOperation != 0 {
			fmt.Fprintf(b, "  %s %.6g by operation\n", rate.Name, rate.PerOperation)
		} else {
			fmt.Fprintf(b, "  %s %.6g/s\n", rate.Name, rate.PerSecond)
		}
	}
	for _, stack := range rec.Stacks {
		fmt.Fprintf(b, "  %s: %d %s\n", rec.Sampler, stack.Count, strings.Join(stack.Frames, " > "))
	}
	for _, gauge := range rec.Gauges {
		fmt.Fprintf(b, "  %s %.6g, from %.6g, at most %.6g\n", gauge.Name, gauge.Value, gauge.First, gauge.Max)
	}
}

// fuzzSeeds are the inputs of the tests.
func fuzzSeeds(f *testing.F) [][]byte {
	paths, err := filepath.Glob(filepath.Join("testdata", "results", "*"))
	if err != nil || len(paths) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	var seeds [][]byte
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		// Whole inputs, with their blank lines, from "read" to "----".
		for _, part := range strings.Split("\n"+string(content), "\nread ")[1:] {
			input, _, _ := strings.Cut(part, "\n----")
			_, input, _ = strings.Cut(input, "\n")
			seeds = append(seeds, []byte(strings.ReplaceAll(input, `\t`, "\t")+"\n"))
		}
	}
	return seeds
}

// FuzzReadResults has a seed of every format; a format that recognises a head
// must give a whole measurement or name file and line.
func FuzzReadResults(f *testing.F) {
	for _, seed := range fuzzSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(checkResults)
}

// FuzzFormat reads each input with one format, also one that would not be chosen.
func FuzzFormat(f *testing.F) {
	for _, seed := range fuzzSeeds(f) {
		head := string(seed[:min(len(seed), headBytes)])
		for i, format := range resultFormats() {
			if format.recognise(head) {
				f.Add(uint8(i), uint8(0), seed)
				break
			}
		}
		f.Add(uint8(len(seed)), uint8(1), seed)
	}
	f.Fuzz(func(t *testing.T, which, warmup uint8, content []byte) {
		formats := resultFormats()
		format := formats[int(which)%len(formats)]
		l := newLines("f", bytes.NewReader(content))
		l.recording = recordingOptions{warmupS: float64(warmup % 8), sinceBoot: warmup%2 == 0}
		results := Results{Format: format.name}
		err := format.read(l, &results)
		checkMeasurements(t, results, err, content)
	})
}

func checkResults(t *testing.T, content []byte) {
	results, err := ReadResults("f", bytes.NewReader(content))
	if err == nil && len(results.Measurements)+len(results.Recordings)+len(results.Rejected) == 0 {
		t.Errorf("neither a result nor an error of %q", content)
	}
	checkMeasurements(t, results, err, content)
	for i := range results.Measurements {
		results.Measurements[i].Target = "t"
	}
	runs, err := MakeRuns(results.Measurements, RunOptions{})
	if err != nil {
		t.Errorf("no run of %q: %v", content, err)
	}
	for _, run := range runs {
		if len(run.Trials) == 0 || len(run.Run.Targets) == 0 || len(run.Run.Plan.Benchmarks) == 0 {
			t.Errorf("a run without trials of %q", content)
		}
	}
}

func checkMeasurements(t *testing.T, results Results, err error, content []byte) {
	for _, rec := range results.Recordings {
		m := Measurement{ElapsedNs: 1e9, Operations: 1}
		m.attach(rec)
		trial := m.trial("b", "t", 0)
		for _, metric := range trial.Metrics {
			if math.IsNaN(metric.Value) || math.IsInf(metric.Value, 0) || metric.Name == "" {
				t.Errorf("%s gave %+v of %q", results.Format, metric, content)
			}
		}
		if rec.Samples <= 0 || rec.Line <= 0 || rec.Tool == "" || rec.CPUs < 0 || trial.ServerCPUNs < -1 {
			t.Errorf("%s gave %+v of %q", results.Format, rec, content)
		}
	}
	for _, e := range append(results.Rejected, err) {
		if e != nil && (dbcanary.ErrorCode(e) != dbcanary.CodeUsage || !strings.HasPrefix(e.Error(), "f")) {
			t.Errorf("error %v of code %s", e, dbcanary.ErrorCode(e))
		}
	}
	for _, m := range results.Measurements {
		if m.Operations <= 0 || m.ElapsedNs <= 0 || m.Events < 0 || m.Threads < 0 || m.Retries < 0 || !(m.RateStep > 0) || m.Line <= 0 || m.Tool == "" {
			t.Errorf("%s gave %+v of %q", results.Format, m, content)
		}
		if m.Latency.Min < 0 || m.Latency.P95 < 0 || m.Latency.Max < 0 || m.Latency.Mean < 0 {
			t.Errorf("%s gave latencies %+v of %q", results.Format, m.Latency, content)
		}
	}
}

// TestReadResults_Formats holds that every format is recognised by one test at least.
func TestReadResults_Formats(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "results", "*"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(content), "\n") {
			if name, ok := strings.CutPrefix(line, "format: "); ok {
				seen[name] = true
			}
		}
	}
	missing := []string{}
	for _, name := range append(ResultFormats(), RecordingFormats()...) {
		if !seen[name] {
			missing = append(missing, name)
		}
	}
	sort.Strings(missing)
	if len(missing) > 0 {
		t.Errorf("no test reads %s", strings.Join(missing, ", "))
	}
}

// repeated gives what line makes of 1, 2, 3, … until there are size bytes.
type repeated struct {
	line    func(n int) []byte
	n, left int
	pending []byte
}

func (r *repeated) Read(into []byte) (int, error) {
	if len(r.pending) == 0 {
		if r.left <= 0 {
			return 0, io.EOF
		}
		r.n++
		r.pending = r.line(r.n)
		r.left -= len(r.pending)
	}
	n := copy(into, r.pending)
	r.pending = r.pending[n:]
	return n, nil
}
