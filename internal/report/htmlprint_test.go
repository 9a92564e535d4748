package report

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	paper "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// On paper a wide table becomes several that have room on the page, and after it the
// page is as it was.
func testPrint(t *testing.T, browser context.Context) {
	s := large()
	p := open(t, browser, New(s.run, s.trials))
	before := p.heat()
	value[bool](p, `(addEventListener("beforeprint", () => {
		window.printed = [...document.querySelectorAll("#verdicts table")].map((table) => [...table.tHead.rows[0].cells].map((cell) => cell.innerText.trim()));
	}), true)`)
	if got, err := chromedp.Call(p.ctx, paper.PrintToPDF, paper.PrintToPDFParams{PreferCSSPageSize: new(true), PrintBackground: new(true)}); err != nil || len(got.Data) == 0 {
		t.Fatalf("%d bytes of PDF, error %v", len(got.Data), err)
	}
	var columns []string
	parts := value[[][]string](p, "window.printed")
	for _, titles := range parts {
		if len(titles) > 10 {
			t.Errorf("a part has %d columns", len(titles))
		}
		columns = append(columns, titles[1:]...)
	}
	equal(t, "columns of the parts", s.run.Plan.Targets, columns)
	equal(t, "the table after printing", before, p.heat())

	const width = 1046 // A4 in landscape less its margins, in pixels of 1/96 inch
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	p.do(chromedp.EmulateViewport(width, 720))
	value[bool](p, `dispatchEvent(new Event("beforeprint"))`)
	if wide := value[int64](p, "document.documentElement.scrollWidth"); wide > width {
		t.Errorf("the page is %d pixels wide on paper of %d", wide, width)
	}
	value[bool](p, `dispatchEvent(new Event("afterprint"))`)
	equal(t, "the table at last", before, p.heat())
}

// Where only rates are known, as of most imports, there is nothing to say of costs.
func testNoCosts(t *testing.T, browser context.Context) {
	s := releases()
	for i := range s.trials {
		trial := &s.trials[i]
		trial.ServerCPUNs, trial.ClientCPUNs, trial.Metrics = -1, -1, nil
	}
	r := New(s.run, s.trials)
	if slices.ContainsFunc(r.Costs, func(c Cost) bool { return !math.IsNaN(c.ServerUs) }) {
		t.Fatal("costs are known")
	}
	p := open(t, browser, r)
	equal(t, "section of costs", []string{}, p.texts("#hardware"))
}

// Of a target with one start no interval is known: its whisker is a dotted one, and the
// axis does not reach down to 0 for it. Versions are named without running into each other.
func testImported(t *testing.T, browser context.Context) {
	s := ladder()
	for i := range s.run.Targets {
		s.run.Targets[i].Name = "my80" + s.run.Targets[i].Name[len("mysql@8.0."):] + "_rel_o2nofp"
		s.run.Targets[i].Build.Version = s.run.Plan.Targets[i][len("mysql@"):]
		for k := range s.trials {
			if s.trials[k].Target == s.run.Plan.Targets[i] {
				s.trials[k].Target = s.run.Targets[i].Name
			}
		}
		s.run.Plan.Targets[i] = s.run.Targets[i].Name
	}
	kept := s.trials[:0]
	for _, trial := range s.trials {
		if trial.Instance == 0 {
			kept = append(kept, trial)
		}
	}
	s.trials = kept
	p := open(t, browser, New(s.run, s.trials))
	whiskers := value[[]string](p, `[...document.querySelectorAll("#intervals .whisker")].map((e) => e.getAttribute("class"))`)
	if len(whiskers) == 0 || slices.Contains(whiskers, "whisker") {
		t.Errorf("the whiskers of unknown intervals are %q", whiskers)
	}
	if start := value[float64](p, `Number(document.querySelector("#intervals text.tick").textContent)`); start < 0.4 {
		t.Errorf("the axis of ratios above 0.56 starts at %v", start)
	}
	touching := value[[]string](p, `[...document.querySelectorAll("#lines figure")].flatMap((figure) => {
		const names = [...figure.querySelectorAll("text.tick[text-anchor=middle]")];
		return names.filter((name, i) => i > 0 && names[i - 1].getBoundingClientRect().right > name.getBoundingClientRect().left).map((name) => name.textContent);
	})`)
	equal(t, "names that touch", []string{}, touching)
	equal(t, "first name", "8.0.28", p.text("#lines text.tick[text-anchor=middle]"))
}
