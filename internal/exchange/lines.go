package exchange

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// longestLine is where a line is cut; what lies behind is no number of a result.
const longestLine = 64 << 10

// lines reads a text line by line and knows where it is.
type lines struct {
	name      string
	number    int // of the line given last, from 1
	reader    *bufio.Reader
	others    []resultFormat   // whose output must not begin here
	recording recordingOptions // for a recording
	err       error            // why the lines ended early
	last      string
	whole     bool // the last line has an end
}

func newLines(name string, r io.Reader) *lines {
	return &lines{name: name, reader: bufio.NewReaderSize(r, longestLine)}
}

// head gives the first lines without taking them.
func (l *lines) head() (string, error) {
	head, err := l.reader.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", l.failf(1, "%w", readError(err))
	}
	return strings.ReplaceAll(string(head), "\r\n", "\n"), nil
}

// next gives the next line without its end; false at the end of the text or if
// err is set.
func (l *lines) next() (string, bool) {
	if l.err != nil {
		return "", false
	}
	line, err := l.reader.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		line = bytes.Clone(line)
		_, err = l.reader.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = l.failf(l.number+1, "%w", readError(err))
		return "", false
	}
	if len(line) == 0 {
		return "", false
	}
	l.number++
	if bytes.IndexByte(line, 0) >= 0 {
		l.err = l.failf(l.number, "a byte of 0 stands in the text: the file is damaged or not text")
		return "", false
	}
	l.whole = err == nil
	l.last = string(bytes.TrimRight(line, "\r\n"))
	if !mayBegin(l.last) {
		return l.last, true
	}
	for _, other := range l.others {
		if other.begins(l.last) {
			l.err = l.failf(l.number, "here begins output of %s within that of another tool; give each a file of its own", other.name)
			return "", false
		}
	}
	return l.last, true
}

// all gives the lines that are left to range over. They end early where err is set.
func (l *lines) all(yield func(string) bool) {
	for {
		line, ok := l.next()
		if !ok || !yield(line) {
			return
		}
	}
}

// mayBegin tells lines in which no tool's output begins from the others: the rows of
// numbers that long files consist of.
func mayBegin(line string) bool {
	return line != "" && line[0] != ' ' && (line[0] < '0' || line[0] > '9') && !strings.HasPrefix(line, "[ ")
}

func readError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the compressed data end too early: was the file cut?")
	}
	return err
}

// cut tells that the last line has no end. Where a number or name ends the line,
// it may have lost digits that no reader would miss.
func (l *lines) cut() error {
	if l.whole {
		return nil
	}
	return l.failf(l.number, "the last line has no end: was the file cut? If it is whole, add a line break")
}

// failf is an error about a line.
func (l *lines) failf(line int, format string, args ...any) error {
	return seriesError(l.name, line, 0, "%s", fmt.Errorf(format, args...))
}

// float reads a finite number of the current line that is not negative.
func (l *lines) float(what, text string) (float64, error) {
	text = strings.TrimSpace(text)
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err == nil && v >= 0 && !math.IsInf(v, 0):
		return v, nil
	case strings.Count(text, ",") == 1 && !strings.Contains(text, "."):
		return 0, l.failf(l.number, "%s is %q, with a decimal comma; run the tool with LC_ALL=C", what, text)
	}
	return 0, l.failf(l.number, "%s should be a number and is %q", what, clip(text))
}

// count reads a whole number of the current line that is not negative.
func (l *lines) count(what, text string) (int64, error) {
	v, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || v < 0 {
		return 0, l.failf(l.number, "%s should be a whole number and is %q", what, clip(text))
	}
	return v, nil
}

func firstLine(text string) string {
	text = strings.TrimLeft(text, "\n\r\t ")
	line, _, _ := strings.Cut(text, "\n")
	return clip(strings.TrimSpace(line))
}

// secret is a password in a command line or a DSN.
var secret = regexp.MustCompile(`(?i)(pass\w*|pwd)(\s*[=:]\s*|\s+)\S+|(://[^:/@\s]*):[^@\s]*@`)

// clip shortens what a message quotes and leaves out passwords.
func clip(text string) string {
	const most = 60
	text = secret.ReplaceAllString(text, "$1$2$3…")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// openText undoes compression and encodings that tools and shells leave in files.
func openText(name string, r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	start, err := buffered.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, seriesError(name, 0, 0, "%v", err)
	}
	if bytes.HasPrefix(start, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, seriesError(name, 0, 0, "it starts as gzip does, but: %v", err)
		}
		buffered = bufio.NewReader(unpacked)
		if start, err = buffered.Peek(4); err != nil && !errors.Is(err, io.EOF) {
			return nil, seriesError(name, 0, 0, "unpack gzip: %v", err)
		}
	}
	for magic, tool := range map[string]string{"\x28\xb5\x2f\xfd": "zstd", "\xfd7zX": "xz", "BZh": "bzip2", "PK\x03\x04": "zip", "SQLi": "SQLite (no text)"} {
		if bytes.HasPrefix(start, []byte(magic)) {
			return nil, seriesError(name, 0, 0, "the file is in the format of %s; unpack it first", tool)
		}
	}
	switch {
	case bytes.HasPrefix(start, []byte("\ufeff")):
		_, err = buffered.Discard(3)
	case bytes.HasPrefix(start, []byte{0xff, 0xfe}):
		_, err = buffered.Discard(2)
		return &utf16Reader{source: buffered, low: 0, high: 1}, err
	case bytes.HasPrefix(start, []byte{0xfe, 0xff}):
		_, err = buffered.Discard(2)
		return &utf16Reader{source: buffered, low: 1, high: 0}, err
	case len(start) == 4 && start[1] == 0 && start[3] == 0 && start[0] != 0:
		return &utf16Reader{source: buffered, low: 0, high: 1}, nil
	case len(start) == 4 && start[0] == 0 && start[2] == 0 && start[1] != 0:
		return &utf16Reader{source: buffered, low: 1, high: 0}, nil
	default:
		err = nil
	}
	return buffered, err
}

// utf16Reader gives UTF-16 as UTF-8.
type utf16Reader struct {
	source    *bufio.Reader
	low, high int // place of the bytes in a unit
	pending   []byte
}

func (u *utf16Reader) unit() (rune, error) {
	var pair [2]byte
	if _, err := io.ReadFull(u.source, pair[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF // half a character at the end of a file that was cut
		}
		return 0, err
	}
	return rune(pair[u.high])<<8 | rune(pair[u.low]), nil
}

// Read implements io.Reader.
func (u *utf16Reader) Read(into []byte) (int, error) {
	for len(u.pending) < len(into) && len(u.pending) < 4096 {
		r, err := u.unit()
		if err == nil && utf16.IsSurrogate(r) {
			var second rune
			if second, err = u.unit(); err == nil {
				r = utf16.DecodeRune(r, second)
			}
		}
		if err != nil {
			if len(u.pending) == 0 {
				return 0, err
			}
			break
		}
		u.pending = utf8.AppendRune(u.pending, r)
	}
	n := copy(into, u.pending)
	u.pending = u.pending[:copy(u.pending, u.pending[n:])]
	return n, nil
}
