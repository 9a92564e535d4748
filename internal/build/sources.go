package build

import (
	"bufio"
	"slices"
	"strings"
)

// source is an entry of apt's list of sources, as sources.list(5) defines it.
// Options are the other fields of the entry by lower-case name, such as
// "signed-by" and "trusted".
type source struct {
	uris, suites, components []string
	options                  map[string]string
}

// parseOneLine reads the one-line format: deb [option=value …] URI suite component…
// Lines that it does not understand, and sources of source code, are left out.
func parseOneLine(text string) []source {
	var sources []source
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] != "deb" {
			continue
		}
		entry := source{options: map[string]string{}}
		rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "deb"))
		if strings.HasPrefix(rest, "[") {
			bracket, tail, ok := strings.Cut(rest[1:], "]")
			if !ok {
				continue
			}
			for _, option := range strings.Fields(bracket) {
				if name, value, ok := strings.Cut(option, "="); ok && name != "" {
					// A list is separated by commas here and by blanks in deb822.
					name = strings.ToLower(strings.TrimRight(name, "+-"))
					entry.options[name] = strings.TrimSpace(strings.ReplaceAll(value, ",", " "))
				}
			}
			rest = tail
		}
		fields = strings.Fields(rest)
		if len(fields) < 2 {
			continue
		}
		entry.uris, entry.suites, entry.components = fields[:1], fields[1:2], fields[2:]
		sources = append(sources, entry)
	}
	return sources
}

// parseDeb822 reads the format of .sources files: paragraphs of "Field: value"
// with continued lines. Disabled paragraphs and sources of source code are left out.
func parseDeb822(text string) []source {
	var sources []source
	fields, last := map[string]string{}, ""
	flush := func() {
		entry := source{
			uris:   strings.Fields(fields["uris"]),
			suites: strings.Fields(fields["suites"]), components: strings.Fields(fields["components"]),
			options: map[string]string{},
		}
		for name, value := range fields {
			if !slices.Contains([]string{"types", "uris", "suites", "components", "enabled"}, name) {
				entry.options[name] = value
			}
		}
		disabled := slices.Contains([]string{"no", "false", "0", "off", "without", "disable"}, strings.ToLower(fields["enabled"]))
		if slices.Contains(strings.Fields(fields["types"]), "deb") && len(entry.uris) > 0 && len(entry.suites) > 0 && !disabled {
			sources = append(sources, entry)
		}
		fields, last = map[string]string{}, ""
	}
	scanner := bufio.NewScanner(strings.NewReader(text))
	for scanner.Scan() {
		line := scanner.Text()
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.TrimSpace(line) == "":
			flush()
		case line[0] == ' ' || line[0] == '\t':
			if last != "" {
				// Kept as it is, for a key that is written into the file.
				fields[last] += "\n" + line
			}
		default:
			name, value, ok := strings.Cut(line, ":")
			if last = ""; ok {
				last = strings.ToLower(strings.TrimSpace(name))
				fields[last] = strings.TrimSpace(value)
			}
		}
	}
	flush()
	return sources
}

// debianNames are the names that a suite of the Debian archive goes by.
var debianNames = []string{
	"sid", "unstable", "testing", "stable", "oldstable", "oldoldstable",
	"duke", "forky", "trixie", "bookworm", "bullseye", "buster", "stretch",
}

// suffixes of a suite's name that hold the fixes of a release.
var suiteSuffixes = []string{"-updates", "-security", "/updates"}

// debianSources picks the sources of the Debian archive and its fixes, and
// turns them to another suite. Signed by Debian's own key, or by none that is
// named, they come first; a mirror that signs for itself counts if there is no
// other, since repositories of other projects name suites so too.
func debianSources(sources []source, suite string) []source {
	var own, other []source
	seen := map[string]bool{} // a machine may have several releases of one mirror
	for _, entry := range sources {
		if !slices.Contains(entry.components, "main") {
			continue
		}
		turned := entry
		turned.suites, turned.components = nil, []string{"main"}
		for _, name := range entry.suites {
			place := strings.Join(entry.uris, " ") + " "
			if to, ok := turnSuite(name, suite); ok && !seen[place+to] {
				seen[place+to] = true
				turned.suites = append(turned.suites, to)
			}
		}
		if len(turned.suites) == 0 {
			continue
		}
		key := entry.options["signed-by"]
		if key == "" || strings.Contains(key, "debian-archive") {
			own = append(own, turned)
		} else {
			other = append(other, turned)
		}
	}
	if hasSuite(own, suite) {
		return own
	}
	return append(own, other...)
}

// turnSuite gives what bookworm-security is called in another suite; sid has no such parts.
func turnSuite(name, suite string) (string, bool) {
	suffix := ""
	for _, candidate := range suiteSuffixes {
		if base, ok := strings.CutSuffix(name, candidate); ok {
			name, suffix = base, candidate
		}
	}
	if !slices.Contains(debianNames, name) || suffix != "" && suite == "sid" {
		return "", false
	}
	if suffix == "/updates" {
		suffix = "-security"
	}
	return suite + suffix, true
}

func hasSuite(sources []source, suite string) bool {
	return slices.ContainsFunc(sources, func(entry source) bool { return slices.Contains(entry.suites, suite) })
}

// formatSources writes sources as a .sources file that wants package lists of one architecture only.
func formatSources(sources []source, architecture string) string {
	var text strings.Builder
	for _, entry := range sources {
		text.WriteString("Types: deb\n")
		text.WriteString("URIs: " + strings.Join(entry.uris, " ") + "\n")
		text.WriteString("Suites: " + strings.Join(entry.suites, " ") + "\n")
		text.WriteString("Components: " + strings.Join(entry.components, " ") + "\n")
		text.WriteString("Architectures: " + architecture + "\nTargets: Packages\n")
		names := make([]string, 0, len(entry.options))
		for name := range entry.options {
			if !slices.Contains([]string{"arch", "architectures", "target", "targets", "lang", "languages", "snapshot"}, name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			text.WriteString(name + ": " + entry.options[name] + "\n")
		}
		text.WriteString("\n")
	}
	return text.String()
}
