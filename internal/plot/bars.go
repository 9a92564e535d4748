package plot

import (
	"fmt"
	"image/color"
	"math"
)

const (
	barsHeight     = 250.0
	mostBar        = 26.0
	leastBar       = 3.0
	leastRoom      = 16.0 // for a name that stands upright
	leastWhiskered = 5.0  // bars that are narrower bear no intervals
)

// Bars draws groups of bars: for each label of a panel one bar of each series. An
// axis that does not begin at 0 says so, and a value that lies beyond an end of
// it is marked and written out, so that no bar lies in silence.
func Bars(c Chart) (*Scene, error) {
	series, most := 0, 0
	for _, p := range c.Panels {
		series = max(series, len(p.Series))
		most = max(most, len(p.Labels))
	}
	bar := math.Min(mostBar, math.Max(leastBar, math.Floor(900/float64(max(1, most*(series+1))))))
	room := math.Max(leastRoom, bar*float64(series)+math.Max(6, bar*.8))
	d, err := newDrawing(c, math.Max(720, room*float64(most)+70))
	if err != nil {
		return nil, err
	}
	d.head()
	d.barLegend(c, series)
	left, cut := 0.0, axis{}
	areas := make([]plotArea, len(c.Panels))
	for i, panel := range c.Panels {
		a := newAxis(c.panelValues(panel, bar >= leastWhiskered), c.From, c.To, !known(c.From), 6)
		areas[i] = plotArea{height: barsHeight, axis: a}
		room := d.inner / float64(max(1, len(panel.Labels)))
		left = math.Max(left, math.Max(d.tickWidth(a), d.slantOf(cleaned(panel.Labels), room).left-room/2+4))
		if a.from > 0 {
			cut = a
		}
	}
	d.drawn(bar >= leastWhiskered)
	for i, panel := range c.Panels {
		areas[i].x, areas[i].width = margin+left, d.inner-left
		d.barPanel(panel, areas[i], bar >= leastWhiskered)
	}
	if cut.from > 0 {
		d.chart.Note = sentence(fmt.Sprintf("The axis begins at %s and not at 0, so lengths of bars do not compare.", cut.label(cut.from)), d.chart.Note)
	}
	return d.end(), nil
}

func sentence(parts ...string) string {
	all := ""
	for _, part := range parts {
		if part != "" && all != "" {
			all += " "
		}
		all += part
	}
	return all
}

func (d *drawing) barLegend(c Chart, series int) {
	var keys []key
	inks := colors(series)
	for _, p := range c.Panels {
		if len(p.Series) < series {
			continue
		}
		for i, s := range p.Series {
			keys = append(keys, key{s.Name, inks[i], -1})
		}
		break
	}
	if len(keys) > 0 {
		d.legend(keys)
	}
}

func (d *drawing) barPanel(panel Panel, p plotArea, whiskers bool) {
	labels := cleaned(panel.Labels)
	p.y = d.y + panelGap + 12
	room := p.width / float64(max(1, len(labels)))
	bar := math.Min(mostBar, math.Max(leastBar, math.Floor(room*.82/float64(max(1, len(panel.Series))))))
	s := d.slantOf(labels, room)
	d.axisTitle(p, panel.Title)
	d.valueAxis(p)
	inks := colors(len(panel.Series))
	center := func(i int) float64 { return p.x + room*(float64(i)+.5) }
	for i := range labels {
		for j, series := range panel.Series {
			x := center(i) - bar*float64(len(panel.Series))/2 + bar*float64(j)
			d.bar(p, x, bar, series.Values[i], inks[j], labels[i]+", "+series.Name, whiskers)
		}
	}
	d.reference(p)
	d.scene.add(line(p.x, p.y+p.height, p.x+p.width, p.y+p.height, soft, 1))
	if p.axis.from > 0 {
		d.scene.add(axisBreak(p.x, p.y+p.height-9))
	}
	d.nameAxis(s, labels, p.y+p.height, center)
	d.y = p.y + p.height + s.height
}

func cleaned(labels []string) []string {
	out := make([]string, len(labels))
	for i, label := range labels {
		out[i] = printable(label)
	}
	return out
}

// bar draws one bar from the bottom of the axis.
func (d *drawing) bar(p plotArea, x, width float64, v Value, fill color.RGBA, what string, whiskers bool) {
	bottom := p.y + p.height
	gap := math.Min(1, width/6)
	if !known(v.Y) {
		if width >= 8 {
			d.scene.add(text{x: x + width/2, y: bottom - 4, text: "–", size: smallSize, anchor: atMiddle, fill: soft})
		}
		return
	}
	title := what + ": " + p.axis.exact(v.Y)
	top := p.yOf(v.Y)
	switch {
	case p.axis.below(v.Y):
		d.scene.add(path{points: []point{{x + gap, bottom - 5}, {x + width - gap, bottom - 5}, {x + width/2, bottom}}, fill: fill, title: title})
		d.outside(x+width/2, bottom-9, v.Y, width, ink)
	case p.axis.above(v.Y): // it ends in a tip
		d.scene.add(path{points: []point{
			{x + gap/2, bottom}, {x + gap/2, top + 7}, {x + width/2, top}, {x + width - gap/2, top + 7}, {x + width - gap/2, bottom},
		}, fill: fill, title: title})
		d.outside(x+width/2, top+36, v.Y, width, on(fill))
	default:
		d.scene.add(rect{x: x + gap/2, y: top, width: width - gap, height: math.Max(.5, bottom-top), fill: fill, title: title})
		if whiskers && v.interval() && !p.axis.above(v.High) {
			d.scene.add(line(x+width/2, p.yOf(v.Low), x+width/2, p.yOf(v.High), mix(ink, paper, .25), 1))
		}
	}
}

// outside writes a value that lies beyond the axis, upright, where bars are wide
// enough for it. Tooltips have all of them.
func (d *drawing) outside(x, y, v, width float64, fill color.RGBA) {
	if width >= 9 {
		d.scene.add(text{x: x + 3.5, y: y, text: fmt.Sprintf("%.2f", v), size: 10, anchor: atStart, turn: -90, fill: fill})
	}
}

// on is the colour of text upon a colour.
func on(fill color.RGBA) color.RGBA {
	if .299*float64(fill.R)+.587*float64(fill.G)+.114*float64(fill.B) > 140 {
		return ink
	}
	return paper
}

// axisBreak is the mark of an axis that does not begin at 0.
func axisBreak(x, y float64) shape {
	return path{points: []point{{x - 5, y + 3}, {x - 1, y - 3}, {x + 1, y + 3}, {x + 5, y - 3}}, stroke: soft, width: 1.25}
}

// exact is a value for a tooltip.
func (a axis) exact(v float64) string {
	if math.Abs(v) >= 1000 {
		return axis{to: v}.label(math.Round(v))
	}
	return fmt.Sprintf("%.4g", v)
}
