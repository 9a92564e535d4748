package cli_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/dbcanary/dbcanary/internal/cli"
)

var update = flag.Bool("update", false, "write docs/cli anew")

// The reference in docs/cli is made from the commands, and every command says
// what it does and how it is called.
func TestReferenceIsUpToDate(t *testing.T) {
	root := cli.NewRoot(&cli.Env{})
	root.DisableAutoGenTag = true
	committed := filepath.Join("..", "..", "docs", "cli")
	made := t.TempDir()
	if *update {
		made = committed
		if err := os.MkdirAll(made, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := doc.GenMarkdownTree(root, made); err != nil {
		t.Fatal(err)
	}
	want, got := readDir(t, made), readDir(t, committed)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/cli is out of date; run: go test ./internal/cli -run Reference -update\n%s", diff)
	}
	checkTexts(t, root)
}

func checkTexts(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	if cmd.Name() == "help" {
		return // cobra's own
	}
	if cmd.Short == "" || cmd.Example == "" {
		t.Errorf("%s has no short text or no example", cmd.CommandPath())
	}
	for _, sub := range cmd.Commands() {
		checkTexts(t, sub)
	}
}

func readDir(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		texts[entry.Name()] = string(text)
	}
	return texts
}
