package own

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/config"
	"github.com/dbcanary/dbcanary/internal/workload/draw"
)

// maker compiles what a YAML file says and collects its problems.
type maker struct {
	*config.File
	files map[string]string // of values, by path
	seen  map[string]bool   // names of tables and indexes

	unicode bool // some text is not ASCII
}

// generators are the words of which a value has one.
func generators() []string {
	return []string{"uniform", "gaussian", "zipf", "pareto", "sequence", "clustered", "text", "file", "value"}
}

// which gives the generator that a value has.
func (m *maker) which(path string) (string, bool) {
	var found []string
	for _, word := range generators() {
		if m.Has(path + "." + word) {
			found = append(found, word)
		}
	}
	switch len(found) {
	case 0:
		m.KeyProblem(path, "%s has no generator; there are %s", path, strings.Join(generators(), ", "))
		return "", false
	case 1:
		return found[0], true
	}
	m.KeyProblem(path+"."+found[1], "%s has two generators, %s and %s", path, found[0], found[1])
	return "", false
}

// generator compiles a value. rows is the size of the table of a column, 0 for a parameter.
func (m *maker) generator(path string, spec valueSpec, rows int64) (g generator) {
	word, ok := m.which(path)
	if !ok {
		return g
	}
	if spec.Type == "" {
		spec.Type = m.inferred(path, word, spec)
	}
	var err error
	if g.columnType, err = parseType(spec.Type); err != nil {
		m.Problem(path+".type", "%v", err)
		return g
	}
	g.nulls, g.step = spec.Nulls, 1
	if spec.Nulls < 0 || spec.Nulls > 1 {
		m.Problem(path+".nulls", "nulls is a share from 0 to 1, not %g", spec.Nulls)
	}
	numeric := !slices.Contains([]string{"text", "file", "value"}, word)
	if m.Has(path+".format") && (g.kind != text || !numeric || strings.Count(spec.Format, "{}") != 1) {
		m.Problem(path+".format", "format makes a text of a number: it has {} once, its type is a text and its generator one of numbers")
		return g
	}
	m.unicode = m.unicode || !ascii(spec.Format)
	if before, after, ok := strings.Cut(spec.Format, "{}"); ok {
		g.format = [2]string{before, after}
	} else if g.kind == text && numeric {
		m.KeyProblem(path+"."+word, "%s makes numbers; a %s of them needs a format such as \"user{}\"", word, g.word)
		return g
	}
	m.distribution(path, word, spec, rows, &g)
	return g
}

// inferred is the type of a parameter that has none.
func (m *maker) inferred(path, word string, spec valueSpec) string {
	switch word {
	case "text":
		return "text"
	case "file", "value":
		m.KeyProblem(path, "%s needs a type: there are %q", path, typeWords())
	}
	if spec.Format != "" {
		return "text"
	}
	return "bigint"
}

// distribution sets how the values are made.
func (m *maker) distribution(path, word string, spec valueSpec, rows int64, g *generator) {
	path += "." + word
	switch word {
	case "uniform":
		m.ranged(path, spec.Uniform.Min, spec.Uniform.Max, g, draw.Uniform)
	case "gaussian":
		m.ranged(path, spec.Gaussian.Min, spec.Gaussian.Max, g, draw.Gaussian)
	case "zipf":
		theta := m.fraction(path+".theta", spec.Zipf.Theta, 0.8, 10)
		m.ranged(path, spec.Zipf.Min, spec.Zipf.Max, g, func(n int) draw.Distribution { return draw.Zipf(n, theta) })
	case "pareto":
		h := m.fraction(path+".h", spec.Pareto.H, 0.2, 1)
		m.ranged(path, spec.Pareto.Min, spec.Pareto.Max, g, func(n int) draw.Distribution { return draw.Pareto(n, h) })
	case "sequence":
		m.sequence(path, spec.Sequence, rows, g)
	case "clustered":
		if rows == 0 {
			m.KeyProblem(path, "clustered follows the rows of a table: a parameter has none")
			return
		}
		if spec.Clustered.Spread < 0 || spec.Clustered.Spread > rows {
			m.Problem(path+".spread", "spread is a number of rows from 0 to %d", rows)
			return
		}
		if n, ok := m.bounds(path, spec.Clustered.Min, spec.Clustered.Max, g); ok {
			g.number = clustered(n, rows, spec.Clustered.Spread)
		}
	case "text":
		m.letters(path, spec.Text, g)
	case "file":
		m.lines(path, spec.File, g)
	case "value":
		g.fixed = m.fixed(path, *spec.Value, g)
	}
}

// fraction is a number between 0 and most, or its default.
func (m *maker) fraction(path string, given *float64, otherwise, most float64) float64 {
	if given == nil {
		return otherwise
	}
	if !(*given > 0 && *given < most) {
		m.Problem(path, "%s must be above 0 and below %g, not %g", path[strings.LastIndexByte(path, '.')+1:], most, *given)
		return otherwise
	}
	return *given
}

// ranged draws from min to max.
func (m *maker) ranged(path, low, high string, g *generator, distribution func(n int) draw.Distribution) {
	if g.kind == double {
		m.doubles(path, low, high, g, distribution)
		return
	}
	if n, ok := m.bounds(path, low, high, g); ok {
		g.number = drawn(distribution(int(n)))
	}
}

// doubles draws from so many steps between min and max.
func (m *maker) doubles(path, low, high string, g *generator, distribution func(n int) draw.Distribution) {
	const steps = 1 << 30
	least, err := strconv.ParseFloat(low, 64)
	if err != nil {
		m.Problem(path+".min", "min must be a number, not %q", low)
		return
	}
	most, err := strconv.ParseFloat(high, 64)
	if err != nil || most < least {
		m.Problem(path+".max", "max must be a number and no less than min, not %q", high)
		return
	}
	d := distribution(steps + 1)
	g.double = func(r *draw.Source) float64 { return least + (most-least)*float64(d(r)-1)/steps }
}

// bounds reads min and max in the units of the type, and gives how many values lie between.
func (m *maker) bounds(path, low, high string, g *generator) (n int64, ok bool) {
	if g.kind == double {
		m.KeyProblem(path, "a double is uniform or gaussian, zipf or pareto")
		return 0, false
	}
	least, ok := m.bound(path, "min", low, g)
	if !ok {
		return 0, false
	}
	most, ok := m.bound(path, "max", high, g)
	if !ok {
		return 0, false
	}
	n = most - least + 1
	if most < least || n <= 0 {
		m.Problem(path+".max", "max, %s, is below min, %s, or too far from it", high, low)
		return 0, false
	}
	g.from = least
	return n, true
}

func (m *maker) bound(path, word, written string, g *generator) (int64, bool) {
	if !m.Has(path + "." + word) {
		m.KeyProblem(path, "%s needs min and max", path)
		return 0, false
	}
	n, err := g.parse(written)
	if err != nil {
		m.Problem(path+"."+word, "%s: %v", word, err)
	}
	return n, err == nil
}

// sequence counts rows, or for a parameter over all connections.
func (m *maker) sequence(path string, spec *sequenceSpec, rows int64, g *generator) {
	if g.kind == double {
		m.KeyProblem(path, "a double is no sequence")
		return
	}
	g.sequence, g.from = rows == 0, 1
	if m.Has(path + ".start") {
		var err error
		if g.from, err = g.parse(spec.Start); err != nil {
			m.Problem(path+".start", "start: %v", err)
		}
	} else if g.kind != integer && g.kind != text {
		m.KeyProblem(path, "a sequence of type %s needs a start", g.name)
	}
	if spec.Step != nil {
		if g.step = *spec.Step; g.step == 0 {
			m.Problem(path+".step", "step must not be 0")
		}
	}
	if last := g.from + (rows-1)*g.step; g.kind == integer && rows > 0 && (last > g.most || last < g.least) {
		m.KeyProblem(path, "row %d would have %d, which %s does not hold", rows, last, g.name)
	}
	g.number = func(_ *draw.Source, place int64) int64 { return place }
}

func (m *maker) letters(path string, spec *textSpec, g *generator) {
	switch {
	case g.kind != text:
		m.KeyProblem(path, "text makes letters: a value of type %s needs another generator", g.name)
	case !spec.Length.given:
		m.KeyProblem(path, "text needs a length: 20 or 5..20")
	case spec.Length.most > 10000 || spec.Length.most < 1 || g.size > 0 && spec.Length.most > int64(g.size):
		m.Problem(path+".length", "%s can't hold texts of %d characters", g.name, spec.Length.most)
	case spec.Distinct < 0:
		m.Problem(path+".distinct", "distinct must not be below 0")
	}
	g.shortest, g.longest, g.distinct = int(spec.Length.least), int(spec.Length.most), spec.Distinct
	g.seed = nameSeed(0, path)
}

// lines draws from the lines of a file.
func (m *maker) lines(path string, spec *fileSpec, g *generator) {
	content, ok := m.files[spec.Path]
	if !ok {
		m.Problem(path+".path", "the file %q can't be read", spec.Path)
		return
	}
	g.texts = strings.Split(strings.TrimRight(strings.ReplaceAll(content, "\r\n", "\n"), "\n"), "\n")
	m.unicode = m.unicode || !ascii(content)
	for i, line := range g.texts {
		if err := g.check(line); err != nil {
			m.Problem(path+".path", "%s:%d: %v", spec.Path, i+1, err)
			return
		}
	}
	distribution := draw.Uniform(len(g.texts))
	if spec.Theta != nil {
		distribution = draw.Zipf(len(g.texts), m.fraction(path+".theta", spec.Theta, 0.8, 10))
	}
	g.number = drawn(distribution)
	g.from = 0
}

func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// check tells whether a value fits the type.
func (g *generator) check(written string) error {
	switch g.kind {
	case text:
		if n := utf8.RuneCountInString(written); g.size > 0 && n > g.size {
			return fmt.Errorf("%q has %d characters, more than %s holds", written, n, g.name)
		}
		return nil
	case double:
		if f, err := strconv.ParseFloat(written, 64); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%q is no number", written)
		}
		return nil
	}
	_, err := g.parse(written)
	return err
}

func (m *maker) fixed(path, written string, g *generator) *value {
	if err := g.check(written); err != nil {
		m.Problem(path, "%v", err)
		return nil
	}
	m.unicode = m.unicode || !ascii(written)
	v := g.chosen(written)
	return &v
}

// families turns the keys of a mapping into families.
func families[T any](m *maker, path string, given map[string]T) map[dbcanary.Family]T {
	list := map[dbcanary.Family]T{}
	for name, v := range given {
		family, err := dbcanary.ParseFamily(name)
		if err != nil {
			m.KeyProblem(path+"."+name, "%v", err)
			continue
		}
		list[family] = v
	}
	return list
}
