package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// githubLimit is how many characters GitHub takes for a comment.
const githubLimit = 65_536

// githubMark lets a program find its own comment to replace it.
const githubMark = "<!-- dbcanary -->\n"

// writeGitHub writes a summary for a pull request: the verdict, what changed, and
// everything else folded away, as much as a comment takes.
func (r *Report) writeGitHub(w io.Writer, options Options) error {
	var b strings.Builder
	b.WriteString(githubMark + "### dbcanary: " + escapeMarkdown(r.worstNews()) + "\n\n")
	lead := r.verdictBlock()
	if len(lead.lines) > mostShown {
		more := len(lead.lines) - mostShown
		lead.lines = append(lead.lines[:mostShown:mostShown], line{fmt.Sprintf("… and %d more", more), dim})
	}
	b.WriteString(markdownLines(plainLines(lead.lines)))
	changed := r.changedBlock()
	if changed.table != nil {
		b.WriteString("\n")
		changed.markdown(&b)
	}
	const reserve = 2000 // for the names of what was left out
	var left []string
	for _, one := range r.blocks(0, options.Verbose)[1:] {
		title := one.title
		one.title = ""
		var inner strings.Builder
		one.markdown(&inner)
		part := "\n<details><summary>" + htmlText(title) + "</summary>\n\n" + inner.String() + "\n</details>\n"
		if b.Len()+len(part) > githubLimit-reserve {
			left = append(left, title)
			continue
		}
		b.WriteString(part)
	}
	if len(left) > 0 {
		text := fmt.Sprintf("Left out, since GitHub takes no more: %s. `dbcanary report %d --format md` has it all.", escapeMarkdown(strings.Join(left, "; ")), r.Run.ID)
		if len(text) > reserve-100 {
			text = fmt.Sprintf("%d parts were left out, since GitHub takes no more; `dbcanary report %d --format md` has them.", len(left), r.Run.ID)
		}
		b.WriteString("\n" + text + "\n")
	}
	return writeAll(w, &b)
}

// worstNews sums all verdicts up: "slower in 2 of 6 comparisons".
func (r *Report) worstNews() string {
	if r.baseFailed() && len(r.Further) == 0 {
		return "nothing to compare with: the base failed"
	}
	counts := map[dbcanary.Verdict]int{}
	all := r.comparisons()
	for _, c := range all {
		counts[c.Verdict]++
	}
	for _, v := range []dbcanary.Verdict{dbcanary.Slower, dbcanary.Inconclusive, dbcanary.Faster, dbcanary.Same} {
		if counts[v] == 0 {
			continue
		}
		text := fmt.Sprintf("%s in %d of %s", v, counts[v], countText(len(all), "comparison", "comparisons"))
		if v == dbcanary.Inconclusive {
			text = "not slower where it can be told, " + text
		}
		if v == dbcanary.Inconclusive && counts[v] == len(all) {
			text = "inconclusive in all comparisons"
		}
		return text
	}
	return "nothing to compare"
}

// plainLines takes the weight from lines that stand below a heading which says the same.
func plainLines(lines []line) []line {
	out := make([]line, len(lines))
	for i, one := range lines {
		out[i] = line{text: one.text}
	}
	return out
}

// changedBlock lists what is slower, then what is faster, the most first.
func (r *Report) changedBlock() block {
	var changed []dbcanary.Comparison
	for _, c := range r.comparisons() {
		if c.Verdict.Differs() {
			changed = append(changed, c)
		}
	}
	if len(changed) == 0 {
		return block{}
	}
	slices.SortStableFunc(changed, func(a, b dbcanary.Comparison) int {
		return cmp.Or(-cmp.Compare(a.Verdict, b.Verdict), // "slower" comes after "faster" in the alphabet
			-cmp.Compare(math.Abs(math.Log(a.QPSRatio.Ratio)), math.Abs(math.Log(b.QPSRatio.Ratio))))
	})
	t := &table{columns: []column{
		{title: "verdict"},
		{title: "benchmark"},
		{title: "target"},
		{title: "base"},
		{title: "change of QPS", right: true},
		{title: "ratio", right: true},
		{title: "interval", right: true},
		{title: "CPU/op", right: true},
	}}
	b := block{table: t}
	for i, c := range changed {
		if i == mostShown {
			b.after = []line{{fmt.Sprintf("… and %d more below", len(changed)-i), dim}}
			break
		}
		t.add(cell{string(c.Verdict), verdictStyle(c.Verdict)}, cell{text: c.Benchmark}, cell{text: c.Target}, cell{text: c.Base},
			cell{text: changeText(c.QPSRatio.Ratio)}, cell{text: ratioText(c.QPSRatio.Ratio)}, cell{text: intervalText(c.QPSRatio)},
			cell{text: plusMinus(c.CPURatio)})
	}
	return b
}

// htmlText is text within an element of HTML.
func htmlText(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(clean(text))
}
