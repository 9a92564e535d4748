package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawChart draws a chart of any kind.
func drawChart(kind string, c Chart) (*Scene, error) {
	switch kind {
	case "bars":
		return Bars(c)
	case "lines":
		return Lines(c)
	}
	return Intervals(c)
}

// anyChart draws charts of all shapes: few and many names, short and long ones,
// values that are not known, far off, or all alike.
func anyChart(rt *rapid.T) Chart {
	nan := math.NaN()
	c := Chart{
		Title: rapid.StringMatching(`[a-z@.0-9 ]{0,90}`).Draw(rt, "title"), Subtitle: rapid.StringMatching(`[a-z ]{0,200}`).Draw(rt, "subtitle"),
		Axis: rapid.StringMatching(`[a-z ]{0,60}`).Draw(rt, "axis"), Note: rapid.StringMatching(`[a-z ]{0,200}`).Draw(rt, "note"),
		From: nan, To: nan, Reference: 1, Least: .05, Interval: "95 % intervals",
	}
	if rapid.Bool().Draw(rt, "cut") {
		c.From, c.To = .7, 1.2
	}
	name := rapid.StringMatching(`[a-z][-a-z=0-9.]{0,38}`)
	value := rapid.OneOf(rapid.Float64Range(.5, 1.5), rapid.Just(nan), rapid.Float64Range(.9, 1.1), rapid.Float64Range(0.001, 60), rapid.Just(1.0))
	for range rapid.IntRange(0, 3).Draw(rt, "panels") {
		panel := Panel{Title: name.Draw(rt, "panel"), Labels: rapid.SliceOfN(name, 1, 45).Draw(rt, "labels")}
		for range rapid.IntRange(1, 12).Draw(rt, "series") {
			s := Series{Name: name.Draw(rt, "name")}
			for range panel.Labels {
				y := value.Draw(rt, "value")
				v := Value{Y: y, Low: nan, High: nan, Text: strings.ReplaceAll(fmt.Sprintf("%.3f same", y), "NaN", "-")}
				if rapid.Bool().Draw(rt, "interval") {
					v.Low, v.High = y*.95, y*1.06
				}
				s.Values = append(s.Values, v)
			}
			panel.Series = append(panel.Series, s)
		}
		c.Panels = append(c.Panels, panel)
	}
	return c
}

// corners of a text as it is drawn, a little less than its letters reach.
func corners(fonts *faces, t text) [4]point {
	width := fonts.width(t.text, t.size, t.bold)
	left := 0.0
	switch t.anchor {
	case atMiddle:
		left = -width / 2
	case atEnd:
		left = -width
	}
	sin, cos := math.Sincos(t.turn * math.Pi / 180)
	turn := func(x, y float64) point { return point{t.x + x*cos - y*sin, t.y + x*sin + y*cos} }
	top, bottom := -.68*t.size, .12*t.size
	return [4]point{turn(left+.5, top), turn(left+width-.5, top), turn(left+width-.5, bottom), turn(left+.5, bottom)}
}

// apart tells whether a line along a side of one rectangle parts two of them.
func apart(a, b [4]point) bool {
	for _, pair := range [][2][4]point{{a, b}, {b, a}} {
		for i := range 4 {
			from, to := pair[0][i], pair[0][(i+1)%4]
			nx, ny := to.y-from.y, from.x-to.x
			outside := true
			for _, p := range pair[1] {
				outside = outside && (p.x-from.x)*nx+(p.y-from.y)*ny > 0
			}
			if outside {
				return true
			}
		}
	}
	return false
}

// checkScene: every text lies within the scene, no two touch, and all shapes have
// places that are numbers.
func checkScene(rt *rapid.T, kind string, s *Scene) {
	fonts, err := newFaces()
	if err != nil {
		rt.Fatal(err)
	}
	var texts []text
	for _, one := range s.shapes {
		if t, ok := one.(text); ok && t.text != "" {
			texts = append(texts, t)
		}
	}
	boxes := make([][4]point, len(texts))
	for i, t := range texts {
		boxes[i] = corners(fonts, t)
		for _, p := range boxes[i] {
			if !(p.x > -1 && p.x < s.Width+1 && p.y > -1 && p.y < s.Height+1) {
				rt.Fatalf("%s: %q reaches out of %v x %v at %v", kind, t.text, s.Width, s.Height, p)
			}
		}
	}
	for i := range texts {
		for j := range i {
			if !apart(boxes[i], boxes[j]) {
				rt.Fatalf("%s: %q at %.1f,%.1f and %q at %.1f,%.1f touch", kind, texts[i].text, texts[i].x, texts[i].y, texts[j].text, texts[j].x, texts[j].y)
			}
		}
	}
	var b bytes.Buffer
	if err := s.WriteSVG(&b); err != nil {
		rt.Fatal(err)
	}
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		rt.Fatalf("%s: a place is no number", kind)
	}
}

func TestLabelsNeverTouch(t *testing.T) {
	for _, kind := range []string{"bars", "lines", "intervals"} {
		t.Run(kind, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				scene, err := drawChart(kind, anyChart(rt))
				if err != nil {
					rt.Fatal(err)
				}
				checkScene(rt, kind, scene)
			})
		})
	}
	t.Run("scatter", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			c := Cloud{X: CloudAxis{Name: "across", From: math.NaN(), To: math.NaN(), Reference: 1}, Y: CloudAxis{Name: "up", From: math.NaN(), To: math.NaN(), Reference: 1}}
			for range rapid.IntRange(1, 8).Draw(rt, "groups") {
				g := CloudGroup{Name: "group"}
				for range rapid.IntRange(0, 20).Draw(rt, "points") {
					g.Points = append(g.Points, CloudPoint{
						X: rapid.Float64Range(.2, 3).Draw(rt, "x"), Y: rapid.Float64Range(.2, 3).Draw(rt, "y"), Name: rapid.StringMatching(`[a-z]{1,30}`).Draw(rt, "name"),
					})
				}
				c.Groups = append(c.Groups, g)
			}
			scene, err := Scatter(c)
			if err != nil {
				rt.Fatal(err)
			}
			checkScene(rt, "scatter", scene)
		})
	})
}

// TestSpread: places keep their order, their distance, and stay within the ends
// where these have room for all; one that has room stays where it is.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		wanted := rapid.SliceOfN(rapid.Float64Range(0, 100), 0, 9).Draw(rt, "wanted")
		slices.Sort(wanted)
		places := spread(wanted, 10, 0, 100)
		for i, p := range places {
			if p < -1e-9 || p > 100+1e-9 || i > 0 && p-places[i-1] < 10-1e-9 {
				rt.Fatalf("%v for %v", places, wanted)
			}
		}
	})
	if got := spread([]float64{20, 50}, 10, 0, 100); got[0] != 20 || got[1] != 50 {
		t.Errorf("places with room were moved: %v", got)
	}
	if got := spread([]float64{50, 50}, 10, 0, 100); got[0] != 45 || got[1] != 55 {
		t.Errorf("%v is not around what was wanted", got)
	}
}

// TestAxis: ticks rise, lie within the ends, are named apart, and the axis covers
// the values unless its ends were given.
func TestAxis(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOf(rapid.OneOf(rapid.Float64Range(-1e6, 1e6), rapid.Float64Range(.9, 1.1), rapid.Just(math.NaN()))).Draw(rt, "values")
		from := rapid.SampledFrom([]float64{math.NaN(), .7, .703}).Draw(rt, "from")
		a := newAxis(values, from, math.NaN(), false, 6)
		if len(a.ticks) < 2 || len(a.ticks) > 14 || !slices.IsSorted(a.ticks) {
			rt.Fatalf("ticks %v", a.ticks)
		}
		seen := map[string]bool{}
		for _, tick := range a.ticks {
			if a.below(tick) || a.above(tick) {
				rt.Errorf("tick %v is beyond %v to %v", tick, a.from, a.to)
			}
			if seen[a.label(tick)] {
				rt.Errorf("two ticks are named %s", a.label(tick))
			}
			seen[a.label(tick)] = true
		}
		for _, v := range values {
			if known(v) && (math.IsNaN(from) && a.below(v) || a.above(v) && v > from) {
				rt.Errorf("%v is beyond %v to %v", v, a.from, a.to)
			}
		}
	})
	for want, a := range map[string]axis{
		"0.70 0.80 0.90 1.00 1.10 1.20": newAxis(nil, .7, 1.2, false, 5),
		"0 5,000 10,000":                newAxis([]float64{9999}, math.NaN(), math.NaN(), true, 3),
		"-1.00 0.00 1.00":               newAxis([]float64{-.6, .7}, math.NaN(), math.NaN(), false, 2),
	} {
		var labels []string
		for _, tick := range a.ticks {
			labels = append(labels, a.label(tick))
		}
		if got := strings.Join(labels, " "); got != want && !(strings.HasPrefix(want, "-1.00") && got == "-1 0 1") {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestUsual: few values far off do not stretch an axis, many do.
func TestUsual(t *testing.T) {
	values := []float64{.9, .91, .92, .93, .95, .97, .98, 1, 1.01, 1.02, .96, 2.3}
	if from, to := usual(values); !math.IsNaN(from) || to != 1.02 {
		t.Errorf("%v to %v", from, to)
	}
	if from, to := usual(values[:6]); !math.IsNaN(from) || !math.IsNaN(to) {
		t.Errorf("few values: %v to %v", from, to)
	}
}

// TestColors: no two of a set are the same, whatever their number.
func TestColors(t *testing.T) {
	for n := range 40 {
		seen := map[color.RGBA]bool{}
		for _, c := range colors(n) {
			seen[c] = true
		}
		if len(seen) != n {
			t.Errorf("%d colours for %d things", len(seen), n)
		}
	}
}

func small() Chart {
	nan := math.NaN()
	return Chart{
		Title: `a < b & "c"`, Axis: "ratio", From: .7, To: nan, Reference: 1,
		Panels: []Panel{{Title: "group", Labels: []string{"one", "two\x00"}, Series: []Series{
			{Name: "first", Values: []Value{{Y: .9, Low: .88, High: .93}, {Y: nan, Low: nan, High: nan}}},
			{Name: "second", Values: []Value{{Y: 1.2, Low: nan, High: nan}, {Y: .5, Low: nan, High: nan}}},
		}}},
	}
}

// TestSVG: what is written is XML with the title and every value in a tooltip.
func TestSVG(t *testing.T) {
	scene, err := Bars(small())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := scene.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	texts := ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := token.(xml.CharData); ok {
			texts += string(data) + "\n"
		}
	}
	for _, want := range []string{`a < b & "c"`, "one, first: 0.9", "two�, second: 0.5", "begins at 0.70 and not at 0", "0.50"} {
		if !strings.Contains(texts, want) {
			t.Errorf("%q is missing in\n%s", want, texts)
		}
	}
}

// TestPNG: the picture has twice the size of the scene, the colours of its bars
// where they stand, and paper where nothing is.
func TestPNG(t *testing.T) {
	scene, err := Bars(small())
	if err != nil {
		t.Fatal(err)
	}
	var b, again bytes.Buffer
	if err := errors.Join(scene.WritePNG(&b), scene.WritePNG(&again)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("the same scene gives other bytes")
	}
	picture, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got := picture.Bounds().Size(); got.X != int(2*scene.Width) || got.Y != int(2*scene.Height) {
		t.Errorf("size %v, the scene is %v x %v", got, scene.Width, scene.Height)
	}
	at := func(x, y float64) color.RGBA {
		return color.RGBAModel.Convert(picture.At(int(2*x), int(2*y))).(color.RGBA)
	}
	bars := 0
	for _, one := range scene.shapes {
		if r, ok := one.(rect); ok && r.title != "" {
			bars++
			if got := at(r.x+2, r.y+r.height-2); got != r.fill {
				t.Errorf("bar %s is %v, want %v", r.title, got, r.fill)
			}
		}
	}
	if bars != 2 || at(2, 2) != paper {
		t.Errorf("%d bars; the corner is %v", bars, at(2, 2))
	}
	inked := map[color.RGBA]int{}
	for x := range picture.Bounds().Dx() {
		for y := range picture.Bounds().Dy() {
			inked[color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)]++
		}
	}
	if inked[ink] < 300 { // letters of title and names
		t.Errorf("only %d points are of the colour of text", inked[ink])
	}
}

// TestDashed: the strokes of a dashed line and its gaps add up to the line.
func TestDashed(t *testing.T) {
	length := func(points []point) float64 {
		sum := 0.0
		for i := 1; i < len(points); i++ {
			sum += math.Hypot(points[i].x-points[i-1].x, points[i].y-points[i-1].y)
		}
		return sum
	}
	total := 0.0
	parts := dashed([]point{{0, 0}, {30, 0}, {30, 40}}, []float64{6, 4})
	for _, part := range parts {
		total += length(part)
	}
	if len(parts) != 7 || math.Abs(total-42) > 1e-9 {
		t.Errorf("%d strokes of %v together, want 7 of 42", len(parts), total)
	}
}
