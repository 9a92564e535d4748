package profile

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Limits say how much of a profile a text holds.
type Limits struct {
	Rows     int     // most functions or stacks; 0 for all
	MinShare float64 // of all samples, below which a function is left out: 0.01
}

// row is a function of the flat list.
type row struct {
	thread string
	frame  Frame
	count  int64
}

// flat adds up the samples by the function that ran, the most first.
func flat(stacks []Stack) []row {
	type key struct {
		thread string
		frame  Frame
	}
	at := map[key]int{}
	var rows []row
	for _, stack := range stacks {
		k := key{stack.Thread, stack.Leaf()}
		i, known := at[k]
		if !known {
			i = len(rows)
			at[k] = i
			rows = append(rows, row{thread: k.thread, frame: k.frame})
		}
		rows[i].count += stack.Count
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.count, a.count), compareFrames(a.frame, b.frame), cmp.Compare(a.thread, b.thread))
	})
	return rows
}

// limit cuts rows, which have the most samples first.
func limit[T any](rows []T, count func(T) int64, total int64, limits Limits) []T {
	if limits.Rows > 0 && len(rows) > limits.Rows {
		rows = rows[:limits.Rows]
	}
	for len(rows) > 0 && float64(count(rows[len(rows)-1])) < limits.MinShare*float64(total) {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// WriteFlat writes the functions that ran with their shares of all samples, threads
// and binaries, as perf report does: [k] is the kernel.
func WriteFlat(w io.Writer, stacks []Stack, limits Limits) error {
	total := Total(stacks)
	rows := limit(flat(stacks), func(r row) int64 { return r.count }, total, limits)
	buffered := bufio.NewWriter(w)
	threads, binaries := widths(rows)
	for _, r := range rows {
		writeFlatRow(buffered, r, total, threads, binaries)
	}
	return buffered.Flush()
}

func widths(rows []row) (threads, binaries int) {
	for _, r := range rows {
		threads, binaries = max(threads, len(r.thread)), max(binaries, len(r.frame.Binary))
	}
	return threads, binaries
}

func writeFlatRow(w io.Writer, r row, total int64, threads, binaries int) {
	space := "."
	if r.frame.InKernel() {
		space = "k"
	}
	fmt.Fprintf(w, "%9.2f%%   %-*s  %-*s  [%s] %s\n", share(r.count, total), threads, printable(r.thread), binaries, printable(r.frame.Binary), space, printable(r.frame.Function))
}

// share is a part of a whole in percent.
func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// leastCaller is the share of a function's samples, in percent, below which its callers are put together.
const leastCaller = 0.5

// WriteCallers writes the functions that ran as WriteFlat does, each with the
// functions that called it, whose shares are of the line that they belong to.
func WriteCallers(w io.Writer, stacks []Stack, limits Limits) error {
	total := Total(stacks)
	byLeaf := map[Frame]map[string][]Stack{}
	for _, stack := range stacks {
		if byLeaf[stack.Leaf()] == nil {
			byLeaf[stack.Leaf()] = map[string][]Stack{}
		}
		byLeaf[stack.Leaf()][stack.Thread] = append(byLeaf[stack.Leaf()][stack.Thread], stack)
	}
	rows := limit(flat(stacks), func(r row) int64 { return r.count }, total, limits)
	threads, binaries := widths(rows)
	buffered := bufio.NewWriter(w)
	for _, r := range rows {
		writeFlatRow(buffered, r, total, threads, binaries)
		const indent = "             "
		for _, node := range callers(byLeaf[r.frame][r.thread]) {
			fmt.Fprintf(buffered, "%s|\n%s--- %s\n", indent, indent, printable(node.Frame.Function))
			writeCallers(buffered, node, indent+"   ")
		}
		fmt.Fprintln(buffered)
	}
	return buffered.Flush()
}

// writeCallers writes what called a function: one that always did on a line below
// it, several as branches.
func writeCallers(w io.Writer, node *Node, prefix string) {
	for len(node.Above) == 1 && node.Above[0].Samples == node.Samples {
		node = node.Above[0]
		fmt.Fprintf(w, "%s%s\n", prefix, printable(node.Frame.Function))
	}
	shown, rest := node.Above, node.self()
	for i, above := range shown {
		if share(above.Samples, node.Samples) < leastCaller {
			for _, hidden := range shown[i:] {
				rest += hidden.Samples
			}
			shown = shown[:i]
			break
		}
	}
	if len(shown) == 0 {
		return
	}
	for i, above := range shown {
		branch, stem := "|", "|          "
		if i == len(shown)-1 && rest == 0 {
			branch, stem = " ", "           "
		}
		fmt.Fprintf(w, "%s|\n%s%s--%.2f%%-- %s\n", prefix, prefix, branch, share(above.Samples, node.Samples), printable(above.Frame.Function))
		writeCallers(w, above, prefix+stem)
	}
	if rest > 0 {
		fmt.Fprintf(w, "%s --%.2f%%-- [...]\n", prefix, share(rest, node.Samples))
	}
}

// WriteTopDown writes the tree of calls from the roots to the leaves, with the
// share of all samples that each function and what it called has, the most first.
func WriteTopDown(w io.Writer, stacks []Stack, limits Limits) error {
	root := TopDown(stacks)
	buffered := bufio.NewWriter(w)
	rows := 0
	var write func(node *Node, depth int)
	write = func(node *Node, depth int) {
		if limits.Rows > 0 && rows >= limits.Rows {
			return
		}
		rows++
		fmt.Fprintf(buffered, "%9.2f%%   %s%s\n", share(node.Samples, root.Samples), strings.Repeat("  ", depth), printable(node.Frame.Function))
		above := slices.Clone(node.Above)
		slices.SortStableFunc(above, func(a, b *Node) int { return cmp.Compare(b.Samples, a.Samples) })
		for _, next := range limit(above, func(n *Node) int64 { return n.Samples }, root.Samples, Limits{MinShare: limits.MinShare}) {
			write(next, depth+1)
		}
	}
	write(root, 0)
	return buffered.Flush()
}

// WriteLines writes each stack on a line as poor man's profilers do: its count and
// its functions, the leaf first, with commas between, the most samples first.
func WriteLines(w io.Writer, stacks []Stack, limits Limits) error {
	counts := map[string]int64{}
	for _, stack := range stacks {
		names := stack.Names()
		slices.Reverse(names)
		counts[strings.Join(names, ",")] += stack.Count
	}
	type line struct {
		text  string
		count int64
	}
	var lines []line
	for text, count := range counts {
		lines = append(lines, line{text, count})
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.text, b.text)) })
	buffered := bufio.NewWriter(w)
	for _, one := range limit(lines, func(l line) int64 { return l.count }, Total(stacks), limits) {
		fmt.Fprintf(buffered, "%7d %s\n", one.count, printable(one.text))
	}
	return buffered.Flush()
}
