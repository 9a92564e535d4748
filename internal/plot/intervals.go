package plot

import (
	"fmt"
	"math"
	"slices"
)

const intervalsWidth = 560.0

// Intervals draws each value as a point with its interval, a line for each label
// and within it one for each series. With one series the texts of its values stand
// beside it, and the looks of values say their verdicts; with several, colours
// tell the series apart.
func Intervals(c Chart) (*Scene, error) {
	fonts, err := newFaces()
	if err != nil {
		return nil, err
	}
	names, texts, series := 0.0, 0.0, 0
	for _, p := range c.Panels {
		series = max(series, len(p.Series))
		for _, label := range p.Labels {
			names = math.Max(names, fonts.width(printable(label), textSize, false))
		}
		for _, s := range p.Series {
			for _, v := range s.Values {
				texts = math.Max(texts, fonts.width(printable(v.Text), smallSize, false))
			}
		}
	}
	if series > 1 {
		texts = 0
	}
	d, err := newDrawing(c, names+12+intervalsWidth+texts+14)
	if err != nil {
		return nil, err
	}
	d.head()
	if series > 1 {
		d.intervalLegend(c, series)
	} else {
		keys := []key{{"slower", slowerInk, 0}, {"faster", fasterInk, 0}, {"same", sameInk, 0}, {"inconclusive", unknownInk, 0}}
		d.legend(append(keys, d.bandKey()...))
	}
	a := c.sharedAxis()
	d.drawn(true)
	for _, panel := range c.Panels {
		d.intervalPanel(panel, a, names, series)
	}
	d.y += lineHeight
	d.scene.add(text{x: margin + names + 12 + intervalsWidth/2, y: d.y, text: d.cut(d.chart.Axis, smallSize, false, d.inner), size: smallSize, anchor: atMiddle, fill: soft})
	return d.end(), nil
}

// sharedAxis is one axis for all panels. Few values far off are left beyond its
// ends unless those were asked for.
func (c Chart) sharedAxis() axis {
	var points, all []float64
	for _, panel := range c.Panels {
		points = append(points, panel.numbers(false)...)
		all = append(all, c.panelValues(panel, true)...)
	}
	from, to := usual(points)
	inside := slices.DeleteFunc(all, func(v float64) bool { return v < from || v > to })
	return newAxis(inside, c.From, c.To, false, 7)
}

func (d *drawing) intervalLegend(c Chart, series int) {
	var keys []key
	for _, p := range c.Panels {
		if len(p.Series) < series {
			continue
		}
		for i, s := range p.Series {
			keys = append(keys, key{s.Name, colors(series)[i], i})
		}
		break
	}
	d.legend(append(keys, d.bandKey()...))
}

// bandKey names the band of what does not matter.
func (d *drawing) bandKey() []key {
	if !(d.chart.Band > 0) {
		return nil
	}
	return []key{{fmt.Sprintf("within %.3g %%, which does not matter", 100*d.chart.Band), bandFill, -1}}
}

func (d *drawing) intervalPanel(panel Panel, a axis, names float64, series int) {
	const part = 11.0
	row := math.Max(20, part*float64(series)+8)
	p := plotArea{x: margin + names + 12, y: d.y + panelGap, width: intervalsWidth, height: row * float64(len(panel.Labels)), axis: a}
	if panel.Title != "" {
		d.scene.add(text{x: margin, y: p.y - 7, text: d.cut(printable(panel.Title), textSize, true, d.inner), size: textSize, bold: true, anchor: atStart, fill: ink})
	}
	d.verticalGrid(p)
	for i, label := range cleaned(panel.Labels) {
		y := p.y + row*(float64(i)+.5)
		d.scene.add(text{x: p.x - 10, y: y + 4, text: label, size: textSize, anchor: atEnd, fill: ink})
		if i > 0 && series > 1 {
			d.scene.add(line(p.x, y-row/2, p.x+p.width, y-row/2, faint, .75))
		}
		for j, s := range panel.Series {
			at := y + part*(float64(j)-float64(len(panel.Series)-1)/2)
			d.interval(p, at, s.Values[i], series, j, label+", "+s.Name)
		}
	}
	d.y = p.y + p.height + smallSize + 5
	for _, tick := range a.ticks {
		d.scene.add(text{x: p.xOf(tick), y: d.y, text: a.label(tick), size: smallSize, anchor: atMiddle, fill: soft})
	}
}

// verticalGrid draws the grid of a level axis.
func (d *drawing) verticalGrid(p plotArea) {
	if c := d.chart; c.Band > 0 && known(c.Reference) {
		left, right := p.xOf(c.Reference*(1-c.Band)), p.xOf(c.Reference*(1+c.Band))
		d.scene.add(rect{x: left, y: p.y, width: right - left, height: p.height, fill: bandFill})
	}
	for _, tick := range p.axis.ticks {
		x := p.xOf(tick)
		d.scene.add(line(x, p.y, x, p.y+p.height, faint, 1))
	}
	if r := d.chart.Reference; known(r) && !p.axis.below(r) && !p.axis.above(r) {
		d.scene.add(line(p.xOf(r), p.y, p.xOf(r), p.y+p.height, soft, 1.25))
	}
}

func (d *drawing) interval(p plotArea, y float64, v Value, series, number int, what string) {
	fill := v.Look.ink()
	if series > 1 {
		fill = colors(series)[number]
	}
	if series == 1 && v.Text != "" {
		d.scene.add(text{x: p.x + p.width + 14, y: y + 4, text: printable(v.Text), size: smallSize, anchor: atStart, fill: fill})
	}
	if !known(v.Y) {
		return
	}
	x := p.xOf(v.Y)
	if beyond := p.axis.below(v.Y) || p.axis.above(v.Y); v.interval() && !beyond {
		left, right := p.xOf(v.Low), p.xOf(v.High)
		d.scene.add(line(left, y, right, y, fill, 1.75))
		if !p.axis.below(v.Low) {
			d.scene.add(line(left, y-3, left, y+3, fill, 1.25))
		}
		if !p.axis.above(v.High) {
			d.scene.add(line(right, y-3, right, y+3, fill, 1.25))
		}
	}
	if p.axis.below(v.Y) || p.axis.above(v.Y) {
		tip, beside := 7.0, atStart
		if p.axis.above(v.Y) {
			tip, beside = -7, atEnd
		}
		d.scene.add(path{points: []point{{x + tip, y - 4}, {x + tip, y + 4}, {x, y}}, fill: fill, title: what + ": " + p.axis.exact(v.Y)},
			text{x: x + 1.6*tip, y: y + 3.5, text: fmt.Sprintf("%.2f", v.Y), size: 10, anchor: beside, fill: fill})
		return
	}
	mark := marker(0, x, y, 4, fill)
	if series > 1 {
		mark = marker(number, x, y, 4, fill)
	} else if !v.interval() {
		mark = disc{x: x, y: y, radius: 3.5, fill: paper, stroke: fill, width: 1.5}
	}
	d.scene.add(titled(mark, what+": "+p.axis.exact(v.Y)))
}
