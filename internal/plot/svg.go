package plot

import (
	"fmt"
	"image/color"
	"io"
	"strconv"
	"strings"
)

// fontFamily starts with the font that texts are measured in.
const fontFamily = `Go, "Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif`

// WriteSVG writes the scene as SVG 1.1 that needs nothing beside it. Each text is
// set to its measured length, so that nothing overlaps whatever font is at hand.
func (s *Scene) WriteSVG(w io.Writer) error {
	fonts, err := newFaces()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" font-family="%s">`+"\n",
		short(s.Width), short(s.Height), short(s.Width), short(s.Height), escape(fontFamily))
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(s.Title))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", hex(paper))
	for _, one := range s.shapes {
		switch one := one.(type) {
		case rect:
			element(&b, "rect", one.title, fmt.Sprintf(`x="%s" y="%s" width="%s" height="%s" fill="%s"`,
				short(one.x), short(one.y), short(one.width), short(one.height), hex(one.fill)))
		case disc:
			element(&b, "circle", one.title, fmt.Sprintf(`cx="%s" cy="%s" r="%s"%s`,
				short(one.x), short(one.y), short(one.radius), paint(one.fill, one.stroke, one.width)))
		case path:
			element(&b, "path", one.title, fmt.Sprintf(`d="%s"%s%s`, one.data(), paint(one.fill, one.stroke, one.width), dashes(one.dash)))
		case text:
			writeText(&b, fonts, one)
		}
	}
	b.WriteString("</svg>\n")
	_, err = io.WriteString(w, b.String())
	return err
}

func element(b *strings.Builder, name, title, attributes string) {
	if title == "" {
		fmt.Fprintf(b, "<%s %s/>\n", name, attributes)
		return
	}
	fmt.Fprintf(b, "<%s %s><title>%s</title></%s>\n", name, attributes, escape(title), name)
}

func writeText(b *strings.Builder, fonts *faces, t text) {
	fmt.Fprintf(b, `<text x="%s" y="%s" font-size="%s" fill="%s"`, short(t.x), short(t.y), short(t.size), hex(t.fill))
	if t.bold {
		b.WriteString(` font-weight="bold"`)
	}
	if t.anchor != atStart {
		fmt.Fprintf(b, ` text-anchor="%s"`, t.anchor)
	}
	if t.turn != 0 {
		fmt.Fprintf(b, ` transform="rotate(%s %s %s)"`, short(t.turn), short(t.x), short(t.y))
	}
	fmt.Fprintf(b, ` textLength="%s" lengthAdjust="spacingAndGlyphs">%s</text>`+"\n", short(fonts.width(t.text, t.size, t.bold)), escape(t.text))
}

func paint(fill, stroke color.RGBA, width float64) string {
	parts := ` fill="` + hex(fill) + `"`
	if width > 0 && stroke.A > 0 {
		parts += fmt.Sprintf(` stroke="%s" stroke-width="%s"`, hex(stroke), short(width))
	}
	return parts
}

func dashes(lengths []float64) string {
	if len(lengths) == 0 {
		return ` stroke-linejoin="round"`
	}
	var parts []string
	for _, length := range lengths {
		parts = append(parts, short(length))
	}
	return ` stroke-linejoin="round" stroke-dasharray="` + strings.Join(parts, " ") + `"`
}

// data is the path in SVG's own words.
func (p path) data() string {
	var b strings.Builder
	for i, at := range p.points {
		command := "L"
		if i == 0 {
			command = "M"
		}
		b.WriteString(command + short(at.x) + " " + short(at.y))
	}
	if p.fill.A > 0 {
		b.WriteString("Z")
	}
	return b.String()
}

func hex(c color.RGBA) string {
	if c.A == 0 {
		return "none"
	}
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}

// short is a length with at most two decimals.
func short(v float64) string {
	text := strconv.FormatFloat(v, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(printable(s))
}
