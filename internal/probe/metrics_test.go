package probe

import (
	"maps"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
)

// values are the metrics by name; of a level its first, last and highest.
func values(metrics []dbcanary.Metric) map[string][]float64 {
	named := map[string][]float64{}
	for _, m := range metrics {
		if m.Gauge {
			named[m.Name] = []float64{m.First, m.Value, m.Max}
		} else {
			named[m.Name] = []float64{m.Value}
		}
	}
	return named
}

// full is a snapshot in which everything has counted n times what it counts.
func full(n int64) Snapshot {
	taken := time.Unix(1000+n, 0)
	usage := Usage{
		CPUNs: 100 * n, UserNs: 70 * n, SystemNs: 30 * n, MinorFaults: 3 * n, MajorFaults: 2 * n,
		RSSBytes: 1000 * n, ReadBytes: 4096 * n, WrittenBytes: 8192 * n, Processes: int(n), Threads: int(2 * n),
		VoluntarySwitches: 5 * n, InvoluntarySwitches: n,
	}
	return Snapshot{
		server: &tree{Usage: usage, taken: taken, switches: map[int][2]int64{1: {5 * n, n}}},
		self:   usage, hasDisks: true,
		host: Host{Taken: taken, CPUs: 1, IdleNs: 50 * n, IOWaitNs: 8 * n, UserNs: 11 * n, SystemNs: 12 * n, ContextSwitches: 13 * n},
		resources: resources{
			levels:  map[string]int64{"host.runnable": 2 * n, "disk.in_flight": 3 * n},
			network: networkStats{loopback: 21 * n, received: 22 * n, sent: 23 * n},
			disk: diskStats{
				reads: n, readSectors: 8 * n, readMs: 2 * n, writes: 3 * n, writeSectors: 16 * n, writeMs: 4 * n,
				inFlight: 3 * n, busyMs: 5 * n, queueMs: 6 * n, flushes: 7 * n, flushMs: 9 * n,
			},
			missing: map[string]string{},
		},
	}
}

func TestMetrics(t *testing.T) {
	begin, end := full(1), full(3)
	end.looks = map[string]int64{"host.runnable": 40, "server.rss_bytes": 9999}
	d := Between(begin, end)
	want := map[string][]float64{
		"host.user_ns": {22}, "host.system_ns": {24}, "host.iowait_ns": {16}, "host.idle_ns": {84},
		"host.context_switches": {26}, "host.runnable": {2, 6, 40},
		"host.loopback_bytes": {42}, "host.network_received_bytes": {44}, "host.network_sent_bytes": {46},
		"disk.reads": {2}, "disk.writes": {6}, "disk.read_bytes": {16 * 512}, "disk.written_bytes": {32 * 512},
		"disk.read_wait_ns": {4e6}, "disk.write_wait_ns": {8e6}, "disk.flushes": {14}, "disk.flush_wait_ns": {18e6},
		"disk.busy_ns": {10e6}, "disk.queue_ns": {12e6}, "disk.in_flight": {3, 9, 9},
		"server.user_ns": {140}, "server.system_ns": {60}, "server.voluntary_switches": {10}, "server.involuntary_switches": {2},
		"server.minor_faults": {6}, "server.major_faults": {4}, "server.read_bytes": {8192}, "server.written_bytes": {16384},
		"server.rss_bytes": {1000, 3000, 9999}, "server.threads": {2, 6, 6}, "server.processes": {1, 3, 3},
		"client.user_ns": {140}, "client.system_ns": {60}, "client.voluntary_switches": {10}, "client.involuntary_switches": {2},
		"client.minor_faults": {6}, "client.major_faults": {4}, "client.read_bytes": {8192}, "client.written_bytes": {16384},
		"client.rss_bytes": {1000, 3000, 3000}, "client.threads": {2, 6, 6},
	}
	if diff := cmp.Diff(want, values(d.Metrics)); diff != "" {
		t.Error(diff)
	}
	if len(d.Missing) > 0 {
		t.Errorf("missing: %+v", d.Missing)
	}
}

// Whatever can't be read at one of the two ends is absent, never 0, and the reason is told.
func TestMetrics_MissingIsAbsent(t *testing.T) {
	all := values(Between(full(1), full(3)).Metrics)
	for name, row := range map[string]struct {
		change func(begin, end *Snapshot)
		absent []string // prefixes
		probe  string
		reason string
	}{
		"disk gone":     {func(_, end *Snapshot) { end.resources.missing["disks"] = "sda is gone" }, []string{"disk."}, "disks", "sda is gone"},
		"disk reset":    {func(_, end *Snapshot) { end.resources.disk.reads = 0 }, []string{"disk.reads"}, "", ""},
		"disk unknown":  {func(begin, end *Snapshot) { begin.hasDisks, end.hasDisks = false, false }, []string{"disk."}, "", ""},
		"old kernel":    {func(begin, _ *Snapshot) { begin.resources.disk.flushes = -1 }, []string{"disk.flushes"}, "", ""},
		"no network":    {func(begin, _ *Snapshot) { begin.resources.missing["network"] = "x" }, []string{"host.loopback", "host.network"}, "network", "x"},
		"no load":       {func(begin, _ *Snapshot) { begin.resources.missing["load"] = "x" }, []string{"host.runnable"}, "load", "x"},
		"no host":       {func(_, end *Snapshot) { end.noHost, end.notes = true, []string{"x"} }, []string{"host.user", "host.system", "host.i", "host.context"}, "host", "x"},
		"server died":   {func(_, end *Snapshot) { end.server, end.notes = nil, []string{"x"} }, []string{"server."}, "server", "x"},
		"server unread": {func(begin, _ *Snapshot) { begin.server, begin.notes = nil, []string{"x"} }, []string{"server."}, "server", "x"},
		"no server":     {func(begin, end *Snapshot) { begin.noServer, begin.server, end.server = true, nil, nil }, []string{"server."}, "server", "its process is unknown"},
		"no self":       {func(_, end *Snapshot) { end.noSelf, end.self, end.notes = true, Usage{}, []string{"x"} }, []string{"client."}, "client", "x"},
		"io forbidden": {func(_, end *Snapshot) {
			end.server.ReadBytes, end.server.WrittenBytes, end.server.Notes = -1, -1, []string{"x"}
		}, []string{"server.read", "server.written"}, "server io", "x"},
		"memory unknown": {func(begin, _ *Snapshot) { begin.self.RSSBytes = -1 }, []string{"client.rss"}, "", ""},
	} {
		begin, end := full(1), full(3)
		row.change(&begin, &end)
		d := Between(begin, end)
		want := maps.Clone(all)
		maps.DeleteFunc(want, func(name string, _ []float64) bool {
			for _, prefix := range row.absent {
				if strings.HasPrefix(name, prefix) {
					return true
				}
			}
			return false
		})
		if diff := cmp.Diff(want, values(d.Metrics)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		switch {
		case row.probe == "" && len(d.Missing) > 0:
			t.Errorf("%s: missing %+v", name, d.Missing)
		case row.probe != "" && (len(d.Missing) != 1 || d.Missing[0].Probe != row.probe || !strings.Contains(d.Missing[0].Reason, row.reason)):
			t.Errorf("%s: missing %+v", name, d.Missing)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, row := range []struct {
		user, system, userBefore, systemBefore int64
		cpu                                    int64
		wantUser, wantSystem                   int64
	}{
		{30, 10, 0, 0, 41, 31, 10},
		{130, 110, 100, 100, 44, 33, 11},
		{75, 25, 75, 25, 4, 3, 1}, // less than a tick: as since the start
		{0, 0, 0, 0, 4, -1, -1},
		{0, 0, 0, 0, 0, 0, 0},
		{50, 20, 60, 10, 7, 5, 2}, // a child's ticks were cut
		{30, 10, 0, 0, -1, -1, -1},
	} {
		user, system := Usage{UserNs: row.user, SystemNs: row.system}.split(Usage{UserNs: row.userBefore, SystemNs: row.systemBefore}, row.cpu)
		if user != row.wantUser || system != row.wantSystem {
			t.Errorf("%+v gives %d, %d", row, user, system)
		}
	}
}

func TestDisksOf(t *testing.T) {
	files := map[string]string{
		"proc/diskstats": diskstatsText,
		"proc/self/mountinfo": `22 1 9:2 / / rw shared:1 - ext4 /dev/md2 rw
30 22 259:1 / /data rw - xfs /dev/nvme0n1p1 rw
31 22 0:44 / /memory rw - tmpfs tmpfs rw
32 22 0:45 /@ /pool rw - btrfs /dev/sdc rw
33 22 0:46 / /odd rw - bcachefs /dev/sdb rw
34 22 0:47 / /lost rw - bcachefs /dev/sdz rw
35 22 0:48 / /container rw - overlay overlay rw
`,
		"sys/fs/btrfs/1-2-3/devices/sdb": "", "sys/fs/btrfs/1-2-3/devices/sdc": "",
		"sys/fs/btrfs/4-5-6/devices/sdx": "",
	}
	s := fixture(t, files)
	for dir, want := range map[string][]string{"/home": {"md2"}, "/data/x": {"nvme0n1p1"}, "/pool": {"sdb", "sdc"}} {
		disks, err := s.disksOf(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, disks.Names); diff != "" {
			t.Errorf("%s: %s", dir, diff)
		}
	}
	for dir, want := range map[string]string{
		"/memory": "tmpfs is no file system on a block device", "/container": "overlay is no file system", "/lost": "counts nothing for sdz",
	} {
		if disks, err := s.disksOf(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %s", dir, disks, err, want)
		}
	}
	got, err := (&Disks{Names: []string{"sdb", "sdc"}}).read(s)
	want := diskStats{"", "", 11, 88, 22, 22, 176, 33, 2, 44, 55, 66, 77}
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if got, err = (&Disks{Names: []string{"sdb", "md2"}}).read(s); err != nil || got.reads != 11 || got.flushes != -1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := (&Disks{Names: []string{"sdb", "sdq"}}).read(s); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("a disk that is gone: %v", err)
	}
	delete(files, "proc/diskstats")
	if _, err := fixture(t, files).disksOf("/data"); err == nil {
		t.Error("no /proc/diskstats is no error")
	}
}

func TestNetwork(t *testing.T) {
	const head = "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"
	const lines = "    lo: 100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n  eth0: 20 1 0 0 0 0 0 0 30 1 0 0 0 0 0 0\n   br0: 20 1 0 0 0 0 0 0 30 1 0 0 0 0 0 0\n"
	files := map[string]string{"proc/net/dev": head + lines}
	got, err := fixture(t, files).network()
	if want := (networkStats{100, 40, 60}); err != nil || got != want {
		t.Errorf("in a container: %+v, %v, want %+v", got, err, want)
	}
	files["sys/class/net/eth0/device/vendor"] = "0x8086\n"
	got, err = fixture(t, files).network()
	if want := (networkStats{100, 20, 30}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if _, err := fixture(t, nil).network(); err == nil {
		t.Error("no /proc/net/dev is no error")
	}
}

// Levels are looked at once every interval, and the looks end with the slice.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sampler := Sampler{Apart: true, Every: time.Second}
		before := sampler.Begin()
		time.Sleep(3*time.Second + time.Millisecond) // of the bubble's clock
		after := sampler.End()
		if after.looks["client.rss_bytes"] <= 0 || after.looks["client.threads"] <= 0 {
			t.Errorf("nothing was seen in between: %v", after.looks)
		}
		rss := values(Between(before, after).Metrics)["client.rss_bytes"]
		if len(rss) != 3 || rss[2] < rss[0] || rss[2] < rss[1] || rss[2] < float64(after.looks["client.rss_bytes"]) {
			t.Errorf("client.rss_bytes is %v", rss)
		}
		if sampler.stop != nil {
			t.Error("the watch goes on")
		}
	})
}

// What the two ends of a slice take beside the server's threads, and a look in between
// at a server of one process.
func BenchmarkResources(b *testing.B) {
	dir, err := os.Getwd()
	if err != nil {
		b.Fatal(err)
	}
	disks, err := DisksOf(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("end", func(b *testing.B) {
		for b.Loop() {
			if r := (system{"/"}).takeResources(disks); len(r.missing) > 0 {
				b.Fatal(r.missing)
			}
		}
	})
	b.Run("look", func(b *testing.B) {
		sampler, highest := Sampler{Disks: disks}, map[string]int64{}
		for b.Loop() {
			sampler.look([]int{os.Getpid()}, highest)
		}
	})
}
