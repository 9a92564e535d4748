package probe

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary/internal/profile"
)

// parsePerfScript reads what `perf script -F comm,tid,ip,sym,dso` prints: for each
// sample a line with thread and number, then its frames, the leaf first.
func parsePerfScript(r io.Reader) ([]profile.Stack, error) {
	p := perfParser{counts: newStackCounts()}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		if err := p.line(lines.Text()); err != nil {
			return nil, fmt.Errorf("line %d of perf script: %w", number, err)
		}
	}
	p.endSample()
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read perf script: %w", err)
	}
	return p.counts.stacks(), nil
}

// perfParser is in a sample, or between two.
type perfParser struct {
	counts *stackCounts
	inside bool
	thread string
	frames []profile.Frame // the leaf first
}

func (p *perfParser) line(line string) error {
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "":
		p.endSample()
	case line[0] != '\t' && line[0] != ' ' || !p.inside:
		p.endSample()
		// The name of a thread may hold spaces; the number is last.
		at := strings.LastIndexByte(trimmed, ' ')
		if at < 0 {
			return fmt.Errorf("expected a thread and its number, found %q", trimmed)
		}
		if _, err := strconv.Atoi(trimmed[at+1:]); err != nil {
			return fmt.Errorf("expected a thread and its number, found %q", trimmed)
		}
		p.inside, p.thread = true, strings.TrimSpace(trimmed[:at])
	default:
		frame, err := parsePerfFrame(trimmed)
		if err != nil {
			return err
		}
		p.frames = append(p.frames, frame)
	}
	return nil
}

func (p *perfParser) endSample() {
	if p.inside {
		p.counts.add(p.frames, p.thread)
	}
	p.inside, p.frames = false, p.frames[:0]
}

// parsePerfFrame reads "ADDRESS SYMBOL (BINARY)".
func parsePerfFrame(text string) (profile.Frame, error) {
	hex, rest, ok := strings.Cut(text, " ")
	address, err := strconv.ParseUint(hex, 16, 64)
	if !ok || err != nil {
		return profile.Frame{}, fmt.Errorf("expected an address, a symbol and its binary, found %q", text)
	}
	symbol, binary := strings.TrimSpace(rest), ""
	// A binary is a path or in square brackets; the types in a symbol are neither.
	if at := max(strings.LastIndex(symbol, " (/"), strings.LastIndex(symbol, " ([")); at >= 0 {
		symbol, binary = symbol[:at], strings.TrimSuffix(symbol[at+2:], ")")
	}
	binary = path.Base(strings.TrimSuffix(binary, " (deleted)"))
	const kernelHalf = 1 << 63
	switch {
	case binary == "[unknown]" || binary == ".":
		binary = ""
	case address >= kernelHalf && !strings.HasPrefix(binary, "[kernel"):
		binary = "[kernel " + strings.Trim(binary, "[]") + "]" // a module
	}
	if symbol == "[unknown]" || symbol == "" {
		return profile.Unknown(binary), nil
	}
	return profile.Frame{Function: plainName(symbol), Binary: binary}, nil
}

// marks are what compilers put behind the names of parts and copies of functions,
// and linkers behind versions of them, which differ from build to build.
var marks = regexp.MustCompile(`( \[clone [^\]]*\]|\.(isra|part|constprop|cold|lto_priv|localalias|llvm)(\.\d+)?|@@?[A-Z]\w*_[\d.]+)+$`)

// plainName is the function as it is in the source.
func plainName(symbol string) string { return marks.ReplaceAllString(symbol, "") }
