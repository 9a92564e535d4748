package exchange

import (
	"math"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// Names of metrics as docs/METRICS.md has them; those of a server's own counters follow
// "dbms.". Percentages are of all CPUs: what remains where nobody tells how many there are.
const (
	metricHostCPUPercent  = "host.cpu_percent_s" // user and system; by seconds it is vmstat's us + sy
	metricUserPercent     = "host.user_percent_s"
	metricSystemPercent   = "host.system_percent_s"
	metricStealPercent    = "host.steal_percent_s"
	metricHostUser        = "host.user_ns"
	metricHostSystem      = "host.system_ns"
	metricHostSwitches    = "host.context_switches"
	metricHostInterrupts  = "host.interrupts"
	metricDiskReads       = "disk.reads"
	metricDiskWrites      = "disk.writes"
	metricDiskReadBytes   = "disk.read_bytes"
	metricDiskWritten     = "disk.written_bytes"
	metricServerReadBytes = "server.read_bytes"
	metricServerWritten   = "server.written_bytes"
	metricServerRSS       = "server.rss_bytes"
	dbmsPrefix            = "dbms."
)

// Names of what are fields of a trial.
const (
	fieldServerCPU      = "server_cpu_ns"
	fieldServerSwitches = "server_context_switches"
	fieldClientCPU      = "client_cpu_ns"
	fieldSteal          = "steal_ns"
)

// Recording is what a tool saw that watched a machine or a server while something
// else ran: means over its samples. It belongs to the result of that work.
type Recording struct {
	File    string
	Line    int
	Tool    string // "vmstat"
	Samples int    // that the means are of
	StepS   float64
	CPUs    int // of the host, 0 if the tool does not tell
	Rates   []Rate
	Gauges  []dbcanary.Metric
	Stacks  []Stack // of a profiler, in the order of their frames
	Sampler string  // of the stacks: "perf cycles", "gdb"
}

// Rate is the mean of a count by second or, if the tool divided already, by operation.
type Rate struct {
	Name         string
	PerSecond    float64
	PerOperation float64
}

// cpu adds means of the host's CPUs in percent of all of them.
func (r *Recording) cpu(user, system, steal float64) {
	r.rate(metricHostCPUPercent, user+system)
	r.rate(metricUserPercent, user)
	r.rate(metricSystemPercent, system)
	r.rate(metricStealPercent, steal)
}

// rate adds a mean by second.
func (r *Recording) rate(name string, perSecond float64) {
	r.Rates = append(r.Rates, Rate{Name: name, PerSecond: perSecond})
}

// recordingFormats lists the tools that record beside a benchmark.
func recordingFormats() []resultFormat {
	return []resultFormat{vmstat(), iostat(), iostatJSON(), pidstat(), dstatCSV(), mysqladmin(), publishedMetrics(), perfScript(), ptPMP(), collapsedStacks()}
}

// RecordingFormats names the recordings that ReadFiles adds to results.
func RecordingFormats() []string {
	var names []string
	for _, f := range recordingFormats() {
		names = append(names, f.name)
	}
	return names
}

// recordingOptions say which samples of a recording count.
type recordingOptions struct {
	warmupS float64 // of the benchmark, before the time that was measured
	// sinceBoot tells that the first sample counts from the boot of the host where a
	// tool can leave it out, which the output does not show.
	sinceBoot bool
}

// sampler says which samples count: those after the first that counts since boot,
// and after the warm-up.
type sampler struct {
	skip    int
	seen    int
	counted int
}

// newSampler for samples every step seconds, 0 if unknown: then every second, as
// the published scripts have it.
func (o recordingOptions) newSampler(step float64, sinceBoot bool) sampler {
	if step <= 0 {
		step = 1
	}
	s := sampler{skip: int(math.Round(min(o.warmupS, 1e6) / step))}
	if sinceBoot {
		s.skip++
	}
	return s
}

// next tells whether the next sample counts.
func (s *sampler) next() bool {
	s.seen++
	if s.seen <= s.skip {
		return false
	}
	s.counted++
	return true
}

// addRecording takes a recording if a sample is left, and says what to do if not.
func (r *Results) addRecording(l *lines, rec Recording, s sampler) error {
	if s.counted == 0 {
		return l.failf(rec.Line, "%s holds %d samples and none that counts: the first %d are of the time before the measurement", rec.Tool, s.seen, s.skip)
	}
	rec.File, rec.Samples = l.name, s.counted
	rec.Rates = slices.DeleteFunc(rec.Rates, func(rate Rate) bool {
		return !(math.Abs(rate.PerSecond) < 1e15) || !(math.Abs(rate.PerOperation) < 1e15)
	})
	r.Recordings = append(r.Recordings, rec)
	return nil
}

// cutTail notes that the last sample was not whole: the tool was killed while it wrote.
func (r *Results) cutTail(l *lines, line int) {
	r.Notes = append(r.Notes, l.failf(line, "the last sample ends here, is not whole, and does not count").Error())
}

// attach adds what was recorded beside a measurement.
func (m *Measurement) attach(rec Recording) {
	if m.CPUs == 0 {
		m.CPUs = rec.CPUs
	}
	seconds := float64(m.ElapsedNs) / 1e9
	for _, rate := range rec.Rates {
		value := rate.PerSecond * seconds
		if rate.PerOperation != 0 {
			value = rate.PerOperation * float64(m.Operations)
		}
		m.addMetric(dbcanary.Metric{Name: rate.Name, Value: value})
	}
	for _, gauge := range rec.Gauges {
		m.addMetric(gauge)
	}
	if len(rec.Stacks) > 0 {
		m.stacks = append(m.stacks, sampledStacks{rec.Sampler, rec.Stacks})
	}
}

// addMetric keeps the first of a name: sources come with the most exact first.
func (m *Measurement) addMetric(metric dbcanary.Metric) {
	if !slices.ContainsFunc(m.Metrics, func(have dbcanary.Metric) bool { return have.Name == metric.Name }) {
		m.Metrics = append(m.Metrics, metric)
	}
}

// field takes a metric that is a field of a trial, -1 if there is none.
func (m *Measurement) field(name string) int64 {
	for i, metric := range m.Metrics {
		if metric.Name == name {
			m.Metrics = slices.Delete(m.Metrics, i, i+1)
			return int64(math.Round(min(max(0, metric.Value), 1e18)))
		}
	}
	return -1
}

// finishMetrics turns percent of all CPUs into time where their number is known, and
// sorts by name.
func (m *Measurement) finishMetrics() {
	for percent, ns := range map[string]string{metricUserPercent: metricHostUser, metricSystemPercent: metricHostSystem, metricStealPercent: fieldSteal} {
		at := slices.IndexFunc(m.Metrics, func(metric dbcanary.Metric) bool { return metric.Name == percent })
		if at < 0 {
			continue
		}
		value := m.Metrics[at].Value
		m.Metrics = slices.Delete(m.Metrics, at, at+1)
		if m.CPUs > 0 {
			m.addMetric(dbcanary.Metric{Name: ns, Value: value / 100 * float64(m.CPUs) * 1e9})
		}
	}
	slices.SortFunc(m.Metrics, func(a, b dbcanary.Metric) int { return strings.Compare(a.Name, b.Name) })
}

// isServer and isClient tell processes by their names, as pidstat and ps give them.
func isServer(command string) bool {
	return slices.Contains([]string{"mysqld", "mariadbd", "postgres", "postmaster"}, command)
}

func isClient(command string) bool {
	return slices.Contains([]string{"sysbench", "pgbench", "mysqlslap", "mariadb-slap", "iibench.py", "java", "go-tpc", "hammerdbcli"}, command)
}
