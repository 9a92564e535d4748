package report

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary"
)

// large is a run of 42 benchmarks on 20 releases with 10 instances.
func large() *synthetic {
	groups := []string{"point-1", "point-2", "range-1", "range-2", "writes"}
	var benchmarks []dbcanary.PlannedBenchmark
	for i := range 42 {
		benchmarks = append(benchmarks, dbcanary.PlannedBenchmark{Label: fmt.Sprintf("benchmark-%02d range=%d", i, 10*i), Group: groups[i/9]})
	}
	var targets []string
	for i := range 20 {
		targets = append(targets, fmt.Sprintf("mysql@8.0.%d", 20+i))
	}
	s := newSynthetic(targets, benchmarks)
	for i := range s.run.Targets {
		s.run.Targets[i].Build.Version = strings.TrimPrefix(targets[i], "mysql@")
		for k, b := range benchmarks {
			s.ratios[targets[i]+"/"+b.Label] = 1 - 0.012*float64(i)*math.Sin(float64(k)) + 0.02*math.Cos(float64(k*i))
		}
	}
	s.voidOne = 31
	s.measure(10)
	for i := range s.trials {
		trial := &s.trials[i]
		noise := 1 + 0.004*math.Sin(float64(i*7919%997)) + 0.01*math.Cos(float64(trial.Instance*31+len(trial.Benchmark)))
		trial.Operations = int64(float64(trial.Operations) * noise)
		trial.Started = started.Add(time.Duration(i) * 600 * time.Millisecond)
	}
	return s
}

// TestHTMLSize holds that the page of a large report stays below 3 MB.
func TestHTMLSize(t *testing.T) {
	s := large()
	var page bytes.Buffer
	if err := New(s.run, s.trials).Write(&page, "html", Options{}); err != nil {
		t.Fatal(err)
	}
	if page.Len() > 3<<20 {
		t.Errorf("%d bytes", page.Len())
	}
	t.Logf("%d slices, %d bytes", len(s.trials), page.Len())
	if dir := os.Getenv("DUMP"); dir != "" {
		_ = os.WriteFile(filepath.Join(dir, "large.html"), page.Bytes(), 0o644)
		for name, make := range runs() {
			s := make()
			var page bytes.Buffer
			if err := New(s.run, s.trials).Write(&page, "html", Options{}); err != nil {
				t.Fatal(name, err)
			}
			_ = os.WriteFile(filepath.Join(dir, name+".html"), page.Bytes(), 0o644)
		}
	}
}
