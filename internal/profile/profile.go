// Package profile holds sampled stacks: as folded lines and as pprof, added up to
// call trees, compared with each other, and drawn as flame graphs.
package profile

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Frame is a function on a stack.
type Frame struct {
	Function string // "row_search_mvcc"; "[libc.so.6]" for what the binary has no name for
	Binary   string // file that it is in: "mysqld", "[kernel.kallsyms]"; "" if unknown
}

// Stack is a stack that was sampled Count times.
type Stack struct {
	Frames []Frame // the root first
	Thread string  // name of the thread, "" if unknown
	Count  int64
}

// Leaf is the function that ran, or waited.
func (s Stack) Leaf() Frame {
	if len(s.Frames) == 0 {
		return Frame{}
	}
	return s.Frames[len(s.Frames)-1]
}

// Names are the functions, the root first.
func (s Stack) Names() []string {
	names := make([]string, len(s.Frames))
	for i, frame := range s.Frames {
		names[i] = frame.Function
	}
	return names
}

// printable is a name without what would part lines or a terminal would obey.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r):
			return unicode.ReplacementChar
		}
		return r
	}, name)
}

// Total is how many samples there are.
func Total(stacks []Stack) int64 {
	var total int64
	for _, stack := range stacks {
		total += stack.Count
	}
	return total
}

// Merge adds up equal stacks and gives them in the order of their frames.
func Merge(stacks []Stack) []Stack {
	sorted := slices.Clone(stacks)
	slices.SortStableFunc(sorted, compareStacks)
	var merged []Stack
	for _, stack := range sorted {
		if last := len(merged) - 1; last >= 0 && compareStacks(merged[last], stack) == 0 {
			merged[last].Count += stack.Count
			continue
		}
		merged = append(merged, stack)
	}
	return merged
}

func compareStacks(a, b Stack) int {
	return cmp.Or(slices.CompareFunc(a.Frames, b.Frames, compareFrames), cmp.Compare(a.Thread, b.Thread))
}

func compareFrames(a, b Frame) int {
	return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.Binary, b.Binary))
}

// Unknown is the frame for code of a binary that has no name for it.
func Unknown(binary string) Frame {
	if binary == "" {
		return Frame{Function: "[unknown]"}
	}
	return Frame{Function: "[" + strings.Trim(binary, "[]") + "]", Binary: binary}
}

// InKernel tells a frame of the kernel or of its modules.
func (f Frame) InKernel() bool {
	return strings.HasPrefix(f.Binary, "[kernel") || strings.HasPrefix(f.Binary, "[guest.kernel") || strings.HasSuffix(f.Binary, ".ko")
}
