package probe

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// resources are what a snapshot holds beside CPU times.
type resources struct {
	levels  map[string]int64 // of the host: its gauges
	network networkStats
	disk    diskStats
	missing map[string]string // why a probe has nothing, by its name
}

// takeResources reads host, network and disks.
func (s system) takeResources(disks *Disks) resources {
	r := resources{missing: map[string]string{}, levels: map[string]int64{}}
	var err error
	if r.levels["host.runnable"], err = s.runnable(); err != nil {
		r.missing["load"] = err.Error()
	}
	if r.network, err = s.network(); err != nil {
		r.missing["network"] = err.Error()
	}
	if disks == nil {
		return r
	}
	if r.disk, err = disks.read(s); err != nil {
		r.missing["disks"] = err.Error()
	}
	r.levels["disk.in_flight"] = r.disk.inFlight
	return r
}

// runnable is how many threads run or could, without the one that asks.
func (s system) runnable() (int64, error) {
	text, err := s.read("proc/loadavg")
	if err != nil {
		return 0, fmt.Errorf("read the load: %w", err)
	}
	return parseRunnable(text)
}

// parseRunnable reads the fourth field of /proc/loadavg, "2/345".
func parseRunnable(text string) (int64, error) {
	fields := strings.Fields(text)
	var runnable, threads int64
	if len(fields) >= 4 {
		if n, err := fmt.Sscanf(fields[3], "%d/%d", &runnable, &threads); n == 2 && err == nil && runnable >= 0 {
			return max(0, runnable-1), nil
		}
	}
	return 0, fmt.Errorf("read the load: %q is no /proc/loadavg", text)
}

// measurement collects the metrics of a slice and what is missing of them.
type measurement struct {
	metrics []dbcanary.Metric
	missing []dbcanary.MissingProbe
	looks   map[string]int64 // the highest that was seen of each level in between
}

// count adds a count; one that is unknown is absent.
func (m *measurement) count(name string, value int64) {
	if value != unknown {
		m.metrics = append(m.metrics, dbcanary.Metric{Name: name, Value: float64(value)})
	}
}

// grown adds what a total has grown by. One that went down was reset: absent.
func (m *measurement) grown(name string, after, before, unit int64) {
	if grown := difference(after, before); grown != unknown {
		m.count(name, grown*unit)
	}
}

func (m *measurement) level(name string, first, last int64) {
	if first == unknown || last == unknown {
		return
	}
	m.metrics = append(m.metrics, dbcanary.Metric{
		Name: name, Gauge: true, First: float64(first), Value: float64(last), Max: float64(max(first, last, m.looks[name])),
	})
}

// lacks tells why a probe has nothing, once for each probe.
func (m *measurement) lacks(probe, reason string) {
	same := func(missing dbcanary.MissingProbe) bool { return missing.Probe == probe }
	if reason != "" && !slices.ContainsFunc(m.missing, same) {
		m.missing = append(m.missing, dbcanary.MissingProbe{Probe: probe, Reason: reason})
	}
}

// addMetrics turns two snapshots into the metrics of docs/METRICS.md.
func (d *Delta) addMetrics(before, after *Snapshot, looks map[string]int64) {
	m := measurement{looks: looks}
	for _, snapshot := range []*Snapshot{before, after} {
		for probe, reason := range snapshot.resources.missing {
			m.lacks(probe, reason)
		}
	}
	m.addHost(before, after)
	m.addDisks(before, after)
	m.addServer(d, before)
	m.addProcess("client", d.Client, before.self)
	if d.Client.CPUNs == unknown {
		m.lacks("client", strings.Join(d.Notes, "; "))
	} else if d.Client.ReadBytes == unknown {
		m.lacks("client io", strings.Join(d.Client.Notes, "; "))
	}
	slices.SortFunc(m.metrics, func(a, b dbcanary.Metric) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(m.missing, func(a, b dbcanary.MissingProbe) int { return strings.Compare(a.Probe, b.Probe) })
	d.Metrics, d.Missing = m.metrics, m.missing
}

func (m *measurement) addHost(before, after *Snapshot) {
	if before.noHost || after.noHost {
		m.lacks("host", strings.Join(append(slices.Clone(before.notes), after.notes...), "; "))
	} else {
		then, now := &before.host, &after.host
		m.grown("host.user_ns", now.UserNs, then.UserNs, 1)
		m.grown("host.system_ns", now.SystemNs, then.SystemNs, 1)
		m.grown("host.iowait_ns", now.IOWaitNs, then.IOWaitNs, 1)
		m.grown("host.idle_ns", now.IdleNs-now.IOWaitNs, then.IdleNs-then.IOWaitNs, 1)
		m.grown("host.context_switches", now.ContextSwitches, then.ContextSwitches, 1)
	}
	if !m.isMissing("load") {
		m.level("host.runnable", before.resources.levels["host.runnable"], after.resources.levels["host.runnable"])
	}
	if !m.isMissing("network") {
		then, now := &before.resources.network, &after.resources.network
		m.grown("host.loopback_bytes", now.loopback, then.loopback, 1)
		m.grown("host.network_received_bytes", now.received, then.received, 1)
		m.grown("host.network_sent_bytes", now.sent, then.sent, 1)
	}
}

func (m *measurement) isMissing(probe string) bool {
	return slices.ContainsFunc(m.missing, func(missing dbcanary.MissingProbe) bool { return missing.Probe == probe })
}

func (m *measurement) addDisks(before, after *Snapshot) {
	if !before.hasDisks || m.isMissing("disks") {
		return
	}
	const sector, ms = 512, int64(time.Millisecond)
	then, now := &before.resources.disk, &after.resources.disk
	m.grown("disk.reads", now.reads, then.reads, 1)
	m.grown("disk.writes", now.writes, then.writes, 1)
	m.grown("disk.read_bytes", now.readSectors, then.readSectors, sector)
	m.grown("disk.written_bytes", now.writeSectors, then.writeSectors, sector)
	m.grown("disk.read_wait_ns", now.readMs, then.readMs, ms)
	m.grown("disk.write_wait_ns", now.writeMs, then.writeMs, ms)
	m.grown("disk.flushes", now.flushes, then.flushes, 1)
	m.grown("disk.flush_wait_ns", now.flushMs, then.flushMs, ms)
	m.grown("disk.busy_ns", now.busyMs, then.busyMs, ms)
	m.grown("disk.queue_ns", now.queueMs, then.queueMs, ms)
	m.level("disk.in_flight", then.inFlight, now.inFlight)
}

func (m *measurement) addServer(d *Delta, before *Snapshot) {
	if before.noServer {
		m.lacks("server", "its process is unknown: it runs in dbcanary itself, or somebody else runs it")
		return
	}
	if d.Server.CPUNs == unknown {
		m.lacks("server", strings.Join(d.Notes, "; "))
	}
	if before.server == nil {
		return
	}
	m.addProcess("server", d.Server, before.server.Usage)
	if d.Server.Processes > 0 {
		m.level("server.processes", int64(before.server.Processes), int64(d.Server.Processes))
	}
	if d.Server.CPUNs != unknown && (d.Server.ReadBytes == unknown || d.Server.VoluntarySwitches == unknown) {
		m.lacks("server io", strings.Join(d.Server.Notes, "; "))
	}
}

// addProcess adds what server or client used; before is its state at the beginning.
func (m *measurement) addProcess(name string, used, before Usage) {
	m.count(name+".user_ns", used.UserNs)
	m.count(name+".system_ns", used.SystemNs)
	m.count(name+".voluntary_switches", used.VoluntarySwitches)
	m.count(name+".involuntary_switches", used.InvoluntarySwitches)
	m.count(name+".minor_faults", used.MinorFaults)
	m.count(name+".major_faults", used.MajorFaults)
	m.count(name+".read_bytes", used.ReadBytes)
	m.count(name+".written_bytes", used.WrittenBytes)
	m.level(name+".rss_bytes", before.RSSBytes, used.RSSBytes)
	if used.Threads > 0 {
		m.level(name+".threads", int64(before.Threads), int64(used.Threads))
	}
}

// watch looks at the levels once every interval until the returned function is
// called, which gives the highest of each. What can't be read at a look is left
// out of it.
func (s *Sampler) watch(pids []int) (stop func() map[string]int64) {
	done := make(chan struct{})
	result := make(chan map[string]int64, 1)
	go func() {
		highest := map[string]int64{}
		tick := time.NewTicker(s.Every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				result <- highest
				return
			case <-tick.C:
				s.look(pids, highest)
			}
		}
	}()
	return func() map[string]int64 {
		close(done)
		return <-result
	}
}

// look raises the highest levels. It reads two files of the host and one of each
// process, not the threads, so that it takes some 20 us for each.
func (s *Sampler) look(pids []int, highest map[string]int64) {
	raise := func(name string, value int64) { highest[name] = max(highest[name], value) }
	if runnable, err := (system{"/"}).runnable(); err == nil {
		raise("host.runnable", runnable)
	}
	if s.Disks != nil {
		if disk, err := s.Disks.read(system{"/"}); err == nil {
			raise("disk.in_flight", disk.inFlight)
		}
	}
	if rss, threads, ok := (system{"/"}).memoryOf([]int{os.Getpid()}); ok {
		raise("client.rss_bytes", rss)
		raise("client.threads", threads)
	}
	if rss, threads, ok := (system{"/"}).memoryOf(pids); ok && len(pids) > 0 {
		raise("server.rss_bytes", rss)
		raise("server.threads", threads)
	}
}

// memoryOf sums up the resident memory, what is shared once, and the threads of
// processes. Those that have ended count nothing.
func (s system) memoryOf(pids []int) (rssBytes, threads int64, ok bool) {
	var anonymous, shared int64
	for _, pid := range pids {
		text, err := os.ReadFile(s.path(fmt.Sprintf("proc/%d/status", pid)))
		if err != nil {
			if gone(err) {
				continue
			}
			return 0, 0, false
		}
		status := parseThreadStatus(text)
		anonymous += max(0, status.anonymousKB)
		shared = max(shared, status.fileKB+status.sharedMemory)
		threads += max(0, status.threads)
	}
	return (anonymous + shared) * 1024, threads, true
}
