package probe

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary/internal/profile"
)

// stackCounts adds up stacks.
type stackCounts struct {
	at   map[string]int
	list []profile.Stack
}

func newStackCounts() *stackCounts { return &stackCounts{at: map[string]int{}} }

// add counts a stack; its frames have the leaf first. Of neighbours that their
// binary has no name for one stays: how many there are depends on the compiler.
func (c *stackCounts) add(frames []profile.Frame, thread string) {
	if len(frames) > profile.MaxDepth {
		frames = frames[:profile.MaxDepth]
	}
	frames = slices.CompactFunc(slices.Clone(frames), func(a, b profile.Frame) bool {
		return a == b && strings.HasPrefix(a.Function, "[")
	})
	if len(frames) == 0 {
		return
	}
	slices.Reverse(frames)
	var key strings.Builder
	key.WriteString(thread)
	for _, frame := range frames {
		key.WriteString("\x00" + frame.Function + "\x01" + frame.Binary)
	}
	at, known := c.at[key.String()]
	if !known {
		at = len(c.list)
		c.at[key.String()] = at
		c.list = append(c.list, profile.Stack{Frames: frames, Thread: thread})
	}
	c.list[at].Count++
}

func (c *stackCounts) stacks() []profile.Stack { return profile.Merge(c.list) }

var (
	gdbThread = regexp.MustCompile(`^Thread \d+ \((?:Thread 0x[0-9a-f]+ )?\(?(?:LWP|process) \d+\)?(?: "(.*)")?\):`)
	gdbFrame  = regexp.MustCompile(`^#\d+\s+(?:0x[0-9a-f]+ in )?(.+?)(?: (?:from|at) (\S+))?$`)
	euFrame   = regexp.MustCompile(`^#\d+\s+0x[0-9a-f]+(?: (.*?))? ?- (\S.*)$`)
	euThread  = regexp.MustCompile(`^TID \d+:`)
)

// parseGDB adds the threads of `thread apply all bt` to counts and gives their number.
func parseGDB(text string, counts *stackCounts) int {
	threads, inside, thread := 0, false, ""
	var frames []profile.Frame
	end := func() {
		if inside && len(frames) > 0 {
			counts.add(frames, thread)
			threads++
		}
		inside, frames = false, nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, " \r")
		if match := gdbThread.FindStringSubmatch(line); match != nil {
			end()
			inside, thread = true, match[1]
		} else if match := gdbFrame.FindStringSubmatch(line); match != nil && inside {
			frames = append(frames, gdbFrameOf(match[1], match[2]))
		} else if line == "" {
			end()
		}
	}
	end()
	return threads
}

// gdbFrameOf reads "name(types) (arguments)" and where that is: a library, or a
// place in the source.
func gdbFrameOf(text, where string) profile.Frame {
	binary := ""
	if strings.HasPrefix(where, "/") && !strings.Contains(where, ":") {
		binary = path.Base(where)
	}
	name := strings.TrimSpace(dropArguments(text))
	if name == "??" || name == "" {
		return profile.Unknown(binary)
	}
	if plain := strings.TrimSpace(dropArguments(strings.TrimSuffix(name, " const"))); plain != "" {
		name = plain
	}
	return profile.Frame{Function: plainName(name), Binary: binary}
}

// dropArguments cuts a pair of brackets off the end, with what is in it.
func dropArguments(text string) string {
	if !strings.HasSuffix(text, ")") {
		return text
	}
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				if strings.HasSuffix(text[:i], "operator") {
					return text // operator() itself
				}
				return text[:i]
			}
		}
	}
	return text
}

// parseEUStack adds the threads of `eu-stack -m` to counts and gives their number.
func parseEUStack(text string, counts *stackCounts) int {
	threads := 0
	var frames []profile.Frame
	end := func() {
		if len(frames) > 0 {
			counts.add(frames, "")
			threads++
		}
		frames = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if euThread.MatchString(line) {
			end()
		} else if match := euFrame.FindStringSubmatch(line); match != nil {
			binary := path.Base(strings.TrimSpace(match[2]))
			name := strings.TrimSpace(match[1])
			if name == "" {
				frames = append(frames, profile.Unknown(binary))
				continue
			}
			if plain := dropArguments(strings.TrimSuffix(name, " const")); plain != "" {
				name = plain
			}
			frames = append(frames, profile.Frame{Function: plainName(name), Binary: binary})
		}
	}
	end()
	return threads
}
