// Package history tells when a benchmark got slower: it takes series of a store
// or of files, finds their change points, names them by build, sorts them by
// where they happened, and holds them against what is already known of them.
package history

import (
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/changepoint"
	"github.com/dbcanary/dbcanary/internal/exchange"
)

// Options say how series are judged.
type Options struct {
	Method     string // one of Methods
	Detect     changepoint.Options
	Otava      changepoint.EDivisiveOptions
	Since      string // a position, or a time if the series have them; "" for all
	Benchmarks []string
	Metrics    []string
}

// Methods are the names that Options.Method takes: "auto" decides by the shape
// of each series.
func Methods() []string { return []string{"auto", "history", "ladder", "otava"} }

// Finding is a series with its changes.
type Finding struct {
	Series    exchange.Series
	Positions []Position
	Method    string
	Dropped   int // values that were missing
	Changes   []Change
	Problem   string // why nothing could be found; "" if the series was judged
}

// Position is one place of a series.
type Position struct {
	Label string
	Time  time.Time
	Value float64 // median of its values; NaN if there are none
}

// Change is a change point with the names of its places.
type Change struct {
	changepoint.Change
	// At, LastGood and FirstBad are labels: the change most likely came with At,
	// and surely after LastGood and not after FirstBad.
	At, LastGood, FirstBad string
	// Places of them among the positions.
	at, lastGood, firstBad int
	Word                   string   // slower, faster, worse, better, up or down
	Environment            []string // what changed beside the build between LastGood and FirstBad
	Known                  *Known   // what the file of known changes says of it, or nil
	Fix                    *Fix     // whether a fix that is known restored the level, or nil
}

// Position is the place of the first value after the change, among those of the finding.
func (c Change) Position() int { return c.at }

// Bad tells whether the change is one for the worse, or may be.
func (c Change) Bad() bool { return c.Word != "faster" && c.Word != "better" }

// Report is what was found in all series.
type Report struct {
	Findings []Finding
	Groups   []Group
	Notes    []string
}

// New finds the changes of all series and holds them against the known ones.
func New(file exchange.SeriesFile, known *KnownFile, opts Options) (*Report, error) {
	r := &Report{Notes: file.Notes}
	series, err := selected(file.Series, opts)
	if err != nil {
		return nil, err
	}
	for _, s := range series {
		f := newFinding(s)
		f.detect(opts)
		r.Findings = append(r.Findings, f)
	}
	if err := r.cutSince(opts.Since); err != nil {
		return nil, err
	}
	r.Notes = append(r.Notes, known.apply(r.Findings)...)
	r.Groups = groups(r.Findings)
	return r, nil
}

// selected keeps the series that the patterns name; a pattern without a series is an error.
func selected(all []exchange.Series, opts Options) ([]exchange.Series, error) {
	if len(all) == 0 {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "there are no series")
	}
	kept, err := matching(all, "benchmark", opts.Benchmarks, func(s exchange.Series) string { return s.Benchmark })
	if err != nil {
		return nil, err
	}
	return matching(kept, "metric", opts.Metrics, func(s exchange.Series) string { return s.Metric })
}

func matching(all []exchange.Series, what string, patterns []string, name func(exchange.Series) string) ([]exchange.Series, error) {
	if len(patterns) == 0 {
		return all, nil
	}
	var names []string
	for _, s := range all {
		if !slices.Contains(names, name(s)) {
			names = append(names, name(s))
		}
	}
	for _, pattern := range patterns {
		if !slices.ContainsFunc(names, func(n string) bool { return matches(pattern, n) }) {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "no series has the %s %q%s", what, pattern, dbcanary.DidYouMean(pattern, names))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(s exchange.Series) bool {
		return !slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, name(s)) })
	}), nil
}

// matches tells whether a name is the pattern, or fits it as a shell pattern.
func matches(pattern, name string) bool {
	if pattern == name {
		return true
	}
	// A slash in a name is no border.
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
	return ok && err == nil
}

// newFinding joins neighbours of the same label to positions.
func newFinding(s exchange.Series) Finding {
	f := Finding{Series: s}
	var values []float64
	for i, p := range s.Points {
		if i == 0 || p.Label != s.Points[i-1].Label {
			f.Positions = append(f.Positions, Position{Label: p.Label, Time: p.Time})
			values = values[:0]
		}
		values = append(values, p.Value)
		f.Positions[len(f.Positions)-1].Value = medianOf(values)
	}
	return f
}

// medianOf is NaN if no value is there.
func medianOf(values []float64) float64 {
	kept := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(kept) == 0 {
		return math.NaN()
	}
	slices.Sort(kept)
	n := len(kept)
	return kept[(n-1)/2]/2 + kept[n/2]/2
}

// input is the series as the package changepoint takes it, and the position of each value.
func (f *Finding) input() (changepoint.Series, []int) {
	var in changepoint.Series
	place := -1
	var places []int
	for i, p := range f.Series.Points {
		if i == 0 || p.Label != f.Series.Points[i-1].Label {
			place++
		}
		in.Values = append(in.Values, p.Value)
		in.Positions = append(in.Positions, float64(place))
		places = append(places, place)
	}
	return in, places
}

// fewest is the smallest number of positions for which "no change" means anything.
const fewest = 10

func (f *Finding) detect(opts Options) {
	in, places := f.input()
	// A value and its neighbour each move by a step.
	opts.Detect.MinRelative = max(opts.Detect.MinRelative, 2*f.Series.Step)
	opts.Otava.MinMagnitude = max(opts.Otava.MinMagnitude, 2*f.Series.Step)
	var result changepoint.Result
	var err error
	switch opts.Method {
	case "history":
		result, err = changepoint.Detect(in, opts.Detect)
	case "ladder":
		result, err = f.ladder(in, places, opts.Detect)
	case "otava":
		result, err = f.otava(opts.Otava)
	default:
		result, err = changepoint.Analyze(in, opts.Detect)
	}
	f.Method, f.Dropped = result.Method, result.Dropped
	switch {
	case err != nil:
		f.Problem = err.Error()
	case len(f.Positions) == 1:
		f.Problem = "one position: nothing to compare it with"
	case result.Method == "history" && result.Points < fewest:
		f.Problem = plural(result.Points, "position") + " with one value each: too few to tell; 10 are needed, or several values of each"
	}
	for _, c := range result.Changes {
		f.Changes = append(f.Changes, f.named(c, places))
	}
}

func (f *Finding) ladder(in changepoint.Series, places []int, opts changepoint.Options) (changepoint.Result, error) {
	versions := make([][]float64, len(f.Positions))
	first := make([]int, len(f.Positions))
	for i, place := range places {
		if len(versions[place]) == 0 {
			first[place] = i
		}
		versions[place] = append(versions[place], in.Values[i])
	}
	result, err := changepoint.Ladder(versions, opts)
	result.Method = "ladder"
	for i := range result.Changes {
		c := &result.Changes[i]
		c.Index, c.LastGood, c.FirstBad = first[c.Index], first[c.LastGood], first[c.FirstBad]
	}
	return result, err
}

// otava judges the medians of the positions as Otava does.
func (f *Finding) otava(opts changepoint.EDivisiveOptions) (changepoint.Result, error) {
	medians := make([]float64, len(f.Positions))
	first := make([]int, len(f.Positions))
	i := 0
	for k, p := range f.Positions {
		medians[k], first[k] = p.Value, i
		for i < len(f.Series.Points) && f.Series.Points[i].Label == p.Label {
			i++
		}
	}
	result := changepoint.Result{Method: "otava", Points: len(medians)}
	changes, err := changepoint.EDivisive(medians, opts)
	for _, c := range changes {
		before, after := changepoint.Level{Median: c.Before}, changepoint.Level{Median: c.After}
		result.Changes = append(result.Changes, changepoint.Change{
			Index: first[c.Index], LastGood: first[c.Index-1], FirstBad: first[c.Index],
			Before: before, After: after, Size: c.After - c.Before, SizeLow: math.NaN(), SizeHigh: math.NaN(),
			State: changepoint.Confirmed,
			Judged: changepoint.Judgement{
				Rule: "otava", Score: c.PValue, Threshold: opts.MaxPValue,
				Visible: math.NaN(), Ratio: math.NaN(), Lag1: math.NaN(),
			},
		})
	}
	return result, err
}

// named gives the change its labels, its word, and what else changed there.
func (f *Finding) named(c changepoint.Change, places []int) Change {
	n := Change{Change: c, at: places[c.Index], lastGood: places[c.LastGood], firstBad: places[c.FirstBad]}
	n.At, n.LastGood, n.FirstBad = f.Positions[n.at].Label, f.Positions[n.lastGood].Label, f.Positions[n.firstBad].Label
	n.Word = word(f.Series, c.Size)
	n.Environment = f.environment(n.lastGood, n.firstBad, places)
	return n
}

// sizeMetrics are those that are not a speed.
var sizeMetrics = []string{"B/op", "allocs/op", "byte", "rss", "memory", "alloc", "lsm_sz", "w_amp", "stall"}

func word(s exchange.Series, size float64) string {
	better := (size > 0) == (s.Better == exchange.HigherIsBetter)
	isSize := slices.ContainsFunc(sizeMetrics, func(part string) bool {
		return strings.Contains(strings.ToLower(s.Metric+" "+s.Unit), strings.ToLower(part))
	})
	switch {
	case s.Better == exchange.Unknown && size > 0:
		return "up"
	case s.Better == exchange.Unknown:
		return "down"
	case better && isSize:
		return "better"
	case better:
		return "faster"
	case isSize:
		return "worse"
	}
	return "slower"
}

// environment lists what changed beside the build on the way from one position to another.
func (f *Finding) environment(from, to int, places []int) []string {
	var changes []string
	var previous map[string]string
	for i, p := range f.Series.Points {
		if places[i] > to {
			break
		}
		if places[i] > from && previous != nil {
			for _, name := range sortedNames(previous, p.Environment) {
				if old, now := previous[name], p.Environment[name]; old != now {
					changes = append(changes, name+" "+orNone(old)+" → "+orNone(now)+" at "+p.Label)
				}
			}
		}
		previous = p.Environment
		if previous == nil {
			previous = map[string]string{}
		}
	}
	return changes
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func sortedNames(maps ...map[string]string) []string {
	var names []string
	for _, m := range maps {
		for name := range m {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// cutSince forgets changes that surely came before a position or time.
func (r *Report) cutSince(since string) error {
	if since == "" {
		return nil
	}
	at, isTime := exchange.ParseTime(since)
	found := false
	var labels []string
	for i := range r.Findings {
		f := &r.Findings[i]
		place := f.placeOf(since)
		if place < 0 && isTime {
			place = slices.IndexFunc(f.Positions, func(p Position) bool { return !p.Time.IsZero() && !p.Time.Before(at) })
			if place < 0 && len(f.Positions) > 0 && !f.Positions[0].Time.IsZero() {
				found, place = true, len(f.Positions) // all of it is older
			}
		}
		for _, p := range f.Positions {
			labels = append(labels, p.Label)
		}
		if place < 0 {
			continue
		}
		found = true
		f.Changes = slices.DeleteFunc(f.Changes, func(c Change) bool { return c.firstBad < place })
	}
	if !found {
		slices.Sort(labels)
		return dbcanary.Errorf(dbcanary.CodeUsage, "since %q: no series has that position%s", since, nearby(since, slices.Compact(labels)))
	}
	return nil
}

// nearby is DidYouMean without a list of everything.
func nearby(text string, labels []string) string {
	if len(dbcanary.Nearest(text, labels)) == 0 && len(labels) > 8 {
		return ""
	}
	return dbcanary.DidYouMean(text, labels)
}

// placeOf is the place of the position with that label, or whose label starts
// with it as the short form of a commit does, or -1.
func (f *Finding) placeOf(label string) int {
	if i := slices.IndexFunc(f.Positions, func(p Position) bool { return p.Label == label }); i >= 0 {
		return i
	}
	if len(label) < 7 {
		return -1
	}
	return slices.IndexFunc(f.Positions, func(p Position) bool {
		return strings.HasPrefix(p.Label, label) && isCommit(p.Label)
	})
}

func isCommit(label string) bool {
	return len(label) >= 20 && strings.Trim(label, "0123456789abcdef") == ""
}

// Judge is what a gate says: new changes for the worse that are confirmed, and
// those that are only suspect, or that came when the environment changed too.
func (r *Report) Judge() (confirmed, suspects int) {
	for _, f := range r.Findings {
		for _, c := range f.Changes {
			switch {
			case c.Known != nil || !c.Bad():
			case c.State == changepoint.Confirmed && len(c.Environment) == 0:
				confirmed++
			default:
				suspects++
			}
		}
	}
	return confirmed, suspects
}

// Unjudged is how many series could not be judged: too few positions, no values.
func (r *Report) Unjudged() int {
	count := 0
	for _, f := range r.Findings {
		if f.Problem != "" {
			count++
		}
	}
	return count
}
