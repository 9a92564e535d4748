package changepoint

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// dataDir is where the annotated series and other tools' answers are kept,
// beside the repository. Tests that need them fail when they are missing.
var dataDir = filepath.Join("..", "..", "shared", "changepoint")

type otavaAnswer struct {
	Series    string  `json:"series"`
	N         int     `json:"n"`
	Window    int     `json:"window"`
	PValue    float64 `json:"pvalue"`
	Magnitude float64 `json:"magnitude"`
	Changes   []struct {
		Index int     `json:"index"`
		Mean1 float64 `json:"mean1"`
		Mean2 float64 `json:"mean2"`
		Std1  float64 `json:"std1"`
		Std2  float64 `json:"std2"`
		P     float64 `json:"p"`
	} `json:"change_points"`
}

// TestEDivisiveAnswersAsOtava holds every change of every series and parameter
// set against what Otava 0.8.0 computed.
func TestEDivisiveAnswersAsOtava(t *testing.T) {
	t.Parallel()
	var series map[string][]float64
	data, err := os.ReadFile(filepath.Join(dataDir, "reference_series.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &series); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(dataDir, "reference_otava.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	answers, sets := 0, map[EDivisiveOptions]bool{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var want otavaAnswer
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		opts := EDivisiveOptions{Window: want.Window, MaxPValue: want.PValue, MinMagnitude: want.Magnitude}
		answers++
		sets[opts] = true
		got, err := EDivisive(series[want.Series], opts)
		if err != nil {
			t.Fatalf("%s %+v: %v", want.Series, opts, err)
		}
		if len(got) != len(want.Changes) {
			t.Errorf("%s %+v: %d changes, Otava has %d\n%v\n%v", want.Series, opts, len(got), len(want.Changes), got, want.Changes)
			continue
		}
		for i, w := range want.Changes {
			g := got[i]
			if g.Index != w.Index || !near(g.Before, w.Mean1) || !near(g.After, w.Mean2) ||
				!near(g.StdBefore, w.Std1) || !near(g.StdAfter, w.Std2) || !near(g.PValue, w.P) {
				t.Errorf("%s %+v: change %d is %+v, Otava has %+v", want.Series, opts, i, g, w)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if answers < 280 || len(sets) != 5 {
		t.Errorf("read %d answers for %d parameter sets, the file holds 280 for 5", answers, len(sets))
	}
}

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-8*math.Max(math.Abs(a), math.Abs(b)) || math.Abs(a-b) < 1e-300
}
