package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Severity says how much a finding matters to results.
type Severity string

// The severities.
const (
	Good    Severity = "good"    // as it should be
	Notice  Severity = "notice"  // worth knowing; results hold
	Warning Severity = "warning" // results vary more than they need to, or something can't be measured
	Problem Severity = "problem" // results will mislead
	Unclear Severity = "unclear" // could not be read
)

// Finding is one thing that was looked at before a run.
type Finding struct {
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	Found    string   `json:"found"`            // what there is, or why it could not be read
	Effect   string   `json:"effect,omitempty"` // what it does to results; "" if good
	Mend     string   `json:"mend,omitempty"`   // how to make it good; "" if there is nothing to do
}

// Doctor looks at this host and at dir, where data would lie and which need not
// exist yet, and gives a finding for each thing that is known to spoil results, in a
// fixed order. It takes about a second, in which it watches the load.
func Doctor(ctx context.Context, dir string) ([]Finding, error) {
	facts, err := system{"/"}.examine(ctx, dir)
	if err != nil {
		return nil, err
	}
	return facts.findings(), nil
}

// facts are what Doctor read. A text that could not be read is in missing, by the
// name of its finding.
type facts struct {
	missing map[string]string

	root         bool // runs as the superuser
	governor     string
	turbo        string // "on", "off", "" if the kernel does not control it
	smt          string // "1" if active
	thp          string // "always [madvise] never"
	swapTotal    int64  // bytes
	swapUsed     int64
	swappiness   string
	nodes        int // of NUMA
	clock        string
	filesystem   string
	mountOptions []string
	memory       int64 // bytes
	available    int64
	diskTotal    int64
	diskFree     int64
	cpuQuota     string // "max 100000" or "150000 100000", "" outside of a control group
	watched      Delta
	cpus         int
	perfParanoid string
	ptraceScope  string // "" without the Yama module
	randomize    string // address-space layout
	wakeUp       wakeUp
	disks        []string // whose counters are those of the data
	disksMissing string   // why there are none
}

// wakeUp is the time from one thread's write to the return of another's read.
type wakeUp struct {
	sameNs     int64 // median on one CPU
	acrossNs   int64 // median from one core to another; 0 if there is one only
	across99Ns int64 // 99th percentile of that
}

func (f *facts) findings() []Finding {
	var all []Finding
	for _, check := range []struct {
		name  string
		judge func() Finding
	}{
		{"governor", f.judgeGovernor},
		{"turbo", f.judgeTurbo},
		{"smt", f.judgeSMT},
		{"numa", f.judgeNUMA},
		{"cpu quota", f.judgeQuota},
		{"clock source", f.judgeClock},
		{"huge pages", f.judgeTHP},
		{"address layout", f.judgeLayout},
		{"swap", f.judgeSwap},
		{"memory", f.judgeMemory},
		{"file system", f.judgeFilesystem},
		{"disk space", f.judgeDisk},
		{"disk counters", f.judgeDisks},
		{"other load", f.judgeLoad},
		{"steal", f.judgeSteal},
		{"wake-up", f.judgeWakeUp},
		{"perf", f.judgePerf},
		{"ptrace", f.judgePtrace},
	} {
		finding := Finding{Severity: Unclear, Found: f.missing[check.name], Effect: "what it does to results is unknown"}
		if finding.Found == "" {
			finding = check.judge()
		}
		finding.Name = check.name
		all = append(all, finding)
	}
	return all
}

func good(format string, args ...any) Finding {
	return Finding{Severity: Good, Found: fmt.Sprintf(format, args...)}
}

func (f *facts) judgeGovernor() Finding {
	switch f.governor {
	case "":
		return good("the CPU frequency is not controlled by this kernel")
	case "performance":
		return good("performance")
	}
	return Finding{
		Severity: Warning, Found: f.governor,
		Effect: "the CPU frequency follows the load with a delay, so short slices run at different speeds",
		Mend:   "cpupower frequency-set -g performance",
	}
}

func (f *facts) judgeTurbo() Finding {
	switch f.turbo {
	case "":
		return good("not controlled by this kernel")
	case "off":
		return good("off")
	}
	return Finding{
		Severity: Notice, Found: "on",
		Effect: "the CPU frequency depends on temperature and on how many cores are busy",
		Mend:   "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > /sys/devices/system/cpu/cpufreq/boost",
	}
}

func (f *facts) judgeSMT() Finding {
	if f.smt != "1" {
		return good("off")
	}
	return Finding{
		Severity: Notice, Found: "on",
		Effect: "two threads on one core slow each other down, so speed depends on where the scheduler puts them",
		Mend:   "echo off > /sys/devices/system/cpu/smt/control, or choose a placement",
	}
}

func (f *facts) judgeNUMA() Finding {
	if f.nodes <= 1 {
		return good("one node")
	}
	return Finding{
		Severity: Notice, Found: fmt.Sprintf("%d nodes", f.nodes),
		Effect: "memory of another node is slower, so speed depends on where a server's memory lies",
		Mend:   "start dbcanary with numactl --cpunodebind=0 --membind=0",
	}
}

func (f *facts) judgeQuota() Finding {
	quota, _, _ := strings.Cut(f.cpuQuota, " ")
	if quota == "" || quota == "max" {
		return good("none")
	}
	return Finding{
		Severity: Warning, Found: "quota and period in us: " + f.cpuQuota,
		Effect: "the kernel stops all processes of the control group when the quota of a period is used up",
		Mend:   "give the container whole CPUs (cpuset) instead of a quota",
	}
}

func (f *facts) judgeClock() Finding {
	if slices.Contains([]string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}, f.clock) {
		return good("%s", f.clock)
	}
	return Finding{
		Severity: Warning, Found: f.clock,
		Effect: "each reading of the clock is a system call or slower; servers and client read it for each statement",
		Mend:   "boot with clocksource=tsc if the CPU's counter is stable",
	}
}

func (f *facts) judgeTHP() Finding {
	if !strings.Contains(f.thp, "[always]") {
		return good("%s", f.thp)
	}
	return Finding{
		Severity: Notice, Found: f.thp,
		Effect: "the kernel joins pages in the background, so memory and speed differ from one start of a server to the next",
		Mend:   "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
	}
}

func (f *facts) judgeLayout() Finding {
	if f.randomize != "0" {
		return good("randomised")
	}
	return Finding{
		Severity: Warning, Found: "not randomised",
		Effect: "each build has one arbitrary layout for ever, and a difference of some 2 % that comes from it passes for one of the build",
		Mend:   "sysctl kernel.randomize_va_space=2",
	}
}

func (f *facts) judgeSwap() Finding {
	switch {
	case f.swapTotal == 0:
		return good("none")
	case f.swapUsed > f.swapTotal/100:
		return Finding{
			Severity: Warning, Found: fmt.Sprintf("%s of %s used", size(f.swapUsed), size(f.swapTotal)),
			Effect: "memory was short: pages may be read back from the disk in a slice",
			Mend:   "swapoff -a, after freeing memory",
		}
	case f.swappiness != "0" && f.swappiness != "1":
		return Finding{
			Severity: Notice, Found: fmt.Sprintf("%s, swappiness %s", size(f.swapTotal), f.swappiness),
			Effect: "the kernel may swap a server's memory out in favour of the page cache",
			Mend:   "sysctl vm.swappiness=1",
		}
	}
	return good("%s, swappiness %s", size(f.swapTotal), f.swappiness)
}

func (f *facts) judgeMemory() Finding {
	found := fmt.Sprintf("%s of %s available", size(f.available), size(f.memory))
	severity := Good
	switch {
	case f.available < f.memory/10:
		severity = Problem
	case f.available < f.memory/4:
		severity = Warning
	default:
		return good("%s", found)
	}
	return Finding{
		Severity: severity, Found: found,
		Effect: "servers may be short of memory, so that they read from the disk or are killed",
		Mend:   "stop other programs, or use smaller tables",
	}
}

func (f *facts) judgeFilesystem() Finding {
	found := f.filesystem + ", " + strings.Join(f.mountOptions, ",")
	has := func(options ...string) bool {
		return slices.ContainsFunc(options, func(option string) bool { return slices.Contains(f.mountOptions, option) })
	}
	switch {
	case f.filesystem == "tmpfs" || f.filesystem == "ramfs":
		return Finding{
			Severity: Problem, Found: found,
			Effect: "data is in memory: a commit waits for no disk, so writes are faster than anywhere else",
			Mend:   "choose a directory on the disk that users would have",
		}
	case strings.HasPrefix(f.filesystem, "nfs") || strings.HasPrefix(f.filesystem, "fuse") || slices.Contains([]string{"9p", "cifs", "smb3", "virtiofs"}, f.filesystem):
		return Finding{
			Severity: Problem, Found: found,
			Effect: "other hosts or another program decide how fast a read or a commit is",
			Mend:   "choose a directory on a local disk",
		}
	case has("nobarrier", "barrier=0"):
		return Finding{
			Severity: Warning, Found: found,
			Effect: "a commit does not wait for the disk's cache",
			Mend:   "mount it with barriers",
		}
	case f.filesystem == "overlay" || has("sync", "dirsync"):
		return Finding{
			Severity: Warning, Found: found,
			Effect: "writes go through an additional layer or are all waited for",
			Mend:   "choose a directory on a volume of its own",
		}
	case slices.Contains([]string{"btrfs", "zfs", "bcachefs"}, f.filesystem):
		return Finding{
			Severity: Notice, Found: found,
			Effect: "data is copied on each write, so that tables become scattered and a run's later slices slower",
			Mend:   "use ext4 or xfs, or chattr +C on the directory (btrfs)",
		}
	}
	return good("%s", found)
}

func (f *facts) judgeDisk() Finding {
	found := fmt.Sprintf("%s of %s free", size(f.diskFree), size(f.diskTotal))
	if f.diskFree >= 10<<30 || f.diskFree >= f.diskTotal/2 {
		return good("%s", found)
	}
	severity := Notice
	if f.diskFree < 2<<30 {
		severity = Warning
	}
	return Finding{
		Severity: severity, Found: found,
		Effect: "each target has two copies of the data, and a full disk makes slices void",
		Mend:   "free space, or choose another directory",
	}
}

func (f *facts) judgeDisks() Finding {
	if f.disksMissing == "" {
		return good("%s", strings.Join(f.disks, ", "))
	}
	return Finding{
		Severity: Notice, Found: f.disksMissing,
		Effect: "results hold, but reads and writes of the disk by operation will be missing",
		Mend:   "choose a directory on a file system of a disk",
	}
}

func (f *facts) judgeLoad() Finding {
	if f.watched.ForeignCPUNs == unknown || f.watched.Elapsed <= 0 {
		return Finding{Severity: Unclear, Found: strings.Join(f.watched.Notes, "; ")}
	}
	busy := float64(f.watched.ForeignCPUNs) / float64(f.watched.Elapsed)
	found := fmt.Sprintf("%.2f of %d CPUs busy with other work", busy, f.cpus)
	finding := Finding{
		Severity: Problem, Found: found,
		Effect: "servers get what other programs leave, so slices vary and many will be void",
		Mend:   "stop the other programs",
	}
	switch share := busy / float64(max(1, f.cpus)); {
	case share < 0.02:
		return good("%s", found)
	case share < 0.2:
		finding.Severity = Warning
	}
	return finding
}

func (f *facts) judgeSteal() Finding {
	if f.watched.StealNs == unknown || f.watched.Elapsed <= 0 {
		return Finding{Severity: Unclear, Found: strings.Join(f.watched.Notes, "; ")}
	}
	share := float64(f.watched.StealNs) / float64(f.watched.Elapsed) / float64(max(1, f.cpus))
	found := fmt.Sprintf("%.1f %% of the CPU time", 100*share)
	if share < 0.01 {
		return good("%s", found)
	}
	return Finding{
		Severity: Warning, Found: found,
		Effect: "the hypervisor runs other guests on these CPUs, so slices vary and many will be void",
		Mend:   "use a machine with CPUs of its own",
	}
}

func (f *facts) judgeWakeUp() Finding {
	if f.wakeUp.acrossNs == 0 {
		return good("%v on one CPU; there is no second core", micros(f.wakeUp.sameNs))
	}
	found := fmt.Sprintf("%v on one CPU, %v across cores (99 %%: %v)", micros(f.wakeUp.sameNs), micros(f.wakeUp.acrossNs), micros(f.wakeUp.across99Ns))
	if f.wakeUp.acrossNs < 20_000 {
		return good("%s", found)
	}
	severity := Notice
	if f.wakeUp.acrossNs >= 50_000 {
		severity = Warning
	}
	return Finding{
		Severity: severity, Found: found,
		Effect: "a statement pays this twice when server and client run on different cores, so speed depends on where the scheduler puts them",
		Mend:   "choose a placement (same avoids it), or forbid deep idle states: cpupower idle-set -D 10",
	}
}

func (f *facts) judgePerf() Finding {
	if f.root || f.perfParanoid == "1" || f.perfParanoid == "0" || f.perfParanoid == "-1" {
		return good("permitted")
	}
	return Finding{
		Severity: Notice, Found: "perf_event_paranoid is " + f.perfParanoid,
		Effect: "results hold, but perf can't show where the time goes",
		Mend:   "sysctl kernel.perf_event_paranoid=1",
	}
}

func (f *facts) judgePtrace() Finding {
	if f.root && f.ptraceScope != "3" || f.ptraceScope == "" || f.ptraceScope == "0" {
		return good("permitted")
	}
	return Finding{
		Severity: Notice, Found: "ptrace_scope is " + f.ptraceScope,
		Effect: "results hold, but the stacks of waiting threads can't be sampled",
		Mend:   "sysctl kernel.yama.ptrace_scope=0",
	}
}

// size writes bytes as people read them.
func size(bytes int64) string {
	if bytes < 10<<30 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d GiB", bytes>>30)
}

func micros(ns int64) time.Duration {
	return time.Duration(ns).Round(100 * time.Nanosecond)
}
