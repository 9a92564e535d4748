package plot

import (
	"image/color"
	"math"
)

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

var (
	ink        = rgb(0x222222)
	soft       = rgb(0x666666)
	faint      = rgb(0xdddddd)
	paper      = rgb(0xffffff)
	bandFill   = rgb(0xe9edf0)
	slowerInk  = rgb(0xd55e00)
	fasterInk  = rgb(0x0072b2)
	unknownInk = rgb(0x7a7f87)
	sameInk    = rgb(0x3f7d58)
)

// distinct are colours that every kind of colour vision tells apart, without the
// yellow that is too light for lines: Okabe and Ito, "Color Universal Design", 2008.
func distinct() []color.RGBA {
	return []color.RGBA{rgb(0x0072b2), rgb(0xd55e00), rgb(0x009e73), rgb(0xcc79a7), rgb(0xe69f00), rgb(0x56b4e9), rgb(0x222222)}
}

// ramp are the anchors of cividis (Nuñez, Anderton and Renslow, PLOS ONE 2018), a
// scale in order of lightness for every kind of colour vision.
func ramp() []color.RGBA {
	return []color.RGBA{rgb(0x00204d), rgb(0x2c3e6c), rgb(0x575d6d), rgb(0x7c7b78), rgb(0xa59c74), rgb(0xd3c164), rgb(0xffe945)}
}

// colors gives n colours: distinct ones, or where there are more things than
// those, steps of a scale, which shows the order of releases.
func colors(n int) []color.RGBA {
	if some := distinct(); n <= len(some) {
		return some[:n]
	}
	anchors := ramp()
	out := make([]color.RGBA, n)
	for i := range out {
		at := float64(i) / float64(n-1) * float64(len(anchors)-1)
		low := min(int(at), len(anchors)-2)
		out[i] = mix(anchors[low], anchors[low+1], at-float64(low))
	}
	return out
}

func mix(a, b color.RGBA, share float64) color.RGBA {
	part := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + share*(float64(y)-float64(x)))) }
	return color.RGBA{R: part(a.R, b.R), G: part(a.G, b.G), B: part(a.B, b.B), A: 0xff}
}

// lineColor repeats the distinct colours; lineDash then tells the repeats apart.
func lineColor(i int) color.RGBA {
	some := distinct()
	return some[i%len(some)]
}

func lineDash(i int) []float64 {
	dashes := [][]float64{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}}
	return dashes[i/len(distinct())%len(dashes)]
}
