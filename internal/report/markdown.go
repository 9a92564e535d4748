package report

import (
	"io"
	"strings"
	"unicode"
)

// writeMarkdown writes the report as GitHub Flavored Markdown.
func (r *Report) writeMarkdown(w io.Writer, options Options) error {
	var b strings.Builder
	for i, one := range r.blocks(0, options.Verbose) {
		if i > 0 {
			b.WriteString("\n")
		}
		one.markdown(&b)
	}
	return writeAll(w, &b)
}

func (b block) markdown(out *strings.Builder) {
	parts := []string{}
	if b.title != "" {
		parts = append(parts, "### "+escapeMarkdown(b.title)+"\n")
	}
	for _, text := range []string{markdownLines(b.lines), b.table.markdown(), markdownLines(b.after)} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	out.WriteString(strings.Join(parts, "\n"))
}

// markdownLines makes a paragraph of one line and a list of several.
func markdownLines(lines []line) string {
	var b strings.Builder
	for _, one := range lines {
		text := escapeMarkdown(one.text)
		if one.style == bold {
			text = "**" + text + "**"
		}
		if len(lines) > 1 {
			text = "- " + text
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// markdown writes a table of the GFM specification, section 4.10; a heading over
// rows becomes a row of its own.
func (t *table) markdown() string {
	if t == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("|")
	for _, c := range t.columns {
		b.WriteString(" " + escapeMarkdown(c.title) + " |")
	}
	b.WriteString("\n|")
	for _, c := range t.columns {
		if c.right {
			b.WriteString(" ---: |")
		} else {
			b.WriteString(" --- |")
		}
	}
	b.WriteString("\n")
	for _, r := range t.rows {
		if r.heading != "" {
			b.WriteString("| **" + escapeMarkdown(r.heading) + "** |" + strings.Repeat(" |", len(t.columns)-1) + "\n")
			continue
		}
		b.WriteString("|")
		for _, c := range r.cells {
			text := escapeMarkdown(strings.TrimSpace(c.text))
			if c.style == red || c.style == green {
				text = "**" + text + "**"
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// escapeMarkdown keeps names and values from being read as markup. An underscore
// within a word is none.
func escapeMarkdown(text string) string {
	var b strings.Builder
	runes := []rune(clean(text))
	inWord := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	for i, r := range runes {
		if strings.ContainsRune("\\`*[]<>|#~", r) || r == '_' && !(inWord(i-1) && inWord(i+1)) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
