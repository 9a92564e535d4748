package plot

import (
	"image/color"
	"math"
)

// Chart is what every kind of chart shows around its panels.
type Chart struct {
	Title    string
	Subtitle string // what a reader must know: base, host
	Axis     string // what the values are, with their unit
	Note     string // below the panels
	Interval string // what the intervals of values are, "" if none has one; said where they are drawn
	Panels   []Panel

	From, To  float64 // ends of the axis of values; NaN for what the values need
	Reference float64 // value that others are compared with, 1 for ratios; NaN for none
	Band      float64 // half width of the band around it that does not matter; 0 for none
	Least     float64 // distance from the reference that an axis covers at least, so that noise is not drawn as a mountain
	Small     bool    // of lines: low panels, for many of them
}

// Panel is a part of a chart with its own axis of names.
type Panel struct {
	Title  string
	Labels []string // what stands along the axis: benchmarks, or releases in order
	Series []Series
}

// Series has one value for each label of its panel.
type Series struct {
	Name   string
	Values []Value
}

// Value is a number with its interval: NaN for what is not known.
type Value struct {
	Y, Low, High float64
	Look         Look
	Text         string  // beside it, where there is room
	Change       *Change // of lines: a change point before it; nil for none
}

// Change is a change point: a line's level shifts between the value before and this one.
type Change struct {
	Look    Look
	Suspect bool   // too few values follow to be sure
	Text    string // "slower by 15 %"
}

// Look is how a value is painted.
type Look string

// The looks: of verdicts, and of values without one.
const (
	LookPlain        Look = ""
	LookSlower       Look = "slower"
	LookFaster       Look = "faster"
	LookSame         Look = "same"
	LookInconclusive Look = "inconclusive"
)

func (l Look) ink() color.RGBA {
	switch l {
	case LookSlower:
		return slowerInk
	case LookFaster:
		return fasterInk
	case LookSame:
		return sameInk
	case LookInconclusive:
		return unknownInk
	}
	return ink
}

// Sizes that all charts share.
const (
	margin     = 24.0
	titleSize  = 20.0
	textSize   = 12.0
	smallSize  = 11.0
	lineHeight = 17.0
	panelGap   = 30.0
)

// drawing is a chart under way.
type drawing struct {
	*faces
	scene *Scene
	chart Chart
	y     float64 // where the next part begins
	inner float64 // width between the margins
}

func newDrawing(c Chart, inner float64) (*drawing, error) {
	fonts, err := newFaces()
	if err != nil {
		return nil, err
	}
	c.Title, c.Subtitle, c.Axis, c.Note = printable(c.Title), printable(c.Subtitle), printable(c.Axis), printable(c.Note)
	return &drawing{faces: fonts, scene: &Scene{Width: inner + 2*margin, Title: c.Title}, chart: c, y: margin, inner: inner}, nil
}

// head writes the title and what stands below it.
func (d *drawing) head() {
	for _, one := range d.wrap(d.chart.Title, titleSize, true, d.inner) {
		d.y += titleSize * 1.15
		d.scene.add(text{x: margin, y: d.y, text: one, size: titleSize, bold: true, anchor: atStart, fill: ink})
	}
	d.paragraph(d.chart.Subtitle, textSize)
}

// paragraph writes soft text over the whole width.
func (d *drawing) paragraph(s string, size float64) {
	for i, one := range d.wrap(s, size, false, d.inner) {
		d.y += lineHeight
		if i == 0 {
			d.y += 3
		}
		d.scene.add(text{x: margin, y: d.y, text: one, size: size, anchor: atStart, fill: soft})
	}
}

// drawn tells in the note what the intervals are, or that there was no room for them.
func (d *drawing) drawn(intervals bool) {
	switch {
	case d.chart.Interval == "":
	case intervals:
		d.chart.Note = sentence(d.chart.Note, "Lines on the values are "+printable(d.chart.Interval)+".")
	default:
		d.chart.Note = sentence(d.chart.Note, "There is no room for intervals here.")
	}
}

// end writes the note and closes the scene.
func (d *drawing) end() *Scene {
	if d.chart.Note != "" {
		d.y += 6
		d.paragraph(d.chart.Note, smallSize)
	}
	d.scene.Height = math.Ceil(d.y + margin)
	return d.scene
}

// key is an entry of a legend.
type key struct {
	name string
	ink  color.RGBA
	mark int // shape of a marker, -1 for a square
}

// legend writes the keys in as many lines as they need.
func (d *drawing) legend(keys []key) {
	const swatch, gap = 12.0, 18.0
	x := margin
	d.y += 10 + lineHeight
	for _, one := range keys {
		name := d.cut(printable(one.name), textSize, false, d.inner-swatch-6)
		width := swatch + 6 + d.width(name, textSize, false)
		if x > margin && x+width > margin+d.inner {
			x = margin
			d.y += lineHeight + 2
		}
		if one.mark < 0 {
			d.scene.add(rect{x: x, y: d.y - 10, width: swatch, height: swatch, fill: one.ink})
		} else {
			d.scene.add(marker(one.mark, x+swatch/2, d.y-4, 5, one.ink))
		}
		d.scene.add(text{x: x + swatch + 6, y: d.y, text: name, size: textSize, anchor: atStart, fill: ink})
		x += width + gap
	}
}

// marker is one of some shapes that differ also without colour.
func marker(kind int, x, y, r float64, fill color.RGBA) shape {
	polygon := func(points ...point) shape { return path{points: points, fill: fill, stroke: paper, width: .75} }
	switch kind % 5 {
	case 1:
		return polygon(point{x - r, y + r*.85}, point{x, y - r}, point{x + r, y + r*.85})
	case 2:
		s := r * .88
		return polygon(point{x - s, y - s}, point{x + s, y - s}, point{x + s, y + s}, point{x - s, y + s})
	case 3:
		return polygon(point{x, y - r*1.15}, point{x + r*1.15, y}, point{x, y + r*1.15}, point{x - r*1.15, y})
	case 4:
		return polygon(point{x - r, y - r*.85}, point{x + r, y - r*.85}, point{x, y + r})
	}
	return disc{x: x, y: y, radius: r, fill: fill, stroke: paper, width: .75}
}

func known(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// interval tells whether a value has one that says anything.
func (v Value) interval() bool { return known(v.Y) && known(v.Low) && known(v.High) && v.Low > 0 }
