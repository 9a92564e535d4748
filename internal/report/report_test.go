package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/verdict"
)

func render(t testing.TB, s *synthetic, format string, options Options) string {
	t.Helper()
	return write(t, s.report(), format, options)
}

func write(t testing.TB, r *Report, format string, options Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b, format, options); err != nil {
		t.Fatal(err)
	}
	// A golden file shows what a terminal hides.
	return strings.NewReplacer("\x1b", "<ESC>", "\r", "<CR>").Replace(b.String())
}

// TestNew holds that a report prints what verdict says.
func TestNew(t *testing.T) {
	for name, make := range runs() {
		s := make()
		r := New(s.run, s.trials)
		want := verdict.Compare(s.run.Plan, s.trials, verdict.Options{})
		if diff := cmp.Diff(want, r.Comparisons, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s: comparisons (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(verdict.Groups(want), r.Groups, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s: groups (-want +got):\n%s", name, diff)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	err := New(dbcanary.Run{}, nil).Write(&bytes.Buffer{}, "jsn", Options{})
	if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), `did you mean "json"`) &&
		!strings.Contains(err.Error(), "did you mean json") {
		t.Errorf("error %v", err)
	}
}

// No format may lose a write error.
func TestWriteError(t *testing.T) {
	s := runs()["one-target"]()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, format := range Formats() {
		if err := s.report().Write(full, format, Options{}); err == nil {
			t.Errorf("%s: no error", format)
		}
	}
}

// TestWidth holds every line of the text report to the terminal's width.
func TestWidth(t *testing.T) {
	for name, make := range runs() {
		s := make()
		r := s.report()
		for width := leastWidth; width < 200; width += 7 {
			text := write(t, r, "text", Options{Width: width})
			for line := range strings.SplitSeq(text, "\n") {
				// A word that is too long is not broken, so that it can be copied.
				if displayWidth(line) > width && strings.Contains(strings.TrimSpace(line), " ") && !longWord(line, width) {
					t.Fatalf("%s at %d columns: %d columns in %q", name, width, displayWidth(line), line)
				}
			}
		}
	}
}

func longWord(line string, width int) bool {
	for word := range strings.FieldsSeq(line) {
		if displayWidth(word) > width-10 {
			return true
		}
	}
	return false
}

// TestColor holds that colours add nothing: without them the text is the same.
func TestColor(t *testing.T) {
	for name, make := range runs() {
		s := make()
		plainText := render(t, s, "text", Options{Width: 100})
		colored := render(t, s, "text", Options{Width: 100, Color: true})
		for _, sequence := range []string{"1", "2", "31", "32", "33", "0"} {
			colored = strings.ReplaceAll(colored, "<ESC>["+sequence+"m", "")
		}
		if colored != plainText {
			t.Errorf("%s: colours change the text", name)
		}
	}
}

// TestMarkdownTables holds every table to GFM: each row has as many cells as the header.
func TestMarkdownTables(t *testing.T) {
	for name, make := range runs() {
		cells := 0
		for line := range strings.SplitSeq(render(t, make(), "md", Options{Verbose: true}), "\n") {
			if !strings.HasPrefix(line, "|") {
				cells = 0
				continue
			}
			count := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") - 1
			if cells == 0 {
				cells = count
			}
			if count != cells {
				t.Errorf("%s: %d cells, the header has %d: %s", name, count, cells, line)
			}
		}
	}
}

// TestIntervalBesideRatio: where nobody made a verdict, no ratio stands alone.
func TestIntervalBesideRatio(t *testing.T) {
	s := runs()["one-instance"]()
	text := render(t, s, "text", Options{Width: 120})
	if !strings.Contains(text, "unknown") || !strings.Contains(text, "inconclusive") {
		t.Errorf("one instance has a verdict or an interval:\n%s", text)
	}
}

func TestCSV(t *testing.T) {
	for name, make := range runs() {
		s := make()
		text := write(t, s.report(), "csv", Options{})
		records, err := csv.NewReader(strings.NewReader(strings.ReplaceAll(text, "<CR>", "\r"))).ReadAll()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := 1 + len(s.report().Comparisons); len(records) != want {
			t.Errorf("%s: %d lines, want %d", name, len(records), want)
		}
	}
}

// TestJSONIsStrict: any number that a comparison can hold becomes JSON.
func TestJSONIsStrict(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}))
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) float64 { return number.Draw(rt, name) }
		estimate := func(name string) dbcanary.Estimate {
			return dbcanary.Estimate{Ratio: draw(name), Low: draw(name), High: draw(name)}
		}
		c := dbcanary.Comparison{
			Benchmark: rapid.String().Draw(rt, "benchmark"), Target: "b", Base: "a",
			QPSRatio: estimate("ratio"), CPURatio: estimate("cpu"), QPS: draw("qps"), BaseQPS: draw("base"),
			CPUUs: draw("us"), BaseCPU: draw("base us"), MinDetectable: draw("detectable"),
			Verdict: dbcanary.Inconclusive, Warnings: rapid.SliceOf(rapid.String()).Draw(rt, "warnings"),
		}
		r := &Report{Run: dbcanary.Run{Plan: dbcanary.Plan{Targets: []string{"a", "b"}}}, Comparisons: []dbcanary.Comparison{c}}
		r.Groups = verdict.Groups(r.Comparisons)
		for _, format := range Formats() {
			var b bytes.Buffer
			err := r.Write(&b, format, Options{Compact: true, Width: 80})
			if dbcanary.ErrorCode(err) == dbcanary.CodeUsage && b.Len() == 0 {
				continue // a format of what this run does not have
			}
			if err != nil {
				rt.Fatalf("%s: %v", format, err)
			}
			if format == "json" && !json.Valid(b.Bytes()) {
				rt.Fatalf("not JSON: %s", b.String())
			}
			if format == "json" && bytes.Contains(b.Bytes(), []byte("\n")) {
				rt.Fatal("a compact report has a line break")
			}
		}
	})
}

func TestRuns(t *testing.T) {
	killed := runs()["no-trials"]().run
	done := runs()["one-target"]().run
	killed.ID = 12
	done.Ended = done.Started.Add(62*time.Minute + 4*time.Second)
	var b bytes.Buffer
	if err := Runs(&b, []dbcanary.Run{killed, done}, map[int64]int{7: 2400}); err != nil {
		t.Fatal(err)
	}
	want := `run  started (UTC)        state      took  benchmarks  trials  targets, base first
 12  2026-11-30 22:00:00  running       -           2       0  mysql@8.0 mysql@9.7
  7  2026-11-30 22:00:00  done     1h2m4s           6   2,400  mariadb@10.5 mariadb@11.8+noahi
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	if err := Runs(&b, nil, nil); err != nil || !strings.Contains(b.String(), "no runs yet") {
		t.Errorf("without runs: %q, error %v", b.String(), err)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{ratioText(0.9123), "0.912"},
		{ratioText(12.345), "12.3"},
		{ratioText(math.NaN()), "-"},
		{intervalText(dbcanary.Estimate{Ratio: 1, Low: 0, High: math.Inf(1)}), "unknown"},
		{intervalText(dbcanary.Estimate{Ratio: 0.9, Low: 0.88, High: 0.921}), "0.880–0.921"},
		{plusMinus(dbcanary.Estimate{Ratio: 0.9, Low: 0.88, High: 0.921}), "0.900 ±.021"},
		{plusMinus(dbcanary.Estimate{Ratio: 2, Low: 0.8, High: 5}), "2.000 ±3.000"},
		{plusMinus(dbcanary.Estimate{Ratio: 2, Low: 0, High: math.Inf(1)}), "2.000 ±?"},
		{rateText(28411.6), "28,412"},
		{rateText(1234567), "1,234,567"},
		{rateText(0), "0.0"},
		{rateText(43.21), "43.2"},
		{changeText(0.88), "-12 %"},
		{changeText(0.995), "-0.5 %"},
		{changeText(1.0999), "+10 %"},
		{changeText(2.3), "2.3 times"},
		{changeText(0.1), "-90 %"},
		{changeText(0.004), "0.004 times"},
		{percentText(0.02), "2 %"},
		{percentText(0.025), "2.5 %"},
		{percentText(0.95), "95 %"},
		{durationText(500 * time.Millisecond), "500ms"},
		{durationText(10 * time.Minute), "10m"},
		{durationText(2 * time.Hour), "2h0m"},
		{durationText(61 * time.Second), "1m1s"},
		{bytesText(32 << 30), "32.0 GiB"},
		{bytesText(512 << 20), "512 MiB"},
		{shortChecksum("sha256:0123456789abcdef"), "sha256:0123456789ab"},
		{shortChecksum("sha512-0123456789abcdef+/=="), "sha512-0123456789ab"},
		{shortChecksum("sha256:0123"), "sha256:0123"},
		{shortChecksum(""), ""},
		{fit("データベース", 5), "デー…"},
		{wrap("one two three", 8, "  "), "one two\n  three"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if width := displayWidth("デe\u0301"); width != 3 {
		t.Errorf("width %d, want 3", width)
	}
}

func TestHeadlines(t *testing.T) {
	comparison := func(benchmark string, v dbcanary.Verdict, ratio float64) dbcanary.Comparison {
		return dbcanary.Comparison{Benchmark: benchmark, Target: "b", Base: "a", Verdict: v, QPSRatio: dbcanary.Estimate{Ratio: ratio}}
	}
	slower, faster := comparison("s", dbcanary.Slower, 0.88), comparison("f", dbcanary.Faster, 1.5)
	same, open := comparison("e", dbcanary.Same, 1), comparison("i", dbcanary.Inconclusive, 0.5)
	for _, c := range []struct {
		comparisons []dbcanary.Comparison
		want        string
	}{
		{nil, "b was not compared: the plan has no benchmarks"},
		{[]dbcanary.Comparison{slower}, "b is slower than a in the only benchmark (s, -12 %)"},
		{[]dbcanary.Comparison{slower, comparison("t", dbcanary.Slower, 0.7)}, "b is slower than a in both benchmarks (t most, -30 %)"},
		{[]dbcanary.Comparison{slower, faster, same, open}, "b is slower than a in 1 of 4 benchmarks (s, -12 %); 1 faster, 1 same, 1 inconclusive"},
		{[]dbcanary.Comparison{faster, comparison("g", dbcanary.Faster, 2.5), open}, "b is faster than a in 2 of 3 benchmarks (g most, 2.5 times); 1 inconclusive"},
		{[]dbcanary.Comparison{same, open, open}, "b is the same as a in 1 of 3 benchmarks; 2 inconclusive"},
		{[]dbcanary.Comparison{same, same}, "b is the same as a in both benchmarks"},
		{[]dbcanary.Comparison{open, open}, "b against a is inconclusive in both benchmarks"},
	} {
		r := &Report{Run: dbcanary.Run{Plan: dbcanary.Plan{Targets: []string{"a", "b"}}}, Comparisons: c.comparisons}
		if got := r.headline("b"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestSettingDifferences(t *testing.T) {
	s := runs()["one-target"]()
	got := map[string]string{}
	for _, d := range settingDifferences(s.run.Targets) {
		if !strings.HasPrefix(d.Name, "tuning") {
			got[d.Name] = fmt.Sprint(d.Chosen, d.Partial, distinctParts(d.Values))
		}
	}
	want := map[string]string{
		"innodb_adaptive_hash_index": "true false [ON OFF]",
		"optimizer_switch":           "false false [… hash=off … hash=on,new=off]",
		"innodb_change_buffering":    "false true [all -]",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestSettingOrder(t *testing.T) {
	setting := func(name, value string) dbcanary.Setting { return dbcanary.Setting{Name: name, Value: value} }
	targets := []dbcanary.Target{
		{
			Build: dbcanary.Build{Family: dbcanary.MariaDB},
			Settings: []dbcanary.Setting{
				setting("zeta", "1"), setting("alpha", "1"), setting("innodb_io_capacity", "1"), setting("old", "1"),
				setting("port", "1"), setting("datadir", "/a"), setting("gtid_mode", "ON"),
			},
		},
		{
			Build:  dbcanary.Build{Family: dbcanary.MySQL},
			Config: dbcanary.Config{Settings: []dbcanary.Setting{setting("loose-zeta", "2")}},
			Settings: []dbcanary.Setting{
				setting("zeta", "2"), setting("alpha", "2"), setting("innodb_io_capacity", "2"), setting("port", "2"),
				setting("datadir", "/b"), setting("gtid_mode", "OFF"),
			},
		},
		{Build: dbcanary.Build{Family: dbcanary.Postgres}, Settings: []dbcanary.Setting{setting("alpha", "3")}},
	}
	var names []string
	for _, d := range settingDifferences(targets) {
		names = append(names, d.Name)
	}
	if got, want := strings.Join(names, " "), "zeta innodb_io_capacity alpha gtid_mode old"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

func TestWithoutEffect(t *testing.T) {
	target := func(family dbcanary.Family, asked, effective string) dbcanary.Target {
		one := dbcanary.Target{Build: dbcanary.Build{Family: family}}
		if asked != "" {
			one.Config.Settings = []dbcanary.Setting{{Name: "adaptive-hash", Value: asked}}
		}
		if effective != "" {
			one.Settings = []dbcanary.Setting{{Name: "adaptive_hash", Value: effective}}
		}
		return one
	}
	const maria, mysql, postgres = dbcanary.MariaDB, dbcanary.MySQL, dbcanary.Postgres
	for _, c := range []struct {
		name    string
		targets []dbcanary.Target
		want    int
	}{
		{"it was so already", []dbcanary.Target{target(maria, "", "OFF"), target(maria, "0", "OFF")}, 1},
		{"it changes", []dbcanary.Target{target(maria, "", "ON"), target(maria, "0", "OFF")}, 0},
		{"all ask for it", []dbcanary.Target{target(maria, "0", "OFF"), target(maria, "0", "OFF")}, 0},
		{"a third differs", []dbcanary.Target{target(maria, "", "OFF"), target(maria, "0", "OFF"), target(mysql, "", "ON")}, 0},
		{"another DBMS", []dbcanary.Target{target(postgres, "", "OFF"), target(maria, "0", "OFF")}, 0},
		{"not read back", []dbcanary.Target{target(maria, "", ""), target(maria, "0", "OFF")}, 0},
		{"the other does not have it", []dbcanary.Target{{Settings: []dbcanary.Setting{{Name: "x"}}, Build: dbcanary.Build{Family: maria}}, target(maria, "0", "OFF")}, 0},
		{"twice", []dbcanary.Target{target(maria, "", "OFF"), target(maria, "0", "OFF"), target(maria, "0", "OFF")}, 1},
	} {
		if got := withoutEffect(c.targets); len(got) != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
