package plot

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// axis maps values to a length, and names some of them.
type axis struct {
	from, to float64
	ticks    []float64
	decimals int
}

// newAxis covers the values between ends that are round unless they were asked
// for. NaN ends are chosen; zero tells that the axis may begin at 0 only.
func newAxis(values []float64, from, to float64, zero bool, wanted int) axis {
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if known(v) {
			least, most = math.Min(least, v), math.Max(most, v)
		}
	}
	if least > most {
		least, most = 0, 1
	}
	if zero {
		least = math.Min(0, least)
	}
	a := axis{from: from, to: to}
	if !known(from) {
		a.from = least
	}
	if !known(to) {
		a.to = most
	}
	if !(a.to > a.from) {
		a.to = a.from + math.Max(math.Abs(a.from)*.1, 1e-9)
		if a.from == 0 {
			a.to = 1
		}
	}
	step := niceStep((a.to - a.from) / float64(wanted))
	if !known(from) {
		a.from = math.Floor(a.from/step+1e-9) * step
	}
	if !known(to) {
		a.to = math.Ceil(a.to/step-1e-9) * step
	}
	a.decimals = max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	if scaled := step * math.Pow10(a.decimals); math.Abs(scaled-math.Round(scaled)) > 1e-6 {
		a.decimals++ // 0.25 wants two
	}
	for i := math.Ceil(a.from/step - 1e-9); i*step <= a.to+step*1e-9; i++ {
		a.ticks = append(a.ticks, i*step+0)
	}
	a.ends(step)
	return a
}

// ends names ends that were asked for and are no multiple of the step, in the
// place of a tick that is too near to them.
func (a *axis) ends(step float64) {
	for _, end := range []float64{a.from, a.to} {
		nearest := math.Inf(1)
		for _, tick := range a.ticks {
			nearest = math.Min(nearest, math.Abs(tick-end))
		}
		if nearest < step*1e-6 {
			continue
		}
		a.ticks = slices.DeleteFunc(a.ticks, func(tick float64) bool { return math.Abs(tick-end) < step*.45 })
		a.ticks = append(a.ticks, end)
		for a.decimals < 6 && math.Abs(end*math.Pow10(a.decimals)-math.Round(end*math.Pow10(a.decimals))) > 1e-6 {
			a.decimals++
		}
	}
	slices.Sort(a.ticks)
}

// niceStep is the least of 1, 2, 2.5 and 5 times a power of ten that is not below v.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// label names a tick: "0.70", "12,000", "2.5M".
func (a axis) label(v float64) string {
	decimals := a.decimals
	if a.to <= 100 && decimals == 1 {
		decimals = 2 // ratios are read with two
	}
	text := strconv.FormatFloat(math.Round(v*1e12)/1e12+0, 'f', decimals, 64) // +0 has no sign
	whole, fraction, _ := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	var parts []string
	for len(whole) > 3 {
		parts = append([]string{whole[len(whole)-3:]}, parts...)
		whole = whole[:len(whole)-3]
	}
	text = sign + strings.Join(append([]string{whole}, parts...), ",")
	if fraction != "" {
		text += "." + fraction
	}
	return text
}

// at is the place of a value between 0 and 1; values beyond the ends are on them.
func (a axis) at(v float64) float64 { return math.Min(1, math.Max(0, (v-a.from)/(a.to-a.from))) }

func (a axis) below(v float64) bool { return v < a.from-1e-9*(a.to-a.from) }
func (a axis) above(v float64) bool { return v > a.to+1e-9*(a.to-a.from) }

// numbers collects the values of a panel, with their intervals if these are drawn.
func (p Panel) numbers(intervals bool) []float64 {
	var values []float64
	for _, s := range p.Series {
		for _, v := range s.Values {
			values = append(values, v.Y)
			if intervals && v.interval() {
				values = append(values, v.Low, v.High)
			}
		}
	}
	return values
}

// panelValues collects what the axis of a panel must cover.
func (c Chart) panelValues(panel Panel, intervals bool) []float64 {
	return append(panel.numbers(intervals), c.Reference, c.Reference-c.Least, c.Reference+c.Least)
}

// plotArea is where the values of a panel are drawn.
type plotArea struct {
	x, y, width, height float64
	axis                axis
}

func (p plotArea) yOf(v float64) float64 { return p.y + p.height*(1-p.axis.at(v)) }
func (p plotArea) xOf(v float64) float64 { return p.x + p.width*p.axis.at(v) }

// valueAxis draws grid, ticks and reference of a vertical axis.
func (d *drawing) valueAxis(p plotArea) {
	if c := d.chart; c.Band > 0 && known(c.Reference) {
		top, bottom := p.yOf(c.Reference*(1+c.Band)), p.yOf(c.Reference*(1-c.Band))
		d.scene.add(rect{x: p.x, y: top, width: p.width, height: bottom - top, fill: bandFill})
	}
	for _, tick := range p.axis.ticks {
		y := p.yOf(tick)
		d.scene.add(line(p.x, y, p.x+p.width, y, faint, 1),
			text{x: p.x - 7, y: y + 4, text: p.axis.label(tick), size: smallSize, anchor: atEnd, fill: soft})
	}
	d.reference(p)
}

// reference draws the line that values are compared with.
func (d *drawing) reference(p plotArea) {
	if r := d.chart.Reference; known(r) && !p.axis.below(r) && !p.axis.above(r) {
		d.scene.add(line(p.x, p.yOf(r), p.x+p.width, p.yOf(r), soft, 1.25))
	}
}

// axisTitle stands above a vertical axis, where it can be read without turning the head.
func (d *drawing) axisTitle(p plotArea, title string) {
	if title != "" {
		d.scene.add(text{x: p.x, y: p.y - 9, text: d.cut(title, textSize, true, p.width), size: textSize, bold: true, anchor: atStart, fill: ink})
	}
	if d.chart.Axis != "" && title == "" {
		d.scene.add(text{x: p.x, y: p.y - 9, text: d.cut(d.chart.Axis, smallSize, false, p.width), size: smallSize, anchor: atStart, fill: soft})
	} else if d.chart.Axis != "" {
		left := p.width - d.width(title, textSize, true) - 24
		if d.width(d.chart.Axis, smallSize, false) <= left {
			d.scene.add(text{x: p.x + p.width, y: p.y - 9, text: d.chart.Axis, size: smallSize, anchor: atEnd, fill: soft})
		}
	}
}

// tickWidth is the room that the labels of a vertical axis need.
func (d *drawing) tickWidth(a axis) float64 {
	width := 0.0
	for _, tick := range a.ticks {
		width = math.Max(width, d.width(a.label(tick), smallSize, false))
	}
	return math.Ceil(width) + 10
}

// slant is how names below an axis are turned: level, aslant or upright, whichever
// is the first at which no two of them touch in so much room for each.
type slant struct {
	turn   float64
	height float64 // that the longest needs
	left   float64 // that the first sticks out to the left of its place
}

// slantOf chooses the slant; names are cut to what may stick out.
func (d *drawing) slantOf(labels []string, room float64) slant {
	longest, first := 0.0, 0.0
	for i, label := range labels {
		width := d.width(label, smallSize, false)
		longest = math.Max(longest, width)
		if i == 0 {
			first = width
		}
	}
	if longest+8 <= room {
		return slant{height: smallSize + 8, left: first / 2}
	}
	for _, turn := range []float64{35, 60} {
		sin, cos := math.Sincos(turn * math.Pi / 180)
		if room*sin < smallSize*1.2 {
			continue
		}
		left := 0.0
		for i, label := range labels {
			left = math.Max(left, d.width(label, smallSize, false)*cos-float64(i)*room)
		}
		return slant{turn: -turn, height: longest*sin + smallSize + 6, left: left}
	}
	return slant{turn: -90, height: longest + 10, left: smallSize}
}

// nameAxis writes the names below an axis, at the middle of each place.
func (d *drawing) nameAxis(s slant, labels []string, y float64, x func(int) float64) {
	for i, label := range labels {
		if label == "" {
			continue
		}
		t := text{x: x(i), y: y + smallSize + 5, text: label, size: smallSize, anchor: atMiddle, turn: s.turn, fill: ink}
		if s.turn != 0 {
			t.anchor = atEnd
			t.x, t.y = t.x+4, y+10
			if s.turn == -90 {
				t.x = x(i) + 4
				t.y = y + 7
			}
		}
		d.scene.add(t)
	}
}

// usual leaves out of an axis the few values that lie so far off that the others
// would be a dot: what is beyond is marked and written. It gives the ends that hold the rest.
func usual(values []float64) (from, to float64) {
	sorted := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !known(v) })
	slices.Sort(sorted)
	if len(sorted) < 8 {
		return math.NaN(), math.NaN()
	}
	part := len(sorted) / 10
	low, high := sorted[part], sorted[len(sorted)-1-part]
	span := math.Max(high-low, .05)
	from, to = math.NaN(), math.NaN()
	if sorted[0] < low-1.5*span {
		from = sorted[slices.IndexFunc(sorted, func(v float64) bool { return v >= low-1.5*span })]
	}
	if sorted[len(sorted)-1] > high+1.5*span {
		at := slices.IndexFunc(sorted, func(v float64) bool { return v > high+1.5*span })
		to = sorted[at-1]
	}
	return from, to
}
