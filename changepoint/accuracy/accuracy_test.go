package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
)

// dataDir is where the annotated series are kept, beside the repository.
var dataDir = filepath.Join("..", "..", "..", "shared", "changepoint")

func TestScore(t *testing.T) {
	for _, test := range []struct {
		annotations   map[string][]int
		predicted     []int
		f1, precision float64
		recall        float64
	}{
		{map[string][]int{"a": nil}, nil, 1, 1, 1},
		{map[string][]int{"a": nil}, []int{50}, 2.0 / 3, 0.5, 1},
		{map[string][]int{"a": {50}, "b": {}}, []int{55}, 1, 1, 1},
		{map[string][]int{"a": {50}, "b": {}}, []int{56}, 0.6, 0.5, 0.75},
		// Both predictions are near one mark: it takes one of them.
		{map[string][]int{"a": {50}}, []int{48, 52}, 0.8, 2.0 / 3, 1},
		// A prediction within the margin of the start takes index 0, which is taken.
		{map[string][]int{"a": {50}}, []int{3}, 0.5, 0.5, 0.5},
	} {
		f1, precision, recall := score(test.annotations, test.predicted)
		if !near(f1, test.f1) || !near(precision, test.precision) || !near(recall, test.recall) {
			t.Errorf("score(%v, %v) = %v, %v, %v; want %v, %v, %v", test.annotations, test.predicted,
				f1, precision, recall, test.f1, test.precision, test.recall)
		}
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// TestAccuracy holds what the project promises, on the annotated series and on
// fewer simulated ones than make accuracy takes.
func TestAccuracy(t *testing.T) {
	t.Parallel()
	annotated, err := readFolder(dataDir, "sap")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := &report{w: &out}
	total := w.annotated(withFiveAnnotators(annotated))
	if total.f1 < 0.87 || total.flagged > 1 {
		t.Errorf("F1 %.4f, %d of %d clean series flagged; want at least 0.87 and at most 1", total.f1, total.flagged, total.clean)
	}
	small, err := readFolder(dataDir, "sapsmall")
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	w.labelled(small)
	if want := "Labelled series: 5 of 5 regressions found, 0 of 20 others flagged\n\n"; out.String() != want {
		t.Errorf("%swant %s", out.String(), want)
	}
	if w.err != nil {
		t.Fatal(w.err)
	}
}

// TestOtavaScores holds the scorer against a figure that was computed elsewhere
// from other code: re-tuned Otava .857, human against the rest .822.
func TestOtavaScores(t *testing.T) {
	t.Parallel()
	annotated, err := readFolder(dataDir, "sap")
	if err != nil {
		t.Fatal(err)
	}
	five := withFiveAnnotators(annotated)
	got := fmt.Sprintf("%.3f %.3f", measure(five, otava(1e-6)).f1, human(five))
	if got != "0.857 0.822" {
		t.Errorf("Otava and human score %s, want 0.857 0.822", got)
	}
}

// TestFalseAlarms holds that at most 1 % of series are flagged, with three
// standard errors of the simulation to spare.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	const count = 300
	if worst := (&report{w: &out}).falseAlarms(count); worst > 0.01+3*0.00575 {
		t.Errorf("false alarms %.4f\n%s", worst, out.String())
	}
}

func TestRunRefuses(t *testing.T) {
	var out bytes.Buffer
	for _, args := range [][]string{{}, {"-data", t.TempDir()}, {"-data", dataDir, "-series", "0"}} {
		if err := run(args, &out); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
