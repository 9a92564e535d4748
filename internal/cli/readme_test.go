package cli_test

import (
	"os"
	"strings"
	"testing"
)

// Every dbcanary command of the README works as written, in its order; those that
// measure get less to do.
func TestReadmeExamples(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "```sh\n")
	if !ok {
		t.Fatal("the README has no block of commands")
	}
	block, _, _ = strings.Cut(block, "```")
	p := newProgram(t)
	commands := 0
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		args, ok := strings.CutPrefix(line, "dbcanary ")
		if !ok {
			t.Fatalf("not a command of dbcanary: %s", line)
		}
		commands++
		fields := strings.Fields(args)
		switch fields[0] {
		case "compare", "run":
			p.run(0, measure(append(fields, "--instances", "1")...)...)
		case "resume":
			// The example goes on with a run that was interrupted; this one is done.
			_, errs := p.run(2, fields...)
			if !strings.Contains(errs, "the run is done") {
				t.Errorf("%s: %s", line, errs)
			}
		default:
			if out, _ := p.run(0, fields...); out == "" {
				t.Errorf("%s printed nothing", line)
			}
		}
	}
	if commands < 8 {
		t.Errorf("only %d commands found", commands)
	}
}
