package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
)

// scriptedRunner answers programs as a test says.
type scriptedRunner struct {
	mutex  sync.Mutex
	ran    []string
	answer func(line string, command Command) (stdout string, err error)
}

func (r *scriptedRunner) Run(_ context.Context, command Command) error {
	line := strings.Join(command.Args, " ")
	r.mutex.Lock()
	r.ran = append(r.ran, line)
	r.mutex.Unlock()
	stdout, err := r.answer(line, command)
	if err != nil {
		_, _ = io.WriteString(command.Stderr, "E: "+err.Error()+"\n")
		return errors.New("exit status 100")
	}
	if command.Stdout != nil {
		_, err = io.WriteString(command.Stdout, stdout)
	}
	return err
}

func (r *scriptedRunner) tools() toolbox {
	return toolbox{runner: r, notes: &notes{w: io.Discard}}
}

// aptAnswers acts as apt on a machine with one mirror; madison gives the table
// of a suite, and a suite without one can't be read.
func aptAnswers(t *testing.T, sources string, madison map[string]string) *scriptedRunner {
	t.Helper()
	list := filepath.Join(t.TempDir(), "sources.list")
	if err := os.WriteFile(list, []byte(sources), 0o600); err != nil {
		t.Fatal(err)
	}
	return &scriptedRunner{answer: func(line string, command Command) (string, error) {
		switch command.Args[0] {
		case "dpkg":
			return "amd64\n", nil
		case "apt-config":
			return fmt.Sprintf("LIST='%s'\nPARTS='/nonexistent/'\n", list), nil
		}
		suite := filepath.Base(filepath.Dir(command.Args[2]))
		table, ok := madison[suite]
		switch {
		case !ok:
			return "", errors.New("the repository does not have a Release file")
		case strings.HasSuffix(line, " update"):
			lists := filepath.Join(filepath.Dir(command.Args[2]), "lists", "m_dists_"+suite+"_main_binary-amd64_Packages")
			return "", os.WriteFile(lists, nil, 0o600)
		case strings.Contains(line, " pkgnames "):
			name, _, _ := strings.Cut(table, " ")
			return name + "\nmariadb-server-core-dbgsym\n", nil
		case strings.Contains(line, " madison "):
			return table, nil
		}
		return "", nil
	}}
}

func TestDebian_Find(t *testing.T) {
	runner := aptAnswers(t, "deb http://mirror.example/debian bookworm main\n", map[string]string{
		"trixie":   "mariadb-server-core | 1:11.8.9+ds-0+deb13u1 | http://mirror.example/debian trixie/main amd64 Packages\n",
		"bookworm": "mariadb-server-core | 1:10.11.19-0 | http://m bookworm-security/main amd64 Packages\nmariadb-server-core | 1:10.11.18-0 | http://m bookworm/main amd64 Packages\nmariadb-server-core | 1:10.11.18-0 | http://m bookworm/main Sources\n",
		"sid":      "mariadb-server-core | 1:11.8.9+ds-4 | http://mirror.example/debian sid/main amd64 Packages\n",
	})
	d := &debian{tools: runner.tools(), dir: t.TempDir()}
	found, err := d.find(t.Context(), dbcanary.MariaDB, nil)
	if err == nil || !strings.Contains(err.Error(), "bullseye: apt-get: the repository does not have a Release file") {
		t.Errorf("error %v, want one that names the suite and apt's reason", err)
	}
	var got []string
	for _, candidate := range found {
		got = append(got, candidate.Version+" "+candidate.Origin)
	}
	want := []string{
		"11.8.9 mariadb-server-core 1:11.8.9+ds-0+deb13u1 from Debian trixie",
		"11.8.9 mariadb-server-core 1:11.8.9+ds-4 from Debian sid",
		"10.11.19 mariadb-server-core 1:10.11.19-0 from Debian bookworm",
		"10.11.18 mariadb-server-core 1:10.11.18-0 from Debian bookworm",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// The user's own apt is never changed: every command has the private configuration.
	for _, line := range runner.ran {
		if strings.HasPrefix(line, "apt-get") && !strings.HasPrefix(line, "apt-get -c "+d.dir) {
			t.Errorf("on the machine's own apt: %s", line)
		}
	}
	// Fresh lists are not asked for again; those that failed are.
	before := len(runner.ran)
	if _, err := d.find(t.Context(), dbcanary.MariaDB, nil); err == nil {
		t.Error("the missing suite is no longer told")
	}
	updates := 0
	for _, line := range runner.ran[before:] {
		if strings.HasSuffix(line, " update") {
			updates++
		}
	}
	if updates != 1 {
		t.Errorf("%d updates in the second find, want that of the missing suite alone", updates)
	}
}

// Older apts end well although nothing could be read.
func TestDebian_UpdateThatBringsNothing(t *testing.T) {
	runner := aptAnswers(t, "deb http://mirror.example/debian bookworm main\n", nil)
	answer := runner.answer
	runner.answer = func(line string, command Command) (string, error) {
		if strings.HasPrefix(line, "apt-get") {
			return "", nil
		}
		return answer(line, command)
	}
	d := &debian{tools: runner.tools(), dir: t.TempDir()}
	_, err := d.find(t.Context(), dbcanary.MySQL, nil)
	if dbcanary.ErrorCode(err) != dbcanary.CodeUnavailable || !strings.Contains(err.Error(), "is the mirror reachable?") {
		t.Errorf("error %v, want one about the mirror", err)
	}
}

func TestDebian_NoMirror(t *testing.T) {
	runner := aptAnswers(t, "deb http://ubuntu.example/ubuntu noble main\n", nil)
	d := &debian{tools: runner.tools(), dir: t.TempDir()}
	_, err := d.find(t.Context(), dbcanary.MySQL, nil)
	if dbcanary.ErrorCode(err) != dbcanary.CodeUnavailable || !strings.Contains(err.Error(), "no Debian mirror") {
		t.Errorf("error %v, want one that says that there is no mirror", err)
	}
}

func TestUpstreamVersion(t *testing.T) {
	for version, want := range map[string]string{
		"9.7.4-2": "9.7.4", "1:10.5.29-0+deb11u1": "10.5.29", "1:11.8.9+ds-4": "11.8.9", "8.0.45-1~exp1": "8.0.45",
	} {
		if got := upstreamVersion(version); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

func TestParsePrintURIs(t *testing.T) {
	got := parsePrintURIs("Reading lists\n'http://m/pool/libc6_2.41-1_amd64.deb' libc6_2.41-1_amd64.deb 1866392 SHA256:ab\n'x' ../evil 1 MD5Sum:0\n'x' half\n")
	if diff := cmp.Diff([]archive{{"libc6_2.41-1_amd64.deb", 1866392}}, got, cmp.AllowUnexported(archive{})); diff != "" {
		t.Error(diff)
	}
}

func TestAptStatus_SplitLines(t *testing.T) {
	var got []float64
	status := &aptStatus{report: func(percent float64) { got = append(got, percent) }}
	for _, part := range []string{"dlstatus:1:12", ".5:Retrieving\npmstatus:x:99:y\ndlstatus:2:1e9:z\n", "dlstatus:2:100:Done: all\n"} {
		if n, err := status.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if !slices.Equal(got, []float64{12.5, 100}) {
		t.Errorf("got %v", got)
	}
}

func FuzzAptOutput(f *testing.F) {
	f.Add("mysql-server-core | 9.7.4-2 | http://m sid/main amd64 Packages\n'http://m/x.deb' x_1_all.deb 5 MD5Sum:0\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, version := range parseMadison(text) {
			if version.name == "" || version.version == "" {
				t.Errorf("%+v", version)
			}
		}
		for _, archive := range parsePrintURIs(text) {
			if filepath.Base(archive.file) != archive.file {
				t.Errorf("%q leads out of its folder", archive.file)
			}
		}
	})
}

func TestParseNPMVersions(t *testing.T) {
	found, err := parseNPMVersions(`["10.20.0-beta.6","15.10.0-beta.9","15.10.0-beta.15","12.17.1-beta.9","12.17.0-beta.9","weird","15.x.0"]`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, candidate := range found {
		got = append(got, candidate.Version+" = "+candidate.ref.(string))
	}
	want := []string{"15.10 = 15.10.0-beta.15", "12.17 = 12.17.1-beta.9", "10.20 = 10.20.0-beta.6"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := parseNPMVersions(`{"error":{}}`); err == nil {
		t.Error("an answer that is no list is accepted")
	}
}

func FuzzNPMVersions(f *testing.F) {
	f.Add(`["15.10.0-beta.9"]`)
	f.Add(`"15.10.0-beta.9"`)
	f.Fuzz(func(t *testing.T, text string) {
		found, err := parseNPMVersions(text)
		for _, candidate := range found {
			if err != nil || leadingVersion(candidate.Version) != candidate.Version {
				t.Errorf("%+v, %v", candidate, err)
			}
		}
	})
}

func TestNPMLinks_StayInside(t *testing.T) {
	for _, test := range []struct {
		links string
		ok    bool
	}{
		{`[{"source":"native/lib/libpq.so.5.15","target":"native/lib/libpq.so.5"}]`, true},
		{`[{"source":"/etc/passwd","target":"native/lib/x"}]`, false},
		{`[{"source":"native/lib/libpq.so.5.15","target":"../../x"}]`, false},
		{`{`, false},
	} {
		base := t.TempDir()
		if err := os.MkdirAll(filepath.Join(base, "native", "lib"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(base, "native", "pg-symlinks.json"), []byte(test.links), 0o600); err != nil {
			t.Fatal(err)
		}
		err := npmLinks(base)
		if (err == nil) != test.ok {
			t.Errorf("%s: %v", test.links, err)
		}
		if test.ok {
			if target, err := os.Readlink(filepath.Join(base, "native", "lib", "libpq.so.5")); err != nil || target != "libpq.so.5.15" {
				t.Errorf("link to %q, %v", target, err)
			}
		}
	}
}

func TestInstalledDirs(t *testing.T) {
	root := t.TempDir()
	if err := writeServer(filepath.Join(root, "pg15"), "15.1"); err != nil {
		t.Fatal(err)
	}
	links := filepath.Join(root, "links")
	if err := os.Mkdir(links, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "pg15", "bin", "postgres"), filepath.Join(links, "postgres")); err != nil {
		t.Fatal(err)
	}
	if got := InstalledDirs(links); !slices.Contains(got, filepath.Join(root, "pg15")) || slices.Contains(got, root) {
		t.Errorf("got %q, want the folder that the link leads to", got)
	}
}
