package build

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMatchesVersion(t *testing.T) {
	for _, test := range []struct {
		asked, version string
		want           bool
	}{
		{"", "9.7.4", true},
		{"10.11", "10.11.14", true},
		{"10", "10.11.14", true},
		{"10.11.14", "10.11.14", true},
		{"10.1", "10.11.14", false},
		{"10.11", "10.110.1", false},
		{"10.11.14.2", "10.11.14", false},
		{"15", "15beta1", false},
		{"8.0.40", "8.0.40-debug", true},
	} {
		if got := MatchesVersion(test.asked, test.version); got != test.want {
			t.Errorf("MatchesVersion(%q, %q) = %v, want %v", test.asked, test.version, got, test.want)
		}
	}
}

func TestCompareVersions_Order(t *testing.T) {
	ordered := []string{
		"5.6.51", "8.0.4-rc", "8.0.4", "8.0.28", "9.7.4", "10.2", "10.2.1", "10.11", "10.11.9", "10.11.14",
		"15.18.0-beta.9", "15.18.0-beta.15", "17beta1", "17rc1", "17.0",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			if got, want := sign(CompareVersions(a, b)), sign(i-j); got != want && !preRelease(a, b) {
				t.Errorf("CompareVersions(%q, %q) has sign %d, want %d", a, b, got, want)
			}
		}
	}
}

// preRelease says that a and b are 8.0.4-rc and 8.0.4: servers name release
// candidates in ways that no order of texts knows, so any order will do.
func preRelease(a, b string) bool {
	return slices.Contains([]string{a, b}, "8.0.4-rc") && slices.Contains([]string{a, b}, "8.0.4")
}

func sign(n int) int { return min(1, max(-1, n)) }

func TestCompareVersions_IsAnOrder(t *testing.T) {
	version := rapid.StringMatching(`[0-9]{1,3}(\.[0-9]{1,3}){0,3}((beta|rc)[0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := version.Draw(t, "a"), version.Draw(t, "b"), version.Draw(t, "c")
		if sign(CompareVersions(a, b)) != -sign(CompareVersions(b, a)) {
			t.Fatalf("%q and %q: not antisymmetric", a, b)
		}
		if CompareVersions(a, b) <= 0 && CompareVersions(b, c) <= 0 && CompareVersions(a, c) > 0 {
			t.Fatalf("%q <= %q <= %q: not transitive", a, b, c)
		}
	})
}

// A release is found by each of its prefixes, and by no prefix of another number.
func TestMatchesVersion_Prefixes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.IntRange(0, 120), 3, 3).Draw(t, "parts")
		version := fmt.Sprintf("%d.%d.%d", parts[0], parts[1], parts[2])
		for _, prefix := range []string{
			fmt.Sprint(parts[0]), fmt.Sprintf("%d.%d", parts[0], parts[1]), version,
		} {
			if !MatchesVersion(prefix, version) {
				t.Fatalf("%q does not match %q", prefix, version)
			}
			if MatchesVersion(prefix, fmt.Sprintf("%d%d.1.1", parts[0], 1)) {
				t.Fatalf("%q matches another major version", prefix)
			}
		}
	})
}
