package exchange

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// TestPerfFrame holds the frames of perf script to the pattern that they have.
func TestPerfFrame(t *testing.T) {
	pattern := regexp.MustCompile(`^\s+([0-9a-f]+) (.+?)(?:\+0x[0-9a-f]+)?(?: \(([^()]*|.*)\))?\s*$`)
	matched := 0
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
			" ", "  ", "\t", "7f3a", "0", "main", "operator (int)", "+0x1f", "+0x", "+", " (/usr/lib/libc.so.6)", " (", ")", "()", "[unknown]", "é", "x", "\xff",
		}), 0, 8).Draw(t, "pieces")
		line := rapid.SampledFrom([]string{"", " ", "\t 7f3a ", "  7f3a "}).Draw(t, "begin")
		for _, piece := range pieces {
			line += piece
		}
		symbol, file, ok := perfFrame(line)
		match := pattern.FindStringSubmatch(line)
		if ok != (match != nil) {
			t.Fatalf("%q: a frame is %v, by the pattern %v", line, ok, match != nil)
		}
		if ok {
			matched++
			if symbol != match[2] || file != match[3] {
				t.Fatalf("%q: %q of %q, by the pattern %q of %q", line, symbol, file, match[2], match[3])
			}
		}
	})
	if matched == 0 {
		t.Error("no line was a frame")
	}
}
