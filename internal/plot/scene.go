// Package plot draws charts for pages and posts: bars by benchmark, lines over
// releases, intervals, and metric against metric. A chart becomes a scene of
// shapes with every text measured, and a scene is written as SVG or PNG, so both
// look the same. It is pure: the same data gives the same bytes.
package plot

import "image/color"

// Scene is a drawing in CSS pixels, y down. Later shapes cover earlier ones.
type Scene struct {
	Width, Height float64
	Title         string // for readers who cannot see it
	shapes        []shape
}

// shape is one of rect, path, disc and text.
type shape interface{ isShape() }

// rect is a filled rectangle; title is its tooltip in SVG.
type rect struct {
	x, y, width, height float64
	fill                color.RGBA
	title               string
}

// path is a line through points, closed and filled if fill is not transparent.
type path struct {
	points []point
	stroke color.RGBA
	width  float64
	dash   []float64 // lengths of strokes and gaps, nil for none
	fill   color.RGBA
	title  string
}

type point struct{ x, y float64 }

// disc is a circle; stroke is its border.
type disc struct {
	x, y, radius float64
	fill, stroke color.RGBA
	width        float64
	title        string
}

// anchor is the end of a text that stands at its place.
type anchor string

const (
	atStart  anchor = "start"
	atMiddle anchor = "middle"
	atEnd    anchor = "end"
)

// text is a line of text; y is its baseline. It is turned around its place by so
// many degrees, clockwise.
type text struct {
	x, y   float64
	text   string
	size   float64
	bold   bool
	anchor anchor
	turn   float64
	fill   color.RGBA
}

func (rect) isShape() {}
func (path) isShape() {}
func (disc) isShape() {}
func (text) isShape() {}

func (s *Scene) add(shapes ...shape) { s.shapes = append(s.shapes, shapes...) }

// line is a straight line.
func line(x1, y1, x2, y2 float64, stroke color.RGBA, width float64) path {
	return path{points: []point{{x1, y1}, {x2, y2}}, stroke: stroke, width: width}
}
