package profile

import (
	"cmp"
	"maps"
	"slices"
)

// Node is a function in a tree of calls with what lies above it. Its counts are
// samples, those of the nodes above included.
type Node struct {
	Frame   Frame
	Samples int64
	Base    int64 // the same of the base, where there is one
	Above   []*Node
}

// self is how many samples have the function of the node as their leaf.
func (n *Node) self() int64 {
	self := n.Samples
	for _, above := range n.Above {
		self -= above.Samples
	}
	return self
}

// TopDown adds the stacks up to a tree from the root of all to the leaves, the
// functions above each other by name.
func TopDown(stacks []Stack) *Node { return Diff(nil, stacks) }

// Diff adds up the stacks of a base and of a target to one tree. Functions are the
// same by their names alone: binaries are called otherwise in another release.
func Diff(base, target []Stack) *Node {
	root := newNode(Frame{Function: "all"})
	for _, stack := range base {
		root.add(stack.Frames, 0, stack.Count)
	}
	for _, stack := range target {
		root.add(stack.Frames, stack.Count, 0)
	}
	return root.finish(func(a, b *Node) int { return cmp.Compare(a.Frame.Function, b.Frame.Function) })
}

// callers adds up the stacks that end in each function to a tree from it to the
// functions that called it, those with the most samples first.
func callers(stacks []Stack) []*Node {
	root := newNode(Frame{})
	for _, stack := range stacks {
		frames := slices.Clone(stack.Frames)
		slices.Reverse(frames)
		root.add(frames, stack.Count, 0)
	}
	return root.finish(func(a, b *Node) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Frame.Function, b.Frame.Function))
	}).Above
}

// growing is a node while stacks are added.
type growing struct {
	Node
	above map[string]*growing // by function
}

func newNode(frame Frame) *growing {
	return &growing{Node: Node{Frame: frame}, above: map[string]*growing{}}
}

func (g *growing) add(frames []Frame, samples, base int64) {
	g.Samples += samples
	g.Base += base
	for _, frame := range frames {
		next := g.above[frame.Function]
		if next == nil {
			next = newNode(frame)
			g.above[frame.Function] = next
		}
		next.Samples += samples
		next.Base += base
		g = next
	}
}

func (g *growing) finish(order func(a, b *Node) int) *Node {
	for _, name := range slices.Sorted(maps.Keys(g.above)) {
		g.Above = append(g.Above, g.above[name].finish(order))
	}
	slices.SortStableFunc(g.Above, order)
	return &g.Node
}
