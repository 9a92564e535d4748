package changepoint

import (
	"fmt"
	"slices"
)

// How much of a growing history is looked at again.
const (
	streamOpen = 2 * widePoints // the last points, in which changes may still move
	streamMost = 4 * streamOpen // values kept beside the plot before them, if no change allows fewer
)

// Stream is Detect for a history that grows. It keeps the values since some
// change before the last 400 points, 500 more to the left of it for the plot, and
// at most 2,600 in all; an append looks at those only. Changes before that are
// frozen: they no longer move, while Detect would judge all of them anew. Not
// for use by several goroutines at once.
type Stream struct {
	opts    Options
	tail    Series
	offset  int      // index of the tail's first value in the whole history
	settled int      // index in the whole history up to which changes are frozen
	changes []Change // with indexes in the whole history
	frozen  int      // how many of them
	result  Result   // of the values that are no longer kept
}

// NewStream makes an empty stream.
func NewStream(opts Options) *Stream { return &Stream{opts: opts} }

// Append adds values at the end and gives all changes of the history so far,
// with indexes counted from its first value. All appends have positions, or
// none; the same holds for weights. An error leaves the stream as it was.
// Points, Dropped and Repeats of the Result are those of the whole history,
// Noise is that of the values that are kept. Its Changes are valid until the
// next append.
func (s *Stream) Append(more Series) (Result, error) {
	if err := more.check(); err != nil {
		return Result{}, err
	}
	if len(s.tail.Values) > 0 {
		if (s.tail.Positions == nil) != (more.Positions == nil) || (s.tail.Weights == nil) != (more.Weights == nil) {
			return Result{}, fmt.Errorf("append to a stream of %d values: positions or weights are missing on one side", s.offset+len(s.tail.Values))
		}
	}
	longer := Series{
		Values:    slices.Concat(s.tail.Values, more.Values),
		Positions: concat(s.tail.Positions, more.Positions),
		Weights:   concat(s.tail.Weights, more.Weights),
	}
	found, err := Detect(longer, s.opts)
	if err != nil {
		return Result{}, err
	}
	s.tail = longer
	result := found
	s.changes = s.changes[:s.frozen]
	for _, c := range found.Changes {
		c.shift(s.offset, longer.Positions == nil)
		if s.isOpen(c.Index) {
			s.changes = append(s.changes, c)
		}
	}
	result.Changes = s.changes
	result.Points += s.result.Points
	result.Dropped += s.result.Dropped
	result.Repeats += s.result.Repeats
	s.freeze()
	return result, nil
}

// isOpen tells whether a change at index is neither frozen nor a frozen one found again.
func (s *Stream) isOpen(index int) bool {
	if s.frozen > 0 && index < s.changes[s.frozen-1].Index+minSegment {
		return false
	}
	return index > s.settled || s.settled == 0
}

// concat keeps nil for nothing, which stands for defaults.
func concat(a, b []float64) []float64 {
	if a == nil && b == nil {
		return nil
	}
	return slices.Concat(a, b)
}

func (c *Change) shift(offset int, positionsToo bool) {
	c.Index += offset
	c.LastGood += offset
	c.FirstBad += offset
	if positionsToo {
		c.LastGoodPosition += float64(offset)
		c.FirstBadPosition += float64(offset)
	}
}

// freeze drops what no later append will look at.
func (s *Stream) freeze() {
	end := s.offset + len(s.tail.Values)
	settled := s.settled
	if end-streamMost > settled {
		settled = end - streamOpen
	}
	open := s.changes[s.frozen:]
	for _, c := range open {
		// A change just after the border may be found just before it next time.
		if c.Index <= end-streamOpen || settled > s.settled && c.Index <= settled+nearPoints {
			settled = max(settled, c.Index)
		}
	}
	if settled == s.settled {
		return
	}
	s.settled = settled
	for _, c := range open {
		if c.Index <= settled {
			s.frozen++
		}
	}
	s.drop(settled - plotPoints - s.offset)
}

// drop forgets the first values of the tail, whole positions only.
func (s *Stream) drop(count int) {
	for count > 0 && s.tail.Positions != nil && s.tail.Positions[count] == s.tail.Positions[count-1] {
		count--
	}
	if count <= 0 {
		return
	}
	gone := Series{Values: s.tail.Values[:count]}
	s.tail.Values = s.tail.Values[count:]
	if s.tail.Positions != nil {
		gone.Positions, s.tail.Positions = s.tail.Positions[:count], s.tail.Positions[count:]
	}
	if s.tail.Weights != nil {
		gone.Weights, s.tail.Weights = s.tail.Weights[:count], s.tail.Weights[count:]
	}
	s.offset += count
	p, err := gone.points()
	if err != nil { // none of them has a value
		s.result.Dropped += count
		return
	}
	s.result.Points += len(p.x)
	s.result.Dropped += p.dropped
	s.result.Repeats += p.repeats
}
