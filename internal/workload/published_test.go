package workload

import (
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// What our benchmarks correct has its quirk, and what has none is left as it is.
func TestAsPublished(t *testing.T) {
	suite, err := FindSuite("sysbench-32")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range suite.Benchmarks() {
		q, p := b.Quirks(), b.AsPublished()
		if b.Differs != "" && q.describe() == "" {
			t.Errorf("%s differs from the published one, and so would the classic mode", b.Label)
		}
		if p.Label != b.Label || p.PublishedName() != b.PublishedName() || p.Group != b.Group {
			t.Errorf("%s became %s, published as %s", b.Label, p.Label, p.PublishedName())
		}
		if p.Bounded || p.Keys == Once {
			t.Errorf("%s ends by events in the classic mode", b.Label)
		}
		if p.Deletes() != b.Deletes() || p.Writes != b.Writes {
			t.Errorf("%s: deletes %v, writes %v", b.Label, p.Deletes(), p.Writes)
		}
		for i := range b.Steps { // the catalogue's steps are no longer theirs
			if len(b.Steps) == len(p.Steps) && q.CutSpans && len(b.Steps[i].Args) == 2 && b.Steps[i].Args[0] == SpanStart && p.Steps[i].Args[0] != Key {
				t.Errorf("%s: step %d has whole spans", b.Label, i)
			}
		}
	}
}

// Published queries per event, as counted by sysbench.
func TestAsPublished_Statements(t *testing.T) {
	for label, want := range map[string]int{
		"read-only-simple": 13, "read-only-sum": 13, "read-only-order": 13, "read-only-distinct": 13, "read-only-count": 1,
		"read-only range=10": 16, "read-write range=100": 20, "write-only": 6, "scan": 1, "update-inlist": 1, "delete": 1, "insert": 1,
	} {
		b, err := Find(label)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.AsPublished().Statements(); got != want {
			t.Errorf("%s: %d statements, published are %d", label, got, want)
		}
	}
}

// Each connection scans a table of its own.
func TestAsPublished_OwnTable(t *testing.T) {
	b, err := Find("scan")
	if err != nil {
		t.Fatal(err)
	}
	for worker := range 7 {
		conn := &fakeConn{fixed: &wire.Result{}}
		s, err := b.AsPublished().Bind(t.Context(), conn, dbcanary.MySQL, testData, BindOptions{Worker: worker})
		if err != nil {
			t.Fatal(err)
		}
		s.Reseed(uint64(worker))
		for range 5 {
			if _, err := s.Run(); err != nil {
				t.Fatal(err)
			}
			if s.table != worker%testData.Tables {
				t.Errorf("connection %d scans table %d", worker, s.table+1)
			}
		}
	}
}

// The seconds of the published suites: 300 of reads, 600 of writes but for write-only,
// 60 of the scans that warm up.
func TestSuiteSteps_Slices(t *testing.T) {
	suite, err := FindSuite("sysbench-32")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"scan.warm": 0.2, "scan.warmpre": 0.2, "point-query.warm": 1, "scan": 1, "write-only": 1, "insert": 2, "update-zipf": 2, "read-write range=10": 2}
	for _, step := range suite.Steps {
		if step.Settle {
			continue
		}
		b, err := Find(step.Label)
		if err != nil {
			t.Fatal(err)
		}
		if slices, ok := want[step.Label]; ok && step.Slices(b) != slices {
			t.Errorf("%s is measured for %v slices, want %v", step.Label, step.Slices(b), slices)
		}
		delete(want, step.Label)
	}
	if len(want) > 0 {
		t.Errorf("the suite lacks %v", want)
	}
}
