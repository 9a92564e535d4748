package report

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/profile"
)

// pprofOf makes a profile of folded stacks: "main;parse;lex 12" each.
func pprofOf(t *testing.T, folded ...string) []byte {
	t.Helper()
	stacks, err := profile.ParseFolded(strings.NewReader(strings.Join(folded, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := profile.Encode(stacks)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// profiled is a run whose target spends more time in lex and none in cache.
func profiled(t *testing.T) *Report {
	t.Helper()
	r := runs()["one-target"]().report()
	base, target := r.Run.Plan.Targets[0], r.Run.Plan.Targets[1]
	r.Profiles = []dbcanary.Profile{
		{
			Benchmark: "scan", Target: base, Operations: 500, Waits: []dbcanary.Wait{{Event: "wait/io/file/sql/binlog", Count: 4, TotalNs: 1_000_000}},
		},
		{ // another slice, with as many operations as it came to
			Benchmark: "scan", Target: base, Operations: 1000,
			Stacks: []dbcanary.Stacks{{Sampler: "perf cycles", Pprof: pprofOf(t, "main;parse;lex 20", "main;run 60", "main;cache 20")}},
		},
		{Benchmark: "scan", Target: base, Instance: 1, Operations: 500, Waits: []dbcanary.Wait{{Event: "wait/io/file/sql/binlog", Count: 4, TotalNs: 3_000_000}}},
		{
			Benchmark: "scan", Target: target, Operations: 1000, Waits: []dbcanary.Wait{
				{Event: "wait/io/file/sql/binlog", Count: 4, TotalNs: 6_000_000}, {Event: "wait/synch/mutex/trx_sys", Count: 9, TotalNs: 9_000_000, Sampled: true},
			},
			Stacks: []dbcanary.Stacks{{Sampler: "perf cycles", Pprof: pprofOf(t, "main;parse;lex 60", "main;run 60")}},
		},
		{Benchmark: "scan", Target: target, Operations: 10, Void: "the server died", Stacks: []dbcanary.Stacks{{Sampler: "gdb"}}},
	}
	return r
}

func TestPageProfiles(t *testing.T) {
	r := profiled(t)
	names := newTexts()
	pages, err := r.pageProfiles(names)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, p := range pages {
		fmt.Fprintf(&got, "%s on %s: %d operations\n", r.Run.Plan.Benchmarks[p.Benchmark].Label, r.Run.Targets[p.Target].Name, p.Operations)
		for _, w := range p.Waits {
			fmt.Fprintf(&got, "  %s: %d in %d ns, sampled %d\n", names.list[w[0]], w[1], w[2], w[3])
		}
		for _, s := range p.Stacks {
			fmt.Fprintf(&got, "  %s:", s.Sampler)
			for i := 0; i < len(s.Nodes); i += 3 {
				fmt.Fprintf(&got, " %s %d (%d)", names.list[s.Nodes[i]], s.Nodes[i+1], s.Nodes[i+2])
			}
			got.WriteString("\n")
		}
	}
	want := `scan on mariadb@10.5: 1000 operations
  wait/io/file/sql/binlog: 8 in 4000000 ns, sampled 0
  perf cycles: all 100 (1) main 100 (3) cache 20 (0) parse 20 (1) lex 20 (0) run 60 (0)
scan on mariadb@11.8+noahi: 1000 operations
  wait/synch/mutex/trx_sys: 9 in 9000000 ns, sampled 1
  wait/io/file/sql/binlog: 4 in 6000000 ns, sampled 0
  perf cycles: all 120 (1) main 120 (2) parse 60 (1) lex 60 (0) run 60 (0)
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

// Many and deep graphs leave the page light: small frames are left out.
func TestPageProfiles_Heavy(t *testing.T) {
	r := profiled(t)
	var folded []string
	for i := range 5000 {
		folded = append(folded, fmt.Sprintf("main;f%d;g%d %d", i%70, i, 1+i%7))
	}
	packed := pprofOf(t, folded...)
	r.Profiles = nil
	for _, b := range r.Run.Plan.Benchmarks {
		for _, target := range r.Run.Plan.Targets {
			r.Profiles = append(r.Profiles, dbcanary.Profile{Benchmark: b.Label, Target: target, Operations: 1, Stacks: []dbcanary.Stacks{
				{Sampler: "perf cycles", Pprof: packed}, {Sampler: "gdb", Pprof: packed},
			}})
		}
	}
	pages, err := r.pageProfiles(newTexts())
	if err != nil {
		t.Fatal(err)
	}
	frames := 0
	for _, p := range pages {
		for _, s := range p.Stacks {
			frames += len(s.Nodes) / 3
		}
	}
	if frames > mostFrames || frames < 24*70 {
		t.Errorf("%d frames", frames)
	}
}

// The section of profiles: waits by operation beside those of the base, and a flame
// graph of the difference that mouse and keyboard go about in.
func testProfiles(t *testing.T, browser context.Context) {
	b := open(t, browser, profiled(t))
	rows := value[[]string](b, `[...document.querySelectorAll("#profiles .waits tbody tr")].map(r => [...r.children].map(c => c.textContent).join("|"))`)
	if diff := cmp.Diff([]string{"wait/synch/mutex/trx_sysfrom samples|0|9.00|+9.00|–", "wait/io/file/sql/binlog|4.00|6.00|+2.00|1.500"}, rows); diff != "" {
		t.Error("waits:", diff)
	}
	frames := `[...document.querySelectorAll("#profiles .frame")].map(f => f.textContent + " " + f.className.replace("frame ", ""))`
	if diff := cmp.Diff([]string{"all more", "main more", "parse more", "lex more", "run alike", "cache less"}, value[[]string](b, frames)); diff != "" {
		t.Error("difference:", diff)
	}
	title := value[string](b, `[...document.querySelectorAll("#profiles .frame")].find(f => f.textContent === "lex").dataset.tip`)
	if want := "lex\n+40.0 % of all that an operation costs on the base\n50.0 % of the samples, 20.0 % on the base"; title != want {
		t.Errorf("the tooltip is %q, want %q", title, want)
	}
	b.do(chromedp.Click(chromedp.CSS(`#profiles .frame[data-tip^="parse"]`)))
	zoomed := value[[]string](b, frames)
	if diff := cmp.Diff([]string{"all below", "main below", "parse more", "lex more"}, zoomed); diff != "" {
		t.Error("zoomed:", diff)
	}
	focused := "document.activeElement.textContent"
	b.do(chromedp.KeyEvent(kb.ArrowUp))
	if got := value[string](b, focused); got != "lex" {
		t.Errorf("arrow up goes to %q", got)
	}
	b.do(chromedp.KeyEvent(kb.Escape))
	b.do(chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowRight))
	if got := value[string](b, focused); got != "run" {
		t.Errorf("after Escape, up, up, right the focus is on %q", got)
	}
	b.choose("stacks", "mariadb@10.5")
	if diff := cmp.Diff([]string{"all plain", "main plain", "cache plain", "parse plain", "lex plain", "run plain"}, value[[]string](b, frames)); diff != "" {
		t.Error("base:", diff)
	}
}
