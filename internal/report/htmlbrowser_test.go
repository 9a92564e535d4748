package report

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/dbcanary/dbcanary"
)

// browser is a headless Chromium with a page of a report in it.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	errors []string // what the console showed
}

// open writes the report as a page and opens it. The end of the test fails if the
// console showed an error or a warning.
func open(t *testing.T, r *Report) *browser {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(out, "html", Options{}); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.WindowSize(1400, 1000))
	allocator, cancelAllocator := chromedp.NewExecAllocator(t.Context(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	limited, cancelTime := context.WithTimeout(ctx, time.Minute)
	b := &browser{t: t, ctx: limited}
	t.Cleanup(func() {
		cancelTime()
		cancel()
		cancelAllocator()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, text := range b.errors {
			t.Errorf("the console says: %s", text)
		}
	})
	if _, err := chromedp.Call(limited, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	err = chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.errors = append(b.errors, e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			b.errors = append(b.errors, string(e.Type))
		case *log.EventEntryAdded:
			b.errors = append(b.errors, e.Entry.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate("file://"+file), chromedp.WaitReady("#trials"))
	return b
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// value evaluates an expression.
func value[T any](b *browser, expression string) T {
	b.t.Helper()
	result, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// run evaluates an expression for what it does.
func (b *browser) run(expression string) {
	b.t.Helper()
	value[bool](b, "(() => { "+expression+"; return true; })()")
}

// texts are those of all elements that a selector finds.
func (b *browser) texts(selector string) []string {
	b.t.Helper()
	return value[[]string](b, "[...document.querySelectorAll("+quoted(selector)+")].map(e => e.textContent.trim())")
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `\'`) + "'" }

// choose takes an option of the choice with a label.
func (b *browser) choose(label, option string) {
	b.t.Helper()
	found := value[bool](b, `(() => {
		const label = [...document.querySelectorAll("label.choice")].find(l => l.textContent.startsWith(`+quoted(label)+`));
		const select = label?.querySelector("select");
		const option = [...(select?.options ?? [])].find(o => o.text === `+quoted(option)+`);
		if (!option) return false;
		select.value = option.value;
		select.dispatchEvent(new Event("change"));
		return true;
	})()`)
	if !found {
		b.t.Fatalf("no choice %q has %q", label, option)
	}
}

const (
	heatRows    = "#verdicts tbody tr:not(.group) th"
	heatButtons = "#verdicts thead button"
)

func fiveTargets(t *testing.T) *Report {
	t.Helper()
	return runs()["five-targets"]().report()
}

// What the page shows first: verdicts in words, and every ratio with its mark.
func TestHTMLContent(t *testing.T) {
	b := open(t, fiveTargets(t))
	if got := strings.Join(b.texts(".sentence"), "\n"); !strings.Contains(got, "mysql@9.7 is slower than mariadb@10.5 in 1 of 6 benchmarks (scan, -39 %); 1 faster, 4 same.") {
		t.Errorf("the headline is\n%s", got)
	}
	if got := b.texts(heatRows); len(got) != 6 {
		t.Errorf("the table has the benchmarks %q", got)
	}
	cell := `button[aria-label="scan, mysql@9.7: slower, 0.610"]`
	if got := b.texts(cell); len(got) != 1 || !strings.Contains(got[0], "0.61") || !strings.Contains(got[0], "▼") || !strings.Contains(got[0], "cpu 1.639") {
		t.Errorf("the cell of scan on mysql@9.7 is %q", got)
	}
	for _, id := range []string{"groups", "intervals", "lines", "hardware", "targets", "how", "settings", "trials"} {
		if len(b.texts("section#"+id)) != 1 {
			t.Errorf("there is no section %s", id)
		}
	}
	// The change at mariadb@11.8 is found and drawn; MySQL has no line of three versions.
	if got := value[[]string](b, `[...document.querySelectorAll("#lines .change")].map(c => c.dataset.tip)`); len(got) != 1 || !strings.Contains(got[0], "slower by 7.0 % with mariadb@11.8") {
		t.Errorf("changes over versions: %q", got)
	}
	if got := value[int](b, "performance.getEntriesByType('resource').length"); got != 0 {
		t.Errorf("the page loaded %d other resources", got)
	}
}

// Sorting by a target, down and up and back, by mouse and by keyboard.
func TestHTMLSort(t *testing.T) {
	b := open(t, fiveTargets(t))
	suite := b.texts(heatRows)
	press := "document.querySelectorAll('" + heatButtons + "')[6].click()"
	b.run(press)
	up := b.texts(heatRows)
	if up[0] != "scan" || up[5] != "random-points range=100" {
		t.Errorf("the lowest first: %q", up)
	}
	b.run("document.querySelectorAll('" + heatButtons + "')[6].focus()")
	b.do(chromedp.KeyEvent(kb.Enter))
	if down := b.texts(heatRows); down[0] != "random-points range=100" || down[5] != "scan" {
		t.Errorf("the highest first: %q", down)
	}
	if got := value[string](b, "document.querySelector('#verdicts th[aria-sort=descending]').textContent"); !strings.HasPrefix(got, "mysql@9.7") {
		t.Errorf("the sorted column is %q", got)
	}
	b.run(press)
	if got := b.texts(heatRows); strings.Join(got, ",") != strings.Join(suite, ",") {
		t.Errorf("the order of the suite did not come back: %q", got)
	}
}

// Another base: its own headline, ratios and verdicts, as a report against it has them.
func TestHTMLBase(t *testing.T) {
	s := runs()["five-targets"]()
	b := open(t, New(s.run, s.trials))
	b.choose("relative to", "mysql@9.7")
	against, err := NewAgainst(s.run, s.trials, []string{"mysql@9.7"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(b.texts(".sentence"), "\n"), strings.Join(against.headlines(), "\n"); got != want {
		t.Errorf("headlines\n%s\nwant\n%s", got, want)
	}
	if got := b.texts(`button[aria-label^="scan, mariadb@10.5: faster"]`); len(got) != 1 || !strings.Contains(got[0], "1.639") {
		t.Errorf("scan on mariadb@10.5 is %q", got)
	}
	if got := strings.Join(b.texts(".note"), " "); !strings.Contains(got, "whose only base is mysql@9.7") {
		t.Errorf("the note is %q", got)
	}
}

// Filters by group, verdict and name.
func TestHTMLFilter(t *testing.T) {
	b := open(t, fiveTargets(t))
	b.choose("group", "writes")
	if got := b.texts(heatRows); len(got) != 2 {
		t.Errorf("writes: %q", got)
	}
	b.choose("verdict", "slower")
	if got := b.texts(heatRows); len(got) != 1 || got[0] != "insert" {
		t.Errorf("slower writes: %q", got)
	}
	b.choose("verdict", "all")
	b.choose("group", "all")
	b.do(chromedp.SendKeys(".controls input[type=search]", "points"))
	if got := b.texts(heatRows); len(got) != 1 || got[0] != "random-points range=100" {
		t.Errorf("found by name: %q", got)
	}
}

// A cell opens what stands behind it; Escape closes it.
func TestHTMLDetail(t *testing.T) {
	b := open(t, runs()["one-target"]().report())
	b.do(chromedp.Click(`button[aria-label^="insert, "]`))
	text := strings.Join(b.texts("#detail"), "")
	for _, want := range []string{"slower", "only 4 instances", "throughput of mariadb@10.5 falls by 7 %", "server CPU µs/op", "beyond the 2 % that matters"} {
		if !strings.Contains(text, want) {
			t.Errorf("the detail lacks %q: %s", want, text)
		}
	}
	if got := value[int](b, "document.querySelectorAll('#detail circle').length"); got != 40 {
		t.Errorf("%d slices are drawn, want 40", got)
	}
	if !value[bool](b, "document.activeElement.id === 'detail'") {
		t.Error("the detail does not have the focus")
	}
	b.do(chromedp.KeyEvent(kb.Escape))
	if got := b.texts("#detail"); len(got) != 0 {
		t.Errorf("Escape left %q", got)
	}
	b.run("document.querySelector('#trials details').open = true")
	b.do(chromedp.WaitVisible("#trials tbody tr"))
	if got := b.texts("#trials [role=status]"); len(got) != 1 || got[0] != "240 slices" {
		t.Errorf("the trials: %q", got)
	}
}

// Names are text, whatever they hold, and runs that lack much make a page too.
func TestHTMLOddRuns(t *testing.T) {
	hostile := `</script><img src=x onerror="document.title='broken'">&<!--`
	s := newSynthetic([]string{"mysql@8.0", hostile}, []dbcanary.PlannedBenchmark{{Label: hostile, Group: hostile}})
	s.run.Problems = []string{hostile, "line\u2028separator"}
	s.measure(3)
	b := open(t, s.report())
	if got := value[string](b, "document.title"); !strings.Contains(got, "<img src=x") {
		t.Errorf("the title is %q", got)
	}
	if got := value[int](b, "document.querySelectorAll('img').length"); got != 0 {
		t.Errorf("a name made %d elements", got)
	}
	for _, name := range []string{"no-plan", "no-trials", "dropped", "one-instance", "names", "void"} {
		t.Run(name, func(t *testing.T) {
			s := runs()[name]()
			b := open(t, New(s.run, s.trials))
			if len(b.texts("h1")) != 1 {
				t.Error("the page has no title")
			}
		})
	}
}

// A large report opens; how long it takes is told, for docs/HTML.md.
func TestHTMLLarge(t *testing.T) {
	s := large()
	b := open(t, s.report())
	if got := value[int](b, "document.querySelectorAll('#verdicts button.cell').length"); got != 42*19 {
		t.Errorf("the table has %d cells, want %d", got, 42*19)
	}
	t.Logf("drawn after %.0f ms", value[float64](b, "performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart"))
}
