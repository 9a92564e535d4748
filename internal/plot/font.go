package plot

import (
	"strings"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// face is a font whose glyphs are measured and drawn as outlines.
type face struct {
	font   *sfnt.Font
	buffer sfnt.Buffer
}

// unit is the size at which glyphs are loaded: at the size of the font's own grid
// nothing is rounded.
const unit = 2048

// faces are the Go fonts; one use at a time.
type faces struct{ regular, bold *face }

func newFaces() (*faces, error) {
	regular, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	bold, err := sfnt.Parse(gobold.TTF)
	if err != nil {
		return nil, err
	}
	return &faces{regular: &face{font: regular}, bold: &face{font: bold}}, nil
}

func (f *faces) of(bold bool) *face {
	if bold {
		return f.bold
	}
	return f.regular
}

// width of a text in pixels. A letter that the font does not have counts as a
// square, as wide as the letters of other scripts are.
func (f *faces) width(s string, size float64, bold bool) float64 {
	total := 0.0
	of := f.of(bold)
	for _, r := range s {
		total += of.advance(r)
	}
	return total * size
}

// advance is the width of a letter by the size of the font.
func (f *face) advance(r rune) float64 {
	index, err := f.font.GlyphIndex(&f.buffer, r)
	if err != nil || index == 0 {
		return 1
	}
	width, err := f.font.GlyphAdvance(&f.buffer, index, fixed.I(unit), font.HintingNone)
	if err != nil {
		return 1
	}
	return float64(width) / 64 / unit
}

// cut shortens a text to a width, with an ellipsis.
func (f *faces) cut(s string, size float64, bold bool, width float64) string {
	if f.width(s, size, bold) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 1 && f.width(string(runes)+"…", size, bold) > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// wrap breaks a text at blanks into lines of a width; a word that is longer is cut.
func (f *faces) wrap(s string, size float64, bold bool, width float64) []string {
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(s) {
		next := word
		if current != "" {
			next = current + " " + word
		}
		if current != "" && f.width(next, size, bold) > width {
			lines = append(lines, f.cut(current, size, bold, width))
			next = word
		}
		current = next
	}
	if current != "" {
		lines = append(lines, f.cut(current, size, bold, width))
	}
	return lines
}

// printable makes one line of a name: no control characters.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || r == unicode.ReplacementChar || r == 0xfffe || r == 0xffff:
			return '�'
		}
		return r
	}, s)
}
