package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// schema is a JSON Schema with the few keywords that ours uses. Any other
// keyword fails the test, so that none is taken as checked when it is not.
type schema map[string]any

const schemaPath = "../../docs/format/report.schema.json"

func readSchema(t *testing.T) schema {
	t.Helper()
	text, err := os.ReadFile(schemaPath)
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// check gives what in value does not fit s; root holds the definitions. In
// strict mode a property that the schema does not know is a problem too.
func check(root, s schema, value any, path string, strict bool) []string {
	if ref, ok := s["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		definition, ok := root["$defs"].(map[string]any)[name].(map[string]any)
		if !ok {
			return []string{path + ": no definition " + ref}
		}
		return check(root, definition, value, path, strict)
	}
	var problems []string
	fail := func(format string, args ...any) { problems = append(problems, path+": "+fmt.Sprintf(format, args...)) }
	for keyword, rule := range s {
		switch keyword {
		case "$schema", "$defs", "title", "description", "format":
		case "required", "properties", "additionalProperties", "items":
			// Below, for the types that have them.
		case "type":
			if !fitsType(rule, value) {
				fail("%v is no %v", value, rule)
			}
		case "const":
			if value != rule {
				fail("%v is not %v", value, rule)
			}
		case "enum":
			if !slices.Contains(rule.([]any), value) {
				fail("%v is none of %v", value, rule)
			}
		case "minimum":
			if number, ok := value.(float64); ok && number < rule.(float64) {
				fail("%v is below %v", number, rule)
			}
		case "maximum":
			if number, ok := value.(float64); ok && number > rule.(float64) {
				fail("%v is above %v", number, rule)
			}
		default:
			fail("the test does not know the keyword %s", keyword)
		}
	}
	switch value := value.(type) {
	case map[string]any:
		problems = append(problems, checkObject(root, s, value, path, strict)...)
	case []any:
		if items, ok := s["items"].(map[string]any); ok {
			for i, item := range value {
				problems = append(problems, check(root, items, item, fmt.Sprintf("%s[%d]", path, i), strict)...)
			}
		}
	}
	return problems
}

func checkObject(root, s schema, value map[string]any, path string, strict bool) []string {
	var problems []string
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := value[name.(string)]; !ok {
			problems = append(problems, fmt.Sprintf("%s.%s is missing", path, name))
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for name, item := range value {
		rule, known := properties[name].(map[string]any)
		if !known {
			rule, known = s["additionalProperties"].(map[string]any)
		}
		switch {
		case known:
			problems = append(problems, check(root, rule, item, path+"."+name, strict)...)
		case strict:
			problems = append(problems, fmt.Sprintf("%s.%s is not in the schema", path, name))
		}
	}
	return problems
}

func fitsType(rule, value any) bool {
	if names, ok := rule.([]any); ok {
		return slices.ContainsFunc(names, func(name any) bool { return fitsType(name, value) })
	}
	switch value := value.(type) {
	case nil:
		return rule == "null"
	case bool:
		return rule == "boolean"
	case string:
		return rule == "string"
	case float64:
		return rule == "number" || rule == "integer" && value == math.Trunc(value)
	case []any:
		return rule == "array"
	case map[string]any:
		return rule == "object"
	}
	return false
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
		var value any
		if err := json.Unmarshal(b.Bytes(), &value); err != nil {
			t.Fatal(err)
		}
		for _, problem := range check(root, root, value, name, true) {
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
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if problems := strings.Join(check(root, root, value, "report", false), "\n"); !strings.Contains(problems, change.want) {
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
		case schema:
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
