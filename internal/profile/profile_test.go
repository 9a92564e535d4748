package profile

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// parse reads folded lines whose frames may name their binary: "name@binary", and
// whose root may name the thread: "thread: name".
func parse(t *testing.T, text string) []Stack {
	t.Helper()
	stacks, err := ParseFolded(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for i := range stacks {
		frames := stacks[i].Frames
		if thread, root, ok := strings.Cut(frames[0].Function, ": "); ok {
			stacks[i].Thread, frames[0].Function = thread, root
		}
		for j := range frames {
			frames[j].Function, frames[j].Binary, _ = strings.Cut(frames[j].Function, "@")
			if frames[j].Function == "" {
				frames[j] = Unknown(frames[j].Binary)
			}
		}
	}
	return stacks
}

// TestTexts: each command of testdata/texts prints the folded lines below it in one
// way; all go through pprof first.
func TestTexts(t *testing.T) {
	datadriven.RunTest(t, "testdata/texts", func(t *testing.T, d *datadriven.TestData) string {
		text, base, _ := strings.Cut(d.Input, "---\n")
		stacks := throughPprof(t, parse(t, text))
		var limits Limits
		d.MaybeScanArgs(t, "rows", &limits.Rows)
		percent := 0
		d.MaybeScanArgs(t, "percent", &percent)
		limits.MinShare = float64(percent) / 100
		writers := map[string]func(io.Writer, []Stack, Limits) error{
			"flat": WriteFlat, "callers": WriteCallers, "topdown": WriteTopDown, "lines": WriteLines,
			"folded": func(w io.Writer, stacks []Stack, _ Limits) error { return WriteFolded(w, stacks) },
			"pair": func(w io.Writer, stacks []Stack, _ Limits) error {
				return WriteFoldedPair(w, throughPprof(t, parse(t, base)), stacks)
			},
			"diff": func(w io.Writer, stacks []Stack, _ Limits) error {
				writeNode(w, Diff(throughPprof(t, parse(t, base)), stacks), 0)
				return nil
			},
		}
		var got strings.Builder
		if err := writers[d.Cmd](&got, stacks, limits); err != nil {
			t.Fatal(err)
		}
		return got.String()
	})
}

func writeNode(w io.Writer, n *Node, depth int) {
	fmt.Fprintf(w, "%s%s %d (base %d)\n", strings.Repeat("  ", depth), n.Frame.Function, n.Samples, n.Base)
	for _, above := range n.Above {
		writeNode(w, above, depth+1)
	}
}

func throughPprof(t *testing.T, stacks []Stack) []Stack {
	t.Helper()
	packed, err := Encode(stacks)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode(packed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Merge(stacks), again); diff != "" {
		t.Fatalf("through pprof (-want +got):\n%s", diff)
	}
	return again
}

func TestParseFolded_Errors(t *testing.T) {
	for text, want := range map[string]string{
		"a;b 1\nnothing\n":         `line 2: "nothing" is no stack and a count`,
		"a;b x\n":                  `line 1: "x" is no count`,
		"a -1\n":                   `line 1: "-1" is no count`,
		"a 99999999999999999999\n": `line 1: "99999999999999999999" is no count`,
		strings.Repeat("a;", MaxDepth+1) + "b 1\n":      "line 1: a stack of 2050 frames, more than 2048",
		"a 1\n" + strings.Repeat("a", maxLine+1) + " 1": "a line is longer than 1048576 bytes",
	} {
		if _, err := ParseFolded(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%.20q: error %v, want %s", text, err, want)
		}
	}
}

func TestDecode_Damage(t *testing.T) {
	packed, err := Encode([]Stack{{Frames: []Frame{{"a", "b"}}, Count: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{nil, {1, 2, 3}, packed[:len(packed)/2]} {
		if stacks, err := Decode(data); err == nil {
			t.Errorf("%d bytes of damage pass for %d stacks", len(data), len(stacks))
		}
	}
}

// stacksGen draws stacks of few functions, so that they meet.
func stacksGen() *rapid.Generator[[]Stack] {
	frame := rapid.Custom(func(t *rapid.T) Frame {
		return Frame{rapid.SampledFrom([]string{"a", "b", "<T, U>::c(x; y)", "d e", "é"}).Draw(t, "function"), rapid.SampledFrom([]string{"", "mysqld", "[kernel.kallsyms]"}).Draw(t, "binary")}
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Stack {
		return Stack{rapid.SliceOfN(frame, 1, 6).Draw(t, "frames"), rapid.SampledFrom([]string{"", "mysqld"}).Draw(t, "thread"), rapid.Int64Range(1, 1000).Draw(t, "count")}
	}), 0, 8)
}

// No sample is lost or made, whatever is done with stacks.
func TestTotals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, target := stacksGen().Draw(t, "base"), stacksGen().Draw(t, "target")
		packed, err := Encode(target)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(packed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Merge(target), again); diff != "" {
			t.Fatal(diff)
		}
		var folded strings.Builder
		if err := WriteFolded(&folded, target); err != nil {
			t.Fatal(err)
		}
		read, err := ParseFolded(strings.NewReader(folded.String()))
		if err != nil || Total(read) != Total(target) {
			t.Fatalf("folded: %d samples of %d, error %v", Total(read), Total(target), err)
		}
		root := Diff(base, target)
		if root.Samples != Total(target) || root.Base != Total(base) {
			t.Fatalf("the tree has %d and %d samples of %d and %d", root.Samples, root.Base, Total(target), Total(base))
		}
		checkNode(t, root)
	})
}

func checkNode(t *rapid.T, n *Node) {
	if n.self() < 0 {
		t.Fatalf("%s has %d samples of its own", n.Frame.Function, n.self())
	}
	for i, above := range n.Above {
		if i > 0 && n.Above[i-1].Frame.Function >= above.Frame.Function {
			t.Fatalf("%s lies after %s", above.Frame.Function, n.Above[i-1].Frame.Function)
		}
		checkNode(t, above)
	}
}

func FuzzParseFolded(f *testing.F) {
	f.Add("main;a b;c 12\n# x\n\n;; 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		stacks, err := ParseFolded(strings.NewReader(text))
		if err != nil {
			return
		}
		var svg strings.Builder
		if err := WriteFlameGraph(&svg, "fuzz", Side{Name: "x", Stacks: stacks}); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, svg.String())
	})
}

// wellFormed holds that a text is XML.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := decoder.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("the drawing is no XML: %v", err)
		}
	}
}
