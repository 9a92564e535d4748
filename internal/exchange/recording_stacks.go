package exchange

import (
	"regexp"
	"slices"
	"strings"
)

// Stack is a stack that was sampled so many times.
type Stack struct {
	Frames []string // the root first
	Count  int64
}

var (
	perfSample    = regexp.MustCompile(`^(\S.*?)\s+\d+(?:/\d+)?\s+(?:\[\d+\]\s+)?\d+\.\d+:\s+(?:\d+\s+)?([\w:.-]+):(?:\s+\S*)?\s*$`)
	perfHead      = regexp.MustCompile(`(?m)\A(?:#.*\n|\s*\n)*\S.*?\s+\d+(?:/\d+)?\s+(?:\[\d+\]\s+)?\d+\.\d+:\s+(?:\d+\s+)?[\w:.-]+:[^\n]*\n\s+[0-9a-f]+ \S`)
	pmpHead       = regexp.MustCompile(`\A(?:[A-Z][a-z]{2} [^\n]*\d\d:\d\d:\d\d[^\n]*\n)?\s*\d+ [A-Za-z_:~<\[][^\n]*?[^\s,],[A-Za-z_:~<\[][^\n]*\n`)
	collapsedHead = regexp.MustCompile(`\A[^\s;,{\[#][^\n]*;[^\n]* \d+\n`)
)

// perfScript reads the output of perf script: a line for each sample, then its frames,
// the leaf first. Of several events the first one counts.
func perfScript() resultFormat {
	return resultFormat{
		name:      "perf script",
		recognise: perfHead.MatchString,
		read: func(l *lines, results *Results) error {
			r := &perfReader{stackReader: newStackReader(l, results)}
			return r.read()
		},
	}
}

// ptPMP reads the output of pt-pmp, and the .hier files of the published scripts: a
// count, then the frames, the leaf first.
func ptPMP() resultFormat {
	return resultFormat{name: "pt-pmp", recognise: pmpHead.MatchString, read: readPMP}
}

// collapsedStacks reads what stackcollapse tools write: frames, the root first, and a count.
func collapsedStacks() resultFormat {
	return resultFormat{name: "collapsed stacks", recognise: collapsedHead.MatchString, read: readCollapsed}
}

// Bounds of the memory that stacks take.
const (
	mostStacks     = 200_000
	mostStackBytes = 64 << 20
	mostFrames     = 1024
)

// stackReader adds up stacks.
type stackReader struct {
	*lines
	results *Results
	counts  map[string]int64 // by frames, the root first, with 0 between
	bytes   int
	samples int64
	key     []byte
}

func newStackReader(l *lines, results *Results) *stackReader {
	return &stackReader{lines: l, results: results, counts: map[string]int64{}}
}

// add counts a stack; frames are the leaf first if leafFirst.
func (r *stackReader) add(frames []string, leafFirst bool, count int64) error {
	if len(frames) == 0 || count <= 0 {
		return nil
	}
	r.key = r.key[:0]
	for i := range min(len(frames), mostFrames) {
		frame := frames[i]
		if leafFirst {
			frame = frames[len(frames)-1-i]
		}
		if i > 0 {
			r.key = append(r.key, 0)
		}
		r.key = append(r.key, frame...)
	}
	if _, ok := r.counts[string(r.key)]; !ok {
		if r.bytes += len(r.key); len(r.counts) >= mostStacks || r.bytes > mostStackBytes {
			return r.failf(r.number, "there are more than %d stacks, or %d MB of them", mostStacks, mostStackBytes>>20)
		}
	}
	if count > 1<<40 || r.samples > 1<<50 {
		return r.failf(r.number, "a count of %d is out of range", count)
	}
	r.counts[string(r.key)] += count
	r.samples += count
	return nil
}

// finish takes what was read as a recording.
func (r *stackReader) finish(tool, sampler string) error {
	if r.err != nil {
		return r.err
	}
	if r.samples == 0 {
		return r.failf(max(1, r.number), "no stack was sampled: expected frames below each sample of %s", tool)
	}
	rec := Recording{File: r.name, Line: 1, Tool: tool, Samples: int(r.samples), Sampler: sampler}
	for key, count := range r.counts {
		rec.Stacks = append(rec.Stacks, Stack{strings.Split(key, "\x00"), count})
	}
	slices.SortFunc(rec.Stacks, func(a, b Stack) int { return slices.Compare(a.Frames, b.Frames) })
	r.results.Recordings = append(r.results.Recordings, rec)
	return nil
}

// perfReader reads samples one after the other.
type perfReader struct {
	*stackReader
	event  string // that counts
	other  string // the first one that does not
	frames []string
	counts bool
	inside bool
	comm   string
}

func (r *perfReader) read() error {
	for line := range r.all {
		if err := r.line(line); err != nil {
			return err
		}
	}
	if r.inside && r.number > 0 && !r.whole {
		r.results.cutTail(r.lines, r.number)
	} else if err := r.endSample(); err != nil {
		return err
	}
	if r.other != "" {
		r.results.Notes = append(r.results.Notes, r.failf(1, "of several events %s counts, and %s does not", r.event, r.other).Error())
	}
	return r.finish("perf script", "perf "+r.event)
}

func (r *perfReader) line(line string) error {
	switch {
	case line == "":
		return r.endSample()
	case line[0] == '#':
		return nil
	case line[0] != ' ' && line[0] != '\t':
		if err := r.endSample(); err != nil {
			return err
		}
		match := perfSample.FindStringSubmatch(line)
		if match == nil {
			if !r.whole {
				r.results.cutTail(r.lines, r.number)
				return nil
			}
			return r.failf(r.number, "expected a sample \"COMMAND PID TIME: PERIOD EVENT:\", found %q", clip(line))
		}
		if r.event == "" {
			r.event = strings.Clone(match[2])
		}
		if r.counts = match[2] == r.event; !r.counts && r.other == "" {
			r.other = strings.Clone(match[2])
		}
		r.comm, r.inside = strings.Clone(match[1]), true
		return nil
	case !r.inside:
		return r.failf(r.number, "expected a sample before its frames, found %q", clip(line))
	}
	name, file, ok := perfFrame(line)
	if !ok {
		if !r.whole {
			return nil
		}
		return r.failf(r.number, "expected a frame \"ADDRESS SYMBOL+OFFSET (FILE)\", found %q", clip(line))
	}
	if name == "[unknown]" && file != "" && file != "[unknown]" {
		name = "[" + file[strings.LastIndexByte(file, '/')+1:] + "]"
	}
	if len(r.frames) < mostFrames {
		r.frames = append(r.frames, strings.Clone(name))
	}
	return nil
}

// perfFrame takes "  ADDRESS SYMBOL+OFFSET (FILE)" apart, of which offset and file may
// be missing. By hand, since nearly all lines of a file are frames.
func perfFrame(line string) (symbol, file string, ok bool) {
	rest := strings.TrimLeft(line, perfSpace)
	address := len(rest) - len(strings.TrimLeft(rest, hexDigits))
	if len(rest) == len(line) || address == 0 || len(rest) < address+2 || rest[address] != ' ' {
		return "", "", false
	}
	symbol = rest[address+1:]
	// A symbol has one character at least, be it a space.
	first, later := symbol[:1], strings.TrimRight(symbol[1:], perfSpace)
	if at := strings.Index(later, " ("); at >= 0 && later[len(later)-1] == ')' {
		later, file = later[:at], later[at+2:len(later)-1]
	}
	symbol = symbol[:len(first)+len(later)]
	if at := strings.LastIndex(symbol[1:], "+0x") + 1; at > 0 && len(symbol) > at+3 && strings.Trim(symbol[at+3:], hexDigits) == "" {
		symbol = symbol[:at]
	}
	return symbol, file, true
}

const (
	perfSpace = " \t\n\f\r"
	hexDigits = "0123456789abcdef"
)

func (r *perfReader) endSample() error {
	if !r.inside {
		return nil
	}
	frames := append(r.frames, r.comm)
	r.frames, r.inside = r.frames[:0], false
	if !r.counts || len(frames) == 1 {
		return nil
	}
	return r.add(frames, true, 1)
}

func readPMP(l *lines, results *Results) error {
	r := newStackReader(l, results)
	for line := range l.all {
		number, frames, isRow := strings.Cut(strings.TrimSpace(line), " ")
		isRow = isRow && strings.Trim(number, "0123456789") == "" && frames[0] != ' '
		switch {
		case strings.TrimSpace(line) == "" || !isRow && l.number == 1:
			continue // the date
		case !l.whole:
			results.cutTail(l, l.number)
			continue
		case !isRow:
			return l.failf(l.number, "expected a count and frames with commas between, found %q", clip(line))
		}
		count, err := l.count("the count", number)
		if err != nil {
			return err
		}
		if err := r.add(pmpFrames(frames), true, count); err != nil {
			return err
		}
	}
	return r.finish("pt-pmp", "gdb")
}

// pmpFrames parts frames at commas that no bracket holds, and drops libraries and lines.
func pmpFrames(text string) []string {
	var frames []string
	depth, start := 0, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ',' && depth == 0:
			if frame := strings.TrimSpace(text[start:i]); frame != "" {
				frames = append(frames, withoutPlace(frame))
			}
			start = i + 1
		case text[i] == '<' || text[i] == '(':
			depth++
		case text[i] == '>' || text[i] == ')':
			depth = max(0, depth-1)
		}
	}
	return frames
}

// withoutPlace leaves off the brackets at the end of a frame that hold its library or its
// line: "poll(libc.so.6)", "net_read(net_serv.cc:1027)".
func withoutPlace(frame string) string {
	at := strings.LastIndexByte(frame, '(')
	if at < 0 || strings.IndexByte(frame[at:], ')') != len(frame)-at-1 {
		return frame
	}
	place := frame[at+1 : len(frame)-1]
	_, line, _ := strings.Cut(place, ":")
	if strings.Contains(place, ".so") || strings.Contains(place, ".c") || strings.Contains(place, ".h") || line != "" && line[0] >= '0' && line[0] <= '9' {
		return frame[:at]
	}
	return frame
}

func readCollapsed(l *lines, results *Results) error {
	r := newStackReader(l, results)
	for line := range l.all {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if !l.whole {
			results.cutTail(l, l.number)
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		if at <= 0 {
			return l.failf(l.number, "expected frames with semicolons between and a count, found %q", clip(line))
		}
		count, err := l.count("the count", line[at+1:])
		if err != nil {
			return err
		}
		if err := r.add(strings.Split(strings.TrimSpace(line[:at]), ";"), false, count); err != nil {
			return err
		}
	}
	return r.finish("collapsed stacks", "collapsed stacks")
}
