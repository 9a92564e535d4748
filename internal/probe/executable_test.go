package probe

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
)

func TestParseComment(t *testing.T) {
	for text, want := range map[string]string{
		"GCC: (Debian 14.2.0-19) 14.2.0\x00":                           "GCC: (Debian 14.2.0-19) 14.2.0",
		"GCC: (GNU) 4.4.7\x00GCC: (GNU) 4.4.7\x00clang version 18\x00": "GCC: (GNU) 4.4.7, clang version 18",
		"\x00\x00": "", "": "",
	} {
		if got := parseComment([]byte(text)); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

func TestNewestSymbols(t *testing.T) {
	got := newestSymbols([]string{"GLIBC_2.9", "GLIBC_2.38", "GLIBC_2.4", "GLIBCXX_3.4.9", "GLIBCXX_3.4.32", "GLIBC_PRIVATE", "OPENSSL_3.0.0", "CXXABI_1.3.15"})
	if want := "CXXABI_1.3.15, GLIBCXX_3.4.32, GLIBC_2.38"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := newestSymbols(nil); got != "" {
		t.Errorf("%q for nothing", got)
	}
}

const mapsText = `55d0c0a00000-55d0c0b00000 r-xp 00000000 fe:00 1 /usr/sbin/mysqld
7f1000000000-7f1000100000 r--p 00000000 fe:00 2 /usr/lib/libc.so.6
7f1000100000-7f1000200000 r-xp 00100000 fe:00 2 /usr/lib/libc.so.6
7f1000200000-7f1000300000 r-xp 00000000 fe:00 3 /opt/my db/libjemalloc.so.2
7f1000300000-7f1000400000 r-xp 00000000 fe:00 4 /usr/lib/ld-linux-x86-64.so.2
7f1000400000-7f1000500000 r--p 00000000 fe:00 5 /usr/lib/data.so.1
7f1000500000-7f1000600000 r-xp 00000000 00:00 0 [vdso]
7f1000600000-7f1000700000 rwxp 00000000 00:00 0
`

func TestParseLibraries(t *testing.T) {
	if diff := cmp.Diff([]string{"/opt/my db/libjemalloc.so.2", "/usr/lib/libc.so.6"}, parseLibraries([]byte(mapsText))); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseLibraries(f *testing.F) {
	f.Add([]byte(mapsText))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, path := range parseLibraries(text) {
			if !strings.HasPrefix(path, "/") {
				t.Errorf("%q gives %q", text, path)
			}
		}
	})
}

func TestLibraryVersion(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"libz.so.1.3.1":    "",
		"libcrypto.so.3":   "\x00OpenSSL 3.5.1 1 Jul 2025\x00",
		"libssl.so.1.1":    "no text",
		"libc.so.6":        "GNU C Library (Debian GLIBC 2.41-12) stable release version 2.41.\n",
		"libjemalloc.so.2": "",
		"component.so":     "",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("libz.so.1.3.1", filepath.Join(dir, "libz.so.1")); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][2]string{
		"libz.so.1": {"libz", "1.3.1"}, "libcrypto.so.3": {"libcrypto", "3.5.1"}, "libssl.so.1.1": {"libssl", "1.1"},
		"libc.so.6": {"libc", "Debian GLIBC 2.41-12"}, "libjemalloc.so.2": {"libjemalloc", "2"}, "component.so": {"component", "component.so"},
		"libgone.so.4": {"libgone", "4"},
	} {
		if name, version := libraryVersion(filepath.Join(dir, file)); name != want[0] || version != want[1] {
			t.Errorf("%s: %q %q, want %q", file, name, version, want)
		}
	}
}

// A shell is a program with a C library of this system, and this test one that Go made.
func TestMade(t *testing.T) {
	shell := start(t, exec.Command("sh", "-c", "while read line; do echo done; done"))
	shell.do("first")
	made, err := Made(shell.pid)
	if err != nil {
		t.Fatal(err)
	}
	value := func(name string) string {
		at := slices.IndexFunc(made, func(one dbcanary.Setting) bool { return one.Name == name })
		if at < 0 {
			return ""
		}
		return made[at].Value
	}
	if !strings.Contains(value("libc"), "2.") || !strings.Contains(value("needs"), "GLIBC_2.") || value("executable") == "" {
		t.Errorf("%+v", made)
	}
	if _, err := Made(1 << 30); err == nil {
		t.Error("a process that is not there was made somehow")
	}
	if _, err := Made(os.Getpid()); err != nil {
		t.Errorf("a program without libraries: %v", err)
	}
}
