package lint

import (
	"slices"
	"strings"
	"testing"
)

func TestHouse(t *testing.T) {
	problems, err := Check("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Error(problem)
	}
}

// Each rule finds a file that breaks it: a lint that cannot fail holds nothing.
func TestRules(t *testing.T) {
	long := strings.Repeat("\n", 500)
	tests := []struct{ rule, name, text, problem string }{
		{"direction", "internal/store/a.go", `package store; import "github.com/dbcanary/dbcanary/internal/cli"`, "imports go one way"},
		{"direction of the domain", "a.go", `package dbcanary; import "github.com/dbcanary/dbcanary/stat"`, "imports go one way"},
		{"domain", "a.go", `package dbcanary; import "golang.org/x/sys/unix"`, "standard library only"},
		{"pure import", "internal/verdict/a.go", `package verdict; import "os"`, "a pure room imports os"},
		{"pure call", "internal/plan/a.go", `package plan; import "time"; func f() { _ = time.Now() }`, "a pure room uses time.Now"},
		{"unknown room", "internal/shed/a.go", `package shed`, "has no tier"},
		{"long file", "internal/lab/a.go", "package lab" + long + "var x int", "more than 500"},
		{"long function", "internal/lab/a.go", "package lab\nfunc f() {" + long[:70] + "}", "f has 71 lines"},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			problems, _, err := checkFile(test.name, []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, test.problem) }) {
				t.Errorf("got %q, want one with %q", problems, test.problem)
			}
		})
	}
}

func TestRules_LetGoodFilesPass(t *testing.T) {
	for name, text := range map[string]string{
		"internal/lab/a.go":            `package lab; import ("os"; "github.com/dbcanary/dbcanary"; "github.com/dbcanary/dbcanary/internal/wire/pgwire")`,
		"internal/dbms/mysql/a.go":     `package mysql; import "github.com/dbcanary/dbcanary/internal/dbms"`,
		"stat/a.go":                    `package stat; import "math"`,
		"changepoint/accuracy/main.go": `package main; import "os"`,
	} {
		problems, _, err := checkFile(name, []byte(text))
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %q, %v", name, problems, err)
		}
	}
}
