package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// jsonTail decodes JSON in the middle of lines and goes on with lines behind it.
type jsonTail struct {
	*json.Decoder
	lines   *lines
	counted *newlineCounter
}

// newlineCounter counts line ends that were read.
type newlineCounter struct {
	reader io.Reader
	count  int
}

// Read implements io.Reader.
func (c *newlineCounter) Read(into []byte) (int, error) {
	n, err := c.reader.Read(into)
	c.count += bytes.Count(into[:n], []byte("\n"))
	return n, err
}

// json decodes from this text, which is the current line or nothing, and what follows it.
func (l *lines) json(text string) *jsonTail {
	if text != "" {
		text += "\n"
	}
	counted := &newlineCounter{reader: io.MultiReader(strings.NewReader(text), l.reader)}
	return &jsonTail{json.NewDecoder(counted), l, counted}
}

// end reads on to the end of the file, so that output of another tool below is told.
func (j *jsonTail) end() error {
	buffered, err := io.ReadAll(j.Buffered())
	if err != nil {
		return j.lines.failf(j.lines.number, "%w", err)
	}
	rest := newLines(j.lines.name, io.MultiReader(bytes.NewReader(buffered), j.counted.reader))
	rest.others = j.lines.others
	rest.number = max(0, j.lines.number-1) + j.counted.count - bytes.Count(buffered, []byte("\n"))
	for range rest.all {
		continue // next tells where output of another tool begins
	}
	return rest.err
}

// cutJSON tells that JSON ends before it should.
func cutJSON(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
