package planfile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/plan"
	"github.com/dbcanary/dbcanary/internal/planfile"
)

// TestFiles reads plan files: what they make, or every problem at once. The
// placement is fixed, since its default depends on the host.
func TestFiles(t *testing.T) {
	for _, path := range []string{"testdata/files", "testdata/classic"} {
		datadriven.RunTest(t, path, makeFile)
	}
}

func makeFile(t *testing.T, d *datadriven.TestData) string {
	file, source := planfile.Read("plan.yaml", []byte(d.Input))
	var keys []string
	if d.HasArg("flags") {
		keys = []string{"threads", "benchmarks"}
		file.Override(planfile.File{Threads: []int{0}, Benchmarks: []string{"scan", "scna"}}, keys)
	}
	p, specs, problems := file.Plan()
	if err := planfile.Tell(source, problems, keys); err != nil {
		return err.Error() + "\n"
	}
	if d.Cmd == "plan" {
		text, err := json.MarshalIndent(p, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(text) + "\n"
	}
	var out bytes.Buffer
	room := plan.Room{MemoryBytes: 16 << 30, DiskBytes: 100 << 30, Dir: "/data"}
	outline, err := planfile.NewOutline(p, specs, file.Adaptive, room)
	if err != nil {
		return err.Error() + "\n"
	}
	for range specs {
		outline.Builds = append(outline.Builds, "to be fetched")
	}
	if err := outline.Write(&out, "# "); err != nil {
		t.Fatal(err)
	}
	if err := planfile.Write(&out, file, outline.Plan, outline.Instances()); err != nil {
		t.Fatal(err)
	}
	outline.Plan.Looks = nil // they are made anew from the number of instances
	sameAgain(t, out.String(), outline.Plan)
	return out.String()
}

// sameAgain holds that what plan show prints is a plan file that means the same.
func sameAgain(t *testing.T, text string, want dbcanary.Plan) {
	t.Helper()
	file, source := planfile.Read("shown.yaml", []byte(text))
	p, _, problems := file.Plan()
	if err := planfile.Tell(source, problems, nil); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}

// The template says what the defaults are, and names every key.
func TestInit(t *testing.T) {
	text, err := planfile.Init(nil)
	if err != nil {
		t.Fatal(err)
	}
	file, source := planfile.Read("plan.yaml", []byte(text))
	if err := source.Err(); err != nil {
		t.Fatal(err)
	}
	want := planfile.Default()
	want.Targets = []planfile.Targets{{Name: "postgres@17"}, {Name: "postgres@18"}}
	if diff := cmp.Diff(want, file); diff != "" {
		t.Error(diff)
	}
	fields := reflect.TypeFor[planfile.File]()
	for i := range fields.NumField() {
		key := fields.Field(i).Tag.Get("yaml")
		if !strings.Contains(text, "\n"+key+":") && !strings.Contains(text, "\n# "+key+":") {
			t.Errorf("the template does not name %s", key)
		}
	}
	// What stands there as a comment is right as well.
	commented := regexp.MustCompile(`(?m)^# ([a-z-]+:)`).ReplaceAllString(text, "$1")
	commented = strings.Replace(commented, "\n#   reads:", "\n  reads:", 1)
	commented = strings.Replace(commented, "suite: quick\n", "", 1)
	commented = strings.Replace(commented, "workload: shop.yaml", "workload: ../workload/own/testdata/shop.yaml", 1)
	file, source = planfile.Read("plan.yaml", []byte(commented))
	_, _, problems := file.Plan()
	if err := planfile.Tell(source, problems, nil); err != nil {
		t.Errorf("%v\n%s", err, commented)
	}
	if file.Slice != 500*time.Millisecond || file.Blocks != 3 || len(file.Base) != 1 || len(file.Groups) != 1 || len(file.Hosts) != 1 {
		t.Errorf("%+v", file)
	}
}

func TestInit_Targets(t *testing.T) {
	targets := []string{"mariadb@10.11", "mysql://root:a#b@h/"}
	text, err := planfile.Init(targets)
	if err != nil {
		t.Fatal(err)
	}
	file, source := planfile.Read("plan.yaml", []byte(text))
	if err := source.Err(); err != nil {
		t.Fatal(err)
	}
	for i, target := range targets {
		if file.Targets[i].Name != target {
			t.Errorf("target %q became %q", target, file.Targets[i].Name)
		}
	}
}

// Problems of flags are told of the flags.
func TestTellFlags(t *testing.T) {
	file := planfile.Default()
	file.Targets = []planfile.Targets{{Name: "sqlite"}, {Name: "sqlite"}}
	file.Time, file.Tables = new(time.Duration(-1)), -1
	_, _, problems := file.Plan()
	err := planfile.TellFlags(problems)
	if want := "--time must be above 0; --tables must be above 0"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("targets: [sqlite, {builds: [mysql, mariadb@10.11], overlays: ['', noahi]}]\nmin-effect: [2, scan=5]\n"))
	f.Add([]byte("targets: [sqlite, sqlite]\nbenchmarks: read-only range=5\ngroups: {a: read-only range=5}\nthreads: [1, 2]\nbase: sqlite#2\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, source := planfile.Read("p", text)
		p, specs, problems := file.Plan()
		if err := planfile.Tell(source, problems, nil); err != nil {
			if dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
				t.Errorf("code %s of %v", dbcanary.ErrorCode(err), err)
			}
			return
		}
		if len(p.Targets) < 2 || len(specs) != len(p.Targets) || len(p.Benchmarks) == 0 {
			t.Errorf("passed with %+v", p)
		}
		if _, err := planfile.NewOutline(p, specs, file.Adaptive, plan.Room{MemoryBytes: 1 << 40, DiskBytes: 1 << 60}); err != nil && dbcanary.ErrorCode(err) == dbcanary.CodeFailed {
			t.Error(fmt.Errorf("outline: %w", err))
		}
	})
}
