package report

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary/internal/schematest"
)

const schemaPath = "../../docs/format/report.schema.json"

func readSchema(t *testing.T) schematest.Schema {
	t.Helper()
	s, err := schematest.Read(schemaPath)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchema: every report fits the schema, and the schema names every property.
func TestSchema(t *testing.T) {
	root := readSchema(t)
	for name, make := range runs() {
		s := make()
		var b bytes.Buffer
		if err := s.report().Write(&b, "json", Options{}); err != nil {
			t.Fatal(err)
		}
		for _, problem := range root.Check(b.Bytes(), name, true) {
			t.Error(problem)
		}
	}
}

// TestSchemaRefuses holds that the check above can fail.
func TestSchemaRefuses(t *testing.T) {
	root := readSchema(t)
	s := runs()["one-target"]()
	var b bytes.Buffer
	if err := s.report().Write(&b, "json", Options{}); err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct{ from, to, want string }{
		{`"verdict": "slower"`, `"verdict": "slow"`, "slow is none of"},
		{`"warnings": []`, `"warnings": null`, "no array"},
		{`"format": 1`, `"format": 2`, "2 is not 1"},
		{`"void_slices": 0`, `"void_slices": -1`, "below 0"},
		{`"level": 0.95`, `"level": 95`, "above 1"},
		{`"base_qps"`, `"baseqps"`, "base_qps is missing"},
		{`"cpus": 8`, `"cpus": 8.5`, "no integer"},
	} {
		text := strings.Replace(b.String(), change.from, change.to, 1)
		if problems := strings.Join(root.Check([]byte(text), "report", false), "\n"); !strings.Contains(problems, change.want) {
			t.Errorf("%s: %q, want %q", change.to, problems, change.want)
		}
	}
}

// TestDocumented: report.md speaks of every property and every format.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/format/report.md")
	if err != nil {
		t.Fatal(err)
	}
	root := readSchema(t)
	definitions := root["$defs"].(map[string]any)
	names := Formats()
	for _, object := range []any{root, definitions["comparison"], definitions["target"], definitions["difference"], definitions["run"]} {
		var properties map[string]any
		switch object := object.(type) {
		case schematest.Schema:
			properties = object["properties"].(map[string]any)
		case map[string]any:
			properties = object["properties"].(map[string]any)
		}
		for name := range properties {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if !bytes.Contains(text, []byte("`"+name+"`")) && !bytes.Contains(text, []byte("`"+name+"[]`")) {
			t.Errorf("docs/format/report.md does not speak of %s", name)
		}
	}
}

// TestReportsPage: docs/REPORTS.md has a command for every format and chart.
func TestReportsPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/REPORTS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range append(Formats(), "hosts") {
		if format != "text" && !bytes.Contains(text, []byte("--format "+format)) {
			t.Errorf("docs/REPORTS.md has no command with --format %s", format)
		}
	}
	for _, kind := range ChartKinds() {
		if !bytes.Contains(text, []byte("| `"+kind+"` |")) {
			t.Errorf("docs/REPORTS.md does not speak of the chart %s", kind)
		}
	}
}
