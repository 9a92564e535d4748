package changepoint

import "container/heap"

// boundary is a place where the level may change, linked to its neighbours.
type boundary struct {
	index      int // in the points; 0 and n for the two ends, which are not on the heap
	prev, next *boundary
	evidence   evidence
	place      int // on the heap
}

// weakest is a heap of boundaries, the weakest on top.
type weakest []*boundary

func (h weakest) Len() int           { return len(h) }
func (h weakest) Less(a, b int) bool { return h[a].evidence.margin < h[b].evidence.margin }
func (h weakest) Swap(a, b int) {
	h[a], h[b] = h[b], h[a]
	h[a].place, h[b].place = a, b
}
func (h *weakest) Push(x any) { *h = append(*h, x.(*boundary)) }
func (h *weakest) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// eliminate deletes the weakest change until none has a margin below floor,
// judging its neighbours anew each time. Each deletion costs two judgements of
// bounded size and a step in the heap. It gives the indexes and the evidence.
func eliminate(n int, changes []int, floor float64, judge func(from, i, to int) evidence) ([]int, []evidence) {
	first, last := &boundary{index: 0}, &boundary{index: n}
	h := make(weakest, 0, len(changes))
	previous := first
	for _, i := range changes {
		if i <= previous.index || i >= n {
			continue
		}
		b := &boundary{index: i, prev: previous, place: len(h)}
		previous.next, previous = b, b
		h = append(h, b)
	}
	previous.next, last.prev = last, previous
	for _, b := range h {
		b.evidence = judge(b.prev.index, b.index, b.next.index)
	}
	heap.Init(&h)
	for len(h) > 0 && h[0].evidence.margin < floor {
		b := heap.Pop(&h).(*boundary)
		b.prev.next, b.next.prev = b.next, b.prev
		for _, near := range [2]*boundary{b.prev, b.next} {
			if near != first && near != last {
				near.evidence = judge(near.prev.index, near.index, near.next.index)
				heap.Fix(&h, near.place)
			}
		}
	}
	var left []int
	var why []evidence
	for b := first.next; b != last; b = b.next {
		left, why = append(left, b.index), append(why, b.evidence)
	}
	return left, why
}
