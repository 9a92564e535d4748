// Package lint holds the rules of the house as a test: which room may import
// which, what a pure room may not touch, how long a file and a function may be,
// and that every package says what it is for.
package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/dbcanary/dbcanary"

// tiers lists the rooms from the bottom up; a room imports rooms of its own tier
// or lower ones. A room is the longest prefix that matches.
var tiers = [][]string{
	{""},
	{"stat", "changepoint", "internal/plan", "internal/plot", "internal/profile", "internal/schematest", "internal/verdict"},
	{"internal/wire", "internal/load", "internal/workload", "internal/probe", "internal/build", "internal/dbms", "internal/config", "web"},
	{"internal/lab", "internal/bench", "internal/store", "internal/exchange", "internal/history", "internal/report", "internal/planfile"},
	{"internal/ui", "internal/cli", "internal/calibrate"},
	{"cmd"},
}

// unchecked are folders without production code.
var unchecked = []string{"internal/lint"}

// pure rooms touch no clock, file, socket or random source of their own.
var pure = []string{"", "stat", "changepoint", "internal/plan", "internal/plot", "internal/profile", "internal/verdict"}

// Limits that want a reason to be passed.
const (
	maxFileLines     = 500
	maxFunctionLines = 70
)

// impureImports may not be imported by a pure room, and impureCalls not called.
var (
	impureImports = []string{"os", "os/exec", "net", "net/http", "database/sql", "crypto/rand", "syscall"}
	impureCalls   = []string{"time.Now", "time.Since", "time.Sleep", "rand.Int", "rand.IntN", "rand.Float64", "rand.Perm", "rand.Shuffle"}
)

// Check gives the problems of the Go files below root, "file:line: what" each.
// Tests and testdata are not held to the limits.
func Check(root string) ([]string, error) {
	var problems []string
	documented := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); name != root && (base == "testdata" || base == "tools" || base == "node_modules" || strings.HasPrefix(base, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		found, hasDoc, err := checkFile(filepath.ToSlash(relative), text)
		problems = append(problems, found...)
		folder := path.Dir(filepath.ToSlash(relative))
		documented[folder] = documented[folder] || hasDoc
		return err
	})
	for folder, ok := range documented {
		if !ok {
			problems = append(problems, folder+": the package has no comment that says what it is for")
		}
	}
	slices.Sort(problems)
	return problems, err
}

// checkFile checks one file, named by its path below the root.
func checkFile(name string, text []byte) (problems []string, hasDoc bool, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments)
	if err != nil {
		return nil, false, err
	}
	report := func(pos token.Pos, format string, args ...any) {
		at := files.Position(pos)
		problems = append(problems, fmt.Sprintf("%s:%d: %s", at.Filename, at.Line, fmt.Sprintf(format, args...)))
	}
	folder := strings.TrimPrefix(path.Dir(name), ".")
	if slices.ContainsFunc(unchecked, func(room string) bool { return within(folder, room) }) {
		return nil, true, nil
	}
	if lines := files.File(file.Pos()).LineCount(); lines > maxFileLines {
		report(file.Package, "the file has %d lines, more than %d", lines, maxFileLines)
	}
	checkImports(folder, file, report)
	isPure := slices.ContainsFunc(pure, func(room string) bool { return room == roomOf(folder) })
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		lines := files.Position(function.End()).Line - files.Position(function.Pos()).Line + 1
		if lines > maxFunctionLines {
			report(function.Pos(), "%s has %d lines, more than %d", function.Name.Name, lines, maxFunctionLines)
		}
		if isPure && file.Name.Name != "main" {
			checkCalls(function, report)
		}
	}
	return problems, file.Doc != nil, nil
}

func checkImports(folder string, file *ast.File, report func(token.Pos, string, ...any)) {
	room, tier := roomOf(folder), tierOf(folder)
	if tier < 0 {
		report(file.Package, "the room %s has no tier: add it to internal/lint", folder)
		return
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if slices.Contains(pure, room) && slices.Contains(impureImports, imported) && file.Name.Name != "main" {
			report(spec.Pos(), "a pure room imports %s", imported)
		}
		if room == "" && strings.Contains(imported, ".") {
			report(spec.Pos(), "the domain imports %s; it may use the standard library only", imported)
		}
		below, ok := strings.CutPrefix(imported, module)
		if !ok {
			continue
		}
		below = strings.TrimPrefix(below, "/")
		if other := tierOf(below); other > tier {
			report(spec.Pos(), "%s (tier %d) imports %s (tier %d): imports go one way", room, tier, below, other)
		}
	}
}

func checkCalls(function *ast.FuncDecl, report func(token.Pos, string, ...any)) {
	ast.Inspect(function, func(node ast.Node) bool {
		call, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if owner, ok := call.X.(*ast.Ident); ok {
			if name := owner.Name + "." + call.Sel.Name; slices.Contains(impureCalls, name) {
				report(call.Pos(), "a pure room uses %s", name)
			}
		}
		return true
	})
}

// roomOf gives the room that a folder belongs to, the folder itself if none does.
func roomOf(folder string) string {
	best := folder
	for _, tier := range tiers {
		for _, room := range tier {
			if room != "" && within(folder, room) {
				best = room
			}
		}
	}
	return best
}

func tierOf(folder string) int {
	room := roomOf(folder)
	return slices.IndexFunc(tiers, func(rooms []string) bool { return slices.Contains(rooms, room) })
}

func within(folder, room string) bool {
	return folder == room || strings.HasPrefix(folder, room+"/")
}
