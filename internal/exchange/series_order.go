package exchange

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/dbcanary/dbcanary/internal/build"
)

// versionLabel is a label that has a place of its own: 8.0.30, v1.2, 18beta1.
var versionLabel = regexp.MustCompile(`^v?\d+(\.\d+)+([.~+-]?[A-Za-z0-9.~+-]*)$`)

// order brings the points into the order of their positions: by time if all
// have one, else by version if all labels are versions, else as they are. Points
// of the same label become neighbours, at the place of the first of them: what
// was measured again later belongs to the same build. It tells what it did.
func (s *Series) order() (how string) {
	if byTime(s.Points) {
		how = "sorted by time"
	}
	timed := slices.ContainsFunc(s.Points, func(p Point) bool { return !p.Time.IsZero() })
	versions := !slices.ContainsFunc(s.Points, func(p Point) bool { return !versionLabel.MatchString(p.Label) })
	byVersion := func(a, b Point) int { return build.CompareVersions(a.Label, b.Label) }
	if !timed && versions && !slices.IsSortedFunc(s.Points, byVersion) {
		slices.SortStableFunc(s.Points, byVersion)
		how = "sorted by version"
	}
	if s.joinLabels() && how == "" {
		how = "repeats of a position were joined"
	}
	return how
}

// joinLabels makes points of the same label neighbours; it tells whether some were apart.
func (s *Series) joinLabels() bool {
	place, apart := map[string]int{}, false
	for i, p := range s.Points {
		if _, ok := place[p.Label]; !ok {
			place[p.Label] = i
		} else if s.Points[i-1].Label != p.Label {
			apart = true
		}
	}
	if apart {
		slices.SortStableFunc(s.Points, func(a, b Point) int { return place[a.Label] - place[b.Label] })
	}
	return apart
}

// manyRepeats of one position are more than a ladder usually has.
const manyRepeats = 30

// mostRepeats is the largest number of points of one position, and its label.
func (s *Series) mostRepeats() (int, string) {
	count, most, label := map[string]int{}, 0, ""
	for _, p := range s.Points {
		if count[p.Label]++; count[p.Label] > most {
			most, label = count[p.Label], p.Label
		}
	}
	return most, label
}

// ordered orders all series of a file and notes once what that changed.
func (f SeriesFile) ordered(name string) SeriesFile {
	noted := map[string]bool{}
	for i := range f.Series {
		if most, label := f.Series[i].mostRepeats(); most > manyRepeats && !noted["repeats"] {
			noted["repeats"] = true
			f.Notes = append(f.Notes, fmt.Sprintf("%s: %d values are of the position %q; if they are a history, name its column with --label", name, most, label))
		}
		if how := f.Series[i].order(); how != "" && !noted[how] {
			noted[how] = true
			f.Notes = append(f.Notes, name+": the positions stood in another order: "+how)
		}
	}
	return f
}
