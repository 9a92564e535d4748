package profile

import (
	"context"
	"encoding/xml"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden drawings anew")

// sides are two targets that spend their time in different ways.
func sides(t *testing.T) (base, target Side) {
	base = Side{Name: "mysql@9.7", Operations: 1000, Stacks: parse(t, `
clone@libc.so.6;handle_connection@mysqld;dispatch_command@mysqld;JOIN::exec()@mysqld;row_search_mvcc@mysqld 400
clone@libc.so.6;handle_connection@mysqld;dispatch_command@mysqld;net_flush@mysqld;__send@libc.so.6;tcp_sendmsg@[kernel.kallsyms] 150
clone@libc.so.6;handle_connection@mysqld;dispatch_command@mysqld;std::map<int, A & B>::find@mysqld 50
clone@libc.so.6;log_writer@mysqld;@mysqld 30
`)}
	target = Side{Name: "mysql@9.7+ps", Operations: 500, Stacks: parse(t, `
clone@libc.so.6;handle_connection@mysqld;dispatch_command@mysqld;JOIN::exec()@mysqld;row_search_mvcc@mysqld 200
clone@libc.so.6;handle_connection@mysqld;dispatch_command@mysqld;JOIN::exec()@mysqld;pfs_start_table_io_wait_v1@mysqld 90
clone@libc.so.6;handle_connection@mysqld;dispatch_command@mysqld;net_flush@mysqld;__send@libc.so.6;tcp_sendmsg@[kernel.kallsyms] 75
`)}
	return base, target
}

func drawings(t *testing.T) map[string]string {
	base, target := sides(t)
	shares := base
	shares.Operations = 0
	draw := map[string]func(w *strings.Builder) error{
		"single":     func(w *strings.Builder) error { return WriteFlameGraph(w, "scan", target) },
		"difference": func(w *strings.Builder) error { return WriteDifference(w, "scan", base, target) },
		"shares":     func(w *strings.Builder) error { return WriteDifference(w, "scan", shares, target) },
		"one-sided":  func(w *strings.Builder) error { return WriteDifference(w, "scan", Side{Name: "none"}, target) },
		"empty":      func(w *strings.Builder) error { return WriteFlameGraph(w, "<&>", Side{Name: "none"}) },
	}
	drawn := map[string]string{}
	for name, write := range draw {
		var text strings.Builder
		if err := write(&text); err != nil {
			t.Fatal(err)
		}
		drawn[name] = text.String()
	}
	return drawn
}

func TestDrawings(t *testing.T) {
	for name, got := range drawings(t) {
		wellFormed(t, got)
		golden := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// box is a function as it is drawn.
type box struct {
	Title string `xml:"title"`
	Rect  struct {
		X     float64 `xml:"x,attr"`
		Y     float64 `xml:"y,attr"`
		Width float64 `xml:"width,attr"`
		Fill  string  `xml:"fill,attr"`
	} `xml:"rect"`
}

func (b box) name() string {
	name, _, _ := strings.Cut(b.Title, "\n")
	name, _, _ = strings.Cut(name, " in ")
	return name
}

func boxes(t *testing.T, svg string) []box {
	t.Helper()
	var drawing struct {
		Boxes []box `xml:"g"`
	}
	if err := xml.Unmarshal([]byte(svg), &drawing); err != nil {
		t.Fatal(err)
	}
	return drawing.Boxes
}

// Both widths are seen: what costs twice by operation is twice as wide in the
// target's graph, and what only one side has is drawn in its graph alone.
func TestWriteDifference_Widths(t *testing.T) {
	widths := map[string][]string{}
	for _, b := range boxes(t, drawings(t)["difference"]) {
		widths[b.name()] = append(widths[b.name()], fmt.Sprintf("%.0f", b.Rect.Width))
	}
	// The target costs 365/500 by operation, the base 630/1000: the wider takes 1180.
	want := map[string][]string{}
	for name, w := range map[string][]float64{
		"all": {.73, .63}, "clone": {.73, .63}, "handle_connection": {.73, .6}, "dispatch_command": {.73, .6},
		"JOIN::exec()": {.58, .4}, "row_search_mvcc": {.4, .4}, "pfs_start_table_io_wait_v1": {.18}, "net_flush": {.15, .15},
		"__send": {.15, .15}, "tcp_sendmsg": {.15, .15}, "std::map<int, A & B>::find": {.05}, "log_writer": {.03}, "[mysqld]": {.03},
	} {
		for _, one := range w {
			want[name] = append(want[name], fmt.Sprintf("%.0f", one/.73*1180))
		}
	}
	if diff := cmp.Diff(want, widths); diff != "" {
		t.Error(diff)
	}
}

// Red is what costs more, blue what costs less, and no colour what costs the same.
func TestWriteDifference_Colours(t *testing.T) {
	for _, b := range boxes(t, drawings(t)["difference"]) {
		var red, green, blue int
		if _, err := fmt.Sscanf(b.Rect.Fill, "#%02x%02x%02x", &red, &green, &blue); err != nil {
			t.Fatal(err)
		}
		kind := map[bool]string{red > blue: "red", blue > red: "blue", red == blue && green == red: "grey"}[true]
		want := "grey"
		switch b.name() {
		case "all", "clone", "handle_connection", "dispatch_command", "JOIN::exec()", "pfs_start_table_io_wait_v1":
			want = "red"
		case "std::map<int, A & B>::find", "log_writer", "[mysqld]":
			want = "blue"
		}
		if kind != want {
			t.Errorf("%s is %s (%s), want %s", b.name(), kind, b.Rect.Fill, want)
		}
	}
}

// Every function lies on the one that called it, beside its neighbours.
func TestDrawings_Nesting(t *testing.T) {
	for name, svg := range drawings(t) {
		if !strings.Contains("single difference shares", name) {
			continue
		}
		rows := map[float64][]box{}
		for _, b := range boxes(t, svg) {
			rows[b.Rect.Y] = append(rows[b.Rect.Y], b)
			if b.name() == "all" {
				continue
			}
			below := 0
			for _, parent := range rows[b.Rect.Y+rowHeight] {
				if b.Rect.X > parent.Rect.X-0.02 && b.Rect.X+b.Rect.Width < parent.Rect.X+parent.Rect.Width+0.02 {
					below++
				}
			}
			if below != 1 {
				t.Errorf("%s: %s lies on %d functions", name, b.name(), below)
			}
		}
		for _, row := range rows {
			for i := 1; i < len(row); i++ {
				if row[i].Rect.X < row[i-1].Rect.X+row[i-1].Rect.Width-0.02 {
					t.Errorf("%s: %s lies over %s", name, row[i].name(), row[i-1].name())
				}
			}
		}
	}
}

// The drawing opens in a browser alone, loads nothing, and no name runs out of its box.
func TestDrawings_Browser(t *testing.T) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true))
	allocator, end := chromedp.NewExecAllocator(t.Context(), options...)
	defer end()
	browser, endBrowser := chromedp.NewContext(allocator)
	defer endBrowser()
	for name, svg := range drawings(t) {
		file := filepath.Join(t.TempDir(), name+".svg")
		if err := os.WriteFile(file, []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Do(browser, chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String())); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		root := value[string](t, browser, `document.documentElement.nodeName`)
		loaded := value[[]string](t, browser, `performance.getEntriesByType("resource").map(e => e.name)`)
		boxCount := value[int](t, browser, `document.querySelectorAll("g").length`)
		wide := value[[]string](t, browser, `[...document.querySelectorAll("g")].filter(g => g.querySelector("text") &&
			g.querySelector("text").getComputedTextLength() > g.querySelector("rect").getBBox().width).map(g => g.textContent)`)
		if root != "svg" || boxCount != len(boxes(t, svg)) {
			t.Errorf("%s: a %s of %d functions, want an svg of %d", name, root, boxCount, len(boxes(t, svg)))
		}
		if len(loaded) > 0 || len(wide) > 0 {
			t.Errorf("%s: loads %q, names too wide %q", name, loaded, wide)
		}
	}
}

func value[T any](t *testing.T, browser context.Context, expression string) T {
	t.Helper()
	result, err := chromedp.Run(browser, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return result
}

func TestColour(t *testing.T) {
	// As CSS Color Module Level 3 gives them.
	for want, got := range map[string]string{
		"#ff0000": colour(0, 1, .5), "#00ff00": colour(120, 1, .5), "#0000ff": colour(240, 1, .5), "#ffffff": colour(77, .3, 1), "#bf4040": colour(0, .5, .5),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if diverging(0.3) != diverging(0.2) {
		t.Error("beyond the fullest colour there is another one")
	}
}
