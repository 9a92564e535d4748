package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
)

// releases is a run over releases with real noise, so that its verdicts are those of
// internal/verdict: updates got slower with 10.11, scans faster with 11.4.
func releases() *synthetic {
	s := newSynthetic([]string{"mariadb@10.5", "mariadb@10.6", "mariadb@10.11", "mariadb@11.4", "mariadb@11.8", "mysql@9.7"}, quick())
	for _, target := range s.run.Plan.Targets[2:5] {
		s.ratios[target+"/update-index"] = 0.85
	}
	for _, target := range s.run.Plan.Targets[3:5] {
		s.ratios[target+"/scan"] = 1.2
	}
	s.ratios["mysql@9.7/insert"] = 0.98
	s.measure(10)
	random := rand.New(rand.NewPCG(1, 2))
	luck := map[string]float64{} // of one start of a server
	for i := range s.trials {
		trial := &s.trials[i]
		start := fmt.Sprint(trial.Target, trial.Instance)
		if luck[start] == 0 {
			luck[start] = 1 + 0.004*random.NormFloat64()
		}
		trial.Operations = int64(float64(trial.Operations) * luck[start] * (1 + 0.002*random.NormFloat64()))
		trial.Started = started.Add(time.Duration(i) * time.Second)
		trial.LatencyNs.P95 = 1e6 + int64(random.IntN(1e5))
		if i%40 == 7 {
			trial.Void = "foreign CPU 31 % of the slice"
		}
	}
	return s
}

func (s *synthetic) against(t *testing.T, bases ...string) *Report {
	t.Helper()
	r, err := NewAgainst(s.run, s.trials, bases)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantHeat is what the table should say of comparisons: rows and columns as listed.
func wantHeat(r *Report, benchmarks []string, targets []string) [][]string {
	var rows [][]string
	for _, benchmark := range benchmarks {
		row := []string{benchmark}
		for _, target := range targets {
			cell := "1"
			for _, c := range r.Comparisons {
				if c.Benchmark == benchmark && c.Target == target {
					cell = fmt.Sprintf("%s, %s: %s, %s", benchmark, target, c.Verdict, ratioText(c.QPSRatio.Ratio))
				}
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

func labels(comparisons []dbcanary.Comparison) []string {
	var list []string
	for _, c := range comparisons {
		list = append(list, c.Benchmark)
	}
	return list
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestHTML opens pages in one browser.
func TestHTML(t *testing.T) {
	browser := newBrowser(t)
	for _, test := range []struct {
		name string
		test func(*testing.T, context.Context)
	}{
		{"content", testContent},
		{"sort", testSort},
		{"base", testBase},
		{"filter", testFilter},
		{"cpu", testCPU},
		{"tooltip", testTooltip},
		{"detail", testDetail},
		{"lines", testLines},
		{"profiles", testProfiles},
		{"hostile names", testHostileNames},
		{"odd runs", testOddRuns},
		{"contrast and width", testLook},
		{"large", testLarge},
		{"print", testPrint},
		{"no costs", testNoCosts},
		{"imported", testImported},
	} {
		t.Run(test.name, func(t *testing.T) { test.test(t, browser) })
	}
}

// Verdicts come first, in the words of the text report, and the table holds every comparison.
func testContent(t *testing.T, browser context.Context) {
	s := releases()
	r := New(s.run, s.trials)
	p := open(t, browser, r)
	equal(t, "sentences", r.headlines(), p.texts(".sentence"))
	equal(t, "first section", "Verdicts", p.text("header + section h2"))
	equal(t, "table", wantHeat(r, labels(r.of("mysql@9.7")), s.run.Plan.Targets), p.heat())
	for _, id := range []string{"groups", "intervals", "lines", "hardware", "targets", "how", "trials"} {
		if len(p.texts("section#"+id)) != 1 {
			t.Errorf("there is no section %s", id)
		}
	}
	how := p.text("#how")
	for _, want := range []string{hostText(r.Run.Host), r.noiseText()} {
		if !strings.Contains(how, want) {
			t.Errorf("how it was measured lacks %q: %s", want, how)
		}
	}
}

// By a target, down and up and back, by mouse and by keyboard.
func testSort(t *testing.T, browser context.Context) {
	s := releases()
	r := New(s.run, s.trials)
	p := open(t, browser, r)
	target := s.run.Plan.Targets[2]
	const header = "#verdicts thead th:nth-child(4)"
	p.do(chromedp.Click(chromedp.CSS(header + " button")))
	list := r.of(target)
	slices.SortStableFunc(list, func(a, b dbcanary.Comparison) int {
		return cmp.Compare(ratioText(a.QPSRatio.Ratio), ratioText(b.QPSRatio.Ratio))
	})
	equal(t, "slowest first", wantHeat(r, labels(list), s.run.Plan.Targets), p.heat())
	equal(t, "aria-sort", "ascending", value[string](p, `document.querySelector("`+header+`").ariaSort`))
	p.do(chromedp.KeyEvent(kb.Enter)) // the button keeps the focus
	if top, last := p.heat()[0][3], ratioText(list[len(list)-1].QPSRatio.Ratio); !strings.HasSuffix(top, last) {
		t.Errorf("fastest first: %q, want %s", top, last)
	}
	equal(t, "aria-sort", "descending", value[string](p, `document.querySelector("`+header+`").ariaSort`))
	p.do(chromedp.KeyEvent(kb.Enter))
	equal(t, "the order of the suite", wantHeat(r, labels(r.of(target)), s.run.Plan.Targets), p.heat())
}

// Another base: sentences, ratios and verdicts are those of a report against it.
func testBase(t *testing.T, browser context.Context) {
	s := releases()
	targets := s.run.Plan.Targets
	p := open(t, browser, New(s.run, s.trials))
	for _, base := range []string{targets[4], targets[1], targets[0]} {
		p.choose("relative to", base)
		r := s.against(t, base)
		equal(t, "sentences", r.headlines(), p.texts(".sentence"))
		equal(t, "table against "+base, wantHeat(r, labels(r.of(r.compared()[0])), targets), p.heat())
	}
	// Of several bases that were asked for the first one is shown, and all share the chance of a false verdict.
	both := s.against(t, targets[4], targets[0])
	p = open(t, browser, both)
	equal(t, "table of the first base", wantHeat(both, labels(both.of(targets[0])), slices.Concat(targets[4:5], targets[:4], targets[5:])), p.heat())
	if notes := strings.Join(p.texts("header .note"), "\n"); !strings.Contains(notes, both.basesNote()) {
		t.Errorf("the notes are %q", notes)
	}
	p.choose("relative to", targets[0])
	equal(t, "sentences of the second base", both.Further[0].headlines(), p.texts(".sentence"))
}

func testFilter(t *testing.T, browser context.Context) {
	s := releases()
	r := New(s.run, s.trials)
	targets := s.run.Plan.Targets
	p := open(t, browser, r)
	p.choose("group", "writes")
	equal(t, "group", wantHeat(r, []string{"update-index", "insert"}, targets), p.heat())
	p.choose("verdict", "slower")
	equal(t, "group and verdict", wantHeat(r, []string{"update-index"}, targets), p.heat())
	p.choose("group", "all")
	p.choose("verdict", "faster")
	equal(t, "verdict", wantHeat(r, []string{"scan"}, targets), p.heat())
	p.choose("verdict", "all")
	p.do(chromedp.SendKeys(chromedp.CSS("#verdicts input[type=search]"), "RANGE="))
	equal(t, "words", wantHeat(r, []string{"random-points range=100", "read-only range=100"}, targets), p.heat())
	p.do(chromedp.SendKeys(chromedp.CSS("#verdicts input[type=search]"), "nothing"))
	equal(t, "all filtered out", [][]string{{"no benchmark is left by the filters"}}, p.heat())
}

// The table of server CPU has ratios and verdicts of its own.
func testCPU(t *testing.T, browser context.Context) {
	s := releases()
	r := New(s.run, s.trials)
	p := open(t, browser, r)
	p.choose("show", "server CPU ratio")
	words := map[dbcanary.Verdict]string{dbcanary.Slower: "costs more", dbcanary.Faster: "costs less", dbcanary.Same: "same", dbcanary.Inconclusive: "inconclusive"}
	var want, got []string
	for _, c := range r.of("mariadb@11.8") {
		want = append(want, fmt.Sprintf("%s, mariadb@11.8: %s, %s", c.Benchmark, words[c.CPUVerdict], ratioText(c.CPURatio.Ratio)))
	}
	for _, row := range p.heat() {
		got = append(got, row[5])
	}
	equal(t, "CPU", want, got)
	p.choose("show", "queries per second")
	if row := p.heat()[0]; row[0] != "point-query" || !strings.HasPrefix(row[1], "20,0") && !strings.HasPrefix(row[1], "19,9") {
		t.Errorf("queries per second: %q", row)
	}
}

// Pointing at a cell tells its interval and reason, and so does going there by keyboard.
func testTooltip(t *testing.T, browser context.Context) {
	s := releases()
	r := New(s.run, s.trials)
	p := open(t, browser, r)
	c := r.of("mariadb@11.8")[2]
	const cell = `button[aria-label^="update-index, mariadb@11.8"]`
	center := value[[]float64](p, `(() => { const r = document.querySelector('`+cell+`').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
	p.do(chromedp.MouseEvent("mouseMoved", center[0], center[1]), chromedp.WaitVisible(chromedp.CSS(".tip")))
	for _, want := range []string{"update-index on mariadb@11.8: slower", ratioText(c.QPSRatio.Ratio), intervalText(c.QPSRatio), c.Reason} {
		if tip := p.text(".tip"); !strings.Contains(tip, want) {
			t.Errorf("the tooltip lacks %q: %s", want, tip)
		}
	}
	p.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotVisible(chromedp.CSS(".tip")))
	// Tab goes through the controls and the headings into the table, arrows go about in it.
	p.do(chromedp.Click(chromedp.CSS("#verdicts input[type=search]")))
	for range len(s.run.Plan.Targets) + 2 {
		p.do(chromedp.KeyEvent(kb.Tab))
	}
	p.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowDown), chromedp.WaitVisible(chromedp.CSS(".tip")))
	if tip := p.text(".tip"); !strings.HasPrefix(tip, "random-points range=100 on mariadb@10.11: ") {
		t.Errorf("after Tab, right and down the tooltip is %q", tip)
	}
	equal(t, "described by", "tip", value[string](p, `document.activeElement.getAttribute("aria-describedby")`))
}

// A cell opens what stands behind it; Escape closes it and goes back.
func testDetail(t *testing.T, browser context.Context) {
	p := open(t, browser, runs()["one-target"]().report())
	const cell = `button[aria-label^="insert, "]`
	p.do(chromedp.Click(chromedp.CSS(cell)))
	text := p.text("#detail")
	for _, want := range []string{"slower", "only 4 instances", "throughput of mariadb@10.5 falls by 7 %", "server CPU µs/op", "beyond the 2 % that matters"} {
		if !strings.Contains(text, want) {
			t.Errorf("the detail lacks %q: %s", want, text)
		}
	}
	equal(t, "slices", 40, value[int](p, `document.querySelectorAll("#detail circle").length`))
	equal(t, "focus", "detail", value[string](p, "document.activeElement.id"))
	p.do(chromedp.KeyEvent(kb.Escape))
	equal(t, "after Escape", []string{}, p.texts("#detail"))
	equal(t, "focus after Escape", true, value[bool](p, "document.activeElement.matches('"+cell+"')"))
	// Every slice, when somebody asks for them.
	equal(t, "slices before they are asked for", 0, value[int](p, `document.querySelectorAll("#trials tbody tr").length`))
	value[bool](p, `document.querySelector("#trials summary").focus() ?? true`)
	p.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(chromedp.CSS("#trials tbody tr")))
	equal(t, "count", []string{"240 slices"}, p.texts("#trials [role=status]"))
	p.do(chromedp.SendKeys(chromedp.CSS("#trials input[type=search]"), "read-only"))
	equal(t, "found", 40, value[int](p, `document.querySelectorAll("#trials tbody tr").length`))
}

// Targets of a family in the order of their versions, with the changes that detect finds.
func testLines(t *testing.T, browser context.Context) {
	s := releases()
	// The order of versions does not hang on that of the plan.
	slices.Reverse(s.run.Plan.Targets[1:])
	slices.Reverse(s.run.Targets[1:])
	p := open(t, browser, New(s.run, s.trials))
	equal(t, "lines", []string{"mariadb"}, p.texts("#lines h3"))
	equal(t, "versions", []string{"10.5", "10.6", "10.11", "11.4", "11.8"},
		value[[]string](p, `[...document.querySelector("#lines figure").querySelectorAll("text.tick[text-anchor=middle]")].map((e) => e.textContent)`))
	var changes []string
	for _, tip := range value[[]string](p, `[...document.querySelectorAll("#lines .change")].map((c) => c.closest("figure").querySelector("figcaption").textContent + ": " + c.dataset.tip)`) {
		changes = append(changes, numbers.ReplaceAllString(tip, "#"))
	}
	equal(t, "changes", []string{"update-index: slower by # % with mariadb@# (confirmed)", "scan: faster by # % with mariadb@# (confirmed)"}, changes)
	axis := `[...document.querySelector("#lines figure").querySelectorAll("text.tick[text-anchor=end]")].map((e) => Number(e.textContent))[0]`
	equal(t, "the axis starts at", 0.7, value[float64](p, axis))
	p.do(chromedp.Click(chromedp.CSS("#lines input[type=checkbox]")))
	if start := value[float64](p, axis); start < 0.9 {
		t.Errorf("not as published the axis starts at %v", start)
	}
}

// Names are text, whatever they hold.
func testHostileNames(t *testing.T, browser context.Context) {
	hostile := `</script><img src=x onerror="document.title='broken'">&<!--<script>`
	s := newSynthetic([]string{"mysql@8.0", hostile}, []dbcanary.PlannedBenchmark{{Label: hostile, Group: hostile}})
	s.run.Problems = []string{hostile, "line\u2028separator"}
	s.measure(3)
	p := open(t, browser, s.report())
	equal(t, "title", "dbcanary: mysql@8.0 and "+hostile, value[string](p, "document.title"))
	equal(t, "elements that a name made", 0, value[int](p, `document.querySelectorAll("img").length`))
	equal(t, "row", hostile, p.heat()[0][0])
}

// Runs that lack much make a page too, and an error of a script fails the test.
func testOddRuns(t *testing.T, browser context.Context) {
	for name, want := range map[string]string{
		"no-plan":      "There is nothing to compare",
		"no-trials":    "still going on",
		"dropped":      "it was dropped before the end",
		"one-instance": "inconclusive",
		"names":        "データベース",
		"void":         "slices void",
		"all void":     "No slice was measured that counts",
	} {
		t.Run(name, func(t *testing.T) {
			make := runs()[name]
			if name == "all void" {
				make = func() *synthetic {
					s := runs()["five-targets"]()
					for i := range s.trials {
						s.trials[i].Void = "the host slept"
					}
					return s
				}
			}
			s := make()
			p := open(t, browser, New(s.run, s.trials))
			if text := p.text("main"); !strings.Contains(text, want) {
				t.Errorf("the page lacks %q: %s", want, text)
			}
		})
	}
}

// Text stands out from what lies behind it, in light and dark, and the page is
// never wider than its window: what is wide scrolls by itself.
func testLook(t *testing.T, browser context.Context) {
	s := runs()["five-targets"]()
	p := open(t, browser, New(s.run, s.trials))
	p.do(chromedp.Click(chromedp.CSS(`button[aria-label^="scan, mysql@9.7"]`)))
	for _, scheme := range []string{"light", "dark"} {
		call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		weak := value[[]string](p, contrastScript)
		if len(weak) > 0 {
			t.Errorf("%s: too little contrast: %q", scheme, weak)
		}
	}
	for _, width := range []int64{360, 800, 1400} {
		p.do(chromedp.EmulateViewport(width, 800))
		if wide := value[int64](p, "document.documentElement.scrollWidth"); wide > width {
			t.Errorf("the page is %d pixels wide in a window of %d", wide, width)
		}
	}
}

// contrastScript names the elements whose text has less than 4.5 of contrast (WCAG AA),
// backgrounds laid over each other as the browser does it.
const contrastScript = `(() => {
	const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	const over = (colors) => {
		canvas.clearRect(0, 0, 1, 1);
		for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
		return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255);
	};
	const light = (rgb) => {
		const [r, g, b] = rgb.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const weak = new Set();
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node = walk.nextNode(); node; node = walk.nextNode()) {
		const element = node.parentElement;
		if (node.data.trim() === "" || !element.checkVisibility() || element.closest("script, svg, option")) continue;
		const behind = [];
		for (let at = element; at; at = at.parentElement) behind.unshift(getComputedStyle(at).backgroundColor);
		const opacity = Number(getComputedStyle(element).opacity);
		const back = over(behind);
		const front = over([...behind, getComputedStyle(element).color]).map((v, i) => v * opacity + back[i] * (1 - opacity));
		const [a, b] = [light(front), light(back)];
		const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (contrast < 4.5) weak.add(element.className + " " + element.tagName + ": " + contrast.toFixed(1));
	}
	return [...weak];
})()`

func testLarge(t *testing.T, browser context.Context) {
	s := large()
	p := open(t, browser, New(s.run, s.trials))
	if page, err := os.Stat(strings.TrimPrefix(p.address, "file://")); err != nil || page.Size() > 3<<20 {
		t.Errorf("%d slices, error %v, %d bytes", len(s.trials), err, page.Size())
	}
	equal(t, "cells", 42*19, value[int](p, `document.querySelectorAll("#verdicts button.cell").length`))
}

// large is a run of 42 benchmarks on 20 releases with 10 instances.
func large() *synthetic {
	groups := []string{"point-1", "point-2", "range-1", "range-2", "writes"}
	var benchmarks []dbcanary.PlannedBenchmark
	for i := range 42 {
		benchmarks = append(benchmarks, dbcanary.PlannedBenchmark{Label: fmt.Sprintf("benchmark-%02d range=%d", i, 10*i), Group: groups[i/9]})
	}
	var targets []string
	for i := range 20 {
		targets = append(targets, fmt.Sprintf("mysql@8.0.%d", 20+i))
	}
	s := newSynthetic(targets, benchmarks)
	for i := range s.run.Targets {
		s.run.Targets[i].Build.Version = strings.TrimPrefix(targets[i], "mysql@")
		for k, b := range benchmarks {
			s.ratios[targets[i]+"/"+b.Label] = 1 - 0.012*float64(i)*math.Sin(float64(k)) + 0.02*math.Cos(float64(k*i))
		}
	}
	s.voidOne = 31
	s.measure(10)
	for i := range s.trials {
		trial := &s.trials[i]
		noise := 1 + 0.004*math.Sin(float64(i*7919%997)) + 0.01*math.Cos(float64(trial.Instance*31+len(trial.Benchmark)))
		trial.Operations = int64(float64(trial.Operations) * noise)
		trial.Started = started.Add(time.Duration(i) * 600 * time.Millisecond)
	}
	return s
}

// BenchmarkHTMLLarge tells how long a browser takes from the start to the drawn page,
// and how much CPU time of that the page itself takes, which no neighbour changes.
func BenchmarkHTMLLarge(b *testing.B) {
	browser := newBrowser(b)
	s := large()
	p := open(b, browser, New(s.run, s.trials))
	call(p, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	cpu := func() float64 {
		got, err := chromedp.Call(p.ctx, performance.GetMetrics, cdp.Empty{})
		if err != nil {
			b.Fatal(err)
		}
		at := slices.IndexFunc(got.Metrics, func(m *performance.Metric) bool { return m.Name == "TaskDuration" })
		return got.Metrics[at].Value * 1e3
	}
	var wall, before float64
	before = cpu()
	for b.Loop() {
		p.do(chromedp.Reload())
		wall += value[float64](p, `performance.getEntriesByType("navigation")[0].loadEventEnd`)
	}
	b.ReportMetric(wall/float64(b.N), "ms/page")
	b.ReportMetric((cpu()-before)/float64(b.N), "cpu-ms/page")
}
