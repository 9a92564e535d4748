package plot

import (
	"cmp"
	"math"
	"slices"
)

// Cloud is a chart of one metric against another.
type Cloud struct {
	Title, Subtitle, Note string
	X, Y                  CloudAxis
	Groups                []CloudGroup
}

// CloudAxis is an axis of a Cloud.
type CloudAxis struct {
	Name      string
	From, To  float64 // NaN for what the values need
	Reference float64 // NaN for none
}

// CloudGroup has points of one colour and shape.
type CloudGroup struct {
	Name   string
	Points []CloudPoint
}

// CloudPoint is a pair of values; one that is not known leaves the point out.
type CloudPoint struct {
	X, Y float64
	Name string
}

// Scatter draws metric against metric. Names stand beside their points as far as
// there is room; how many have none is said.
func Scatter(c Cloud) (*Scene, error) {
	d, err := newDrawing(Chart{Title: c.Title, Subtitle: c.Subtitle, Note: c.Note, Reference: math.NaN()}, 760)
	if err != nil {
		return nil, err
	}
	var xs, ys []float64
	missing := 0
	for _, g := range c.Groups {
		for _, p := range g.Points {
			if !known(p.X) || !known(p.Y) {
				missing++
				continue
			}
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	across := newAxis(append(xs, c.X.Reference), c.X.From, c.X.To, false, 7)
	up := newAxis(append(ys, c.Y.Reference), c.Y.From, c.Y.To, false, 6)
	d.head()
	if len(c.Groups) > 1 {
		var keys []key
		for i, g := range c.Groups {
			keys = append(keys, key{g.Name, colors(len(c.Groups))[i], i})
		}
		d.legend(keys)
	}
	left := d.tickWidth(up)
	area := plotArea{x: margin + left, y: d.y + panelGap + 12, width: d.inner - left - 12, height: 480, axis: up}
	level := plotArea{x: area.x, y: area.y, width: area.width, height: area.height, axis: across}
	d.chart.Reference = c.Y.Reference
	d.chart.Axis = printable(c.Y.Name)
	d.axisTitle(area, "")
	d.valueAxis(area)
	d.chart.Reference = c.X.Reference
	d.verticalGrid(level)
	for _, tick := range across.ticks {
		d.scene.add(text{x: level.xOf(tick), y: area.y + area.height + smallSize + 6, text: across.label(tick), size: smallSize, anchor: atMiddle, fill: soft})
	}
	d.y = area.y + area.height + smallSize + 6 + lineHeight + 2
	d.scene.add(text{x: area.x + area.width/2, y: d.y, text: printable(c.X.Name), size: smallSize, anchor: atMiddle, fill: soft})
	d.points(c, level, area, missing)
	return d.end(), nil
}

// points draws all points, then as many names as fit.
func (d *drawing) points(c Cloud, level, area plotArea, missing int) {
	type named struct {
		x, y float64
		name string
		ink  int
	}
	var all []named
	var taken []box
	inks := colors(len(c.Groups))
	beyond := 0
	for i, g := range c.Groups {
		for _, p := range g.Points {
			if !known(p.X) || !known(p.Y) {
				continue
			}
			if level.axis.below(p.X) || level.axis.above(p.X) || area.axis.below(p.Y) || area.axis.above(p.Y) {
				beyond++
				continue
			}
			x, y := level.xOf(p.X), area.yOf(p.Y)
			what := p.Name + ", " + g.Name + ": " + level.axis.exact(p.X) + ", " + area.axis.exact(p.Y)
			d.scene.add(titled(marker(i, x, y, 5, inks[i]), what))
			taken = append(taken, box{x - 5, y - 5, x + 5, y + 5})
			all = append(all, named{x, y, printable(p.Name), i})
		}
	}
	left := 0
	middle := point{area.x + area.width/2, area.y + area.height/2}
	if known(c.X.Reference) && known(c.Y.Reference) {
		middle = point{level.xOf(c.X.Reference), area.yOf(c.Y.Reference)}
	}
	far := func(one named) float64 { return math.Hypot(one.x-middle.x, one.y-middle.y) }
	// What is far from the middle tells most, and gets its name first.
	slices.SortStableFunc(all, func(a, b named) int { return cmp.Compare(far(b), far(a)) })
	for _, one := range all {
		width := d.width(one.name, 10, false)
		place, ok := freePlace(one.x, one.y, width, taken, box{area.x, area.y, area.x + area.width, area.y + area.height})
		if !ok {
			left++
			continue
		}
		taken = append(taken, place)
		d.scene.add(text{x: place.left, y: place.bottom - 2, text: one.name, size: 10, anchor: atStart, fill: ink})
	}
	if left > 0 {
		d.chart.Note = sentence(d.chart.Note, count(left, "point has", "points have")+" no room for a name; in SVG the pointer shows it.")
	}
	if beyond > 0 {
		d.chart.Note = sentence(d.chart.Note, count(beyond, "point lies", "points lie")+" beyond the ends of the axes.")
	}
	if missing > 0 {
		d.chart.Note = sentence(d.chart.Note, count(missing, "point is", "points are")+" left out, since one of the metrics is not known.")
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return axis{to: 1e6}.label(float64(n)) + " " + many
}

type box struct{ left, top, right, bottom float64 }

func (b box) touches(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

// freePlace finds room for a name beside a point: right, left, above, below, then
// aslant.
func freePlace(x, y, width float64, taken []box, within box) (box, bool) {
	const height, off = 12.0, 8.0
	for _, at := range []point{
		{x + off, y - height/2},
		{x - off - width, y - height/2},
		{x - width/2, y - off - height},
		{x - width/2, y + off},
		{x + off, y - off - height/2},
		{x + off, y + off - height/2},
		{x - off - width, y - off - height/2},
		{x - off - width, y + off - height/2},
	} {
		place := box{at.x, at.y, at.x + width, at.y + height}
		if place.left < within.left || place.right > within.right || place.top < within.top || place.bottom > within.bottom {
			continue
		}
		free := true
		for _, other := range taken {
			if place.touches(other) {
				free = false
				break
			}
		}
		if free {
			return place, true
		}
	}
	return box{}, false
}
