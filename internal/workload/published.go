package workload

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// publishedWrite is how long a benchmark that writes is measured in the published
// reports; one that reads has dbcanary.PublishedSlice.
const publishedWrite = 600 * time.Second

// Quirks are how a published benchmark differs from ours, as data: the classic mode
// has them. What Differs of a benchmark says in words and is not here differs in
// every mode.
type Quirks struct {
	CutSpans  bool // spans start anywhere, so the table's end cuts some
	LongSpans bool // spans are one longer than the range says
	List      int  // keys of a list, whatever the label says; 0 for as many as it says
	Points    int  // point queries before the statement, in one transaction with it
	Keys      Keys // the distribution; "" for ours
	Repeats   bool // ids of deleted rows are drawn again
	ByTime    bool // slices end by time, also where that changes the number of rows
	OwnTable  bool // each connection stays on a table of its own
	ReadTime  bool // writes, and is measured for as long as what reads
}

// quirks has those of each benchmark that has some, by its name.
func quirks(name string) Quirks {
	switch name {
	case "update-inlist":
		return Quirks{List: 10}
	case "write-only":
		return Quirks{ReadTime: true}
	case "read-write", "read-only", "read-only-count":
		return Quirks{CutSpans: true}
	case "read-only-simple", "read-only-sum", "read-only-order", "read-only-distinct":
		return Quirks{CutSpans: true, Points: 10}
	case "range-covered-pk", "range-notcovered-pk", "range-covered-si", "range-notcovered-si":
		return Quirks{CutSpans: true, LongSpans: true}
	case "scan":
		return Quirks{OwnTable: true}
	case "delete":
		return Quirks{Keys: Uniform, Repeats: true, ByTime: true}
	case "insert":
		return Quirks{ByTime: true}
	}
	return Quirks{}
}

// Quirks tells how the published benchmark differs from this one.
func (b Benchmark) Quirks() Quirks {
	q := quirks(b.Name)
	if b.Range != b.UsualRange {
		q.List = 0 // a length that was asked for
	}
	return q
}

// AsPublished gives the benchmark with the quirks of the published one, under the
// same label.
func (b Benchmark) AsPublished() Benchmark {
	q := b.Quirks()
	b.Listed, b.OwnTable, b.Shrinks = q.List, q.OwnTable, q.Repeats
	if q.Keys != "" {
		b.Keys = q.Keys
	}
	b.Bounded = b.Bounded && !q.ByTime
	var steps []Step
	if q.Points > 0 {
		points := pointSelect()
		points.Times = q.Points
		steps, b.Transaction = []Step{points}, true
	}
	for _, step := range b.Steps {
		steps = append(steps, step.published(q))
	}
	b.Steps = steps
	return b
}

// published is a step with the quirks that concern steps.
func (s Step) published(q Quirks) Step {
	if q.CutSpans && slices.Contains(s.Args, SpanStart) {
		s.Args = slices.Clone(s.Args)
		for i, arg := range s.Args {
			switch {
			case arg == SpanStart:
				s.Args[i] = Key
			case arg == SpanEnd && q.LongSpans:
				s.Args[i] = KeyBeyond
			case arg == SpanEnd:
				s.Args[i] = KeyEnd
			}
		}
		switch {
		case s.Answer == SpanRowsByK:
			s.Answer = CutSpanByK
		case s.Answer != Aggregate && q.LongSpans:
			s.Answer = LongSpan
		case s.Answer != Aggregate:
			s.Answer = CutSpan
		}
	}
	if q.Repeats {
		s.Answer = AtMostOne
	}
	return s
}

// Slices is how long the published benchmark is measured, where 1 is as long as one
// that reads. One that runs once takes the time that its work takes: 0.
func (b Benchmark) Slices() float64 {
	switch {
	case b.Single:
		return 0
	case b.Writes && !b.Quirks().ReadTime:
		return slicesOf(publishedWrite)
	}
	return 1
}

// slicesOf is a published time where that of a benchmark that reads is 1.
func slicesOf(d time.Duration) float64 { return d.Seconds() / dbcanary.PublishedSlice.Seconds() }

// describe says the quirks in words; "" if there are none.
func (q Quirks) describe() string {
	var parts []string
	add := func(has bool, text string) {
		if has {
			parts = append(parts, text)
		}
	}
	add(q.List > 0, fmt.Sprintf("%d ids in the list", q.List))
	add(q.Points > 0, fmt.Sprintf("BEGIN and %d point queries before the statement, COMMIT after it", q.Points))
	add(q.CutSpans, "spans start anywhere, so the table's end cuts some")
	add(q.LongSpans, "spans are one longer than the range says")
	add(q.Repeats, "ids are drawn again, so that ever more statements find no row")
	add(q.ByTime, "slices end by time, so a faster server changes more rows")
	add(q.OwnTable, "each connection stays on a table of its own")
	add(q.ReadTime, "measured as long as what only reads")
	return strings.Join(parts, "; ")
}
