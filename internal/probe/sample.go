package probe

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/dbcanary/dbcanary"
)

// Host is what all CPUs did since the system started.
type Host struct {
	Taken   time.Time
	CPUs    int   // that are online
	IdleNs  int64 // nothing to run, waiting for storage included
	StealNs int64 // a hypervisor ran something else

	UserNs, SystemNs, IOWaitNs int64 // as vmstat shows them: sampled at the kernel's ticks; IOWaitNs is part of IdleNs
	ContextSwitches            int64
}

// HostUsage reads /proc/stat. Busy time is what is left of the wall time, see
// [Host.BusyNs]: the kernel measures idle time but only samples busy time at its
// ticks, which misses short bursts.
func HostUsage() (Host, error) { return system{"/"}.host() }

func (s system) host() (Host, error) {
	fs, err := s.proc()
	if err != nil {
		return Host{}, fmt.Errorf("read the CPU time of the host: %w", err)
	}
	stat, err := fs.Stat()
	if err != nil {
		return Host{}, fmt.Errorf("read the CPU time of the host: %w", err)
	}
	if len(stat.CPU) == 0 {
		return Host{}, fmt.Errorf("read the CPU time of the host: /proc/stat names no CPU")
	}
	all := &stat.CPUTotal
	ns := func(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }
	return Host{
		Taken:           time.Now(),
		CPUs:            len(stat.CPU),
		IdleNs:          ns(all.Idle + all.Iowait),
		StealNs:         ns(all.Steal),
		UserNs:          ns(all.User + all.Nice),
		SystemNs:        ns(all.System + all.IRQ + all.SoftIRQ),
		IOWaitNs:        ns(all.Iowait),
		ContextSwitches: int64(stat.ContextSwitches),
	}, nil
}

// BusyNs is the CPU time that the host spent on anything since before, within
// 10 ms; -1 if a CPU came or went.
func (h Host) BusyNs(before Host) int64 {
	if h.CPUs != before.CPUs {
		return unknown
	}
	wall := int64(h.Taken.Sub(before.Taken)) * int64(h.CPUs)
	return max(0, wall-(h.IdleNs-before.IdleNs)-(h.StealNs-before.StealNs))
}

// Sampler takes what a slice costs at its two ends. The zero value accounts for
// this process alone. It is not safe for concurrent use.
type Sampler struct {
	Server int   // process of the measured server; 0 if it is unknown
	Idle   []int // processes of the other targets' servers, which are up too
	// Apart says that a Server of 0 runs in this process or on another host, so
	// that CPU time of this host is the client's or foreign. Otherwise the server's
	// CPU time would pass for foreign, and that is unknown.
	Apart bool
	Disks *Disks        // behind the data directories; nil if they are unknown
	Every time.Duration // levels are looked at so often between Begin and End; 0 for not at all

	clocks map[int]int64           // of the processes at the last Begin
	stop   func() map[string]int64 // ends the looks
}

// Snapshot is the state at one end of a slice.
type Snapshot struct {
	server *tree // nil if unknown
	idle   []*tree
	self   Usage
	host   Host
	notes  []string

	resources resources
	looks     map[string]int64 // the highest levels since Begin

	noServer, apart, hasDisks bool // as the sampler was told
	noSelf, noHost            bool
}

// Begin takes the snapshot before the measured time; with Every, End must follow. The work of it, up to some
// 60 us for each thread of the server, comes first, and then all CPU times at once.
func (s *Sampler) Begin() Snapshot {
	snapshot := s.snapshot()
	snapshot.takeServers(s, nil)
	s.clocks = map[int]int64{}
	for _, tree := range append(snapshot.idle, snapshot.server) {
		if tree != nil {
			maps.Copy(s.clocks, tree.clocks)
		}
	}
	if s.Every > 0 {
		var pids []int
		if snapshot.server != nil {
			pids = slices.Collect(maps.Keys(snapshot.server.clocks))
		}
		s.stop = s.watch(pids)
	}
	snapshot.resources = system{"/"}.takeResources(s.Disks)
	snapshot.takeHost()
	now := readClocks(s.clocks)
	for _, tree := range append(snapshot.idle, snapshot.server) {
		if tree != nil {
			tree.setClocks(now)
		}
	}
	return snapshot
}

// End takes the snapshot after the measured time, first all CPU times at once, so
// that the work of both snapshots is outside of it.
func (s *Sampler) End() Snapshot {
	snapshot := s.snapshot()
	clocks := readClocks(s.clocks)
	snapshot.takeHost()
	snapshot.resources = system{"/"}.takeResources(s.Disks)
	if s.stop != nil {
		snapshot.looks = s.stop()
		s.stop = nil
	}
	snapshot.takeServers(s, clocks)
	return snapshot
}

func (s *Sampler) snapshot() Snapshot {
	return Snapshot{noServer: s.Server == 0, apart: s.Apart, hasDisks: s.Disks != nil}
}

func (s *Snapshot) takeServers(sampler *Sampler, clocks map[int]int64) {
	for _, pid := range sampler.Idle {
		tree, err := system{"/"}.tree(pid, false, clocks)
		if err != nil {
			s.notes = append(s.notes, fmt.Sprintf("an idle server's CPU time is unknown: %v", err))
		}
		s.idle = append(s.idle, tree)
	}
	if sampler.Server == 0 {
		return
	}
	tree, err := system{"/"}.tree(sampler.Server, true, clocks)
	if err != nil {
		s.notes = append(s.notes, fmt.Sprintf("the server's usage is unknown: %v", err))
	}
	s.server = tree
}

func (s *Snapshot) takeHost() {
	var err error
	if s.self, err = Self(); err != nil {
		s.noSelf = true
		s.notes = append(s.notes, err.Error())
	}
	if s.host, err = HostUsage(); err != nil {
		s.noHost = true
		s.notes = append(s.notes, err.Error())
	}
}

// Delta is what happened between two snapshots. A value that is unknown is -1,
// and Notes say why.
type Delta struct {
	Elapsed time.Duration // between the snapshots

	ServerCPUNs           int64 // of the measured server's process tree
	ServerContextSwitches int64 // of its threads, those that ended in between excepted
	IdleServerCPUNs       int64 // of the other targets' servers
	ClientCPUNs           int64 // of this process
	ForeignCPUNs          int64 // of anything else on the host, the kernel's own threads included
	StealNs               int64

	Server Usage // of the measured server; Processes, Threads and RSSBytes as they were at the end
	Client Usage // of this process, likewise
	Notes  []string

	Metrics []dbcanary.Metric       // all of it but CPU times, by the names of docs/METRICS.md and sorted by them
	Missing []dbcanary.MissingProbe // what Metrics lacks; Target is left empty
}

// Between gives what happened from before, a snapshot of [Sampler.Begin], to
// after, one of [Sampler.End] of the same sampler.
func Between(before, after Snapshot) Delta {
	d := between(before, after)
	d.addMetrics(&before, &after, after.looks)
	return d
}

func between(before, after Snapshot) Delta {
	d := Delta{
		ServerCPUNs: unknown, ServerContextSwitches: unknown, IdleServerCPUNs: 0,
		ClientCPUNs: unknown, ForeignCPUNs: unknown, StealNs: unknown,
		Server: unknownUsage(), Client: unknownUsage(),
	}
	for _, note := range append(before.notes, after.notes...) {
		d.Notes = addNote(d.Notes, note)
	}
	d.addServers(before, after)
	if !before.noSelf && !after.noSelf {
		d.Client = after.self.since(before.self)
		d.ClientCPUNs = d.Client.CPUNs
	}
	if before.noHost || after.noHost {
		return d
	}
	d.Elapsed = after.host.Taken.Sub(before.host.Taken)
	d.StealNs = max(0, after.host.StealNs-before.host.StealNs)
	busyNs := after.host.BusyNs(before.host)
	serverNs := d.ServerCPUNs
	if before.noServer {
		serverNs = 0
		if !before.apart {
			serverNs = unknown
			d.Notes = addNote(d.Notes, "foreign CPU time is unknown: it can't be told from that of a server whose process is unknown")
		}
	}
	if busyNs == unknown {
		d.Notes = addNote(d.Notes, "foreign CPU time is unknown: the number of CPUs changed")
	}
	if busyNs != unknown && serverNs != unknown && d.IdleServerCPUNs != unknown && d.ClientCPUNs != unknown {
		d.ForeignCPUNs = max(0, busyNs-serverNs-d.IdleServerCPUNs-d.ClientCPUNs)
	}
	return d
}

func (d *Delta) addServers(before, after Snapshot) {
	for i := range after.idle {
		used := d.treeSince(after.idle[i], before.idle[i])
		if used.CPUNs == unknown || d.IdleServerCPUNs == unknown {
			d.IdleServerCPUNs = unknown
			continue
		}
		d.IdleServerCPUNs += used.CPUNs
	}
	if after.server == nil || before.server == nil {
		return
	}
	d.Server = d.treeSince(after.server, before.server)
	d.scaleServer(before.host.Taken.Sub(before.server.taken), after.host.Taken.Sub(before.host.Taken))
	d.ServerCPUNs = d.Server.CPUNs
	if d.Server.VoluntarySwitches != unknown && d.Server.InvoluntarySwitches != unknown {
		d.ServerContextSwitches = d.Server.VoluntarySwitches + d.Server.InvoluntarySwitches
	}
}

// scaleServer takes off what the server did while its threads were read, for so
// long before the measured time; it was under load then already. CPU time is exact.
func (d *Delta) scaleServer(early, measured time.Duration) {
	if early <= 0 || measured <= 0 {
		return
	}
	share := float64(measured) / float64(measured+early)
	u := &d.Server
	for _, total := range []*int64{&u.VoluntarySwitches, &u.InvoluntarySwitches, &u.MinorFaults, &u.MajorFaults, &u.ReadBytes, &u.WrittenBytes} {
		if *total != unknown {
			*total = int64(math.Round(float64(*total) * share))
		}
	}
}

// treeSince is what a tree used between two moments.
func (d *Delta) treeSince(after, before *tree) Usage {
	if after == nil || before == nil {
		return unknownUsage()
	}
	if after.startTicks != before.startTicks {
		d.Notes = addNote(d.Notes, "a server's usage is unknown: it was started anew")
		return unknownUsage()
	}
	used := after.Usage.since(before.Usage)
	if used.CPUNs == unknown {
		d.Notes = addNote(d.Notes, "a server's CPU time is unknown: a process of it ended that nobody waited for")
	}
	if after.VoluntarySwitches == unknown || before.VoluntarySwitches == unknown {
		return used
	}
	// By thread, since the totals lose what threads that ended had counted.
	used.VoluntarySwitches, used.InvoluntarySwitches = 0, 0
	for tid, now := range after.switches {
		then := before.switches[tid]
		if now[0] < then[0] || now[1] < then[1] {
			then = [2]int64{} // a new thread of the same number
		}
		used.VoluntarySwitches += now[0] - then[0]
		used.InvoluntarySwitches += now[1] - then[1]
	}
	return used
}

func unknownUsage() Usage {
	return Usage{
		CPUNs: unknown, UserNs: unknown, SystemNs: unknown, VoluntarySwitches: unknown, InvoluntarySwitches: unknown,
		MinorFaults: unknown, MajorFaults: unknown, RSSBytes: unknown,
		ReadBytes: unknown, WrittenBytes: unknown,
	}
}

// since is what was used after before; memory, processes and threads stay those of u.
func (u Usage) since(before Usage) Usage {
	d := u
	d.CPUNs = difference(u.CPUNs, before.CPUNs)
	if d.CPUNs == unknown && u.CPUNs != unknown && u.CPUNs >= before.CPUNs-2*tickNs {
		// A process ended, and its time was cut to ticks, user and system apart.
		d.CPUNs = 0
	}
	d.UserNs, d.SystemNs = u.split(before, d.CPUNs)
	d.VoluntarySwitches = difference(u.VoluntarySwitches, before.VoluntarySwitches)
	d.InvoluntarySwitches = difference(u.InvoluntarySwitches, before.InvoluntarySwitches)
	d.MinorFaults = difference(u.MinorFaults, before.MinorFaults)
	d.MajorFaults = difference(u.MajorFaults, before.MajorFaults)
	d.ReadBytes = difference(u.ReadBytes, before.ReadBytes)
	d.WrittenBytes = difference(u.WrittenBytes, before.WrittenBytes)
	return d
}

// split divides CPU time as the kernel divides it between user and system since
// before, or where that is less than a tick since the start.
func (u Usage) split(before Usage, cpuNs int64) (userNs, systemNs int64) {
	user, system := u.UserNs-before.UserNs, u.SystemNs-before.SystemNs
	if user < 0 || system < 0 || user+system == 0 {
		user, system = u.UserNs, u.SystemNs
	}
	if cpuNs == unknown || cpuNs > 0 && user+system <= 0 {
		return unknown, unknown
	}
	if cpuNs == 0 {
		return 0, 0
	}
	userNs = int64(math.Round(float64(cpuNs) * float64(user) / float64(user+system)))
	return userNs, cpuNs - userNs
}

// difference of two totals. One that went down lost a process that nobody waited
// for, so what was used is unknown.
func difference(after, before int64) int64 {
	if after == unknown || before == unknown || after < before {
		return unknown
	}
	return after - before
}
