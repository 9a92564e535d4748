package build

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("DBCANARY_TEST_HANG_IN"); dir != "" {
		hangInFetch(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// stubProvider is a provider without a network.
type stubProvider struct {
	versions []string
	findErr  error
	fetchErr error
	fetches  atomic.Int32
	hang     func(dir string)
}

func (s *stubProvider) provider() string { return "npm" }

func (s *stubProvider) serves(family dbcanary.Family) bool { return family == dbcanary.Postgres }

func (s *stubProvider) find(context.Context, dbcanary.Family, Progress) ([]Candidate, error) {
	var candidates []Candidate
	for _, version := range s.versions {
		candidates = append(candidates, Candidate{
			Build: dbcanary.Build{Family: dbcanary.Postgres, Version: version, Provider: "npm", Origin: "package " + version},
			State: StateAvailable,
		})
	}
	return candidates, s.findErr
}

func (s *stubProvider) fetch(_ context.Context, candidate Candidate, dir string, _ Progress) (fetched, error) {
	s.fetches.Add(1)
	if err := writeServer(dir, candidate.Version); err != nil {
		return fetched{}, err
	}
	if s.hang != nil {
		s.hang(dir)
	}
	return fetched{base: dir, checksum: "sha512-abc"}, s.fetchErr
}

// writeServer writes a folder that identifyStub knows as a server.
func writeServer(dir, version string) error {
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "bin", "postgres"), []byte(version), 0o700)
}

func identifyStub(_ context.Context, family dbcanary.Family, dir string) (dbms.Binary, error) {
	if family == dbcanary.SQLite && dir == "" {
		return dbms.Binary{Version: "3.50.1"}, nil
	}
	path := filepath.Join(dir, "bin", "postgres")
	content, err := os.ReadFile(path)
	if err != nil {
		return dbms.Binary{}, dbcanary.Errorf(dbcanary.CodeUnavailable, "no server below %s", dir)
	}
	return dbms.Binary{Path: path, Version: string(content)}, nil
}

func newStubCache(t *testing.T, provider *stubProvider, installed ...string) *Cache {
	t.Helper()
	cache := New(Options{Dir: filepath.Join(t.TempDir(), "builds"), Identify: identifyStub, Installed: installed})
	cache.fetchers = []fetcher{provider}
	return cache
}

func spec(t *testing.T, text string) dbcanary.TargetSpec {
	t.Helper()
	parsed, err := dbcanary.ParseTargetSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func list(t *testing.T, cache *Cache) []Entry {
	t.Helper()
	entries, err := cache.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestCache_InstallIsKept(t *testing.T) {
	provider := &stubProvider{versions: []string{"18.4", "15.18"}}
	cache := newStubCache(t, provider)
	for range 2 {
		got, err := cache.Resolve(t.Context(), spec(t, "postgres@15"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Version != "15.18" || got.Checksum != "sha512-abc" || got.Provider != "npm" || got.Origin != "package 15.18" {
			t.Errorf("got %+v", got)
		}
	}
	if n := provider.fetches.Load(); n != 1 {
		t.Errorf("fetched %d times, want 1", n)
	}
	entries := list(t, cache)
	if len(entries) != 1 || entries[0].SizeBytes != int64(len("15.18")) || entries[0].Fetched.IsZero() {
		t.Fatalf("list: %+v", entries)
	}
	// The server may have to run as another user than the one that fetched it.
	for path := filepath.Join(entries[0].Dir, "bin", "postgres"); path != cache.options.Dir; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o555 != 0o555 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
	if err := cache.Remove(t.Context(), entries[0].Name); err != nil {
		t.Fatal(err)
	}
	if left := list(t, cache); len(left) != 0 {
		t.Errorf("after remove: %+v", left)
	}
}

func TestCache_FailedFetchLeavesNothing(t *testing.T) {
	provider := &stubProvider{versions: []string{"15.18"}, fetchErr: errors.New("connection reset")}
	cache := newStubCache(t, provider)
	_, err := cache.Resolve(t.Context(), spec(t, "postgres@15"), nil)
	if dbcanary.ErrorCode(err) != dbcanary.CodeUnavailable || !strings.Contains(err.Error(), "connection reset") {
		t.Errorf("error %v, want the cause with CodeUnavailable", err)
	}
	folders, err := filepath.Glob(filepath.Join(cache.options.Dir, "[^.]*"))
	if err != nil || len(folders) != 0 {
		t.Errorf("left behind: %v %v", folders, err)
	}
}

func TestCache_ConcurrentInstallsFetchOnce(t *testing.T) {
	provider := &stubProvider{versions: []string{"15.18"}}
	first := newStubCache(t, provider)
	second := New(first.options) // as another process would
	second.fetchers = first.fetchers
	var group sync.WaitGroup
	for _, cache := range []*Cache{first, second, first, second} {
		group.Go(func() {
			if _, err := cache.Resolve(t.Context(), spec(t, "postgres@15"), nil); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := provider.fetches.Load(); n != 1 {
		t.Errorf("fetched %d times, want 1", n)
	}
}

// hangInFetch is the body of a process that is killed in the middle of an install.
func hangInFetch(dir string) {
	cache := New(Options{Dir: dir, Identify: identifyStub})
	cache.fetchers = []fetcher{&stubProvider{versions: []string{"15.18"}, hang: func(string) {
		_, _ = os.Stdout.WriteString("fetching\n")
		<-make(chan struct{})
	}}}
	_, _ = cache.Resolve(context.Background(), dbcanary.TargetSpec{Name: "postgres@15", Family: dbcanary.Postgres, Version: "15"}, nil)
}

func TestCache_KillInTheMiddleLeavesNoBuild(t *testing.T) {
	provider := &stubProvider{versions: []string{"15.18"}}
	cache := newStubCache(t, provider)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), program)
	child.Env = append(os.Environ(), "DBCANARY_TEST_HANG_IN="+cache.options.Dir)
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "fetching\n" {
		t.Errorf("the child says %q, %v", line, err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	left, err := filepath.Glob(filepath.Join(cache.options.Dir, "postgres-*", "root", "bin", "postgres"))
	if err != nil || len(left) != 1 {
		t.Fatalf("the child left %v %v, want half an install", left, err)
	}
	if entries := list(t, cache); len(entries) != 0 {
		t.Errorf("half an install is listed: %+v", entries)
	}
	if _, err := cache.Resolve(t.Context(), spec(t, "postgres@15"), nil); err != nil {
		t.Fatal(err)
	}
	if provider.fetches.Load() != 1 || len(list(t, cache)) != 1 {
		t.Errorf("%d fetches, builds %+v; want one of each", provider.fetches.Load(), list(t, cache))
	}
}

func TestCache_RemovesOnlyItsOwn(t *testing.T) {
	cache := newStubCache(t, &stubProvider{versions: []string{"15.18"}})
	if _, err := cache.Resolve(t.Context(), spec(t, "postgres@15"), nil); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(cache.options.Dir, "precious")
	if err := writeServer(foreign, "1"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", filepath.Join(cache.options.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"precious":                 "no marker",
		"link":                     "no marker",
		"postgres-15.18-npmm":      "did you mean postgres-15.18-npm",
		"../builds":                "there is no build",
		".locks":                   "there is no build",
		"":                         "there is no build",
		"postgres-15.18-npm/../..": "there is no build",
	} {
		err := cache.Remove(t.Context(), name)
		if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("remove %q: %v, want %q", name, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(foreign, "bin", "postgres")); err != nil {
		t.Error(err)
	}
	if len(list(t, cache)) != 1 {
		t.Errorf("builds: %+v, want the one still", list(t, cache))
	}
}

// A folder that was moved is no build: its binaries name their old place.
func TestCache_MovedFolderIsNoBuild(t *testing.T) {
	provider := &stubProvider{versions: []string{"15.18"}}
	cache := newStubCache(t, provider)
	if _, err := cache.Resolve(t.Context(), spec(t, "postgres@15"), nil); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Rename(cache.options.Dir, moved); err != nil {
		t.Fatal(err)
	}
	cache.options.Dir = moved
	if entries := list(t, cache); len(entries) != 0 {
		t.Errorf("builds: %+v, want none", entries)
	}
	if _, err := cache.Resolve(t.Context(), spec(t, "postgres@15"), nil); err != nil {
		t.Fatal(err)
	}
	if provider.fetches.Load() != 2 {
		t.Errorf("%d fetches, want a second one", provider.fetches.Load())
	}
}

func TestCache_NewerMarkerIsNotMisread(t *testing.T) {
	cache := newStubCache(t, &stubProvider{versions: []string{"15.18"}})
	if _, err := cache.Resolve(t.Context(), spec(t, "postgres@15"), nil); err != nil {
		t.Fatal(err)
	}
	entry := list(t, cache)[0]
	content, err := json.Marshal(marker{Format: markerFormat + 1, Entry: entry})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cache.options.Dir, entry.Name, markerFile), content, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := cache.List(t.Context()); err == nil || !strings.Contains(err.Error(), "newer dbcanary") {
		t.Errorf("error %v, want one about the format", err)
	}
}

func TestCache_Add(t *testing.T) {
	provider := &stubProvider{versions: []string{"18.4"}}
	cache := newStubCache(t, provider)
	mine := t.TempDir()
	if err := writeServer(mine, "18devel"); err != nil {
		t.Fatal(err)
	}
	entry, err := cache.Add(t.Context(), dbcanary.Postgres, mine, "my-patch")
	if err != nil {
		t.Fatal(err)
	}
	if entry.Dir != mine || entry.Provider != "path" || !strings.HasPrefix(entry.Checksum, "sha256:") {
		t.Errorf("added %+v", entry)
	}
	for _, target := range []string{"postgres@my-patch", "postgres@18devel"} {
		got, err := cache.Resolve(t.Context(), spec(t, target), nil)
		if err != nil || got != entry.Build {
			t.Errorf("%s: %+v, %v; want the added build", target, got, err)
		}
	}
	for name, want := range map[string]string{"my-patch": "already", "../x": "can't be named", ".x": "can't be named"} {
		if _, err := cache.Add(t.Context(), dbcanary.Postgres, mine, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("add as %q: %v, want %q", name, err, want)
		}
	}
	if err := cache.Remove(t.Context(), "my-patch"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(mine, "bin", "postgres")); err != nil {
		t.Errorf("remove took the user's own build: %v", err)
	}
}

func TestUserDir(t *testing.T) {
	for _, test := range []struct {
		euid int
		env  map[string]string
		want string
	}{
		{0, map[string]string{"HOME": "/root"}, "/var/cache/dbcanary"},
		{1000, map[string]string{"HOME": "/home/me"}, "/home/me/.cache/dbcanary"},
		{1000, map[string]string{"HOME": "/home/me", "XDG_CACHE_HOME": "/big"}, "/big/dbcanary"},
		{0, map[string]string{"DBCANARY_CACHE": "/data/c"}, "/data/c"},
	} {
		if got := UserDir(test.euid, func(name string) string { return test.env[name] }); got != test.want {
			t.Errorf("user %d with %v: %s, want %s", test.euid, test.env, got, test.want)
		}
	}
}
