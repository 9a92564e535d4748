package plot

import (
	"image/color"
	"math"
	"sort"
)

const (
	linesHeight   = 280.0
	mostWhiskered = 4   // lines of a panel whose values bear intervals; more would hide each other's
	mostMarked    = 120 // values of a line that are marked; more would hide it
)

// Lines draws each series of a panel as a line over its labels, with its name at
// its end, so that no legend cuts names short. A value that is not known is a gap.
func Lines(c Chart) (*Scene, error) {
	most := 0
	for _, p := range c.Panels {
		most = max(most, len(p.Labels))
	}
	room := roomOf(most)
	fonts, err := newFaces()
	if err != nil {
		return nil, err
	}
	names := 0.0
	for _, p := range c.Panels {
		for _, s := range p.Series {
			names = math.Max(names, fonts.width(printable(s.Name), smallSize, false))
		}
	}
	d, err := newDrawing(c, math.Max(720, room*float64(most)+80+names))
	if err != nil {
		return nil, err
	}
	few := true
	for _, p := range c.Panels {
		few = few && len(p.Series) <= mostWhiskered
	}
	d.head()
	d.drawn(few)
	left := 0.0
	areas := make([]plotArea, len(c.Panels))
	for i, panel := range c.Panels {
		a := newAxis(c.panelValues(panel, few), c.From, c.To, false, 6)
		areas[i] = plotArea{axis: a, height: math.Max(d.lineHeight(), float64(len(panel.Series))*(smallSize+3))}
		s := d.slantOf(thinned(cleaned(panel.Labels), room), math.Max(room, leastRoom))
		left = math.Max(left, math.Max(d.tickWidth(a), s.left-room/2+4))
	}
	for i, panel := range c.Panels {
		p := &areas[i]
		p.x = margin + left
		p.width = d.inner - left - names - 26
		d.linePanel(panel, *p, few)
	}
	return d.end(), nil
}

// roomOf is the width for each of so many places: enough to name each while that
// fits on a page, then what the page has for each.
func roomOf(places int) float64 {
	const page, widePage = 760.0, 1150.0
	switch n := float64(max(1, places)); {
	case page/n >= leastRoom:
		return math.Min(160, math.Floor(page/n))
	case widePage/n >= leastRoom:
		return leastRoom
	default:
		return widePage / n
	}
}

// thinned leaves as many names as have room, the first and every so manieth.
func thinned(labels []string, room float64) []string {
	every := int(math.Ceil(leastRoom / room))
	if every <= 1 {
		return labels
	}
	out := make([]string, len(labels))
	for i := range labels {
		if i%every == 0 {
			out[i] = labels[i]
		}
	}
	return out
}

func (d *drawing) linePanel(panel Panel, p plotArea, whiskers bool) {
	labels := cleaned(panel.Labels)
	room := p.width / float64(max(1, len(labels)))
	shown := thinned(labels, room)
	s := d.slantOf(shown, math.Max(room, leastRoom))
	p.y = d.y + panelGap + 12
	d.axisTitle(p, panel.Title)
	d.valueAxis(p)
	x := func(i int) float64 { return p.x + room*(float64(i)+.5) }
	var ends []lineEnd
	for i, series := range panel.Series {
		end, ok := d.seriesLine(p, series, x, lineColor(i), i, whiskers, labels)
		if ok && end.name != "" {
			ends = append(ends, end)
		}
	}
	for _, series := range panel.Series {
		d.changePoints(p, series, x, labels)
	}
	d.nameEnds(ends, p)
	d.scene.add(line(p.x, p.y+p.height, p.x+p.width, p.y+p.height, soft, 1))
	d.nameAxis(s, shown, p.y+p.height, x)
	d.y = p.y + p.height + s.height
}

func (d *drawing) lineHeight() float64 {
	if d.chart.Small {
		return 150
	}
	return linesHeight
}

// lineEnd is where a line ends and its name begins.
type lineEnd struct {
	name string
	x, y float64
	ink  color.RGBA
}

// seriesLine draws a line and gives its end; ok is false for a series without values.
func (d *drawing) seriesLine(p plotArea, s Series, x func(int) float64, ink color.RGBA, number int, whiskers bool, labels []string) (lineEnd, bool) {
	end, ok := lineEnd{name: printable(s.Name), ink: ink}, false
	var part []point
	flush := func() {
		if len(part) > 1 {
			d.scene.add(path{points: part, stroke: ink, width: 2, dash: lineDash(number)})
		}
		part = nil
	}
	for i, v := range s.Values {
		if !known(v.Y) {
			flush()
			continue
		}
		at := point{x(i), p.yOf(v.Y)}
		part = append(part, at)
		end.x, end.y, ok = at.x, at.y, true
		if whiskers && v.interval() {
			d.scene.add(line(at.x, p.yOf(v.Low), at.x, p.yOf(v.High), ink, 1.25))
		}
	}
	flush()
	for i, v := range s.Values {
		beyond := p.axis.below(v.Y) || p.axis.above(v.Y)
		if !known(v.Y) || len(s.Values) > mostMarked && !beyond {
			continue
		}
		mark := marker(number, x(i), p.yOf(v.Y), 3.6, ink)
		if beyond { // at the edge, an arrow to where it lies
			tip := 6.0
			if p.axis.above(v.Y) {
				tip = -6
			}
			mark = path{points: []point{{x(i) - 4, p.yOf(v.Y) - tip}, {x(i) + 4, p.yOf(v.Y) - tip}, {x(i), p.yOf(v.Y)}}, fill: ink}
		}
		d.scene.add(titled(mark, s.Name+", "+labels[i]+": "+p.axis.exact(v.Y)))
	}
	return end, ok
}

// changePoints marks the changes of a line by rings on it, each halfway between the
// values that the change lies between.
func (d *drawing) changePoints(p plotArea, s Series, x func(int) float64, labels []string) {
	for i, v := range s.Values {
		if i == 0 || v.Change == nil || !known(v.Y) {
			continue
		}
		ring := disc{x: (x(i-1) + x(i)) / 2, y: p.yOf(v.Y), radius: 4.5, fill: paper, stroke: v.Change.Look.ink(), width: 2.25}
		if before := s.Values[i-1].Y; known(before) {
			ring.y = (p.yOf(before) + p.yOf(v.Y)) / 2
		}
		if v.Change.Suspect {
			ring.width = 1
		}
		d.scene.add(titled(ring, s.Name+", "+labels[i]+": "+v.Change.Text))
	}
}

// titled gives a shape a tooltip.
func titled(one shape, title string) shape {
	switch one := one.(type) {
	case disc:
		one.title = title
		return one
	case path:
		one.title = title
		return one
	case rect:
		one.title = title
		return one
	}
	return one
}

// nameEnds writes names right of the panel, each as near to the end of its line as
// the others leave room, with a thin line to it.
func (d *drawing) nameEnds(ends []lineEnd, p plotArea) {
	sort.SliceStable(ends, func(i, j int) bool { return ends[i].y < ends[j].y })
	wanted := make([]float64, len(ends))
	for i, end := range ends {
		wanted[i] = end.y
	}
	places := spread(wanted, smallSize+2.5, p.y+smallSize/2, p.y+p.height-smallSize/2)
	x := p.x + p.width + 16
	for i, end := range ends {
		d.scene.add(
			path{points: []point{{end.x + 4, end.y}, {p.x + p.width + 2, end.y}, {x - 3, places[i]}}, stroke: mix(end.ink, paper, .55), width: .8},
			text{x: x, y: places[i] + smallSize*.36, text: end.name, size: smallSize, anchor: atStart, fill: end.ink},
		)
	}
}

// spread moves places, which are in order, so far apart that none is nearer to the
// next than gap, and none beyond the ends, moving all as little as it takes: places
// that touch form a block around the mean of what they want.
func spread(wanted []float64, gap, from, to float64) []float64 {
	type block struct {
		first, count int
		sum          float64 // of wanted places, each less its offset in the block
	}
	start := func(b block) float64 {
		at := b.sum / float64(b.count)
		at = math.Min(at, to-gap*float64(b.count-1))
		return math.Max(at, from)
	}
	var blocks []block
	for i, w := range wanted {
		blocks = append(blocks, block{i, 1, w})
		for len(blocks) > 1 {
			a, b := blocks[len(blocks)-2], blocks[len(blocks)-1]
			if start(a)+gap*float64(a.count) <= start(b)+1e-9 {
				break
			}
			joined := block{a.first, a.count + b.count, a.sum + b.sum - gap*float64(a.count)*float64(b.count)}
			blocks = append(blocks[:len(blocks)-2], joined)
		}
	}
	places := make([]float64, len(wanted))
	for _, b := range blocks {
		for i := range b.count {
			places[b.first+i] = start(b) + gap*float64(i)
		}
	}
	return places
}
