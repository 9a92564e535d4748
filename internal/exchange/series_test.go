package exchange

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/dbcanary/dbcanary"
)

// The files in testdata/series hold inputs and what is read of them:
//
//	read name=nightly.csv [columns=a,b] [time=t] [label=l] [environment=e] [delimiter=;]
//	join                      (files are parted by lines "-- name --")
func TestSeriesFiles(t *testing.T) {
	datadriven.Walk(t, filepath.Join("testdata", "series"), func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "read":
				name := ""
				var opts SeriesOptions
				for _, arg := range d.CmdArgs {
					switch arg.Key {
					case "name":
						name = arg.Vals[0]
					case "columns":
						opts.Columns = arg.Vals
					case "time":
						opts.Time = arg.Vals[0]
					case "label":
						opts.Label = arg.Vals[0]
					case "environment":
						opts.Environment = arg.Vals
					case "delimiter":
						opts.Delimiter = rune(arg.Vals[0][0])
					default:
						t.Fatalf("unknown argument %s", arg.Key)
					}
				}
				file, err := ReadSeries(name, unescape(d.Input), opts)
				return describe(file, err)
			case "join":
				var files []SeriesFile
				for _, part := range strings.Split("\n"+d.Input, "\n-- ")[1:] {
					name, text, _ := strings.Cut(part, " --\n")
					file, err := ReadSeries(name, []byte(text), SeriesOptions{})
					if err != nil {
						return describe(file, err)
					}
					files = append(files, file)
				}
				return describe(JoinSeries(files), nil)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// unescape lets a test write what an editor would not keep.
func unescape(text string) []byte {
	return []byte(strings.NewReplacer(`\r`, "\r", `\t`, "\t", `\0`, "\x00", `\ufeff`, "\ufeff").Replace(text))
}

func describe(file SeriesFile, err error) string {
	if err != nil {
		return fmt.Sprintf("error (%s): %v\n", dbcanary.ErrorCode(err), err)
	}
	var b strings.Builder
	for _, s := range file.Series {
		fmt.Fprintf(&b, "%s | %s | unit %q | %q | better %q\n", s.Benchmark, s.Metric, s.Unit, s.Config, s.Better)
		for _, p := range s.Points {
			fmt.Fprintf(&b, "  %s %v", p.Label, p.Value)
			if !p.Time.IsZero() {
				fmt.Fprintf(&b, " at %s", p.Time.Format("2006-01-02T15:04:05Z07:00"))
			}
			if len(p.Environment) > 0 {
				fmt.Fprintf(&b, " %v", p.Environment)
			}
			b.WriteString("\n")
		}
	}
	for _, note := range file.Notes {
		b.WriteString("note: " + note + "\n")
	}
	return b.String()
}

// TestReadSharedSeries reads the public series that lie beside the repository.
func TestReadSharedSeries(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "changepoint")
	for pattern, want := range map[string]struct{ files, series, points int }{
		"rocksdb/*.csv":   {8, 23, 99},
		"tigerbeetle.csv": {1, 1, 365},
	} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(names) != want.files {
			t.Fatalf("%s: %d files, %v; want %d", pattern, len(names), err, want.files)
		}
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			file, err := ReadSeries(name, content, SeriesOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(file.Series) != want.series {
				t.Errorf("%s: %d series, want %d", name, len(file.Series), want.series)
			}
			for _, s := range file.Series {
				if len(s.Points) != want.points {
					t.Errorf("%s %s: %d points, want %d", name, s.Metric, len(s.Points), want.points)
				}
			}
		}
	}
}

func FuzzReadSeries(f *testing.F) {
	for _, seed := range []string{
		"time,commit,metric1\n2026.01.01 3:00:00 +0100,aaa0,154023\n",
		"a;b\n1;2\n;\n", "value\n1\nx\n", "BenchmarkX-8 100 12 ns/op 3 B/op\ncommit: abc\n",
		`[{"timestamp":1706220908,"metrics":[{"name":"p99","unit":"us","value":123}],"attributes":{"git_commit":"a"}}]`,
		`[{"name":"x","unit":"qps","value":50}]`, `{"bench":{"throughput":{"value":5.55}}}`,
		`window.BENCHMARK_DATA = {"entries":{"s":[{"commit":{"id":"a"},"date":1,"tool":"go","benches":[{"name":"x","value":1,"unit":"ns/op"}]}]}}`,
		"[", "{", "[]", "{}", "\ufeff", "window.BENCHMARK_DATA", "window.BENCHMARK_DATA =",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := ReadSeries("f", content, SeriesOptions{})
		if err != nil {
			if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.HasPrefix(err.Error(), "f") {
				t.Errorf("error %v of code %s", err, dbcanary.ErrorCode(err))
			}
			return
		}
		if len(file.Series) == 0 {
			t.Errorf("neither a series nor an error of %q", content)
		}
		for _, s := range file.Series {
			if len(s.Points) == 0 {
				t.Errorf("series %q has no points", s.Metric)
			}
			for _, p := range s.Points {
				if math.IsInf(p.Value, 0) && !bytes.Contains(bytes.ToLower(content), []byte("inf")) {
					t.Errorf("an infinite value out of %q", content)
				}
			}
		}
	})
}
