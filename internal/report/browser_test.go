package report

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// newBrowser starts a headless Chromium that ends with the test.
func newBrowser(t testing.TB) context.Context {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Fatal("the page is tested in a browser: apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.WindowSize(1400, 1000))
	allocator, endAllocator := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(endAllocator)
	browser, end := chromedp.NewContext(allocator)
	t.Cleanup(end)
	if err := chromedp.Do(browser, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	return browser
}

// tab is a page in the browser. What it writes to the console and what it asks of a
// network fail the test.
type tab struct {
	testing.TB
	ctx     context.Context
	address string

	mu       sync.Mutex
	problems []string
}

// open writes a report as a page and opens it from its file.
func open(t testing.TB, browser context.Context, r *Report) *tab {
	t.Helper()
	var page bytes.Buffer
	if err := r.Write(&page, "html", Options{}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &tab{TB: t, address: "file://" + file}
	ctx, end := chromedp.NewContext(browser, chromedp.WithListener(p.event))
	t.Cleanup(end)
	ctx, stop := context.WithTimeout(ctx, 3*time.Minute) // on a host that does much else, too
	t.Cleanup(stop)
	p.ctx = ctx
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, problem := range p.problems {
			t.Error("in the browser: " + problem)
		}
	})
	call(p, log.Enable, cdp.Empty{})
	call(p, network.Enable, network.EnableParams{})
	p.do(chromedp.Navigate(p.address), chromedp.WaitReady(chromedp.CSS("#trials")))
	return p
}

func (p *tab) event(event any) {
	problem := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		problem = "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			problem += " " + e.ExceptionDetails.Exception.Description
		}
	case *runtime.EventConsoleAPICalled:
		problem = fmt.Sprint("console: ", e.Type)
	case *log.EventEntryAdded:
		problem = "log: " + e.Entry.Text
	case *network.EventRequestWillBeSent:
		if e.Request.URL != p.address && e.Request.URL != "about:blank" {
			problem = "request of " + e.Request.URL
		}
	}
	if problem != "" {
		p.mu.Lock()
		p.problems = append(p.problems, problem)
		p.mu.Unlock()
	}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

func call[P, R any](p *tab, command cdp.Command[P, R], params P) {
	p.Helper()
	if _, err := chromedp.Call(p.ctx, command, params); err != nil {
		p.Fatal(err)
	}
}

// value evaluates an expression of JavaScript.
func value[T any](p *tab, expression string) T {
	p.Helper()
	result, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return result
}

// texts are those of all elements that a selector finds.
func (p *tab) texts(selector string) []string {
	p.Helper()
	return value[[]string](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.textContent.trim())`, selector))
}

// text is that of the first element that a selector finds, "" if there is none.
func (p *tab) text(selector string) string {
	p.Helper()
	return value[string](p, fmt.Sprintf(`document.querySelector(%q)?.textContent ?? ""`, selector))
}

// choose takes an option of the choice with a label.
func (p *tab) choose(label, option string) {
	p.Helper()
	found := value[bool](p, fmt.Sprintf(`(() => {
		const label = [...document.querySelectorAll("label.choice")].find((l) => l.firstChild.textContent === %q);
		const select = label?.querySelector("select");
		const option = [...(select?.options ?? [])].find((o) => o.text === %q);
		if (!option) return false;
		select.value = option.value;
		select.dispatchEvent(new Event("change"));
		return true;
	})()`, label, option))
	if !found {
		p.Fatalf("no choice %q has %q", label, option)
	}
}

// heat reads the table of benchmarks by targets: of each row the benchmark, and of
// each cell what it says to a screen reader.
func (p *tab) heat() [][]string {
	p.Helper()
	return value[[][]string](p, `[...document.querySelectorAll("#verdicts table.heat tbody tr:not(.group)")].map((tr) =>
		[...tr.children].map((cell) => cell.querySelector("button")?.ariaLabel ?? cell.textContent))`)
}
