package cli_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary/internal/schematest"
)

func schemaOf(t *testing.T, name string) schematest.Schema {
	t.Helper()
	schema, err := schematest.Read(filepath.Join("..", "..", "docs", "format", name+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// fits fails the test for everything in a text that is not as the schema says.
func fits(t *testing.T, schema, text string) {
	t.Helper()
	for _, problem := range schemaOf(t, schema).Check([]byte(text), schema, true) {
		t.Error(problem)
	}
}

// TestSchemas holds what commands print as JSON to the schemas in docs/format, each
// property named.
func TestSchemas(t *testing.T) {
	p := newProgram(t)
	out, _ := p.run(0, measure("compare", "sqlite", "sqlite+journal_mode=delete", "--benchmarks", "point-query,update-index", "--instances", "2", "--time", "1m", "--json")...)
	events := schemaOf(t, "events")
	kinds := map[string]bool{}
	for line := range strings.Lines(out) {
		for _, problem := range events.Check([]byte(line), "event", true) {
			t.Errorf("%s\nin %.200s", problem, line)
		}
		var event struct {
			Event  string          `json:"event"`
			Report json.RawMessage `json:"report"`
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		kinds[event.Event] = true
		if event.Event == "report" {
			fits(t, "report", string(event.Report))
		}
	}
	for _, kind := range []string{"run", "prepare", "instance", "slice", "trial", "end", "report"} {
		if !kinds[kind] {
			t.Errorf("there was no event %s", kind)
		}
	}
	out, _ = p.run(0, "runs", "--json")
	var runs []json.RawMessage
	if err := json.Unmarshal([]byte(out), &runs); err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, error %v", len(runs), err)
	}
	for _, problem := range events.CheckAs("run", runs[0], "run", true) {
		t.Error(problem)
	}
	for schema, args := range map[string][]string{
		"detect": {"detect", "--format", "json"}, "workloads": {"workloads", "list", "--json"}, "doctor": {"doctor", "--json"}, "builds": {"builds", "list", "--json"},
	} {
		out, _ := p.run(0, args...)
		fits(t, schema, out)
	}
}
