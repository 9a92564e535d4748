package probe

import (
	"context"
	"strings"
	"testing"
	"time"
)

// healthy is a host with nothing to say about.
func healthy() *facts {
	return &facts{
		missing: map[string]string{}, governor: "performance", turbo: "off", smt: "0", thp: "always [madvise] never",
		swappiness: "60", nodes: 1, clock: "tsc", filesystem: "xfs", mountOptions: []string{"noatime", "rw"},
		memory: 64 << 30, available: 60 << 30, diskTotal: 500 << 30, diskFree: 400 << 30, cpuQuota: "max 100000",
		watched: Delta{Elapsed: time.Second, ForeignCPUNs: 5e6}, cpus: 8, perfParanoid: "1", ptraceScope: "0", randomize: "2",
		wakeUp: wakeUp{sameNs: 2000, acrossNs: 6000, across99Ns: 9000}, disks: []string{"nvme0n1p1"},
	}
}

func TestFindings_Healthy(t *testing.T) {
	findings := healthy().findings()
	if len(findings) != 18 {
		t.Errorf("%d findings", len(findings))
	}
	for _, finding := range findings {
		if finding.Severity != Good || finding.Found == "" || finding.Effect != "" || finding.Mend != "" {
			t.Errorf("%+v", finding)
		}
	}
}

func TestFindings(t *testing.T) {
	for _, row := range []struct {
		name     string
		change   func(*facts)
		severity Severity
		found    string // part of it
	}{
		{"governor", func(f *facts) { f.governor = "powersave" }, Warning, "powersave"},
		{"governor", func(f *facts) { f.governor = "" }, Good, "not controlled"},
		{"turbo", func(f *facts) { f.turbo = "on" }, Notice, "on"},
		{"smt", func(f *facts) { f.smt = "1" }, Notice, "on"},
		{"numa", func(f *facts) { f.nodes = 4 }, Notice, "4 nodes"},
		{"cpu quota", func(f *facts) { f.cpuQuota = "150000 100000" }, Warning, "150000 100000"},
		{"cpu quota", func(f *facts) { f.cpuQuota = "" }, Good, "none"},
		{"clock source", func(f *facts) { f.clock = "hpet" }, Warning, "hpet"},
		{"huge pages", func(f *facts) { f.thp = "[always] madvise never" }, Notice, "[always]"},
		{"address layout", func(f *facts) { f.randomize = "0" }, Warning, "not randomised"},
		{"swap", func(f *facts) { f.swapTotal, f.swapUsed = 8<<30, 1<<30 }, Warning, "1024 MiB of 8192 MiB used"},
		{"swap", func(f *facts) { f.swapTotal = 8 << 30 }, Notice, "swappiness 60"},
		{"swap", func(f *facts) { f.swapTotal, f.swappiness = 8<<30, "1" }, Good, "swappiness 1"},
		{"memory", func(f *facts) { f.available = 10 << 30 }, Warning, "10 GiB of 64 GiB"},
		{"memory", func(f *facts) { f.available = 5 << 30 }, Problem, "5120 MiB"},
		{"disk counters", func(f *facts) { f.disksMissing = "overlay is no file system on a block device" }, Notice, "overlay"},
		{"file system", func(f *facts) { f.filesystem = "tmpfs" }, Problem, "tmpfs"},
		{"file system", func(f *facts) { f.filesystem = "fuse.sshfs" }, Problem, "fuse"},
		{"file system", func(f *facts) { f.filesystem = "nfs4" }, Problem, "nfs4"},
		{"file system", func(f *facts) { f.mountOptions = []string{"barrier=0"} }, Warning, "barrier=0"},
		{"file system", func(f *facts) { f.filesystem = "overlay" }, Warning, "overlay"},
		{"file system", func(f *facts) { f.filesystem = "btrfs" }, Notice, "btrfs"},
		{"disk space", func(f *facts) { f.diskFree = 5 << 30 }, Notice, "5120 MiB of 500 GiB"},
		{"disk space", func(f *facts) { f.diskFree = 1 << 30 }, Warning, "1024 MiB"},
		{"other load", func(f *facts) { f.watched.ForeignCPUNs = 1e9 }, Warning, "1.00 of 8 CPUs"},
		{"other load", func(f *facts) { f.watched.ForeignCPUNs = 2e9 }, Problem, "2.00 of 8 CPUs"},
		{"other load", func(f *facts) { f.watched.ForeignCPUNs, f.watched.Notes = -1, []string{"why"} }, Unclear, "why"},
		{"steal", func(f *facts) { f.watched.StealNs = 4e8 }, Warning, "5.0 %"},
		{"steal", func(f *facts) { f.watched.StealNs, f.watched.Notes = -1, []string{"why"} }, Unclear, "why"},
		{"wake-up", func(f *facts) { f.wakeUp.acrossNs = 30_000 }, Notice, "30µs across"},
		{"wake-up", func(f *facts) { f.wakeUp.acrossNs = 80_000 }, Warning, "80µs across"},
		{"wake-up", func(f *facts) { f.wakeUp.acrossNs = 0 }, Good, "no second core"},
		{"perf", func(f *facts) { f.perfParanoid = "3" }, Notice, "perf_event_paranoid is 3"},
		{"perf", func(f *facts) { f.perfParanoid, f.root = "3", true }, Good, "permitted"},
		{"ptrace", func(f *facts) { f.ptraceScope = "1" }, Notice, "ptrace_scope is 1"},
		{"ptrace", func(f *facts) { f.ptraceScope, f.root = "1", true }, Good, "permitted"},
		{"ptrace", func(f *facts) { f.ptraceScope, f.root = "3", true }, Notice, "ptrace_scope is 3"},
		{"ptrace", func(f *facts) { f.ptraceScope = "" }, Good, "permitted"},
		{"clock source", func(f *facts) { f.missing["clock source"] = "no such file" }, Unclear, "no such file"},
	} {
		f := healthy()
		row.change(f)
		for _, finding := range f.findings() {
			if finding.Name != row.name {
				if finding.Severity != Good {
					t.Errorf("%s changed %+v", row.name, finding)
				}
				continue
			}
			if finding.Severity != row.severity || !strings.Contains(finding.Found, row.found) {
				t.Errorf("%+v, want %s with %q", finding, row.severity, row.found)
			}
			if bad := finding.Severity != Good && finding.Severity != Unclear; bad != (finding.Effect != "" && finding.Mend != "") && finding.Severity != Unclear {
				t.Errorf("a finding says what it does and how to mend it if and only if there is something to mend: %+v", finding)
			}
		}
	}
}

func TestReadFacts_Fixture(t *testing.T) {
	files := hostFiles()
	for name, text := range map[string]string{
		"sys/kernel/mm/transparent_hugepage/enabled":                      "[always] madvise never\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
		"sys/devices/system/cpu/intel_pstate/no_turbo":                    "0\n",
		"sys/devices/system/node/node0/cpulist":                           "0\n",
		"sys/devices/system/node/node1/cpulist":                           "1\n",
		"proc/sys/vm/swappiness":                                          "60\n",
		"proc/sys/kernel/perf_event_paranoid":                             "4\n",
		"proc/sys/kernel/randomize_va_space":                              "2\n",
		"proc/sys/kernel/yama/ptrace_scope":                               "1\n",
		"proc/meminfo":                                                    "MemTotal: 4096 kB\nMemAvailable: 2048 kB\nSwapTotal: 1000 kB\nSwapFree: 400 kB\n",
	} {
		files[name] = text
	}
	s := fixture(t, files)
	f := s.readFacts("/")
	if f.turbo != "on" || f.smt != "1" || f.nodes != 2 || f.clock != "tsc" || f.swapTotal != 1000<<10 || f.swapUsed != 600<<10 || f.available != 2048<<10 {
		t.Errorf("%+v", f)
	}
	if f.filesystem != "ext4" || strings.Join(f.mountOptions, ",") != "relatime,rw" || f.diskTotal <= 0 || len(f.missing) != 0 {
		t.Errorf("%+v", f)
	}
	files = map[string]string{"sys/devices/system/cpu/cpufreq/boost": "0\n"}
	s = fixture(t, files)
	f = s.readFacts("/")
	if f.turbo != "off" || len(f.missing) != 8 {
		t.Errorf("turbo %q, missing %v", f.turbo, f.missing)
	}
}

func TestDoctor_ThisHost(t *testing.T) {
	findings, err := Doctor(t.Context(), t.TempDir())
	if err != nil || len(findings) != 18 {
		t.Fatalf("%d findings, %v", len(findings), err)
	}
	for _, finding := range findings {
		if finding.Found == "" {
			t.Errorf("%+v", finding)
		}
		t.Logf("%+v", finding)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Doctor(ctx, t.TempDir()); err == nil {
		t.Error("a cancelled examination is no error")
	}
}

// A round between two CPUs that both must be woken takes time, and the threads
// and pipes are gone afterwards.
func TestPingPong(t *testing.T) {
	cores, err := system{"/"}.allowedCores()
	if err != nil {
		t.Fatal(err)
	}
	times, err := pingPong(cores[0][0], cores[len(cores)-1][0])
	if err != nil || len(times) != 500 || times[0] <= 0 || times[0] > times[499] {
		t.Errorf("%d times, %v", len(times), err)
	}
	if _, err := pingPong(cores[0][0], maxCPUs/128-1); err == nil {
		t.Error("a CPU that is not there is no error")
	}
}
