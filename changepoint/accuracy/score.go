package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/dbcanary/dbcanary/changepoint"
)

// series is one file of the data: values, and for each annotator the 0-based
// indexes of the first point after a change.
type series struct {
	Name        string           `json:"name"`
	Values      []float64        `json:"-"` // NaN for null
	Nullable    []*float64       `json:"values"`
	Annotations map[string][]int `json:"annotations"`
}

var errNoSeries = errors.New("there are no series")

func readFolder(data, name string) ([]series, error) {
	files, err := filepath.Glob(filepath.Join(data, name, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", filepath.Join(data, name, "*.json"), errNoSeries)
	}
	sort.Strings(files)
	all := make([]series, len(files))
	for i, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(content, &all[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, v := range all[i].Nullable {
			if v == nil {
				all[i].Values = append(all[i].Values, math.NaN())
			} else {
				all[i].Values = append(all[i].Values, *v)
			}
		}
	}
	return all, nil
}

func withFiveAnnotators(all []series) []series {
	var five []series
	for _, s := range all {
		if len(s.Annotations) == 5 {
			five = append(five, s)
		}
	}
	return five
}

// clean tells whether nobody marked anything.
func (s series) clean() bool {
	for _, marks := range s.Annotations {
		if len(marks) > 0 {
			return false
		}
	}
	return true
}

// margin is how far a mark and a prediction may lie apart.
const margin = 5

// score is the F1 of the Turing change point data set: precision against the
// union of all annotators' points, recall as the mean over annotators; index 0
// is a point of everybody.
func score(annotations map[string][]int, predicted []int) (f1, precision, recall float64) {
	prediction := withZero(predicted)
	var union []int
	for _, marks := range annotations {
		union = append(union, marks...)
		truth := withZero(marks)
		recall += float64(matches(truth, prediction)) / float64(len(truth)) / float64(len(annotations))
	}
	precision = float64(matches(withZero(union), prediction)) / float64(len(prediction))
	return 2 * precision * recall / (precision + recall), precision, recall
}

func withZero(indexes []int) []int {
	all := append([]int{0}, indexes...)
	slices.Sort(all)
	return slices.Compact(all)
}

// matches counts the truths that have a prediction of their own within the margin.
func matches(truth, prediction []int) int {
	count := 0
	used := make([]bool, len(prediction))
	for _, t := range truth {
		nearest, distance := -1, margin+1
		for i, p := range prediction {
			if d := max(p-t, t-p); !used[i] && d < distance {
				nearest, distance = i, d
			}
		}
		if nearest >= 0 {
			used[nearest] = true
			count++
		}
	}
	return count
}

// detector gives the indexes of the confirmed changes.
type detector func(values []float64) []int

// ours is Detect; suspects are not counted, since they only ask for another measurement.
func ours(opts changepoint.Options) detector {
	return func(values []float64) []int {
		result, err := changepoint.Detect(changepoint.Series{Values: values}, opts)
		if err != nil {
			panic(err) // the values come from files that were read, or from a simulation
		}
		var found []int
		for _, c := range result.Changes {
			if c.State == changepoint.Confirmed {
				found = append(found, c.Index)
			}
		}
		return found
	}
}

func otava(pValue float64) detector {
	opts := changepoint.DefaultEDivisive()
	opts.MaxPValue = pValue
	return func(values []float64) []int {
		changes, err := changepoint.EDivisive(values, opts)
		if err != nil {
			panic(err)
		}
		found := make([]int, len(changes))
		for i, c := range changes {
			found[i] = c.Index
		}
		return found
	}
}

// totals are means over series.
type totals struct {
	f1, precision, recall, changes float64
	flagged, clean                 int // of the series in which nobody marked anything
}

func (t *totals) add(s series, found []int, n int) {
	f1, precision, recall := score(s.Annotations, found)
	t.f1 += f1 / float64(n)
	t.precision += precision / float64(n)
	t.recall += recall / float64(n)
	t.changes += float64(len(found)) / float64(n)
	if s.clean() {
		t.clean++
		if len(found) > 0 {
			t.flagged++
		}
	}
}

func measure(all []series, find detector) totals {
	var t totals
	for _, s := range all {
		t.add(s, find(s.Values), len(all))
	}
	return t
}

func (r *report) annotated(five []series) totals {
	r.printf("Annotated series: %d with five annotators; human is each annotator against the others\n\n", len(five))
	r.printf("%-24s %6s %6s %6s %8s %s\n", "method", "F1", "P", "R", "changes", "clean flagged")
	line := func(name string, t totals) {
		r.printf("%-24s %.4f %.4f %.4f %8.2f %d/%d\n", name, t.f1, t.precision, t.recall, t.changes, t.flagged, t.clean)
	}
	total := measure(five, ours(changepoint.Options{}))
	line("dbcanary", total)
	line("Otava p=1e-6", measure(five, otava(1e-6)))
	line("Otava p=0.001 (default)", measure(five, otava(0.001)))
	line("never a change", measure(five, func([]float64) []int { return nil }))
	r.printf("%-24s %.4f\n\n", "human", human(five))
	return total
}

func human(five []series) float64 {
	sum := 0.0
	for _, s := range five {
		for name, marks := range s.Annotations {
			others := map[string][]int{}
			for other, theirs := range s.Annotations {
				if other != name {
					others[other] = theirs
				}
			}
			f1, _, _ := score(others, marks)
			sum += f1
		}
	}
	return sum / float64(5*len(five))
}

// crossValidated chooses strictness and near points on nine tenths of the
// series and scores the last tenth, ten times.
func (r *report) crossValidated(five []series) {
	const folds = 10
	var settings []changepoint.Options
	for _, near := range []int{20, 25, 30} {
		for _, strictness := range []float64{-0.4, -0.2, 0, 0.2, 0.4} {
			settings = append(settings, changepoint.Options{Near: near, Strictness: strictness})
		}
	}
	found := make([][][]int, len(settings))
	for k, opts := range settings {
		find := ours(opts)
		for _, s := range five {
			found[k] = append(found[k], find(s.Values))
		}
	}
	var t totals
	for fold := range folds {
		best, bestF1 := 0, -1.0
		for k := range settings {
			sum := 0.0
			for i, s := range five {
				if i%folds != fold {
					f1, _, _ := score(s.Annotations, found[k][i])
					sum += f1
				}
			}
			if sum > bestF1 {
				best, bestF1 = k, sum
			}
		}
		for i, s := range five {
			if i%folds == fold {
				t.add(s, found[best][i], len(five))
			}
		}
	}
	r.printf("Cross-validated, 10 folds, near points and strictness chosen on the other nine: F1 %.4f clean flagged %d/%d\n",
		t.f1, t.flagged, t.clean)
	for k, opts := range settings {
		var s totals
		for i := range five {
			s.add(five[i], found[k][i], len(five))
		}
		r.printf("  near %d strictness %+.1f: F1 %.4f clean flagged %d/%d\n", opts.Near, opts.Strictness, s.f1, s.flagged, s.clean)
	}
	r.printf("\n")
}

// labelled tells regressions found and other series flagged.
func (r *report) labelled(small []series) {
	find := ours(changepoint.Options{})
	found, regressions, flagged, others := 0, 0, 0, 0
	for _, s := range small {
		changes := find(s.Values)
		if s.clean() {
			others++
			if len(changes) > 0 {
				flagged++
			}
			continue
		}
		regressions++
		for _, marks := range s.Annotations {
			if matches(marks, changes) > 0 {
				found++
				break
			}
		}
	}
	r.printf("Labelled series: %d of %d regressions found, %d of %d others flagged\n\n", found, regressions, flagged, others)
}
