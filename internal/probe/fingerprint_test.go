package probe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
)

const mounts = `22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw
30 22 259:1 / /data rw,noatime shared:2 - xfs /dev/nvme0n1p1 rw,attr2
31 30 0:44 / /data/my\040disk rw,relatime shared:3 - tmpfs tmpfs rw
32 22 0:45 / /data rw,relatime shared:4 - btrfs /dev/sdb1 rw
`

// hostFiles are those of a bare-metal host with SMT.
func hostFiles() map[string]string {
	return map[string]string{
		"proc/cpuinfo":                      "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon\nmicrocode\t: 0xb000040\nphysical id\t: 0\nflags\t\t: fpu ht\n\nprocessor\t: 1\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon\nmicrocode\t: 0xb000040\nphysical id\t: 1\nflags\t\t: fpu ht\n\n",
		"proc/meminfo":                      "MemTotal:       4096 kB\nMemFree:         100 kB\nMemAvailable:   2048 kB\nSwapTotal:      1024 kB\n",
		"proc/self/mountinfo":               mounts,
		"etc/os-release":                    "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n",
		"sys/devices/system/cpu/smt/active": "1\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
		"sys/devices/system/cpu/intel_pstate/no_turbo":         "0\n",
		"sys/devices/system/node/node0/cpulist":                "0\n",
		"sys/devices/system/node/node1/cpulist":                "1\n",
		"sys/kernel/mm/transparent_hugepage/enabled":           "always [madvise] never\n",

		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",

		"proc/diskstats":            "   8 17 sdb1 1 2 3 4 5 6 7 8 9 10 11\n",
		"sys/class/block/sdb1/size": "2000\n",
	}
}

func (s system) describe(dir string) dbcanary.Host {
	var host dbcanary.Host
	s.addCPU(&host)
	s.addMemory(&host)
	s.addSystem(&host)
	s.addHardware(&host)
	s.addFilesystem(&host, dir)
	s.addDisks(&host, dir)
	return host
}

func TestFingerprint_Fixture(t *testing.T) {
	got := fixture(t, hostFiles()).describe("/data/base")
	want := dbcanary.Host{
		CPU: "Xeon", CPUs: 2, SMT: true, Governor: "performance,powersave", MemoryBytes: 4096 << 10,
		OS: "Debian GNU/Linux 13 (trixie)", Filesystem: "btrfs", Device: "/dev/sdb1",
		Microcode: "0xb000040", Sockets: 2, NUMANodes: 2, Turbo: "on", HugePages: "madvise", ClockSource: "tsc",
		SwapBytes: 1024 << 10, MountOptions: "relatime,rw", Disks: []dbcanary.Disk{{Name: "sdb1", SizeBytes: 2000 * 512}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFingerprint_Virtual(t *testing.T) {
	files := hostFiles()
	files["proc/cpuinfo"] = strings.ReplaceAll(files["proc/cpuinfo"], "fpu ht", "fpu hypervisor")
	if got := fixture(t, files).virtual(); got != "virtual machine" {
		t.Errorf("virtual is %q", got)
	}
	files["sys/class/dmi/id/sys_vendor"] = "QEMU\n"
	files["sys/class/dmi/id/product_name"] = "Standard PC\n"
	files["run/.containerenv"] = ""
	if got := fixture(t, files).virtual(); got != "QEMU Standard PC, podman" {
		t.Errorf("virtual is %q", got)
	}
}

func TestFingerprint_NothingReadable(t *testing.T) {
	got := fixture(t, nil).describe("/data")
	if len(got.Notes) != 6 {
		t.Errorf("each of the six missing things needs a reason: %q", got.Notes)
	}
	got.Notes = nil
	if diff := cmp.Diff(dbcanary.Host{}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMountOf(t *testing.T) {
	s := fixture(t, hostFiles())
	for dir, want := range map[string]string{
		"/": "ext4", "/home": "ext4", "/database": "ext4", "/data": "btrfs", "/data/a/b": "btrfs", "/data/my disk/x": "tmpfs",
	} {
		if mount, err := s.mountOf(dir); err != nil || mount.FSType != want {
			t.Errorf("%s: %+v, %v, want %s", dir, mount, err, want)
		}
	}
}

func TestFingerprint_ThisHost(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "yet")
	host := Fingerprint(t.Context(), dir)
	if host.Name == "" || host.Kernel == "" || host.CPUs < 1 || host.MemoryBytes <= 0 || host.Filesystem == "" {
		t.Errorf("%+v", host)
	}
	if available, err := MemoryAvailableBytes(); err != nil || available <= 0 || available > host.MemoryBytes {
		t.Errorf("%d bytes of memory available, %v", available, err)
	}
	if free, err := DiskFreeBytes(dir); err != nil || free <= 0 {
		t.Errorf("%d bytes free, %v", free, err)
	}
}

func TestMemoryAvailable(t *testing.T) {
	files := hostFiles()
	for _, row := range []struct {
		limit, used string
		want        int64
	}{
		{"max", "1000", 2048 << 10},
		{"1048576", "48576", 1000000},
		{"1048576", "2048576", 0},
		{"9223372036854771712", "1", 2048 << 10},
	} {
		files["sys/fs/cgroup/memory.max"], files["sys/fs/cgroup/memory.current"] = row.limit+"\n", row.used+"\n"
		if got, err := fixture(t, files).memoryAvailable(); err != nil || got != row.want {
			t.Errorf("%+v gives %d, %v", row, got, err)
		}
	}
	files["proc/meminfo"] = "MemTotal: 1 kB\n"
	if got, err := fixture(t, files).memoryAvailable(); err == nil {
		t.Errorf("no MemAvailable gives %d", got)
	}
}

func TestExistingAncestor(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := existingAncestor(filepath.Join(dir, "link", "a", "b")); err != nil || got != real {
		t.Errorf("%s, %v, want %s", got, err, real)
	}
}

// A volume on an array of partitions lies on their disks.
func TestWholeDisks(t *testing.T) {
	s := fixture(t, map[string]string{
		"sys/devices/pci/nvme0n1/size": "1000\n", "sys/devices/pci/nvme0n1/nvme0n1p2/partition": "2\n",
		"sys/devices/pci/nvme0n1/device/model": "Fast Disk \n", "sys/devices/pci/nvme0n1/queue/rotational": "0\n", "sys/devices/pci/nvme0n1/queue/scheduler": "[none] mq-deadline\n",
		"sys/devices/pci/sda/size": "3000\n", "sys/devices/pci/sda/sda1/partition": "1\n", "sys/devices/pci/sda/queue/rotational": "1\n",
		"sys/devices/virtual/md0/slaves/nvme0n1p2": "", "sys/devices/virtual/md0/slaves/sda1": "",
		"sys/devices/virtual/dm-0/slaves/md0": "",
	})
	links := map[string]string{
		"nvme0n1": "pci/nvme0n1", "nvme0n1p2": "pci/nvme0n1/nvme0n1p2", "sda": "pci/sda", "sda1": "pci/sda/sda1", "md0": "virtual/md0", "dm-0": "virtual/dm-0",
	}
	if err := os.MkdirAll(s.path("sys/class/block"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range links {
		if err := os.Symlink("../../devices/"+target, s.path("sys/class/block/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	for device, want := range map[string][]string{"dm-0": {"nvme0n1", "sda"}, "sda1": {"sda"}, "sda": {"sda"}, "vdz": {"vdz"}} {
		if diff := cmp.Diff(want, s.wholeDisks(device, 0)); diff != "" {
			t.Errorf("%s: %s", device, diff)
		}
	}
	for name, want := range map[string]dbcanary.Disk{
		"nvme0n1": {Name: "nvme0n1", Model: "Fast Disk", SizeBytes: 512_000, Scheduler: "none"},
		"sda":     {Name: "sda", SizeBytes: 1_536_000, Rotational: true},
	} {
		got, err := s.disk(name)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	}
	if _, err := s.disk("vdz"); err == nil {
		t.Error("a disk that is not there has a size")
	}
}
