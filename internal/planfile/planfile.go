// Package planfile holds what a user asks to be measured: the keys of a plan file,
// which are also the flags of compare, and the plan that they make. The format is
// described in docs/format/plan.md.
package planfile

import (
	"errors"
	"reflect"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/config"
	"github.com/dbcanary/dbcanary/internal/workload/own"
)

// File is what a user asks for. A key of a plan file and a flag of the same name
// are the same thing and have the same values.
type File struct {
	About      string               `yaml:"about"`
	Hosts      []string             `yaml:"hosts"`
	Mode       string               `yaml:"mode"`
	Targets    []Targets            `yaml:"targets"`
	Base       []string             `yaml:"base"`
	Suite      string               `yaml:"suite"`
	Benchmarks []string             `yaml:"benchmarks"`
	Groups     config.Map[[]string] `yaml:"groups"`
	Workload   []string             `yaml:"workload"`
	Pgbench    []string             `yaml:"pgbench"`
	Scale      int                  `yaml:"pgbench-scale"`
	Define     []string             `yaml:"define"`
	Query      string               `yaml:"query"`
	Create     string               `yaml:"create"`
	Delimiter  string               `yaml:"delimiter"`
	Tables     int                  `yaml:"tables"`
	TableSize  int                  `yaml:"table-size"`
	Threads    []int                `yaml:"threads"`
	PSMode     string               `yaml:"ps-mode"`
	Placement  string               `yaml:"placement"`
	Time       *time.Duration       `yaml:"time"` // nil: what the mode has
	Slice      time.Duration        `yaml:"slice"`
	Warmup     time.Duration        `yaml:"warmup"`
	Blocks     int                  `yaml:"blocks"`
	Instances  int                  `yaml:"instances"`
	MinEffect  []string             `yaml:"min-effect"`
	Adaptive   bool                 `yaml:"adaptive"`
	Seed       uint64               `yaml:"seed"`
	Profile    []string             `yaml:"profile"`
	Waits      string               `yaml:"waits"`
}

// Own names the workloads of the user.
func (f File) Own() own.Source {
	return own.Source{
		Workload: f.Workload, Pgbench: f.Pgbench, Scale: f.Scale, Define: f.Define,
		Query: f.Query, Create: f.Create, Delimiter: f.Delimiter,
	}
}

// Targets is one target as on a command line, or a matrix: each build with each overlay.
type Targets struct {
	Name     string
	Builds   []string `yaml:"builds"`
	Overlays []string `yaml:"overlays"`
}

// UnmarshalText takes a target that stands alone.
func (t *Targets) UnmarshalText(text []byte) error {
	t.Name = string(text)
	return nil
}

// Default is what is measured where a user says nothing else.
func Default() File {
	return File{
		Mode: paired, Suite: "quick", Tables: 1, TableSize: 100_000, Threads: []int{1}, PSMode: "prepared",
		MinEffect: []string{"2"}, Adaptive: true,
	}
}

// DefaultTime is that of a paired run; a classic one lasts as long as the published.
const DefaultTime = 10 * time.Minute

// Read reads a plan file over the defaults. Errors have dbcanary.CodeUsage and name
// line and column of every problem; a plan file is checked whole with Check.
func Read(name string, text []byte) (File, *config.File) {
	file := Default()
	source := config.ReadYAML(name, text, &file)
	if source.Has("benchmarks") {
		if source.Has("suite") {
			source.Problem("suite", "benchmarks stand in the place of a suite: leave one of them out")
		}
		file.Suite = ""
	}
	return file, source
}

// Override takes the values of the named keys from another file: flags that were
// given beside a plan.
func (f *File) Override(by File, keys []string) {
	into, from := reflect.ValueOf(f).Elem(), reflect.ValueOf(by)
	for i := range into.NumField() {
		for _, key := range keys {
			if into.Type().Field(i).Tag.Get("yaml") == key {
				into.Field(i).Set(from.Field(i))
			}
		}
	}
	for _, key := range keys {
		switch key {
		case "suite":
			f.Benchmarks = nil
		case "benchmarks":
			f.Suite = ""
		}
	}
}

// Problem is what is wrong with a value.
type Problem struct {
	Path string // "targets[2].builds[0]", "table-size"
	Text string // "must be at least 1000, not 10"
	Key  bool   // Text goes on after the name of the key; otherwise it stands alone
}

// TellFlags gives problems as an error about a command line.
func TellFlags(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	text := ""
	for i, problem := range problems {
		if i > 0 {
			text += "; "
		}
		if problem.Key {
			text += "--" + problem.Path + " "
		}
		text += problem.Text
	}
	return dbcanary.Errorf(dbcanary.CodeUsage, "%s", text)
}

// Tell adds problems to those of a plan file and gives all of them as an error;
// those of the keys that flags have overridden are told of the flags.
func Tell(source *config.File, problems []Problem, flags []string) error {
	if !source.Parsed() {
		return source.Err() // the values are but the defaults
	}
	var ofFlags []Problem
	for _, problem := range problems {
		switch {
		case contains(flags, problem.Path):
			ofFlags = append(ofFlags, problem)
		case problem.Key:
			source.Problem(problem.Path, "%s %s", problem.Path, problem.Text)
		default:
			source.Problem(problem.Path, "%s", problem.Text)
		}
	}
	return errors.Join(source.Err(), TellFlags(ofFlags))
}

// contains tells whether a path lies in one of the keys.
func contains(keys []string, path string) bool {
	for _, key := range keys {
		if path == key || len(path) > len(key) && path[:len(key)] == key && (path[len(key)] == '[' || path[len(key)] == '.') {
			return true
		}
	}
	return false
}
