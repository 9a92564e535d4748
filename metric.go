package dbcanary

import "time"

// Metric is what a probe saw of one slice. Names say where a number comes from:
// "host." the whole machine, "server." and "client." the process trees, "disk."
// the devices behind the data directory, "dbms." the server's own counters under
// their own names ("dbms.Innodb_buffer_pool_reads"); units are last
// ("server.read_bytes").
type Metric struct {
	Name  string  `json:"name"`
	Gauge bool    `json:"gauge,omitempty"` // a level, not a count
	Value float64 `json:"value"`           // of a count its growth, to be divided by the trial's Operations or ElapsedNs; of a gauge its last level
	First float64 `json:"first,omitempty"` // of a gauge
	Max   float64 `json:"max,omitempty"`   // of a gauge
	// PerSecond is the growth, or the level, of each second of the slice; nil if it
	// is not told. The last one may be a part of a second.
	PerSecond []float64 `json:"per_second,omitempty"`
}

// MissingProbe says what could not be probed, so that nothing is taken for zero
// that was never counted.
type MissingProbe struct {
	Target string `json:"target,omitempty"` // "" for the host
	Probe  string `json:"probe"`            // "disks", "waits", "stacks"
	Reason string `json:"reason"`           // with what to do about it
}

// The kinds of profiles.
const (
	ProfileWaits  = "waits"  // what the server's threads wait for
	ProfilePerf   = "perf"   // stacks of the threads that run
	ProfileStacks = "stacks" // stacks of all threads, by pausing the server
)

// ProfileKinds lists what profiling slices can show, one at a time.
func ProfileKinds() []string { return []string{ProfileWaits, ProfilePerf, ProfileStacks} }

// Profile is what one profiling slice showed: one benchmark on one target, apart
// from the measured slices and never part of a ratio.
type Profile struct {
	Benchmark string    `json:"benchmark"`
	Target    string    `json:"target"`
	Instance  int       `json:"instance"`
	Started   time.Time `json:"started"`

	ElapsedNs  int64 `json:"elapsed_ns"`
	Operations int64 `json:"operations"` // statements

	Waits  []Wait   `json:"waits,omitempty"` // the most time first
	Stacks []Stacks `json:"stacks,omitempty"`
	Void   string   `json:"void,omitempty"` // why it shows nothing
}

// Wait is what threads of a server waited for.
type Wait struct {
	Event   string `json:"event"` // "wait/synch/mutex/innodb/trx_sys_mutex", "LWLock:WALWrite"
	Count   int64  `json:"count"` // waits; for a sampled event the samples that saw it
	TotalNs int64  `json:"total_ns"`
	Sampled bool   `json:"sampled,omitempty"` // estimated from samples, not timed
}

// Stacks are sampled stacks of a server.
type Stacks struct {
	Sampler string `json:"sampler"` // "perf cycles", "perf cpu-clock", "gdb"
	Pprof   []byte `json:"-"`       // a gzipped profile.proto
}
