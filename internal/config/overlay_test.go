package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/config"
)

var builtin = map[string][]dbcanary.Setting{
	"noahi": {{Name: "innodb_adaptive_hash_index", Value: "0"}},
	"itc":   {{Name: "innodb_thread_concurrency", Value: "32"}},
}

func TestResolve(t *testing.T) {
	file := filepath.Join(t.TempDir(), "my.cnf")
	text := "[client]\nuser = nobody\n[mysqld]\n# a comment\ninnodb-io-capacity = 2000 # why\nskip-name-resolve\nsql_mode = 'A,B # C'\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := config.Resolve([]string{"noahi", "innodb-buffer-pool-size=1G", file}, builtin)
	if err != nil {
		t.Fatal(err)
	}
	want := []dbcanary.Setting{
		{Name: "innodb_adaptive_hash_index", Value: "0"},
		{Name: "innodb_buffer_pool_size", Value: "1G"},
		{Name: "innodb_io_capacity", Value: "2000"},
		{Name: "skip_name_resolve", Value: ""},
		{Name: "sql_mode", Value: "A,B # C"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestResolve_Refuses(t *testing.T) {
	tests := []struct{ overlay, message string }{
		{"noahl", "unknown overlay +noahl: neither a built-in one nor a file nor name=value; did you mean noahi?"},
		{"./missing.cnf", "no such file"},
		{"=1", "a setting has no name"},
		{"work mem=1", `letters, digits, "_" and ".": "work mem"`},
		{"a=b\nc=d", "line break"},
	}
	for _, test := range tests {
		_, err := config.Resolve([]string{test.overlay}, builtin)
		if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), test.message) {
			t.Errorf("%q: got %v, want %q", test.overlay, err, test.message)
		}
	}
}

func TestParseOptionFile_NamesTheLine(t *testing.T) {
	for text, message := range map[string]string{
		"work_mem = 4MB\n[mysqld\n": "f:2: a section has no closing bracket",
		"a = 'b\n":                  "f:1: a quoted value has no end",
		"\n\na b = c = d\n":         "f:3: ",
	} {
		_, err := config.ParseOptionFile("f", []byte(text))
		if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: got %v, want %q", text, err, message)
		}
	}
}

// A value that is written back as a line of an option file reads the same.
func FuzzParseOptionFile(f *testing.F) {
	f.Add([]byte("[mysqld]\nname = value # comment\n; old comment\nflag\n"))
	f.Add([]byte("shared_buffers = '1GB'\nwork_mem 4MB\n"))
	f.Add([]byte("= \x00\n'\n[\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		settings, err := config.ParseOptionFile("f", text)
		if err != nil {
			return
		}
		for _, setting := range settings {
			if setting.Name == "" || strings.ContainsAny(setting.Value, "\r\n\x00") {
				t.Errorf("%q gave %+v", text, setting)
			}
		}
	})
}
