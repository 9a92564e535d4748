package report

import (
	"fmt"
	"strings"
)

// mostColumns is how many targets' settings are shown side by side; values of
// more are listed by value.
const mostColumns = 3

// settingBlock shows settings that differ, those that somebody chose first.
func (r *Report) settingBlock(verbose bool) block {
	b := block{title: "Settings that differ"}
	var shown []SettingDifference
	differing, partial := 0, 0
	for _, d := range r.Differences {
		switch {
		case verbose || d.Chosen || !d.Partial && len(shown) < mostShown:
			shown = append(shown, d)
		case d.Partial:
			partial++
		default:
			differing++
		}
	}
	switch {
	case len(r.Differences) == 0 && r.settingsKnown() < 2:
		b.lines = []line{{text: "not known"}}
	case len(r.Differences) == 0:
		b.lines = []line{{text: "none"}}
	case len(shown) > 0 && len(r.Run.Targets) <= mostColumns:
		b.table = r.settingTable(shown)
	default:
		for _, d := range shown {
			b.lines = append(b.lines, line{text: r.settingLine(d)})
		}
	}
	var hidden []string
	if differing > 0 {
		hidden = append(hidden, countText(differing, "more differs", "more differ"))
	}
	if partial > 0 {
		hidden = append(hidden, fmt.Sprintf("%d that only some targets have", partial))
	}
	if len(hidden) > 0 {
		b.after = append(b.after, line{"… and " + strings.Join(hidden, ", and ") + "; --verbose or --format json lists them", dim})
	}
	for _, setting := range withoutEffect(r.Run.Targets) {
		text := fmt.Sprintf("%s = %s was asked for, and is so on every target: it makes no difference here", setting.Name, setting.Value)
		b.after = append(b.after, line{text, yellow})
	}
	if text := r.uncomparedSettings(); text != "" {
		b.after = append(b.after, line{text, yellow})
	}
	return b
}

func (r *Report) settingTable(differences []SettingDifference) *table {
	t := &table{columns: []column{{title: "setting", shrink: true}}}
	for _, target := range r.Run.Targets {
		t.columns = append(t.columns, column{title: target.Name, shrink: true})
	}
	for _, d := range differences {
		cells := []cell{{text: d.Name}}
		for _, value := range distinctParts(d.Values) {
			cells = append(cells, cell{text: value})
		}
		t.add(cells...)
	}
	return t
}

// settingLine lists the values of a setting with the targets that have them.
func (r *Report) settingLine(d SettingDifference) string {
	var values []string
	targets := map[string][]string{}
	for i, value := range distinctParts(d.Values) {
		if d.Values[i] == nil {
			continue
		}
		if targets[value] == nil {
			values = append(values, value)
		}
		targets[value] = append(targets[value], r.Run.Targets[i].Name)
	}
	var parts []string
	for _, value := range values {
		parts = append(parts, value+" on "+strings.Join(targets[value], ", "))
	}
	text := d.Name + ": " + strings.Join(parts, "; ")
	if d.Partial {
		text += " only"
	}
	return text
}

// settingsKnown counts the targets whose settings were read back.
func (r *Report) settingsKnown() int {
	known := 0
	for _, target := range r.Run.Targets {
		if len(target.Settings) > 0 {
			known++
		}
	}
	return known
}

// uncomparedSettings says which settings the list can't tell about.
func (r *Report) uncomparedSettings() string {
	var unread []string
	dialects := map[string]bool{}
	for _, target := range r.Run.Targets {
		if len(target.Settings) == 0 {
			unread = append(unread, target.Name)
		}
		dialects[settingsDialect(target.Build.Family)] = true
	}
	var parts []string
	if len(unread) > 0 {
		parts = append(parts, "the settings of "+strings.Join(unread, ", ")+" were not read back")
	}
	if len(dialects) > 1 {
		parts = append(parts, "settings of different DBMS are not compared with each other")
	}
	return strings.Join(parts, "; ")
}
