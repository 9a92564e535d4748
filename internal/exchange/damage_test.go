package exchange

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// wholeInputs gives, of each format, the longest input of the tests that is read without
// a complaint.
func wholeInputs(t *testing.T) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "results", "*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	whole := map[string][]byte{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split("\n"+string(content), "\nread ")[1:] {
			input, _, _ := strings.Cut(part, "\n----")
			_, input, _ = strings.Cut(input, "\n")
			text := []byte(strings.ReplaceAll(input, `\t`, "\t") + "\n")
			text = bytes.ReplaceAll(text, []byte(`\0`), []byte("\x00"))
			results, err := ReadResults("f", bytes.NewReader(text))
			if err == nil && len(results.Rejected) == 0 && len(text) > len(whole[results.Format]) {
				whole[results.Format] = text
			}
		}
	}
	for _, format := range resultFormats() {
		if whole[format.name] == nil {
			t.Errorf("no test reads a whole file of %s", format.name)
		}
	}
	return whole
}

// encodings are what shells and tools of other systems make of a text.
func encodings(t *testing.T) map[string]func([]byte) []byte {
	units := func(text []byte, order ...int) []byte {
		var out []byte
		for _, unit := range utf16.Encode([]rune("\ufeff" + string(text))) {
			pair := [2]byte{byte(unit), byte(unit >> 8)}
			out = append(out, pair[order[0]], pair[order[1]])
		}
		return out
	}
	return map[string]func([]byte) []byte{
		"CRLF":     func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")) },
		"a BOM":    func(text []byte) []byte { return append([]byte("\ufeff"), text...) },
		"UTF-16LE": func(text []byte) []byte { return units(text, 0, 1) },
		"UTF-16BE": func(text []byte) []byte { return units(text, 1, 0) },
		"gzip": func(text []byte) []byte {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			if _, err := w.Write(text); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			return packed.Bytes()
		},
	}
}

// TestReadResults_Encodings holds that each format reads the same in any encoding.
func TestReadResults_Encodings(t *testing.T) {
	for format, text := range wholeInputs(t) {
		want, err := ReadResults("f", bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for name, encode := range encodings(t) {
			got, err := ReadResults("f", bytes.NewReader(encode(text)))
			if diff := cmp.Diff(describeResults(want, nil), describeResults(got, err)); diff != "" {
				t.Errorf("%s in %s: %s", format, name, diff)
			}
		}
		packed := encodings(t)["gzip"](text)
		if _, err := ReadResults("f", bytes.NewReader(packed[:len(packed)-9])); err == nil || !placed(err) {
			t.Errorf("%s in gzip that was cut: %v", format, err)
		}
	}
}

// placed tells an error that names file and line.
func placed(err error) bool { return regexp.MustCompile(`^f(:\d+)+: .`).MatchString(err.Error()) }

// TestReadResults_Damage holds that damage is told with file and line, whatever the
// format, and gives no number that the whole file does not.
func TestReadResults_Damage(t *testing.T) {
	whole := wholeInputs(t)
	comma := regexp.MustCompile(`(\d)\.(\d)`)
	for format, text := range whole {
		if format == "Insert Benchmark" {
			continue // its files hold output of other tools below the first line, which counts alone
		}
		for name, damaged := range damages(format, text, whole) {
			checkDamage(t, format, name, text, damaged)
		}
		localized := comma.ReplaceAll(text, []byte("$1,$2"))
		if bytes.Equal(localized, text) {
			continue // a format of whole numbers
		}
		checkDamage(t, format, "decimal commas", text, localized)
	}
}

// damages are ways in which a file gets broken.
func damages(format string, text []byte, whole map[string][]byte) map[string][]byte {
	found := map[string][]byte{}
	for _, other := range []string{"sysbench", "vmstat", "pgbench"} {
		if other != format && !(other == "sysbench" && format == "sysbench JSON") { // whose output goes on so
			found["output of "+other+" below"] = append(bytes.Clone(text), whole[other]...)
		}
	}
	found["a byte of 0"] = append(bytes.Clone(text), "a\x00b\n"...)
	for _, at := range []int{3, 2} { // in the middle of a line
		cut := len(text) - len(text)/at
		for cut > 0 && (text[cut-1] == '\n' || text[cut] == '\n') {
			cut--
		}
		found[fmt.Sprintf("cut at %d", cut)] = text[:cut]
	}
	return found
}

// checkDamage wants a complaint with its place, or results that the whole file has too.
func checkDamage(t *testing.T, format, name string, text, damaged []byte) {
	t.Helper()
	results, err := ReadResults("f", bytes.NewReader(damaged))
	complaints := results.Rejected
	if err != nil {
		complaints = append(complaints, err)
	}
	for _, complaint := range complaints {
		if !placed(complaint) {
			t.Errorf("%s with %s: %v", format, name, complaint)
		}
	}
	want, wantErr := ReadResults("f", bytes.NewReader(text))
	if wantErr != nil {
		t.Fatal(wantErr)
	}
	if len(complaints) == 0 && len(results.Notes) <= len(want.Notes) {
		t.Errorf("%s with %s: nothing is said; %s", format, name, describeResults(results, err))
	}
	for i, m := range results.Measurements {
		if i >= len(want.Measurements) || m.Operations != want.Measurements[i].Operations || m.ElapsedNs != want.Measurements[i].ElapsedNs {
			t.Errorf("%s with %s gives %d in %d ns", format, name, m.Operations, m.ElapsedNs)
		}
	}
}
