package profile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// WriteFolded writes a line for each stack: its functions, the root first, with
// semicolons between, a space and the count. It is what the tools around flame
// graphs take; binaries and threads are left out, and equal lines added up.
func WriteFolded(w io.Writer, stacks []Stack) error {
	counts := foldedCounts(stacks)
	buffered := bufio.NewWriter(w)
	for _, stack := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(buffered, "%s %d\n", stack, counts[stack])
	}
	return buffered.Flush()
}

// WriteFoldedPair writes folded lines with two counts, of the base and of the
// target, as tools for differential flame graphs take them.
func WriteFoldedPair(w io.Writer, base, target []Stack) error {
	before, after := foldedCounts(base), foldedCounts(target)
	all := maps.Clone(before)
	maps.Copy(all, after)
	buffered := bufio.NewWriter(w)
	for _, stack := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(buffered, "%s %d %d\n", stack, before[stack], after[stack])
	}
	return buffered.Flush()
}

// foldedCounts adds up the samples by folded line.
func foldedCounts(stacks []Stack) map[string]int64 {
	counts := map[string]int64{}
	var line strings.Builder
	for _, stack := range stacks {
		line.Reset()
		for i, frame := range stack.Frames {
			if i > 0 {
				line.WriteByte(';')
			}
			line.WriteString(strings.ReplaceAll(printable(frame.Function), ";", ":"))
		}
		counts[line.String()] += stack.Count
	}
	return counts
}

// ParseFolded reads folded lines. Empty ones and comments, which start with "#",
// are skipped; an error names the line.
func ParseFolded(r io.Reader) ([]Stack, error) {
	var stacks []Stack
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		if at < 0 {
			return nil, fmt.Errorf("line %d: %q is no stack and a count", number, clip(line))
		}
		count, err := strconv.ParseInt(line[at+1:], 10, 64)
		if err != nil || count < 0 || count > maxCount {
			return nil, fmt.Errorf("line %d: %q is no count", number, clip(line[at+1:]))
		}
		stack := Stack{Count: count}
		for name := range strings.SplitSeq(strings.TrimSpace(line[:at]), ";") {
			stack.Frames = append(stack.Frames, Frame{Function: name})
		}
		if len(stack.Frames) > MaxDepth {
			return nil, fmt.Errorf("line %d: a stack of %d frames, more than %d", number, len(stack.Frames), MaxDepth)
		}
		stacks = append(stacks, stack)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("a line is longer than %d bytes", maxLine)
	}
	return stacks, lines.Err()
}

const (
	// MaxDepth is the most frames of a stack; what lies deeper is no program's.
	MaxDepth = 2048
	maxLine  = 1 << 20
	maxCount = 1 << 50 // so that a sum of counts does not overflow
)

// clip shortens a text for a message.
func clip(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
