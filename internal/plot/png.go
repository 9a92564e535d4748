package plot

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// pngScale is how many pixels of the image a pixel of the scene is: sharp on
// today's screens.
const pngScale = 2

// WritePNG writes the scene as PNG, at twice its size. Texts are in the Go fonts.
func (s *Scene) WritePNG(w io.Writer) error {
	fonts, err := newFaces()
	if err != nil {
		return err
	}
	bounds := image.Rect(0, 0, int(math.Ceil(s.Width*pngScale)), int(math.Ceil(s.Height*pngScale)))
	c := &canvas{image: image.NewRGBA(bounds), fonts: fonts}
	draw.Draw(c.image, bounds, image.NewUniform(paper), image.Point{}, draw.Src)
	for _, one := range s.shapes {
		switch one := one.(type) {
		case rect:
			c.fill([][]point{{{one.x, one.y}, {one.x + one.width, one.y}, {one.x + one.width, one.y + one.height}, {one.x, one.y + one.height}}}, one.fill)
		case disc:
			c.fill([][]point{circle(one.x, one.y, one.radius)}, one.fill)
			if one.width > 0 {
				edge := circle(one.x, one.y, one.radius)
				c.stroke(append(edge, edge[0]), one.width, one.stroke)
			}
		case path:
			if one.fill.A > 0 {
				c.fill([][]point{one.points}, one.fill)
			}
			for _, part := range dashed(one.points, one.dash) {
				c.stroke(part, one.width, one.stroke)
			}
		case text:
			c.text(one)
		}
	}
	return png.Encode(w, c.image)
}

// canvas paints anti-aliased polygons.
type canvas struct {
	image  *image.RGBA
	fonts  *faces
	raster vector.Rasterizer
}

// fill paints polygons by the non-zero rule, within the box that they need.
func (c *canvas) fill(polygons [][]point, ink color.RGBA) {
	if ink.A == 0 {
		return
	}
	box := image.Rectangle{}
	for _, polygon := range polygons {
		for _, p := range polygon {
			x, y := int(math.Floor(p.x*pngScale)), int(math.Floor(p.y*pngScale))
			box = box.Union(image.Rect(x-1, y-1, x+2, y+2))
		}
	}
	box = box.Intersect(c.image.Bounds())
	if box.Empty() {
		return
	}
	c.raster.Reset(box.Dx(), box.Dy())
	place := func(p point) (x, y float32) {
		return float32(p.x*pngScale - float64(box.Min.X)), float32(p.y*pngScale - float64(box.Min.Y))
	}
	for _, polygon := range polygons {
		for i, p := range polygon {
			x, y := place(p)
			if i == 0 {
				c.raster.MoveTo(x, y)
			} else {
				c.raster.LineTo(x, y)
			}
		}
		c.raster.ClosePath()
	}
	c.raster.Draw(c.image, box, image.NewUniform(ink), image.Point{})
}

// stroke paints a line with butt ends and round joins. All parts turn the same
// way, so that the non-zero rule joins them.
func (c *canvas) stroke(points []point, width float64, ink color.RGBA) {
	if width <= 0 || ink.A == 0 || len(points) < 2 {
		return
	}
	var polygons [][]point
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		length := math.Hypot(b.x-a.x, b.y-a.y)
		if length == 0 {
			continue
		}
		dx, dy := (b.y-a.y)/length*width/2, (a.x-b.x)/length*width/2
		polygons = append(polygons, []point{{a.x + dx, a.y + dy}, {a.x - dx, a.y - dy}, {b.x - dx, b.y - dy}, {b.x + dx, b.y + dy}})
		if i < len(points)-1 && width > 1 {
			polygons = append(polygons, circle(b.x, b.y, width/2))
		}
	}
	for i := range polygons {
		if area(polygons[i]) < 0 {
			for l, r := 0, len(polygons[i])-1; l < r; l, r = l+1, r-1 {
				polygons[i][l], polygons[i][r] = polygons[i][r], polygons[i][l]
			}
		}
	}
	c.fill(polygons, ink)
}

// area is twice the signed area of a polygon.
func area(polygon []point) float64 {
	sum := 0.0
	for i, p := range polygon {
		next := polygon[(i+1)%len(polygon)]
		sum += p.x*next.y - next.x*p.y
	}
	return sum
}

func circle(x, y, radius float64) []point {
	const corners = 32
	points := make([]point, corners)
	for i := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		points[i] = point{x + radius*cos, y + radius*sin}
	}
	return points
}

// dashed cuts a line into its strokes.
func dashed(points []point, lengths []float64) [][]point {
	if len(lengths) == 0 || len(points) < 2 {
		return [][]point{points}
	}
	var parts [][]point
	current := []point{points[0]}
	at, left := 0, lengths[0]
	for i := 1; i < len(points); i++ {
		from, to := points[i-1], points[i]
		rest := math.Hypot(to.x-from.x, to.y-from.y)
		for rest > left {
			share := left / rest
			from = point{from.x + share*(to.x-from.x), from.y + share*(to.y-from.y)}
			rest -= left
			if at%2 == 0 {
				parts = append(parts, append(current, from))
			}
			at++
			left = lengths[at%len(lengths)]
			current = []point{from}
		}
		left -= rest
		current = append(current, to)
	}
	if at%2 == 0 {
		parts = append(parts, current)
	}
	return parts
}

// text paints the outlines of letters.
func (c *canvas) text(t text) {
	x := 0.0
	switch t.anchor {
	case atMiddle:
		x = -c.fonts.width(t.text, t.size, t.bold) / 2
	case atEnd:
		x = -c.fonts.width(t.text, t.size, t.bold)
	}
	sin, cos := math.Sincos(t.turn * math.Pi / 180)
	place := func(p point) point {
		return point{t.x + p.x*cos - p.y*sin, t.y + p.x*sin + p.y*cos}
	}
	of := c.fonts.of(t.bold)
	for _, r := range t.text {
		var polygons [][]point
		for _, contour := range of.outline(r) {
			for i, p := range contour {
				contour[i] = place(point{x + p.x*t.size, p.y * t.size})
			}
			polygons = append(polygons, contour)
		}
		c.fill(polygons, t.fill)
		x += of.advance(r) * t.size
	}
}

// outline gives the contours of a letter by the size of the font, curves as
// short lines. A letter that the font does not have is an empty square.
func (f *face) outline(r rune) [][]point {
	index, err := f.font.GlyphIndex(&f.buffer, r)
	if err != nil || index == 0 {
		return [][]point{
			{{.1, 0}, {.1, -.75}, {.9, -.75}, {.9, 0}},
			{{.15, -.05}, {.85, -.05}, {.85, -.7}, {.15, -.7}},
		}
	}
	segments, err := f.font.LoadGlyph(&f.buffer, index, fixed.I(unit), nil)
	if err != nil {
		return nil
	}
	at := func(p fixed.Point26_6) point { return point{float64(p.X) / 64 / unit, float64(p.Y) / 64 / unit} }
	var contours [][]point
	for _, s := range segments {
		if s.Op == sfnt.SegmentOpMoveTo {
			contours = append(contours, []point{at(s.Args[0])})
			continue
		}
		last := &contours[len(contours)-1]
		from := (*last)[len(*last)-1]
		switch s.Op {
		case sfnt.SegmentOpLineTo:
			*last = append(*last, at(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			*last = append(*last, curve(from, at(s.Args[0]), at(s.Args[0]), at(s.Args[1]), true)...)
		case sfnt.SegmentOpCubeTo:
			*last = append(*last, curve(from, at(s.Args[0]), at(s.Args[1]), at(s.Args[2]), false)...)
		}
	}
	return contours
}

// curve gives points of a quadratic or cubic Bézier curve after its start.
func curve(from, a, b, to point, quadratic bool) []point {
	const steps = 6
	points := make([]point, 0, steps)
	for i := 1; i <= steps; i++ {
		t := float64(i) / steps
		u := 1 - t
		if quadratic {
			points = append(points, point{u*u*from.x + 2*u*t*a.x + t*t*to.x, u*u*from.y + 2*u*t*a.y + t*t*to.y})
			continue
		}
		points = append(points, point{
			u*u*u*from.x + 3*u*u*t*a.x + 3*u*t*t*b.x + t*t*t*to.x, u*u*u*from.y + 3*u*u*t*a.y + 3*u*t*t*b.y + t*t*t*to.y,
		})
	}
	return points
}
