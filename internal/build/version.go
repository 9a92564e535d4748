package build

import (
	"cmp"
	"strings"
)

// MatchesVersion says whether asked is version or a prefix of it by dot
// components: 10.11 and 10 match 10.11.14, 10.1 does not. "" matches all.
func MatchesVersion(asked, version string) bool {
	if asked == "" || asked == version {
		return true
	}
	return strings.HasPrefix(version, asked) && strings.ContainsRune(".-+~", rune(version[len(asked)]))
}

// CompareVersions orders versions by their runs of digits as numbers and the
// rest as text: 10.2 before 10.11, 18beta1 before 18.0.
func CompareVersions(a, b string) int {
	for a != "" && b != "" {
		numberA, restA := cutDigits(a)
		numberB, restB := cutDigits(b)
		if numberA != "" && numberB != "" {
			trimmedA, trimmedB := strings.TrimLeft(numberA, "0"), strings.TrimLeft(numberB, "0")
			if order := cmp.Or(cmp.Compare(len(trimmedA), len(trimmedB)), cmp.Compare(trimmedA, trimmedB)); order != 0 {
				return order
			}
			a, b = restA, restB
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(rank(a[0]), rank(b[0]))
		}
		a, b = a[1:], b[1:]
	}
	switch {
	case a != "":
		return rank(a[0])
	case b != "":
		return -rank(b[0])
	}
	return 0
}

// rank puts what announces a release (beta, rc, ~) before its end, and what
// continues it (. - +) after.
func rank(c byte) int {
	if c == '~' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		return -256 + int(c)
	}
	return int(c) + 1
}

func cutDigits(text string) (digits, rest string) {
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	return text[:end], text[end:]
}

// leadingVersion gives the digits and dots at the start of text.
func leadingVersion(text string) string {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == '.') {
		end++
	}
	return strings.TrimRight(text[:end], ".")
}

// series is the release series of a version of a family: "15" of PostgreSQL 15.4, else "10.11".
func series(version string, components int) string {
	parts := strings.SplitN(version, ".", components+1)
	return strings.Join(parts[:min(components, len(parts))], ".")
}
