package workload

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/dbcanary/dbcanary/internal/workload/draw"
)

// TestBoundsHoldForRightAnswers draws what a right server would return.
func TestBoundsHoldForRightAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tableSize := rapid.IntRange(1, 3000).Draw(t, "table size")
		size := min(rapid.SampledFrom([]int{1, 10, 100, 1000}).Draw(t, "range"), tableSize)
		seed := rapid.Uint64().Draw(t, "seed")
		data := Data{Tables: 1, TableSize: tableSize, Seed: seed}
		rowsOfK := make([]int64, tableSize+1)
		for id := 1; id <= tableSize; id++ {
			source := newRowSource(seed, 1, id)
			rowsOfK[source.k(data.TableSize)]++
		}
		var r draw.Source
		r.Reseed(seed)
		ids := map[int64]bool{}
		var byK int64
		for range size {
			id := r.UpTo(uint64(tableSize))
			if !ids[id] {
				byK += rowsOfK[id]
			}
			ids[id] = true
		}
		start := r.UpTo(uint64(tableSize - size + 1))
		var spanK int64
		for k := start; k < start+int64(size); k++ {
			spanK += rowsOfK[k]
		}
		for answer, right := range map[Answer]int64{
			ListRows: int64(len(ids)), ListChanged: int64(len(ids)), ListRowsByK: byK, SpanRowsByK: spanK,
		} {
			least, most := answer.bounds(size, tableSize, false, false)
			if right < least || right > most {
				t.Fatalf("%s of %d in %d rows: %d is right, bounds are %d to %d", answer, size, tableSize, right, least, most)
			}
		}
	})
}

func TestBoundsAreTight(t *testing.T) {
	for _, test := range []struct {
		answer           Answer
		changed, deleted bool
		least, most      int64
	}{
		{OneRow, true, false, 1, 1},
		{OneRow, true, true, 0, 1},
		{Aggregate, true, true, 1, 1},
		{NoRow, true, true, 0, 0},
		{SpanRows, true, false, 100, 100},
		{SpanRows, true, true, 0, 100},
		{HotRows, true, false, 100, 100},
		{SpanDistinct, false, false, 100, 100},
		{SpanDistinct, true, false, 1, 100},
		{SpanDistinct, true, true, 0, 100},
		{ListRows, true, false, 89, 100},
		{ListRows, true, true, 0, 100},
		{ListRowsByK, false, false, 7, 283},
		{SpanRowsByK, false, false, 8, 284},
		{OneChanged, true, false, 1, 1},
		{OneInserted, true, true, 1, 1},
		{AtMostOne, true, true, 0, 1},
		{ListChanged, true, false, 89, 100},
	} {
		least, most := test.answer.bounds(100, 1_000_000, test.changed, test.deleted)
		if least != test.least || most != test.most {
			t.Errorf("%s, changed %v, deleted %v: bounds %d to %d, want %d to %d",
				test.answer, test.changed, test.deleted, least, most, test.least, test.most)
		}
	}
}
