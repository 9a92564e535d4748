package report

import (
	"fmt"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// block is a part of a report for people: text and Markdown print the same blocks.
type block struct {
	title string
	lines []line // before the table; a list if there are several
	table *table // may be nil
	after []line // below the table
}

// line is a sentence with a style.
type line struct {
	text  string
	style style
}

// mostShown is how many of a long list are shown unless the user asks for all.
const mostShown = 20

// blocks puts the report together; panel is the number of targets side by side
// in the overview.
func (r *Report) blocks(panel int, verbose bool) []block {
	blocks := []block{r.verdictBlock(), r.targetBlock()}
	if len(r.Run.Targets) > 1 {
		blocks = append(blocks, r.settingBlock(verbose))
	}
	blocks = append(blocks, r.circumstances())
	if len(r.Comparisons) == 0 {
		return blocks
	}
	notes := &notes{numbers: map[string]int{}}
	for _, view := range r.views() {
		if len(view.compared()) > 1 {
			blocks = append(blocks, view.overview(panel)...)
		}
		for _, target := range view.compared() {
			blocks = append(blocks, view.detail(target, notes, verbose))
		}
		groups := view.groupBlock()
		if len(r.Further) > 0 {
			groups.title += " relative to " + view.base()
		}
		blocks = append(blocks, groups)
	}
	if len(notes.texts) > 0 {
		blocks = append(blocks, notes.block(verbose))
	}
	return blocks
}

func (r *Report) verdictBlock() block {
	b := block{}
	if note := r.stateNote(); note != "" {
		b.lines = append(b.lines, line{note, yellow})
	}
	for _, text := range r.headlines() {
		b.lines = append(b.lines, line{text, bold})
	}
	if note := r.basesNote(); note != "" {
		b.lines = append(b.lines, line{note, dim})
	}
	return b
}

func (r *Report) targetBlock() block {
	t := &table{columns: []column{
		{title: "role"},
		{title: "target", shrink: true},
		{title: "version", shrink: true},
		{title: "provider", drop: 1},
		{title: "checksum", drop: 2},
		{title: "origin", drop: 3, shrink: true},
	}}
	b := block{title: "Targets", table: t}
	for i, target := range r.Run.Targets {
		role, look := "", plain
		if i == 0 {
			role = "base"
		}
		if target.Dropped != "" {
			role, look = "dropped", yellow
			b.after = append(b.after, line{fmt.Sprintf("%s was dropped: %s", target.Name, target.Dropped), yellow})
		}
		t.add(cell{role, look}, cell{text: target.Name}, cell{text: strings.TrimSpace(string(target.Build.Family) + " " + target.Build.Version)},
			cell{text: target.Build.Provider}, cell{text: shortChecksum(target.Build.Checksum)}, cell{text: target.Build.Origin})
	}
	return b
}

// circumstances says on what and how it was measured.
func (r *Report) circumstances() block {
	b := block{title: "How it was measured"}
	add := func(label, text string) {
		if text != "" {
			b.lines = append(b.lines, line{text: label + ": " + text})
		}
	}
	add("host", hostText(r.Run.Host))
	add("work", workText(r.Run.Plan))
	add("noise", r.noiseText())
	for _, problem := range r.Run.Problems {
		b.lines = append(b.lines, line{"problem: " + problem, yellow})
	}
	return b
}

func hostText(h dbcanary.Host) string {
	var parts []string
	add := func(format string, value any, known bool) {
		if known {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add("%s", h.Name, h.Name != "")
	add("%s", h.CPU, h.CPU != "")
	if h.CPUs > 0 {
		cpus := countText(h.CPUs, "CPU", "CPUs")
		switch {
		case h.SMT:
			cpus += ", SMT on"
		case h.CPU != "": // an imported run tells no more than the number
			cpus += ", SMT off"
		}
		parts = append(parts, cpus)
	}
	add("governor %s", h.Governor, h.Governor != "")
	add("%s memory", bytesText(h.MemoryBytes), h.MemoryBytes > 0)
	add("%s", h.OS, h.OS != "")
	add("kernel %s", h.Kernel, h.Kernel != "")
	add("in %s", h.Virtual, h.Virtual != "")
	add("data on %s", strings.TrimSpace(h.Filesystem+" "+h.Device), h.Filesystem != "")
	for _, note := range h.Notes {
		parts = append(parts, "unknown: "+note)
	}
	return strings.Join(parts, ", ")
}

func workText(p dbcanary.Plan) string {
	suite := "suite " + p.Suite
	if p.Suite == "" {
		suite = "chosen benchmarks"
	}
	if p.Tables == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %s of %s rows, %s, statements %s", suite, countText(p.Tables, "table", "tables"),
		grouped(int64(p.TableSize)), countText(p.Threads, "connection", "connections"), p.PSMode)
}
