package build

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
)

func TestSources(t *testing.T) {
	datadriven.Walk(t, "testdata/sources", func(t *testing.T, path string) {
		var sources []source
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			// A "." stands for an empty line, which would end the input.
			input := strings.ReplaceAll(d.Input+"\n", "\n.\n", "\n\n")
			switch d.Cmd {
			case "one-line":
				sources = parseOneLine(input)
			case "deb822":
				sources = parseDeb822(input)
			case "turn":
				var suite string
				d.ScanArgs(t, "suite", &suite)
				turned := debianSources(sources, suite)
				if !hasSuite(turned, suite) {
					return "no mirror\n"
				}
				return strings.ReplaceAll(formatSources(turned, "amd64"), "\n\n", "\n.\n")
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			return fmt.Sprintf("%d sources\n", len(sources))
		})
	})
}

// What is written out says the same when it is read again.
func FuzzSources(f *testing.F) {
	f.Add("deb http://mirror.example/debian bookworm main contrib # comment\n")
	f.Add("deb [arch=amd64,arm64 signed-by=/k.gpg trusted=yes] mirror+file:/etc/apt/m.list sid main\n")
	f.Add("Types: deb deb-src\nURIs: http://mirror.example/debian\nSuites: trixie trixie-updates\nComponents: main\nSigned-By:\n -----BEGIN-----\n .\n abc\n\nEnabled: no\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, sources := range [][]source{parseOneLine(text), parseDeb822(text)} {
			for _, suite := range debianSuites {
				turned := debianSources(sources, suite)
				written := formatSources(turned, "amd64")
				if again := formatSources(debianSources(parseDeb822(written), suite), "amd64"); written != again {
					t.Fatalf("%s", cmp.Diff(written, again))
				}
				for _, entry := range turned {
					if slices.ContainsFunc(entry.suites, func(s string) bool { return !strings.HasPrefix(s, suite) }) {
						t.Fatalf("suites %q, want those of %s only", entry.suites, suite)
					}
				}
			}
		}
	})
}

// The machine's own sources must be understood: without them nothing can be fetched.
func TestSources_OfThisMachine(t *testing.T) {
	d := &debian{tools: toolbox{runner: processRunner{}, environ: os.Environ()}}
	sources, err := d.userSources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, suite := range debianSuites {
		if !hasSuite(debianSources(sources, suite), suite) {
			t.Errorf("no mirror for %s in %+v", suite, sources)
		}
	}
}
