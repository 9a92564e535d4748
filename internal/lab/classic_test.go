package lab_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/lab"
	"github.com/dbcanary/dbcanary/internal/verdict"
)

// newClassic is a run in the classic mode: warm-up, reads, writes, maintenance, reads.
func newClassic(t *testing.T, targets ...string) *bench {
	b := newBench(t, targets...)
	p := &b.run.Plan
	p.Mode, p.Instances, p.Blocks = dbcanary.ModeClassic, 1, 1
	p.Benchmarks = []dbcanary.PlannedBenchmark{{Label: "update-inlist", Group: "writes"}, {Label: "scan", Group: "range-1"}, {Label: "delete", Group: "writes"}}
	p.Steps = []dbcanary.PlannedStep{
		{Label: "point-query.warm threads=1", Slices: 1},
		{},
		{Label: "update-inlist", Slices: 2},
		{},
		{Label: "scan", Slices: 1},
		{Label: "delete", Slices: 2},
	}
	return b
}

// order gives targets, instances and benchmarks in the order in which they were measured.
func (b *bench) order() []string {
	var order []string
	for _, trial := range b.trials() {
		order = append(order, trial.Target+string(rune('0'+trial.Instance))+" "+trial.Benchmark)
	}
	return order
}

// stepsOf are what newClassic measures of an instance.
func stepsOf(instance string) []string {
	return []string{instance + " point-query.warm threads=1", instance + " update-inlist", instance + " scan", instance + " delete"}
}

// One target is loaded and measured after the other, each step once and by time.
func TestClassic(t *testing.T) {
	b := newClassic(t, "a", "b")
	b.run.Plan.Instances = 2
	b.watch = func(event lab.Event) {
		if entries, err := os.ReadDir(b.work); err == nil && len(entries) > 1 {
			t.Errorf("%d data directories at once", len(entries))
		}
	}
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(stepsOf("a0"), stepsOf("a1"), stepsOf("b0"), stepsOf("b1"))
	if diff := cmp.Diff(want, b.order()); diff != "" {
		t.Error(diff)
	}
	slice := time.Duration(b.run.Plan.SliceNs)
	for _, trial := range b.trials() {
		least := slice / 2 // the last event ends a little before the slice does
		if trial.Benchmark == "update-inlist" || trial.Benchmark == "delete" {
			least += slice
		}
		if trial.Void != "" || time.Duration(trial.ElapsedNs) < least {
			t.Errorf("%s %s: %s, void %q", trial.Target, trial.Benchmark, time.Duration(trial.ElapsedNs), trial.Void)
		}
	}
	b.checkSettled("update-inlist", "scan")
	for _, c := range verdict.Compare(b.run.Plan, b.trials(), verdict.Options{}) {
		if c.Verdict != dbcanary.Inconclusive || c.Instances != 2 || !strings.Contains(c.Reason, "measured one after the other") {
			t.Errorf("%s: %s after %d instances: %s", c.Benchmark, c.Verdict, c.Instances, c.Reason)
		}
	}
}

// checkSettled holds that the debt of writes was paid just before some benchmarks, and
// no others.
func (b *bench) checkSettled(want ...string) {
	b.t.Helper()
	var settled []string
	for _, trial := range b.trials() {
		for _, metric := range trial.Metrics {
			if metric.Name == "work.settled_before_ns" && metric.Value > 0 && !slices.Contains(settled, trial.Benchmark) {
				settled = append(settled, trial.Benchmark)
			}
		}
	}
	if diff := cmp.Diff(want, settled); diff != "" {
		b.t.Errorf("benchmarks before which the debt of writes was paid: %s", diff)
	}
}

// An instance that was cut off is measured again from its start, and those that were
// complete are not.
func TestClassic_GoesOn(t *testing.T) {
	b := newClassic(t, "a", "b")
	stop := make(chan struct{})
	b.watch = func(event lab.Event) {
		if event.Kind == lab.EventTrial && event.Trial.Target == "b" && event.Trial.Benchmark == "scan" {
			close(stop)
		}
	}
	if err := b.execute(t.Context(), stop); dbcanary.ErrorCode(err) != dbcanary.CodeInterrupted {
		t.Fatal(err)
	}
	b.watch = func(lab.Event) {}
	b.run.State = dbcanary.RunRunning
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(stepsOf("a0"), stepsOf("b0")[:3], stepsOf("b0"))
	if diff := cmp.Diff(want, b.order()); diff != "" {
		t.Error(diff)
	}
}

// A target that can't start is dropped, and the others are measured.
func TestClassic_DropsATarget(t *testing.T) {
	b := newClassic(t, "a", "b", "c")
	b.subjects[1].Driver = &faulty{Driver: b.subjects[1].Driver, failAt: 1}
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Concat(stepsOf("a0"), stepsOf("c0")), b.order()); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(b.run.Targets[1].Dropped, "out of luck") {
		t.Errorf("dropped %q", b.run.Targets[1].Dropped)
	}
}

// In the paired mode the debt of writes is paid in each instance where a step says so
// and something was written, outside of every slice.
func TestRun_Settles(t *testing.T) {
	b := newBench(t, "a", "b")
	p := &b.run.Plan
	p.Benchmarks = []dbcanary.PlannedBenchmark{{Label: "scan", Group: "range-1"}, {Label: "update-index", Group: "writes"}, {Label: "point-query", Group: "point"}}
	p.Steps = []dbcanary.PlannedStep{{}, {Label: "scan"}, {}, {Label: "update-index"}, {}, {Label: "point-query"}}
	settles := 0
	b.watch = func(event lab.Event) {
		if event.Kind == lab.EventPrepare && event.Phase == "settle" {
			settles++
		}
	}
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if settles != 2+2*2 { // after each load, and in each instance of each target
		t.Errorf("the debt of writes was paid %d times", settles)
	}
	b.checkSettled("point-query")
}
