package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dbcanary/dbcanary"
)

// mostProblems is how many problems of a file an error lists.
const mostProblems = 30

// File is a YAML file that is being read. It collects every problem with line and
// column, those of the decoder and those that its owner finds in the values, so
// that a user mends them all at once.
type File struct {
	name     string
	places   map[string]place // by path: "targets[2].name"
	keys     map[string]place // of the key that a path ends with
	problems []problem
	more     int // problems beyond what is kept
	nodes    int // visited, which bounds what aliases expand to
	tooLarge bool
	parsed   bool
}

type place struct{ line, column int }

type problem struct {
	place
	text string
}

// ReadYAML decodes one YAML document into the struct that into points to, whose
// fields keep their values where the text has no key for them. Fields are named by
// their tags `yaml:"table-size"`; those without a tag are none of the file's.
//
// Fields are strings, bools, numbers, time.Duration ("10m"), whatever has
// UnmarshalText, structs, pointers, slices, maps with string keys, and Map where
// the order counts. A struct that has UnmarshalText may stand as one word too. A
// list of one may be written without its brackets.
//
// It is strict: an unknown or repeated key, a key without a value and a value of
// another kind are problems. What was read is only to be used if Err gives nil.
func ReadYAML(name string, text []byte, into any) *File {
	f := &File{name: name, places: map[string]place{}, keys: map[string]place{}}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		f.add(place{1, 1}, "the file is empty")
		return f
	}
	if err != nil {
		f.syntax(err)
		return f
	}
	root := document.Content[0]
	f.places[""] = at(root)
	if isNull(root) {
		f.add(at(root), "the file is empty")
		return f
	}
	var second yaml.Node
	switch err := decoder.Decode(&second); {
	case err == nil:
		f.add(at(&second), "a second document starts here; a file holds one")
	case !errors.Is(err, io.EOF):
		f.syntax(err)
	}
	f.parsed = true
	f.decodeInto(root, into)
	return f
}

// Parsed tells whether the text is YAML and holds something; if not, nothing was
// decoded.
func (f *File) Parsed() bool { return f.parsed }

// Problem adds what is wrong with the value at a path such as "targets[2].name".
// If the file does not hold it, the problem is told of what it would be part of.
func (f *File) Problem(path, format string, args ...any) {
	f.add(f.nearest(f.places, path), fmt.Sprintf(format, args...))
}

// KeyProblem adds what is wrong with the key that a path ends with.
func (f *File) KeyProblem(path, format string, args ...any) {
	where, ok := f.keys[path]
	if !ok {
		where = f.nearest(f.places, path)
	}
	f.add(where, fmt.Sprintf(format, args...))
}

// Has tells whether the file holds a value at a path.
func (f *File) Has(path string) bool {
	_, ok := f.places[path]
	return ok
}

// Where gives the place of the value at a path, or of what it would be part of:
// "plan.yaml:3:10".
func (f *File) Where(path string) string {
	where := f.nearest(f.places, path)
	return fmt.Sprintf("%s:%d:%d", f.name, where.line, where.column)
}

func (f *File) nearest(places map[string]place, path string) place {
	for {
		if where, ok := places[path]; ok {
			return where
		}
		end := strings.LastIndexAny(path, ".[")
		if end < 0 {
			return cmp.Or(places[""], place{1, 1})
		}
		path = path[:end]
	}
}

// Err gives all problems in the order of the file as one error with
// dbcanary.CodeUsage, nil if there are none.
func (f *File) Err() error {
	if len(f.problems) == 0 {
		return nil
	}
	sorted := slices.Clone(f.problems)
	slices.SortStableFunc(sorted, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	var text strings.Builder
	if n := len(sorted) + f.more; n > 1 {
		fmt.Fprintf(&text, "%s has %d problems:\n", f.name, n)
	}
	for i, p := range sorted {
		if i > 0 {
			text.WriteByte('\n')
		}
		if p.column == 0 {
			fmt.Fprintf(&text, "%s:%d: %s", f.name, p.line, p.text)
			continue
		}
		fmt.Fprintf(&text, "%s:%d:%d: %s", f.name, p.line, p.column, p.text)
	}
	if f.more > 0 {
		fmt.Fprintf(&text, "\nand %d more", f.more)
	}
	return dbcanary.Errorf(dbcanary.CodeUsage, "%s", text.String())
}

func (f *File) add(where place, text string) {
	if len(f.problems) >= mostProblems {
		f.more++
		return
	}
	f.problems = append(f.problems, problem{where, text})
}

// syntaxLine finds the line in an error of the YAML parser, which tells no column.
var syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)

func (f *File) syntax(err error) {
	where, text := place{line: 1}, err.Error()
	if match := syntaxLine.FindStringSubmatch(text); match != nil {
		text = match[2]
		if line, err := strconv.Atoi(match[1]); err == nil {
			where.line = line
		}
	}
	f.add(where, "no YAML: "+text)
}

func at(node *yaml.Node) place { return place{node.Line, node.Column} }

// short is a value as an error shows it, without the password of a DSN.
func short(text string) string {
	const most = 40
	text = dbcanary.RedactDSN(text)
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return strconv.Quote(text)
}
