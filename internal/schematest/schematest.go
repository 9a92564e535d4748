// Package schematest holds JSON to the JSON Schemas in docs/format, in tests.
package schematest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// Schema is a JSON Schema with the few keywords that ours use. Any other keyword
// is a problem, so that none is taken as checked when it is not.
type Schema map[string]any

// Read reads a schema.
func Read(path string) (Schema, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Check gives what in a JSON text does not fit the schema, each with the place
// below name. In strict mode a property that the schema does not know is a problem
// too.
func (s Schema) Check(text []byte, name string, strict bool) []string {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return []string{name + ": " + err.Error()}
	}
	return check(s, s, value, name, strict)
}

// CheckAs is Check against one of the schema's definitions.
func (s Schema) CheckAs(definition string, text []byte, name string, strict bool) []string {
	return Schema{"$ref": "#/$defs/" + definition, "$defs": s["$defs"]}.Check(text, name, strict)
}

func check(root, s Schema, value any, path string, strict bool) []string {
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

func checkObject(root, s Schema, value map[string]any, path string, strict bool) []string {
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
		case s["additionalProperties"] == true && !known:
			// another schema says more
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
