package workload

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWorkloadsPage holds docs/WORKLOADS.md to the catalogue.
func TestWorkloadsPage(t *testing.T) {
	const path = "../../docs/WORKLOADS.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const marker = "-rewrite -->\n"
	head, _, ok := strings.Cut(string(page), marker)
	if !ok {
		t.Fatalf("%s has no line that ends with %q", path, marker)
	}
	want := head + marker + catalogueMarkdown()
	// The flag is that of the datadriven tests.
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("%s is not what the catalogue says (-want +got):\n%s", path, diff)
	}
}

func catalogueMarkdown() string {
	var out strings.Builder
	out.WriteString("\n## Suites\n")
	for _, suite := range Suites() {
		fmt.Fprintf(&out, "\n### %s\n\n```\n%s```\n", suite.Name, suite.Describe())
	}
	out.WriteString("\n## Benchmarks\n")
	for _, b := range Catalogue() {
		fmt.Fprintf(&out, "\n### %s\n\n```\n%s```\n", b.Label, b.Describe())
	}
	return out.String()
}

// TestScenarioRows: the page says of each scenario which regressions it stands for.
func TestScenarioRows(t *testing.T) {
	page, err := os.ReadFile("../../docs/WORKLOADS.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || len(strings.TrimSpace(cells[2])) < 10 {
			continue
		}
		for i, name := range strings.Split(cells[1], "`") {
			if i%2 == 1 {
				rows[name] = true
			}
		}
	}
	for _, b := range scenarios() {
		if !rows[b.Name] {
			t.Errorf("no row says what %s stands for", b.Name)
		}
	}
}
