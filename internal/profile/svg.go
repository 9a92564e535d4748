package profile

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// Side is what one target showed.
type Side struct {
	Name       string // of the target
	Stacks     []Stack
	Operations int64 // in the time in which the stacks were sampled; 0 if samples say nothing of their cost
}

// Sizes of a flame graph in the units of the drawing, which are pixels at first.
const (
	pageWidth   = 1200.0
	margin      = 10.0
	rowHeight   = 17.0
	fontSize    = 12.0
	letterWidth = 7.25 // of a monospaced font of that size
	narrowest   = 0.25 // frames below it are left out: they can't be seen
	headHeight  = 46.0
	panelHead   = 26.0
)

// WriteFlameGraph draws the stacks of one target as an SVG that needs nothing
// beside it: each function as wide as its samples, those that it called above it.
// What lies under the mouse is told by a tooltip.
func WriteFlameGraph(w io.Writer, title string, side Side) error {
	root := TopDown(side.Stacks)
	p := panel{
		root: root, whole: float64(root.Samples), width: func(n *Node) float64 { return float64(n.Samples) },
		fill: warm, tip: func(n *Node) string {
			return fmt.Sprintf("%s\n%d samples, %.1f %%", named(n.Frame), n.Samples, share(n.Samples, root.Samples))
		},
	}
	note := fmt.Sprintf("%s: %d samples", side.Name, root.Samples)
	if side.Operations > 0 {
		note += fmt.Sprintf(" in %d operations", side.Operations)
	}
	return drawPage(w, title, note+"; a function is as wide as its samples; kernel in blue-green", []panel{p})
}

// WriteDifference draws the stacks of two targets twice: with the widths that they
// have on the target, and below with those on the base, so that what only one of
// them does is seen as well. Functions that an operation costs more in are red, less
// blue. With operations on both sides a width is the cost of one of them, and the
// wider graph takes the more; else it is a share of the side's samples.
func WriteDifference(w io.Writer, title string, base, target Side) error {
	root := Diff(base.Stacks, target.Stacks)
	perTarget, perBase, unit := float64(root.Samples), float64(root.Base), "of all samples"
	if base.Operations > 0 && target.Operations > 0 {
		perTarget, perBase, unit = float64(target.Operations), float64(base.Operations), "of all that an operation costs on "+base.Name
	}
	after := func(n *Node) float64 { return ratio(float64(n.Samples), perTarget) }
	before := func(n *Node) float64 { return ratio(float64(n.Base), perBase) }
	whole := max(after(root), before(root))
	scale := before(root)
	if scale == 0 {
		scale = after(root)
	}
	change := func(n *Node) float64 { return ratio(after(n)-before(n), scale) }
	tip := func(n *Node) string {
		return fmt.Sprintf("%s\n%s: %.1f %%, %s: %.1f %%\n%+.1f %% %s", named(n.Frame),
			target.Name, 100*ratio(after(n), scale), base.Name, 100*ratio(before(n), scale), 100*change(n), unit)
	}
	fill := func(n *Node) string { return diverging(change(n)) }
	panels := []panel{
		{head: fmt.Sprintf("%s (%d samples)", target.Name, root.Samples), root: root, whole: whole, width: after, fill: fill, tip: tip},
		{head: fmt.Sprintf("%s (%d samples)", base.Name, root.Base), root: root, whole: whole, width: before, fill: fill, tip: tip},
	}
	note := fmt.Sprintf("red costs more on %s, blue less than on %s; widths are shares %s", target.Name, base.Name, unit)
	return drawPage(w, title, note, panels)
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// named is a function and where it is.
func named(f Frame) string {
	if f.Binary == "" || strings.HasPrefix(f.Function, "[") {
		return f.Function
	}
	return f.Function + " in " + f.Binary
}

// panel is one graph of a page.
type panel struct {
	head  string
	root  *Node
	whole float64 // what takes the whole width
	width func(*Node) float64
	fill  func(*Node) string
	tip   func(*Node) string
}

// depth counts the rows of what is wide enough to be drawn.
func (p panel) depth(n *Node) int {
	deepest := 0
	for _, above := range n.Above {
		if p.pixels(above) >= narrowest {
			deepest = max(deepest, p.depth(above))
		}
	}
	return deepest + 1
}

func (p panel) pixels(n *Node) float64 { return ratio(p.width(n), p.whole) * (pageWidth - 2*margin) }

func drawPage(w io.Writer, title, note string, panels []panel) error {
	height := headHeight
	for _, p := range panels {
		height += panelHead + float64(p.depth(p.root))*rowHeight + margin
	}
	buffered := bufio.NewWriter(w)
	fmt.Fprintf(buffered, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img">
<title>%s</title>
<style>text { font: %.0fpx monospace; fill: #111 } .title { font: bold 16px sans-serif } .note { font: 12px sans-serif; fill: #444 } .head { font: bold 13px sans-serif } rect { stroke: #fff; stroke-width: .5 } g:hover rect { stroke: #000; stroke-width: 1 }</style>
<rect width="100%%" height="100%%" fill="#fff" stroke="none"/>
`, pageWidth, height, pageWidth, height, escape(title), fontSize)
	fmt.Fprintf(buffered, `<text class="title" x="%.0f" y="22">%s</text>
<text class="note" x="%.0f" y="40">%s</text>
`, margin, escape(title), margin, escape(note))
	top := headHeight
	for _, p := range panels {
		if p.head != "" {
			fmt.Fprintf(buffered, `<text class="head" x="%.0f" y="%.0f">%s</text>
`, margin, top+18, escape(p.head))
		}
		bottom := top + panelHead + float64(p.depth(p.root))*rowHeight
		p.draw(buffered, p.root, margin, bottom-rowHeight)
		top = bottom + margin
	}
	fmt.Fprintln(buffered, "</svg>")
	return buffered.Flush()
}

// draw draws a function at x and y, and those above it.
func (p panel) draw(w io.Writer, n *Node, x, y float64) {
	width := p.pixels(n)
	if width < narrowest {
		return
	}
	fmt.Fprintf(w, `<g><title>%s</title><rect x="%.2f" y="%.1f" width="%.2f" height="%.0f" fill="%s"/>`,
		escape(p.tip(n)), x, y, width, rowHeight-1, p.fill(n))
	if text := fit(n.Frame.Function, width-6); text != "" {
		fmt.Fprintf(w, `<text x="%.2f" y="%.1f">%s</text>`, x+3, y+rowHeight-5, escape(text))
	}
	fmt.Fprintln(w, "</g>")
	for _, above := range n.Above {
		p.draw(w, above, x, y-rowHeight)
		x += p.pixels(above)
	}
}

// fit cuts a name to a width; one of fewer than three letters says nothing.
func fit(name string, width float64) string {
	letters := int(width / letterWidth)
	if utf8.RuneCountInString(name) <= letters {
		return name
	}
	if letters < 3 {
		return ""
	}
	return string([]rune(name)[:letters-1]) + "…"
}

func escape(text string) string {
	var escaped strings.Builder
	// A strings.Builder takes everything.
	_ = xml.EscapeText(&escaped, []byte(text))
	return escaped.String()
}

// warm is a shade of yellow to red for a function, the same in every graph, and of
// blue-green for the kernel: dark text is read on all of them.
func warm(n *Node) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(n.Frame.Function)) // never fails
	hue, light := float64(hash.Sum32()%35), float64(hash.Sum32()/35%12)
	if n.Frame.InKernel() {
		return colour(165+hue*2/3, 0.45, 0.68+light/100)
	}
	return colour(18+hue, 0.85, 0.66+light/100)
}

// diverging is grey for no change, and the fullest red or blue for a fifth of the whole.
func diverging(change float64) string {
	const least, fullest = 0.0005, 0.2
	light := 0.96 - 0.38*math.Sqrt(min(1, math.Abs(change)/fullest))
	switch {
	case math.Abs(change) < least:
		return colour(0, 0, 0.93)
	case change > 0:
		return colour(8, 0.85, light)
	default:
		return colour(214, 0.8, light)
	}
}

// colour gives hue in degrees, saturation and lightness from 0 to 1 in the way that
// every viewer of SVG knows (CSS Color Module Level 3, 4.2.4).
func colour(hue, saturation, lightness float64) string {
	part := func(n float64) int {
		k := math.Mod(n+hue/30, 12)
		return int(math.Round(255 * (lightness - saturation*min(lightness, 1-lightness)*max(-1, min(k-3, 9-k, 1)))))
	}
	return fmt.Sprintf("#%02x%02x%02x", part(0), part(8), part(4))
}
