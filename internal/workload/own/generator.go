package own

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary/internal/workload/draw"
)

// generator makes the values of a column or a parameter. It keeps nothing from one
// value to the next, so goroutines may share it.
type generator struct {
	columnType
	nulls  float64
	count  int // of a list; 0 for a single value
	number func(r *draw.Source, place int64) int64
	from   int64 // added to what number gives, less 1
	step   int64 // that number counts in; 1 but for a sequence

	double            func(r *draw.Source) float64
	format            [2]string // before and after the number of a text
	texts             []string  // that number chooses from
	shortest, longest int       // of random letters
	distinct          int64     // different texts of random letters; 0 for no limit
	seed              uint64    // of those
	sequence          bool      // place is a number of its own, not the row's
	fixed             *value
}

// value makes one. place is the number of the row, or of the value of a sequence.
// A text is appended to buf, which is given back.
func (g *generator) value(r *draw.Source, place int64, buf []byte) (value, []byte) {
	if g.fixed != nil {
		return *g.fixed, buf
	}
	if g.nulls > 0 && r.Unit() < g.nulls {
		return value{kind: null}, buf
	}
	if g.double != nil {
		return doubleValue(g.double(r)), buf
	}
	start := len(buf)
	if g.longest > 0 {
		buf = g.letters(r, buf)
		return value{kind: text, text: buf[start:]}, buf
	}
	n := g.from + (g.number(r, place)-1)*g.step
	switch {
	case g.texts != nil:
		return g.chosen(g.texts[n]), buf
	case g.kind == text:
		buf = append(buf, g.format[0]...)
		buf = strconv.AppendInt(buf, n, 10)
		buf = append(buf, g.format[1]...)
		return value{kind: text, text: buf[start:]}, buf
	}
	return value{kind: g.kind, scale: uint8(g.scale), integer: n}, buf
}

// chosen is one of the lines of a file; they were all read as the type before.
func (g *generator) chosen(line string) value {
	switch g.kind {
	case text:
		return value{kind: text, text: []byte(line)}
	case double:
		f, _ := strconv.ParseFloat(line, 64)
		return doubleValue(f)
	}
	n, _ := g.parse(line)
	return value{kind: g.kind, scale: uint8(g.scale), integer: n}
}

// letters appends a word of random letters and digits.
func (g *generator) letters(r *draw.Source, buf []byte) []byte {
	const alphabet = "abcdefghijklmnopqrstuvwxyz012345"
	if g.distinct > 0 {
		which := uint64(r.UpTo(uint64(g.distinct)))
		r = new(draw.Source)
		r.Reseed(draw.Mix(g.seed + which*draw.Golden))
	}
	length := g.shortest
	if g.longest > g.shortest {
		length += int(r.UpTo(uint64(g.longest-g.shortest+1))) - 1
	}
	for length > 0 {
		word := r.Uint64()
		for range min(length, bits.UintSize/5) {
			buf = append(buf, alphabet[word&31])
			word >>= 5
		}
		length -= min(length, bits.UintSize/5)
	}
	return buf
}

// clustered spreads the values 1..n over the rows in their order, so that equal ones
// lie side by side, each moved by up to so many rows to either side.
func clustered(n, rows, spread int64) func(r *draw.Source, place int64) int64 {
	return func(r *draw.Source, place int64) int64 {
		at := place - 1
		if spread > 0 {
			at += r.UpTo(uint64(2*spread+1)) - 1 - spread
		}
		at = min(max(at, 0), rows-1)
		high, low := bits.Mul64(uint64(at), uint64(n))
		quotient, _ := bits.Div64(high, low, uint64(rows))
		return int64(quotient) + 1
	}
}

// drawn makes a distribution into what a generator asks for.
func drawn(distribution draw.Distribution) func(r *draw.Source, place int64) int64 {
	return func(r *draw.Source, _ int64) int64 { return distribution(r) }
}

// nameSeed is the seed that belongs to a name: columns of the same table and tables
// of the same seed have unrelated values.
func nameSeed(seed uint64, names ...string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	hash := uint64(offset)
	for _, char := range []byte(strings.Join(names, "\x00")) {
		hash = (hash ^ uint64(char)) * prime
	}
	return draw.Mix(seed + hash)
}
