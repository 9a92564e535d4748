package probe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fixture makes a system of the given files.
func fixture(t *testing.T, files map[string]string) system {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"proc", "sys"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return system{root}
}

// processFiles are those of a single-threaded process with 100 ticks of CPU time
// and 10 of ended children.
func processFiles(files map[string]string, pid, children string) {
	stat := pid + " (post gres) S 1 1 1 0 -1 4194304 30 3 2 1 60 40 7 3 20 0 1 0 " + "555 3133440 413 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
	files["proc/"+pid+"/stat"] = stat
	files["proc/"+pid+"/io"] = "rchar: 1\nwchar: 1\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n"
	files["proc/"+pid+"/task/"+pid+"/status"] = statusText
	files["proc/"+pid+"/task/"+pid+"/children"] = children
}

func TestTree_Fixture(t *testing.T) {
	files := map[string]string{}
	processFiles(files, "100", "101 102 ")
	processFiles(files, "101", "")
	processFiles(files, "102", "999 ") // 999 has just ended
	tree, err := fixture(t, files).tree(100, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Usage{
		CPUNs:  3 * (100 + 10) * 1e7,
		UserNs: 3 * (60 + 7) * 1e7, SystemNs: 3 * (40 + 3) * 1e7,
		VoluntarySwitches: 3 * 2180, InvoluntarySwitches: 3 * 97,
		MinorFaults: 3 * 33, MajorFaults: 3 * 3,
		RSSBytes:  (3*17324 + 16720 + 4) * 1024, // what is shared once
		ReadBytes: 3 * 4096, WrittenBytes: 3 * 8192,
		Processes: 3, Threads: 3,
	}
	if diff := cmp.Diff(want, tree.Usage); diff != "" {
		t.Error(diff)
	}
}

func TestTree_UnknownIsNeverZero(t *testing.T) {
	files := map[string]string{}
	processFiles(files, "100", "")
	files["proc/100/task/100/status"] = "Name:\told kernel\n"
	delete(files, "proc/100/io")
	tree, err := fixture(t, files).tree(100, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if tree.VoluntarySwitches != -1 || tree.InvoluntarySwitches != -1 || tree.ReadBytes != -1 || tree.WrittenBytes != -1 || len(tree.Notes) != 2 {
		t.Errorf("%+v", tree.Usage)
	}
	delete(files, "proc/100/task/100/children")
	if tree, err := fixture(t, files).tree(100, true, nil); err == nil || !strings.Contains(err.Error(), "CONFIG_PROC_CHILDREN") {
		t.Errorf("a tree without known children is %+v, %v", tree, err)
	}
}

func TestHost_Fixture(t *testing.T) {
	text := "cpu  100 1 50 1000 20 3 4 7 0 0\ncpu0 50 1 25 500 10 2 2 4 0 0\ncpu1 50 0 25 500 10 1 2 3 0 0\nintr 5\nctxt 7\n"
	host, err := fixture(t, map[string]string{"proc/stat": text}).host()
	if err != nil {
		t.Fatal(err)
	}
	host.Taken = time.Time{}
	want := Host{CPUs: 2, IdleNs: 1020e7, StealNs: 7e7, UserNs: 101e7, SystemNs: 57e7, IOWaitNs: 20e7, ContextSwitches: 7}
	if host != want {
		t.Errorf("%+v, want %+v", host, want)
	}
	if _, err := fixture(t, nil).host(); err == nil {
		t.Error("no /proc/stat is no error")
	}
}

// at is a snapshot with the given CPU times in ms.
func at(sampler Sampler, elapsed time.Duration, server, idle, client, hostIdle, steal int64) Snapshot {
	const ms = 1e6
	taken := time.Unix(1000, 0).Add(elapsed)
	return Snapshot{
		noServer: sampler.Server == 0, apart: sampler.Apart,
		server: &tree{Usage: Usage{CPUNs: server * ms}, taken: taken},
		idle:   []*tree{{Usage: Usage{CPUNs: idle * ms}}},
		self:   Usage{CPUNs: client * ms},
		host:   Host{Taken: taken, CPUs: 4, IdleNs: hostIdle * ms, StealNs: steal * ms},
	}
}

func TestBetween(t *testing.T) {
	sampler := Sampler{Server: 1, Idle: []int{2}}
	begin := at(sampler, 0, 100, 10, 50, 1000, 5)
	// 4 CPUs x 1 s - 2500 ms idle - 20 ms stolen = 1480 ms busy.
	end := at(sampler, time.Second, 900, 30, 450, 3500, 25)
	d := Between(begin, end)
	if d.ServerCPUNs != 800e6 || d.IdleServerCPUNs != 20e6 || d.ClientCPUNs != 400e6 || d.StealNs != 20e6 || d.ForeignCPUNs != 260e6 || d.Elapsed != time.Second || len(d.Notes) > 0 {
		t.Errorf("%+v", d)
	}
	for name, row := range map[string]struct {
		change              func(begin, end *Snapshot)
		server, foreign     int64
		idleServer, clients int64
	}{
		"cores changed":       {func(_, end *Snapshot) { end.host.CPUs = 3 }, 800e6, -1, 20e6, 400e6},
		"server restarted":    {func(_, end *Snapshot) { end.server.startTicks = 9 }, -1, -1, 20e6, 400e6},
		"server unreadable":   {func(_, end *Snapshot) { end.server, end.notes = nil, []string{"x"} }, -1, -1, 20e6, 400e6},
		"idle unreadable":     {func(begin, _ *Snapshot) { begin.idle[0], begin.notes = nil, []string{"x"} }, 800e6, -1, -1, 400e6},
		"self unreadable":     {func(_, end *Snapshot) { end.noSelf, end.notes = true, []string{"x"} }, 800e6, -1, 20e6, -1},
		"unknown server":      {func(b, e *Snapshot) { b.noServer, b.server, e.server = true, nil, nil }, -1, -1, 20e6, 400e6},
		"child lost a tick":   {func(b, e *Snapshot) { e.server.CPUNs = b.server.CPUNs - 15e6 }, 0, 1060e6, 20e6, 400e6},
		"child lost its time": {func(b, e *Snapshot) { e.server.CPUNs = b.server.CPUNs - 50e6 }, -1, -1, 20e6, 400e6},
	} {
		begin, end := at(sampler, 0, 100, 10, 50, 1000, 5), at(sampler, time.Second, 900, 30, 450, 3500, 25)
		row.change(&begin, &end)
		d := Between(begin, end)
		if d.ServerCPUNs != row.server || d.ForeignCPUNs != row.foreign || d.IdleServerCPUNs != row.idleServer || d.ClientCPUNs != row.clients {
			t.Errorf("%s: %+v", name, d)
		}
		if (d.ForeignCPUNs == -1) != (len(d.Notes) > 0) {
			t.Errorf("%s: what is unknown needs a reason, what is known none: %+v", name, d)
		}
	}
}

func TestBetween_ServerApart(t *testing.T) {
	begin, end := at(Sampler{Apart: true}, 0, 0, 0, 50, 1000, 5), at(Sampler{Apart: true}, time.Second, 0, 0, 450, 3500, 25)
	begin.server, end.server = nil, nil
	if d := Between(begin, end); d.ServerCPUNs != -1 || d.ForeignCPUNs != 1080e6 {
		t.Errorf("%+v", d)
	}
}

// Threads that end take their counts along; those that stay or come count.
func TestBetween_ContextSwitchesByThread(t *testing.T) {
	before, after := at(Sampler{Server: 1}, 0, 0, 0, 0, 0, 0), at(Sampler{Server: 1}, 1, 0, 0, 0, 0, 0)
	before.server.switches = map[int][2]int64{10: {100, 10}, 11: {5000, 500}, 12: {70, 7}}
	before.server.VoluntarySwitches, before.server.InvoluntarySwitches = 5170, 517
	after.server.switches = map[int][2]int64{10: {150, 11}, 12: {3, 1}, 13: {20, 2}}
	after.server.VoluntarySwitches, after.server.InvoluntarySwitches = 173, 14
	d := Between(before, after)
	if d.Server.VoluntarySwitches != 50+3+20 || d.Server.InvoluntarySwitches != 1+1+2 || d.ServerContextSwitches != 77 {
		t.Errorf("%+v", d)
	}
}

// What was counted while the threads were read before the measured time is taken off.
func TestBetween_ReadingTakesTime(t *testing.T) {
	before, after := at(Sampler{Server: 1}, 0, 0, 0, 0, 0, 0), at(Sampler{Server: 1}, 900*time.Millisecond, 500, 0, 0, 0, 0)
	before.server.taken = before.host.Taken.Add(-100 * time.Millisecond)
	before.server.switches, after.server.switches = map[int][2]int64{10: {0, 0}}, map[int][2]int64{10: {1000, 100}}
	after.server.WrittenBytes = 5000
	d := Between(before, after)
	if d.Server.VoluntarySwitches != 900 || d.Server.InvoluntarySwitches != 90 || d.ServerContextSwitches != 990 || d.Server.WrittenBytes != 4500 || d.ServerCPUNs != 500e6 {
		t.Errorf("%+v", d)
	}
}
