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
	blocks := []block{r.verdictBlock(), r.targetBlock(verbose)}
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

func (r *Report) targetBlock(verbose bool) block {
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
	b.after = append(b.after, r.buildLines(verbose)...)
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
	for _, n := range r.Run.Plan.NotApplicable {
		b.lines = append(b.lines, line{text: fmt.Sprintf("not applicable: %s on %s: %s", n.Benchmark, n.Target, n.Reason)})
	}
	for _, problem := range r.Run.Problems {
		b.lines = append(b.lines, line{"problem: " + problem, yellow})
	}
	b.lines = append(b.lines, r.missingLines()...)
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
	add("microcode %s", h.Microcode, h.Microcode != "")
	add("%d sockets", h.Sockets, h.Sockets > 1)
	add("%d NUMA nodes", h.NUMANodes, h.NUMANodes > 1)
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
	add("turbo %s", h.Turbo, h.Turbo != "")
	add("%s memory", bytesText(h.MemoryBytes), h.MemoryBytes > 0)
	add("%s swap", bytesText(h.SwapBytes), h.SwapBytes > 0)
	add("huge pages: %s", h.HugePages, h.HugePages != "")
	add("clock %s", h.ClockSource, h.ClockSource != "")
	add("%s", h.OS, h.OS != "")
	add("kernel %s", h.Kernel, h.Kernel != "")
	add("in %s", h.Virtual, h.Virtual != "")
	add("data on %s", strings.TrimSpace(h.Filesystem+" "+h.Device), h.Filesystem != "")
	add("mounted %s", strings.ReplaceAll(h.MountOptions, ",", " "), h.MountOptions != "")
	for _, disk := range h.Disks {
		parts = append(parts, diskText(disk))
	}
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
	if p.Classic() {
		suite += " in the classic mode"
	}
	return fmt.Sprintf("%s, %s of %s rows, %s, statements %s", suite, countText(p.Tables, "table", "tables"),
		grouped(int64(p.TableSize)), countText(p.Threads, "connection", "connections"), p.PSMode)
}

func diskText(d dbcanary.Disk) string {
	text := "disk " + d.Name
	if d.Model != "" {
		text += " " + d.Model
	}
	text += " of " + bytesText(d.SizeBytes)
	if d.Rotational {
		text += " (rotational)"
	}
	return text
}
