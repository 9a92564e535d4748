package lab_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build/buildtest"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
	"github.com/dbcanary/dbcanary/internal/lab"
	"github.com/dbcanary/dbcanary/internal/profile"
)

// newProfiled is a run of one instance and one block on real servers.
func newProfiled(t *testing.T, benchmarks []string, profiles []string, targets ...string) *bench {
	t.Helper()
	b := newBench(t, targets...)
	b.profileTime = 2 * time.Second
	work, err := os.MkdirTemp("", "dbcp") // a short name, for the sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(work) })
	if err := os.Chmod(work, 0o755); err != nil {
		t.Fatal(err)
	}
	b.work = filepath.Join(work, "w")
	b.run.Plan.Profile, b.run.Plan.Instances, b.run.Plan.Blocks = profiles, 1, 1
	b.run.Plan.SliceNs, b.run.Plan.WarmupNs = int64(100*time.Millisecond), int64(50*time.Millisecond)
	b.run.Plan.Benchmarks = nil
	for _, label := range benchmarks {
		b.run.Plan.Benchmarks = append(b.run.Plan.Benchmarks, dbcanary.PlannedBenchmark{Label: label, Group: "point"})
	}
	for i, target := range targets {
		spec, err := dbcanary.ParseTargetSpec(strings.TrimSuffix(target, "#2"))
		if err != nil {
			t.Fatal(err)
		}
		driver := drivers.For(spec.Family)
		if spec.Family != dbcanary.SQLite {
			base, _, _ := strings.Cut(target, "+")
			b.run.Targets[i].Build = buildtest.Get(t, base)
		}
		b.subjects[i].Driver = driver
		for _, overlay := range spec.Overlays {
			b.subjects[i].Settings = append(b.subjects[i].Settings, driver.Overlays()[overlay]...)
		}
	}
	return b
}

func (b *bench) profiles() []dbcanary.Profile {
	b.t.Helper()
	profiles, err := b.store.Profiles(b.t.Context(), b.run.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return profiles
}

func (b *bench) missing(target, probe string) string {
	for _, missing := range b.run.Missing {
		if missing.Target == target && missing.Probe == probe {
			return missing.Reason
		}
	}
	return ""
}

// stacksOf are the stacks of a target by a sampler whose name starts so.
func (b *bench) stacksOf(target, sampler string) []profile.Stack {
	b.t.Helper()
	for _, p := range b.profiles() {
		for _, stacks := range p.Stacks {
			if p.Target == target && strings.HasPrefix(stacks.Sampler, sampler) {
				list, err := profile.Decode(stacks.Pprof)
				if err != nil {
					b.t.Fatal(err)
				}
				return list
			}
		}
	}
	b.t.Fatalf("no stacks of %s by %s: %v, missing %v", target, sampler, b.events, b.run.Missing)
	return nil
}

// samplesWith counts the samples in which some function's name holds a text.
func samplesWith(stacks []profile.Stack, text string) int64 {
	var count int64
	for _, stack := range stacks {
		if slices.ContainsFunc(stack.Names(), func(name string) bool { return strings.Contains(name, text) }) {
			count += stack.Count
		}
	}
	return count
}

// childrenLeft lists what this process has started and not ended.
func childrenLeft(t *testing.T) []string {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, file := range tasks {
		text, _ := os.ReadFile(file) // a thread may have ended
		for _, pid := range strings.Fields(string(text)) {
			number, _ := strconv.Atoi(pid)
			name, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(number), "comm"))
			left = append(left, pid+" "+strings.TrimSpace(string(name)))
		}
	}
	return left
}

// The Performance Schema on against off: its waits can be seen on the side where it
// is, its functions in the stacks of that side, and nothing of it is a trial.
func TestProfile_PerformanceSchema(t *testing.T) {
	const off, on = "mysql@9.7", "mysql@9.7+ps"
	b := newProfiled(t, []string{"point-query"}, dbcanary.ProfileKinds(), off, on)
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, trial := range b.trials() {
		if trial.ElapsedNs > int64(b.profileTime)/2 {
			t.Errorf("a profiling slice passes for a trial: %+v", trial)
		}
	}
	if reason := b.missing(off, "waits"); !strings.Contains(reason, "performance_schema is off") || !strings.Contains(reason, "+ps") {
		t.Errorf("the waits of %s are missing because %q", off, reason)
	}
	waits := map[string]int{}
	for _, p := range b.profiles() {
		if p.Void != "" || p.Operations <= 0 || p.ElapsedNs <= 0 {
			t.Errorf("profile of %s: %d operations in %d ns, void %q", p.Target, p.Operations, p.ElapsedNs, p.Void)
		}
		for i, wait := range p.Waits {
			waits[p.Target]++
			if !strings.HasPrefix(wait.Event, "wait/synch/") && !strings.HasPrefix(wait.Event, "wait/io/file/") || wait.Count <= 0 ||
				i > 0 && wait.TotalNs > p.Waits[i-1].TotalNs {
				t.Errorf("wait %d of %s is %+v", i, p.Target, wait)
			}
		}
	}
	if waits[on] < 5 || waits[off] > 0 {
		t.Errorf("waits by target: %v", waits)
	}
	with, without := b.stacksOf(on, "perf"), b.stacksOf(off, "perf")
	t.Logf("perf: %d samples on, %d of them with pfs_, %d off, %d of them with pfs_; %d of %d reach the root", profile.Total(with), samplesWith(with, "pfs_"),
		profile.Total(without), samplesWith(without, "pfs_"), rooted(with), profile.Total(with))
	if samplesWith(with, "pfs_") < 3 || samplesWith(without, "pfs_") > samplesWith(with, "pfs_")/3 {
		t.Errorf("%d of %d samples have functions of the Performance Schema where it is on, %d of %d where it is off",
			samplesWith(with, "pfs_"), profile.Total(with), samplesWith(without, "pfs_"), profile.Total(without))
	}
	if share := float64(rooted(with)) / float64(profile.Total(with)); share < 0.9 {
		t.Errorf("%.0f %% of the stacks reach the function that a thread starts with", 100*share)
	}
	for _, stacks := range [][]profile.Stack{b.stacksOf(on, "eu-stack"), b.stacksOf(off, "eu-stack")} {
		if samplesWith(stacks, "cond") == 0 || samplesWith(stacks, "do_command") == 0 {
			t.Errorf("of %d stacks of all threads, %d wait for a condition and %d serve a connection", profile.Total(stacks), samplesWith(stacks, "cond"), samplesWith(stacks, "do_command"))
		}
	}
	if left := childrenLeft(t); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// rooted counts the samples whose outermost function is in the C library, where
// threads and programs start: those that are cut off are not.
func rooted(stacks []profile.Stack) int64 {
	var count int64
	for _, stack := range stacks {
		if strings.HasPrefix(stack.Frames[0].Binary, "libc") || strings.HasPrefix(stack.Frames[0].Function, "_start") {
			count += stack.Count
		}
	}
	return count
}

// A family that can show nothing: the report says so, and the run goes on.
func TestProfile_Nothing(t *testing.T) {
	b := newProfiled(t, []string{"point-query"}, dbcanary.ProfileKinds(), "sqlite", "sqlite#2")
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]string{"waits": "tells no waits", "perf": "within dbcanary", "stacks": "within dbcanary"} {
		for _, target := range b.run.Plan.Targets {
			if reason := b.missing(target, kind); !strings.Contains(reason, want) {
				t.Errorf("%s of %s are missing because %q", kind, target, reason)
			}
		}
	}
	if len(b.profiles()) > 0 || len(b.trials()) < 2 {
		t.Errorf("%d profiles and %d trials", len(b.profiles()), len(b.trials()))
	}
}

// Without perf, pauses show the stacks instead; writes are the same work on all
// targets; and a second instance is not profiled again.
func TestProfile_WithoutPerf(t *testing.T) {
	t.Setenv("PATH", pathWithout(t, "perf"))
	b := newProfiled(t, []string{"update-index"}, []string{"perf"}, "postgres@18", "postgres@18+jit=on")
	b.subjects[1].Settings = []dbcanary.Setting{{Name: "jit", Value: "on"}}
	b.run.Plan.Instances = 2
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, target := range b.run.Plan.Targets {
		if reason := b.missing(target, "perf"); !strings.Contains(reason, "install it") {
			t.Errorf("perf of %s is missing because %q", target, reason)
		}
		if stacks := b.stacksOf(target, "eu-stack"); samplesWith(stacks, "PostgresMain") == 0 || samplesWith(stacks, "CheckpointerMain") == 0 {
			t.Errorf("stacks of %s show no backend or no checkpointer: %v", target, stacks)
		}
	}
	profiles := b.profiles()
	if len(profiles) != 2 || profiles[0].Operations != profiles[1].Operations {
		t.Fatalf("writes are not the same work: %+v", profiles)
	}
	if left := childrenLeft(t); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// pathWithout is a folder with all programs of PATH but one.
func pathWithout(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		entries, _ := os.ReadDir(folder) // PATH may name what is not there
		for _, entry := range entries {
			if entry.Name() != program {
				_ = os.Symlink(filepath.Join(folder, entry.Name()), filepath.Join(dir, entry.Name())) // the first of a name counts
			}
		}
	}
	return dir
}

// A run that is cancelled in the middle of a profiling slice leaves no process, no
// file and no half profile, and keeps its trials.
func TestProfile_Cancelled(t *testing.T) {
	b := newProfiled(t, []string{"point-query"}, []string{"stacks"}, "postgres@18", "postgres@18+jit=on")
	ctx, cancel := context.WithCancel(t.Context())
	b.watch = func(event lab.Event) {
		if event.Kind == lab.EventProfile {
			time.AfterFunc(b.profileTime/2, cancel)
		}
	}
	err := b.execute(ctx, nil)
	if dbcanary.ErrorCode(err) != dbcanary.CodeInterrupted || b.run.State != dbcanary.RunInterrupted {
		t.Errorf("state %s, error %v", b.run.State, err)
	}
	if len(b.trials()) < 2 || len(b.profiles()) > 0 {
		t.Errorf("%d trials and %d profiles", len(b.trials()), len(b.profiles()))
	}
	if left := childrenLeft(t); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}
