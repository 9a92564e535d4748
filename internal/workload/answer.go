package workload

import (
	"fmt"
	"math"
)

// Answer is the rule that the size of a statement's answer is judged by: rows
// returned for a query, rows affected for a change.
type Answer string

// The answers. Bounds on rows by id hold until rows are deleted for good, those
// on k and on equal values of c hold until any benchmark changed rows.
const (
	OneRow       Answer = "one row"                 // exactly 1
	Aggregate    Answer = "an aggregate"            // exactly 1, whatever became of the rows
	NoRow        Answer = "no row"                  // exactly 0
	ListRows     Answer = "rows of a list"          // as many as the list has different ids
	HotRows      Answer = "every key of a list"     // exactly Range
	ListRowsByK  Answer = "rows of a list by k"     // about Range: each value of k has on average one row
	SpanRows     Answer = "rows of a span"          // exactly Range
	SpanDistinct Answer = "values of a span"        // exactly Range while all c are different
	SpanRowsByK  Answer = "rows of a span by k"     // about Range
	CutSpan      Answer = "rows of a cut span"      // 1 to Range: the table's end may cut the span
	LongSpan     Answer = "rows of a long span"     // 1 to Range + 1
	CutSpanByK   Answer = "rows of a cut span by k" // up to about Range
	OneChanged   Answer = "one row changed"         // exactly 1
	OneInserted  Answer = "one row inserted"        // exactly 1
	AtMostOne    Answer = "at most one changed"     // 0 if another connection is replacing the row
	ListChanged  Answer = "list changed"            // as many as the list has different ids
)

// judgesAffected tells whether the rule is about rows affected.
func (a Answer) judgesAffected() bool {
	return a == OneChanged || a == OneInserted || a == AtMostOne || a == ListChanged
}

// bounds gives the least and the most of an answer for lists or spans of size
// keys in a table of tableSize rows. The bounds of random counts are so wide that
// a right answer fails less than once in 10^9 statements.
func (a Answer) bounds(size, tableSize int, changed, deleted bool) (least, most int64) {
	switch a {
	case OneRow, OneChanged:
		least, most = 1, 1
	case Aggregate, OneInserted:
		return 1, 1
	case NoRow:
		return 0, 0
	case AtMostOne:
		return 0, 1
	case HotRows, SpanRows:
		least, most = int64(size), int64(size)
	case SpanDistinct:
		least, most = int64(size), int64(size)
		if changed {
			least = 1 // update-inlist gives many rows one value
		}
	case CutSpan:
		least, most = 1, int64(size)
	case LongSpan:
		least, most = 1, int64(size)+1
	case ListRows, ListChanged:
		least, most = leastDistinct(size, tableSize), int64(min(size, tableSize))
	case ListRowsByK, SpanRowsByK, CutSpanByK:
		if changed {
			return 0, math.MaxInt64
		}
		mean := float64(size)
		if a == ListRowsByK {
			mean = meanDistinct(size, tableSize)
		}
		slack := 8*math.Sqrt(mean) + 12
		if a == CutSpanByK {
			return 0, int64(mean + 1 + 2*slack)
		}
		return max(0, int64(mean-slack)), int64(mean + 2*slack)
	}
	if deleted {
		least = 0
	}
	return least, most
}

// meanDistinct is the expected number of different values among draws uniform
// ones of n: n(1-(1-1/n)^draws).
func meanDistinct(draws, n int) float64 {
	return -float64(n) * math.Expm1(float64(draws)*math.Log1p(-1/float64(n)))
}

// leastDistinct is a lower bound on that number: the mean less ten standard
// deviations and ten more of the number of collisions, which is about Poisson
// with mean draws^2/2n.
func leastDistinct(draws, n int) int64 {
	if n == 1 {
		return 1
	}
	collisions := float64(draws) * float64(draws) / (2 * float64(n))
	return max(1, int64(meanDistinct(draws, n)-10*math.Sqrt(collisions)-10))
}

// describe gives the rule in words for lists or spans of size keys.
func (a Answer) describe(size int) string {
	switch a {
	case OneRow, Aggregate:
		return "1 row"
	case NoRow:
		return "0 rows"
	case ListRows:
		return fmt.Sprintf("a row for each different id, at most %d", size)
	case HotRows, SpanRows:
		return rows(size)
	case SpanDistinct:
		return rows(size) + ", fewer once rows share a value of c"
	case CutSpan:
		return "1 to " + rows(size)
	case LongSpan:
		return "1 to " + rows(size+1)
	case CutSpanByK:
		return "up to about " + rows(size+1)
	case ListRowsByK, SpanRowsByK:
		return "about " + rows(size)
	case OneChanged:
		return "1 row changed"
	case OneInserted:
		return "1 row inserted"
	case AtMostOne:
		return "1 row changed, none if another connection is replacing it"
	case ListChanged:
		return fmt.Sprintf("a row changed for each different id, at most %d", size)
	}
	return string(a)
}

func rows(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}
