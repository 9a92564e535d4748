package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/changepoint"
	"github.com/dbcanary/dbcanary/internal/exchange"
)

// KnownName is the file beside the data that is read if no other is named.
const KnownName = "dbcanary-changes.yaml"

// KnownState says what is known of a change.
type KnownState string

// The states of a known change.
const (
	Acknowledged KnownState = "acknowledged" // seen, being worked on
	Expected     KnownState = "expected"     // the price of something wanted
	Fixed        KnownState = "fixed"        // closed as fixed, see Known.FixedIn
)

// Known is an entry of the file of known changes.
type Known struct {
	Benchmark string     `yaml:"benchmark"` // a name or shell pattern; "" for all
	Metric    string     `yaml:"metric"`    // the same
	At        string     `yaml:"at"`        // the position
	State     KnownState `yaml:"state"`
	Bug       string     `yaml:"bug"`
	FixedIn   string     `yaml:"fixed in"` // the first position with the fix
	Note      string     `yaml:"note"`

	line int
	used bool
}

// summary is the entry in a few words: "acknowledged, https://…".
func (k *Known) summary() string {
	text := string(k.State)
	if k.FixedIn != "" {
		text += " in " + k.FixedIn
	}
	if k.Bug != "" {
		text += ", " + k.Bug
	}
	return text
}

// KnownFile is the known changes of one file; a nil one has none.
type KnownFile struct {
	Name    string
	Changes []Known
}

// ParseKnown reads a file of known changes. It reports every problem at once,
// with file, line and column, as one error with CodeUsage.
func ParseKnown(name string, content []byte) (*KnownFile, error) {
	var root yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	if err := decoder.Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			return &KnownFile{Name: name}, nil
		}
		return nil, yamlError(name, err)
	}
	p := knownParser{name: name}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		p.problem(&root, "there is a second document; everything belongs into one")
	}
	file := p.file(root.Content[0])
	if len(p.problems) > 0 {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%s", strings.Join(p.problems, "\n"))
	}
	return file, nil
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// yamlError puts the line of a syntax error where an editor finds it.
func yamlError(name string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		name += ":" + m[1]
		text = strings.Replace(text, m[0], "", 1)
	}
	return dbcanary.Errorf(dbcanary.CodeUsage, "%s: %s", name, text)
}

type knownParser struct {
	name     string
	problems []string
}

func (p *knownParser) problem(at *yaml.Node, format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf("%s:%d:%d: %s", p.name, at.Line, at.Column, fmt.Sprintf(format, args...)))
}

func (p *knownParser) file(node *yaml.Node) *KnownFile {
	file := &KnownFile{Name: p.name}
	p.each(node, []string{"changes"}, func(_ string, value *yaml.Node) {
		if value.Kind != yaml.SequenceNode {
			p.problem(value, "changes should be a list")
			return
		}
		for _, item := range value.Content {
			file.Changes = append(file.Changes, p.change(item))
		}
	})
	return file
}

// each calls use for the entries of a mapping and reports all others.
func (p *knownParser) each(node *yaml.Node, keys []string, use func(key string, value *yaml.Node)) {
	if node.Kind != yaml.MappingNode {
		p.problem(node, "a mapping should stand here, with %s", strings.Join(keys, ", "))
		return
	}
	var seen []string
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		switch {
		case !slices.Contains(keys, key.Value):
			p.problem(key, "unknown key %q%s", key.Value, dbcanary.DidYouMean(key.Value, keys))
		case slices.Contains(seen, key.Value):
			p.problem(key, "%q stands here twice", key.Value)
		default:
			use(key.Value, value)
		}
		seen = append(seen, key.Value)
	}
}

func (p *knownParser) change(node *yaml.Node) Known {
	k := Known{line: node.Line}
	fields := map[string]*string{
		"benchmark": &k.Benchmark, "metric": &k.Metric, "at": &k.At, "state": (*string)(&k.State),
		"bug": &k.Bug, "fixed in": &k.FixedIn, "note": &k.Note,
	}
	keys := []string{"benchmark", "metric", "at", "state", "bug", "fixed in", "note"}
	before := len(p.problems)
	places := map[string]*yaml.Node{}
	p.each(node, keys, func(key string, value *yaml.Node) {
		if value.Kind != yaml.ScalarNode {
			p.problem(value, "%s should be a text", key)
			return
		}
		if value.Tag == "!!float" && key != "note" {
			// 8.10 and 8.1 are the same number and different versions.
			p.problem(value, "%s: write %q in quotes, or it is a number", key, value.Value)
			return
		}
		*fields[key], places[key] = value.Value, value
	})
	if len(p.problems) > before || node.Kind != yaml.MappingNode {
		return k
	}
	states := []string{string(Acknowledged), string(Expected), string(Fixed)}
	switch {
	case k.At == "":
		p.problem(node, "the change has no at: at which position did it come?")
	case k.State == "":
		p.problem(node, "the change has no state; it is one of %s", strings.Join(states, ", "))
	case !slices.Contains(states, string(k.State)):
		p.problem(places["state"], "unknown state %q%s", k.State, dbcanary.DidYouMean(string(k.State), states))
	case k.State == Fixed && k.FixedIn == "":
		p.problem(places["state"], "a fixed change needs fixed in: the first position with the fix")
	case k.State != Fixed && k.FixedIn != "":
		p.problem(places["fixed in"], "fixed in goes with the state fixed")
	}
	return k
}

// apply marks the changes that are known, checks their fixes, and gives a note
// for each entry that fits no change.
func (f *KnownFile) apply(findings []Finding) []string {
	if f == nil {
		return nil
	}
	for i := range findings {
		for k := range findings[i].Changes {
			findings[i].know(&findings[i].Changes[k], f)
		}
	}
	var notes []string
	for _, k := range f.Changes {
		if !k.used {
			notes = append(notes, f.Name+":"+strconv.Itoa(k.line)+": no change that was found fits this entry")
		}
	}
	return notes
}

func (f *Finding) know(c *Change, file *KnownFile) {
	for i := range file.Changes {
		k := &file.Changes[i]
		if k.Benchmark != "" && !matches(k.Benchmark, f.Series.Benchmark) || k.Metric != "" && !matches(k.Metric, f.Series.Metric) {
			continue
		}
		if place := f.placeOf(k.At); place <= c.lastGood || place > c.firstBad {
			continue
		}
		k.used = true
		if c.Known == nil {
			c.Known = k
			c.Fix = f.checkFix(*c)
		}
	}
}

// Fix says whether the level came back with a fix.
type Fix struct {
	In      string
	Verdict string // "restored", "better than before", "not restored" or "unknown"
	Reason  string
	// Relative to the level before the change: what is left of it since the fix.
	Left, LeftLow, LeftHigh float64
	Word                    string // slower, faster, …: what the rest is
}

// checkFix compares the values since the fix with those before the change.
func (f *Finding) checkFix(c Change) *Fix {
	if c.Known.State != Fixed {
		return nil
	}
	fix := &Fix{In: c.Known.FixedIn, Verdict: "unknown", Left: math.NaN(), LeftLow: math.NaN(), LeftHigh: math.NaN()}
	since := f.placeOf(fix.In)
	if since < 0 {
		fix.Reason = "the series has no position " + fix.In + " yet"
		return fix
	}
	if since <= c.at {
		fix.Reason = fix.In + " is not after the change at " + c.At
		return fix
	}
	before, after := f.levels(c, since)
	size, low, high := changepoint.Shift(before, after)
	base := math.Abs(medianOf(before))
	if math.IsNaN(size) || math.IsInf(high-low, 0) || base == 0 {
		fix.Reason = fmt.Sprintf("%s before the change and %s since the fix are too few", plural(len(before), "value"), plural(len(after), "value"))
		return fix
	}
	fix.Left, fix.LeftLow, fix.LeftHigh = size/base, low/base, high/base
	fix.Word = word(f.Series, size)
	same := (size > 0) == (c.Size > 0)
	switch {
	case low <= 0 && high >= 0 || size == 0:
		fix.Verdict = "restored"
	case same:
		fix.Verdict = "not restored"
	default:
		fix.Verdict = "better than before"
		if c.Word == "faster" || c.Word == "better" || f.Series.Better == exchange.Unknown {
			fix.Verdict = "past the level before"
		}
	}
	return fix
}

// nearValues is the most values of a level before a change that a fix is held against.
const nearValues = 50

// levels gives the values of the level before the change, those nearest to it,
// and of the level since the fix, up to the next change after the fix has come.
func (f *Finding) levels(c Change, since int) (before, after []float64) {
	start, end := 0, len(f.Positions)
	for _, other := range f.Changes {
		if other.at < c.at {
			start = max(start, other.at)
		}
		// The step of the fix itself may be found a little later than the fix.
		if other.lastGood > since {
			end = min(end, other.at)
		}
	}
	place := -1
	for i, p := range f.Series.Points {
		if i == 0 || p.Label != f.Series.Points[i-1].Label {
			place++
		}
		switch {
		case math.IsNaN(p.Value):
		case place >= start && place <= c.lastGood:
			before = append(before, p.Value)
		case place >= since && place < end:
			after = append(after, p.Value)
		}
	}
	return before[max(0, len(before)-nearValues):], after
}
