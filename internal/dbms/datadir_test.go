package dbms

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/google/go-cmp/cmp"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRemove_NeedsMarker(t *testing.T) {
	root := t.TempDir()
	precious := filepath.Join(root, "precious")
	must(t, os.WriteFile(precious, nil, 0o600))
	if err := Remove(root); err == nil {
		t.Error("a directory without marker was removed")
	}
	if err := Claim(root); err == nil {
		t.Error("a directory with somebody's file was claimed")
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(root, link))
	if err := Remove(link); err == nil {
		t.Error("a symbolic link was removed")
	}
	must(t, Remove(filepath.Join(root, "nothing")))
}

func TestSweep_LeavesTheLiving(t *testing.T) {
	root := t.TempDir()
	alive, dead := filepath.Join(root, "run", "alive"), filepath.Join(root, "run", "dead")
	reused := filepath.Join(root, "run", "reused")
	for _, dir := range []string{alive, dead, reused} {
		must(t, Claim(dir))
		must(t, os.MkdirAll(filepath.Join(dir, "data", "deep"), 0o700))
	}
	elsewhere, err := os.MkdirTemp("", socketPrefix)
	must(t, err)
	self, _ := readStat(os.Getpid())
	// A process of that id runs, but it started at another time than the owner did.
	must(t, writeMarker(reused, marker{PID: self.pid, StartTicks: self.startTicks + 1, BootID: bootID()}))
	must(t, writeMarker(dead, marker{PID: self.pid, StartTicks: self.startTicks, BootID: "an earlier boot", Elsewhere: []string{elsewhere, root}}))
	removed, err := Sweep(t.Context(), root)
	must(t, err)
	if diff := cmp.Diff([]string{dead, reused}, removed); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(alive, "data", "deep")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(elsewhere); err == nil {
		t.Error("the directory for sockets is left")
	}
}

func TestCopy_KeepsHolesAndModes(t *testing.T) {
	root := t.TempDir()
	src, dst := filepath.Join(root, "src"), filepath.Join(root, "dst")
	must(t, Claim(src))
	must(t, Claim(dst))
	must(t, os.MkdirAll(filepath.Join(src, "data", "base"), 0o700))
	path := filepath.Join(src, "data", "base", "sparse")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o640)
	must(t, err)
	const size = 64 << 20
	_, err = file.WriteAt([]byte("begin"), 0)
	must(t, err)
	_, err = file.WriteAt([]byte("end"), size-3)
	must(t, err)
	must(t, file.Close())
	must(t, os.WriteFile(filepath.Join(src, "data", serverName), []byte("server-uuid=1"), 0o600))
	must(t, Copy(t.Context(), src, dst))
	if _, err := os.Stat(filepath.Join(dst, "data", serverName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy has the name of the server it was copied from: %v", err)
	}
	want, err := os.ReadFile(path)
	must(t, err)
	copied := filepath.Join(dst, "data", "base", "sparse")
	got, err := os.ReadFile(copied)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Error("the copy differs")
	}
	info, err := os.Stat(copied)
	must(t, err)
	if info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, want 0640", info.Mode())
	}
	opened, err := os.Open(copied)
	must(t, err)
	defer opened.Close()
	stretches, err := stretchesOf(opened, size)
	must(t, err)
	var data int64
	for _, s := range stretches {
		data += s.end - s.start
	}
	if data > size/2 {
		t.Errorf("%d bytes of %d are data: the hole was filled", data, size)
	}
	if err := Copy(t.Context(), src, dst); err == nil {
		t.Error("data were copied over others")
	}
}

func TestCopy_RefusesUncleanAndCancelled(t *testing.T) {
	root := t.TempDir()
	src, dst := filepath.Join(root, "src"), filepath.Join(root, "dst")
	must(t, Claim(src))
	must(t, Claim(dst))
	must(t, os.MkdirAll(filepath.Join(src, "data"), 0o700))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Copy(ctx, src, dst); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled copy gives %v", err)
	}
	must(t, os.WriteFile(filepath.Join(src, "data", "postmaster.pid"), nil, 0o600))
	if err := Copy(t.Context(), src, dst); err == nil || !strings.Contains(err.Error(), "shut down cleanly") {
		t.Errorf("the copy of a running server gives %v", err)
	}
}

func TestSocketDir_ShortWhateverTheDirectory(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long/", 20))
	must(t, Claim(long))
	first, err := OpenInstance(long)
	must(t, err)
	second, err := OpenInstance(long)
	must(t, err)
	if len(first.Sockets) > 80 || first.Sockets != second.Sockets {
		t.Errorf("sockets in %s, then in %s", first.Sockets, second.Sockets)
	}
	must(t, Remove(long))
	if _, err := os.Stat(first.Sockets); err == nil {
		t.Errorf("%s is left", first.Sockets)
	}
}

func TestCompareVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"10.11.14", "10.5", 1},
		{"8.0.30", "8.0.30", 0},
		{"8.0.28", "8.0.30", -1},
		{"8.0", "8.0.0", 0},
		{"19beta1", "18.4", 1},
		{"5.7.44-48", "5.7.44", 0},
		{"9.7.0", "10.0", -1},
	} {
		if got := CompareVersions(c.a, c.b); got != c.want {
			t.Errorf("CompareVersions(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestCheckSettings(t *testing.T) {
	for _, setting := range []dbcanary.Setting{{Name: ""}, {Name: "a b", Value: "1"}, {Name: "a", Value: "1\n[client]"}, {Name: "PORT", Value: "1"}, {Name: "a=b"}} {
		if err := CheckSettings([]dbcanary.Setting{setting}, []string{"port"}, strings.ToLower); dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
			t.Errorf("%+v gives %v", setting, err)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (a) b) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 1234 5 6"))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if stat, ok := parseStat(42, data); ok && stat.pid != 42 {
			t.Errorf("pid %d", stat.pid)
		}
	})
}
