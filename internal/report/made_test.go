package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
)

func made(pairs ...string) []dbcanary.Setting {
	var list []dbcanary.Setting
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, dbcanary.Setting{Name: pairs[i], Value: pairs[i+1]})
	}
	return list
}

// What differs of the builds is listed, what decides about speed first; a target
// of which nothing is known takes no part.
func TestBuildDifferences(t *testing.T) {
	run := dbcanary.Run{Targets: []dbcanary.Target{
		{Name: "a", Made: made("compiler", "GCC 4", "executable", "at a fixed address", "libc", "2.41", "libz", "1.2", "libm", "6")},
		{Name: "b", Made: made("compiler", "GCC 7", "executable", "position independent", "libc", "2.41", "libz", "1.3", "libm", "6", "libaio", "1")},
		{Name: "c"},
		{Name: "d", Made: made("compiler", "GCC 7", "executable", "position independent", "libc", "2.41", "libz", "1.3", "libm", "6", "libjemalloc", "2")},
	}}
	r := &Report{Run: run, Builds: buildDifferences(run.Targets)}
	text := func(lines []line) string {
		var all []string
		for _, one := range lines {
			all = append(all, one.text)
		}
		return strings.Join(all, "\n")
	}
	const weighty = `built differently: compiler: GCC 4 on a; GCC 7 on b, d
built differently: executable: at a fixed address on a; position independent on b, d
built differently: libjemalloc: 2 on d only
`
	if diff := cmp.Diff(weighty+"… and 2 libraries and marks of the builds differ; --verbose or --format json lists them", text(r.buildLines(false))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(weighty+"built differently: libz: 1.2 on a; 1.3 on b, d\nbuilt differently: libaio: 1 on b only", text(r.buildLines(true))); diff != "" {
		t.Error(diff)
	}
	if got := buildDifferences([]dbcanary.Target{run.Targets[1], {Name: "imported"}}); len(got) > 0 {
		t.Errorf("differences of one known build: %+v", got)
	}
}

func TestMissingLines(t *testing.T) {
	r := &Report{Run: dbcanary.Run{Missing: []dbcanary.MissingProbe{
		{Target: "a", Probe: "server", Reason: "no process"},
		{Probe: "disks", Reason: "overlay"},
		{Target: "b", Probe: "server", Reason: "no process"},
		{Target: "b", Probe: "counters", Reason: "gone"},
	}}}
	var got []string
	for _, one := range r.missingLines() {
		got = append(got, one.text)
	}
	want := []string{"not probed: server of a, b: no process", "not probed: disks: overlay", "not probed: counters of b: gone"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHostText_Hardware(t *testing.T) {
	host := dbcanary.Host{
		Name: "h", CPU: "Xeon", CPUs: 2, Microcode: "0xb0", Sockets: 2, NUMANodes: 2, Turbo: "on", HugePages: "madvise", ClockSource: "tsc",
		MemoryBytes: 1 << 30, SwapBytes: 1 << 30, Filesystem: "xfs", MountOptions: "noatime,rw",
		Disks: []dbcanary.Disk{{Name: "sda", Model: "WD", SizeBytes: 1 << 40, Rotational: true}, {Name: "nvme0n1", SizeBytes: 1 << 40}},
	}
	text := hostText(host)
	for _, part := range []string{"microcode 0xb0", "2 sockets", "2 NUMA nodes", "turbo on", "1.0 GiB swap", "huge pages: madvise", "clock tsc", "mounted noatime rw", "disk sda WD of 1024.0 GiB (rotational)", "disk nvme0n1 of"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
}
