package probe

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/dbcanary/dbcanary/internal/profile"
)

// TestStackParsers: what perf script, gdb and eu-stack print, as folded stacks.
func TestStackParsers(t *testing.T) {
	datadriven.RunTest(t, "testdata/stacks", func(t *testing.T, d *datadriven.TestData) string {
		counts := newStackCounts()
		stacks, said := []profile.Stack(nil), ""
		switch d.Cmd {
		case "perf":
			var err error
			if stacks, err = parsePerfScript(strings.NewReader(d.Input)); err != nil {
				return "error: " + err.Error() + "\n"
			}
		case "gdb":
			said = fmt.Sprintf("%d threads\n", parseGDB(d.Input, counts))
			stacks = counts.stacks()
		case "eu":
			said = fmt.Sprintf("%d threads\n", parseEUStack(d.Input, counts))
			stacks = counts.stacks()
		}
		var got strings.Builder
		got.WriteString(said)
		for _, stack := range stacks {
			fmt.Fprintf(&got, "%d x %q\n", stack.Count, stack.Thread)
			for _, frame := range stack.Frames {
				kernel := ""
				if frame.InKernel() {
					kernel = " (kernel)"
				}
				fmt.Fprintf(&got, "  %s | %s%s\n", frame.Function, frame.Binary, kernel)
			}
		}
		return got.String()
	})
}

// checkStacks holds what is true of stacks from any input.
func checkStacks(t *testing.T, stacks []profile.Stack) {
	t.Helper()
	for _, stack := range stacks {
		if stack.Count <= 0 || len(stack.Frames) == 0 || len(stack.Frames) > profile.MaxDepth {
			t.Fatalf("a stack of %d frames %d times", len(stack.Frames), stack.Count)
		}
		for _, frame := range stack.Frames {
			if frame.Function == "" {
				t.Fatalf("a frame without a name in %+v", stack)
			}
		}
	}
}

func FuzzParsePerfScript(f *testing.F) {
	f.Add("mysqld 12 \n\t  28fc5d2 a::b (/usr/sbin/mysqld)\n\tffffffff8225fd19 x ([k] (deleted))\n\nx y 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		stacks, err := parsePerfScript(strings.NewReader(text))
		if err == nil {
			checkStacks(t, stacks)
		}
	})
}

func FuzzParseThreads(f *testing.F) {
	f.Add("Thread 2 (Thread 0x7f1a2b (LWP 12548) \"x\"):\n#0  0x0 in a<b (c)>::operator()(int) const (...) from /lib/libc.so\n#1  ?? ()\nTID 1:\n#0  0x1 f(int) const - /usr/lib/libc.so.6\n#1 0x2 - /x\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(string, *stackCounts) int{parseGDB, parseEUStack} {
			counts := newStackCounts()
			threads := parse(text, counts)
			if total := profile.Total(counts.stacks()); total != int64(threads) {
				t.Fatalf("%d threads and %d stacks", threads, total)
			}
			checkStacks(t, counts.stacks())
		}
	})
}
