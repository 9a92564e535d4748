package lab_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
)

const ownWork = `
name: mine
tables:
  things:
    rows: 500
    columns:
      id: {type: int, sequence: {start: 1}}
      kind: {type: int, zipf: {min: 1, max: 9}}
    primary-key: [id]
benchmarks:
  look:
    transactions:
      params: {id: {uniform: {min: 1, max: 500}}}
      statements: [{sql: "SELECT kind FROM things WHERE id = :id", rows: 1}]
  add:
    transactions:
      params: {id: {sequence: {start: 501}}}
      statements: [{sql: "INSERT INTO things VALUES (:id, 1)", changed: 1}]
  elsewhere:
    not: {sqlite: it has one writer}
    transactions: {statements: [SELECT 1]}
`

// A run of a user's own work needs nothing but its plan as the store has it. What makes
// no sense on a target is listed, and is no trial and no failure.
func TestRun_OwnWorkFromThePlan(t *testing.T) {
	b := newBench(t, "a", "b")
	b.run.Plan.Benchmarks = []dbcanary.PlannedBenchmark{{Label: "mine.look"}, {Label: "mine.add"}, {Label: "mine.elsewhere"}}
	b.run.Plan.Workloads = []dbcanary.OwnWorkload{{Kind: dbcanary.OwnYAML, Files: []dbcanary.OwnFile{{Name: "gone.yaml", Text: ownWork}}}}
	if err := b.store.SaveRun(t.Context(), b.run); err != nil {
		t.Fatal(err)
	}
	stored, err := b.store.Run(context.Background(), "last")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.run.Plan.Workloads, stored.Plan.Workloads); diff != "" {
		t.Fatal(diff)
	}
	b.run = &stored
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	counts, adds := map[string]int{}, []int64{}
	for _, trial := range b.trials() {
		counts[trial.Benchmark]++
		if trial.Operations <= 0 || trial.Errors != nil {
			t.Errorf("%+v", trial)
		}
		if trial.Benchmark == "mine.add" {
			adds = append(adds, trial.Events)
		}
	}
	if counts["mine.look"] < 8 || counts["mine.add"] < 8 || counts["mine.elsewhere"] != 0 || len(slices.Compact(adds)) != 1 {
		t.Errorf("trials: %v, events of add: %v", counts, adds)
	}
	want := []dbcanary.NotApplicable{{Benchmark: "mine.elsewhere", Target: "a", Reason: "it has one writer"}, {Benchmark: "mine.elsewhere", Target: "b", Reason: "it has one writer"}}
	if diff := cmp.Diff(want, b.run.Plan.NotApplicable); diff != "" {
		t.Error(diff)
	}
}

// What builds on itself runs once in an instance, with exactly its events.
func TestRun_SinglesOnceInAnInstance(t *testing.T) {
	b := newBench(t, "a", "b")
	b.run.Plan.Benchmarks = []dbcanary.PlannedBenchmark{{Label: "sql-bench.alter-table.create_index scale=0.002"}, {Label: "point-query"}}
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	places := map[[2]int]int{}
	events := map[int64]bool{}
	for _, trial := range b.trials() {
		if trial.Benchmark == b.run.Plan.Benchmarks[0].Label {
			places[[2]int{trial.Instance, trial.Block}]++
			events[trial.Events] = true
			if trial.Void != "" && trial.Events == 0 {
				t.Errorf("void: %s", trial.Void)
			}
		}
	}
	if len(places) != 2 || places[[2]int{0, 0}] != 2 || places[[2]int{1, 0}] != 2 || len(events) != 1 {
		t.Errorf("slices by instance and block: %v; events %v", places, events)
	}
}
