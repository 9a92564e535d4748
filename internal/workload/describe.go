package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// Describe says in a few lines what the benchmark does: keys, transaction,
// statements with their arguments and answers, group, and what differs from the
// published one.
func (b Benchmark) Describe() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n\n", b.Doc)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&out, "%-12s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("group", "%s", b.Group)
	line("published", "%s", b.PublishedName())
	if keys := b.describeKeys(); keys != "" {
		line("keys", "%s", keys)
	}
	if b.Program == nil {
		line("event", "%s", b.describeEvent())
	}
	if b.Single && b.Events > 0 {
		line("slice", "%d events, once in an instance, without warm-up", b.Events)
	} else if b.Single {
		line("slice", "%s, once in an instance, without warm-up", b.Time)
	}
	if b.Bounded {
		line("slice", "ends after a number of events, equal for all targets")
	}
	if b.Writes {
		line("ignores", "%s", b.describeIgnorable())
	}
	for _, family := range dbcanary.Families() {
		if reason := b.Not[family]; reason != "" {
			line("not on", "%s: %s", family, reason)
		}
	}
	if b.Differs != "" {
		line("differs", "%s", b.Differs)
	}
	if text := b.Quirks().describe(); text != "" {
		line("classic", "%s", text)
	}
	out.WriteString("\n")
	if b.Shown != nil {
		out.WriteString(b.Shown())
	}
	for _, statement := range b.describeSteps() {
		out.WriteString(statement)
	}
	return out.String()
}

func (b Benchmark) describeKeys() string {
	for _, step := range b.Steps {
		if !slices.Contains(step.Args, Key) && !slices.Contains(step.Args, KeyList) {
			continue
		}
		switch b.Keys {
		case Uniform:
			return "uniform in 1..table size"
		case Zipf:
			return fmt.Sprintf("zipf in 1..table size, probability proportional to id^-%g, so low ids are the hottest", zipfTheta)
		case Gaussian, Pareto, Special:
			return string(b.Keys) + " in 1..table size, as sysbench has it"
		case First:
			return "always 1"
		case Hot:
			return fmt.Sprintf("always table size/2+1 .. table size/2+%d", b.size())
		case Once:
			return "each row of each table once, in one random order for all connections"
		}
	}
	return ""
}

func (b Benchmark) describeEvent() string {
	how := "autocommit"
	if b.Transaction {
		how = "one transaction"
	}
	if n := b.Statements(); n > 1 {
		return fmt.Sprintf("%d statements, %s", n, how)
	}
	return "1 statement, " + how
}

func (b Benchmark) describeIgnorable() string {
	var parts []string
	for _, family := range dbcanary.Families() {
		parts = append(parts, fmt.Sprintf("%s %s", family, strings.Join(b.Ignorable(family), " ")))
	}
	return strings.Join(parts, ", ") + ": rolled back, counted, run again with other keys"
}

func (b Benchmark) describeSteps() []string {
	var lines []string
	if b.Transaction {
		lines = append(lines, "BEGIN\n")
	}
	for _, step := range b.Steps {
		sql := step.shown(step.SQL, b.size())
		if step.Times > 1 {
			sql = fmt.Sprintf("%d x %s", step.Times, sql)
		}
		var args []string
		for _, arg := range step.Args {
			args = append(args, string(arg))
		}
		var notes []string
		if len(args) > 0 {
			notes = append(notes, "("+strings.Join(args, ", ")+")")
		}
		if step.Text {
			notes = append(notes, "always as text")
		}
		if b.OwnTable {
			notes = append(notes, "each connection on a table of its own")
		}
		if step.SameTable {
			notes = append(notes, "same table as before")
		}
		notes = append(notes, "gives "+step.Answer.describe(b.size()))
		lines = append(lines, sql+"\n", "    "+strings.Join(notes, "; ")+"\n")
		for _, family := range dbcanary.Families() {
			if other, ok := step.Dialect[family]; ok {
				lines = append(lines, fmt.Sprintf("    on %s: %s\n", family, step.shown(other, b.size())))
			}
		}
	}
	if b.Transaction {
		lines = append(lines, "COMMIT\n")
	}
	return lines
}

// shown is a statement for reading: long lists are cut.
func (s Step) shown(sql string, size int) string {
	sql = strings.ReplaceAll(sql, "{table}", "sbtestN")
	sql = strings.ReplaceAll(sql, "{range}", fmt.Sprint(size))
	return strings.ReplaceAll(sql, "{list}", fmt.Sprintf("?, …%d…", size))
}

// Describe lists the steps of the suite.
func (s Suite) Describe() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n\n", s.Doc)
	for _, step := range s.Steps {
		switch {
		case step.Settle:
			out.WriteString("-           settle: statistics renewed, debt of writes paid\n")
		case step.Group == "":
			fmt.Fprintf(&out, "-           %s, not reported\n", step.Label)
		default:
			fmt.Fprintf(&out, "%-11s %s\n", step.Group, step.Label)
		}
	}
	return out.String()
}
