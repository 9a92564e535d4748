// Package config reads what users write: YAML files, and overlays of server settings
// from the command line and from option files. It is strict: a typo must never be
// measured.
package config

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// Resolve turns the overlays of a target into settings, in order. An overlay is
// name=value, the name of a built-in one, or the path of an option file. Errors
// have CodeUsage and name the nearest built-in overlays.
func Resolve(overlays []string, builtin map[string][]dbcanary.Setting) ([]dbcanary.Setting, error) {
	var settings []dbcanary.Setting
	for _, overlay := range overlays {
		more, err := resolveOne(overlay, builtin)
		if err != nil {
			return nil, err
		}
		settings = append(settings, more...)
	}
	return settings, nil
}

func resolveOne(overlay string, builtin map[string][]dbcanary.Setting) ([]dbcanary.Setting, error) {
	if name, value, ok := strings.Cut(overlay, "="); ok {
		setting, err := newSetting(name, value)
		if err != nil {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "overlay +%s: %w", overlay, err)
		}
		return []dbcanary.Setting{setting}, nil
	}
	if settings, ok := builtin[overlay]; ok {
		return settings, nil
	}
	text, err := os.ReadFile(overlay)
	if err == nil {
		return ParseOptionFile(overlay, text)
	}
	if !os.IsNotExist(err) || strings.ContainsAny(overlay, "/.") {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "overlay +%s: %w", overlay, err)
	}
	names := make([]string, 0, len(builtin))
	for name := range builtin {
		names = append(names, name)
	}
	slices.Sort(names)
	return nil, dbcanary.Errorf(dbcanary.CodeUsage, "unknown overlay +%s: neither a built-in one nor a file nor name=value%s",
		overlay, dbcanary.DidYouMean(overlay, names))
}

// serverSections are the sections of an option file that a server reads.
var serverSections = []string{"mysqld", "mariadb", "mariadbd", "server"}

// ParseOptionFile reads the settings of a my.cnf or postgresql.conf fragment:
// lines of "name = value", with or without quotes around the value; comments
// start with "#" or, at the start of a line, ";". Of a file with sections, those
// that a server reads count. Errors have CodeUsage and name file and line.
func ParseOptionFile(name string, text []byte) ([]dbcanary.Setting, error) {
	var settings []dbcanary.Setting
	scanner := bufio.NewScanner(bytes.NewReader(text))
	skip := false
	for number := 1; scanner.Scan(); number++ {
		line := strings.TrimSpace(scanner.Text())
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			section, ok := strings.CutSuffix(line[1:], "]")
			if !ok {
				return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%s:%d: a section has no closing bracket: %s", name, number, line)
			}
			skip = !slices.Contains(serverSections, section)
			continue
		}
		if skip {
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			// A flag of my.cnf, or PostgreSQL's form without "=".
			key, value, _ = strings.Cut(line, " ")
		}
		value, err := unquote(value)
		if err != nil {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%s:%d: %w", name, number, err)
		}
		setting, err := newSetting(key, value)
		if err != nil {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%s:%d: %w", name, number, err)
		}
		settings = append(settings, setting)
	}
	if err := scanner.Err(); err != nil {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%s: %w", name, err)
	}
	return settings, nil
}

// unquote takes comment and quotes off a value.
func unquote(value string) (string, error) {
	value = strings.TrimSpace(value)
	if value == "" || (value[0] != '\'' && value[0] != '"') {
		value, _, _ = strings.Cut(value, "#")
		return strings.TrimSpace(value), nil
	}
	inner, rest, ok := strings.Cut(value[1:], value[:1])
	rest = strings.TrimSpace(rest)
	if !ok || (rest != "" && rest[0] != '#') {
		return "", fmt.Errorf("a quoted value has no end, or text after it: %s", value)
	}
	return inner, nil
}

// newSetting checks the name and takes MySQL's "-" for "_".
func newSetting(name, value string) (dbcanary.Setting, error) {
	name = strings.ReplaceAll(strings.TrimSpace(name), "-", "_")
	if name == "" {
		return dbcanary.Setting{}, fmt.Errorf("a setting has no name")
	}
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '.' {
			return dbcanary.Setting{}, fmt.Errorf("a setting's name is letters, digits, \"_\" and \".\": %q", name)
		}
	}
	if strings.ContainsAny(value, "\r\n\x00") {
		return dbcanary.Setting{}, fmt.Errorf("the value of %s has a line break", name)
	}
	return dbcanary.Setting{Name: name, Value: value}, nil
}
