package dbcanary

import "time"

// Placement says on which CPUs server and client run; equal for all targets of a run.
type Placement string

// The placements.
const (
	PlacementFree  Placement = "free"  // the scheduler decides, as in the published reports
	PlacementSplit Placement = "split" // server and client on different CPUs
	PlacementSame  Placement = "same"  // server and client share the same CPUs
)

// Mode says how the targets of a run meet.
type Mode string

// The modes.
const (
	ModePaired  Mode = ""        // all at once, in blocks of random order, over many starts
	ModeClassic Mode = "classic" // one after the other, each benchmark once, as in the published reports
)

// PublishedSlice is how long a benchmark that reads is measured in the published
// reports; others have multiples of it.
const PublishedSlice = 300 * time.Second

// Plan is what a run does. It is stored with the run and, with Seed, decides
// the order of everything, so that an interrupted run can go on.
type Plan struct {
	Targets    []string           `json:"targets"`    // names, the base first
	Suite      string             `json:"suite"`      // name of the suite, "" for a list of benchmarks
	Benchmarks []PlannedBenchmark `json:"benchmarks"` // in the order of the suite

	Mode Mode `json:"mode,omitempty"`
	// Steps are what an instance does in its order, where that is more than Benchmarks.
	Steps []PlannedStep `json:"steps,omitempty"`

	// Bases are the targets that reports compare with, if there are several; the first
	// one is Targets[0].
	Bases []string `json:"bases,omitempty"`

	NotApplicable []NotApplicable `json:"not_applicable,omitempty"`
	// Workloads are those of the user, with their text: Benchmarks may name theirs.
	Workloads []OwnWorkload `json:"workloads,omitempty"`

	Tables    int    `json:"tables"`
	TableSize int    `json:"table_size"` // rows of each table
	Threads   int    `json:"threads"`    // connections of each target
	PSMode    string `json:"ps_mode"`    // "prepared" or "text"

	BudgetNs  int64     `json:"budget_ns"`  // time for the whole run, load included; 0 = until Instances are done
	SliceNs   int64     `json:"slice_ns"`   // measured time of a slice; in the classic mode of one that reads
	WarmupNs  int64     `json:"warmup_ns"`  // time before each slice that is not measured
	Blocks    int       `json:"blocks"`     // blocks of each benchmark in an instance
	Instances int       `json:"instances"`  // most instances of each target
	MinEffect float64   `json:"min_effect"` // smallest change that matters: 0.02 is 2 %
	Placement Placement `json:"placement"`
	Seed      uint64    `json:"seed"`

	// Looks are the numbers of instances after which benchmarks whose verdict is clear
	// are measured no further. They have a share of the error, so they are fixed
	// before the run; none for a run that is judged once.
	Looks []int `json:"looks,omitempty"`

	Profile []string `json:"profile,omitempty"` // what profiling slices show, of ProfileKinds; none without
	Waits   string   `json:"waits,omitempty"`   // wait events that are looked at, see docs/PROFILING.md; "" for the usual ones
}

// NotApplicable is a benchmark that makes no sense on a target: no part of the
// run, and no failure of it.
type NotApplicable struct {
	Benchmark string `json:"benchmark"`
	Target    string `json:"target"`
	Reason    string `json:"reason"`
}

// PlannedBenchmark names a benchmark of the catalogue and the group that it is summed up in.
type PlannedBenchmark struct {
	Label string `json:"label"` // "read-only range=100"; unique within a plan
	Group string `json:"group"` // "point", "range-1", "range-2", "writes"
	// Resolution is the step in which the rate of an imported benchmark moves, as a
	// fraction of it: 0.01 of a table with two decimals. No verdict is finer.
	Resolution float64 `json:"resolution,omitempty"`
	MinEffect  float64 `json:"min_effect,omitempty"` // smallest change that matters, as a fraction; 0 is the plan's
}

// PlannedStep is a benchmark of an instance, or maintenance.
type PlannedStep struct {
	// Label is that of a benchmark, one that is not reported if Benchmarks don't name it;
	// "" has the debt of writes paid.
	Label string `json:"label,omitempty"`
	// Slices is how long it is measured in the classic mode, in SliceNs; 0 for as long
	// as its work takes.
	Slices float64 `json:"slices,omitempty"`
}

// Classic tells whether the targets are measured one after the other.
func (p *Plan) Classic() bool { return p.Mode == ModeClassic }

// Reports tells whether a benchmark is one that reports show, and no warm-up.
func (p *Plan) Reports(label string) bool {
	for _, b := range p.Benchmarks {
		if b.Label == label {
			return true
		}
	}
	return false
}

// Host is the fingerprint of the machine that a run was measured on.
type Host struct {
	Name        string   `json:"name"`
	CPU         string   `json:"cpu"`
	CPUs        int      `json:"cpus"`
	SMT         bool     `json:"smt"`
	Governor    string   `json:"governor,omitempty"`
	MemoryBytes int64    `json:"memory_bytes"`
	Kernel      string   `json:"kernel"`
	OS          string   `json:"os"`
	Virtual     string   `json:"virtual,omitempty"` // hypervisor or container, "" on bare metal or if unknown
	Filesystem  string   `json:"filesystem"`        // type behind the data directories
	Device      string   `json:"device,omitempty"`  // block device behind the data directories
	Notes       []string `json:"notes,omitempty"`   // what could not be read, with the reason

	Microcode    string `json:"microcode,omitempty"`     // revision, "" where the CPU tells none
	Sockets      int    `json:"sockets,omitempty"`       // 0 if unknown
	NUMANodes    int    `json:"numa_nodes,omitempty"`    // 0 if unknown
	Turbo        string `json:"turbo,omitempty"`         // "on" or "off", "" where the kernel does not control it
	HugePages    string `json:"huge_pages,omitempty"`    // transparent ones: "always", "madvise", "never"
	ClockSource  string `json:"clock_source,omitempty"`  // of the kernel: "tsc"
	SwapBytes    int64  `json:"swap_bytes,omitempty"`    // 0 without swap
	MountOptions string `json:"mount_options,omitempty"` // of the file system, sorted, separated by commas
	Disks        []Disk `json:"disks,omitempty"`         // that Device lies on
}

// Disk is a whole disk, or what a hypervisor shows as one.
type Disk struct {
	Name       string `json:"name"`            // of the kernel: "nvme0n1"
	Model      string `json:"model,omitempty"` // "" if it tells none
	SizeBytes  int64  `json:"size_bytes"`
	Rotational bool   `json:"rotational"` // as the kernel takes it: virtual disks often pass for rotational
	Scheduler  string `json:"scheduler,omitempty"`
}

// RunState says how far a run got.
type RunState string

// Applies tells whether a benchmark of the plan is measured on a target.
func (p *Plan) Applies(benchmark, target string) bool {
	for _, n := range p.NotApplicable {
		if n.Benchmark == benchmark && n.Target == target {
			return false
		}
	}
	return true
}

// The states of a run. A running run whose process is gone was killed.
const (
	RunRunning     RunState = "running"
	RunDone        RunState = "done"
	RunInterrupted RunState = "interrupted"
	RunFailed      RunState = "failed"
)

// Run is one execution of a plan on a host.
type Run struct {
	ID       int64     `json:"id"`  // within its store
	UID      string    `json:"uid"` // unique everywhere
	State    RunState  `json:"state"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended,omitzero"`
	Program  string    `json:"program"` // version of dbcanary
	Plan     Plan      `json:"plan"`
	Host     Host      `json:"host"`
	Targets  []Target  `json:"targets"` // in the order of Plan.Targets
	Problems []string  `json:"problems,omitempty"`

	Missing []MissingProbe `json:"missing,omitempty"`
}

// Trial is what is recorded of one slice: one benchmark on one target.
// A trial with a Void reason is kept and never counts.
type Trial struct {
	Benchmark string    `json:"benchmark"` // label
	Target    string    `json:"target"`    // name
	Instance  int       `json:"instance"`  // start of the server, from 0; equal for the targets of a block
	Block     int       `json:"block"`     // from 0 within instance and benchmark
	Position  int       `json:"position"`  // place in the random order of the block, from 0
	Started   time.Time `json:"started"`

	ElapsedNs  int64 `json:"elapsed_ns"`
	OverrunNs  int64 `json:"overrun_ns"` // how far the last statement ran past the end of the slice
	Operations int64 `json:"operations"` // statements, as sysbench counts "queries"
	Events     int64 `json:"events"`     // transactions or iterations of the benchmark
	Retries    int64 `json:"retries"`    // events repeated after a deadlock or serialization failure

	Errors    map[string]int64 `json:"errors,omitempty"` // by the server's error code
	LatencyNs Latency          `json:"latency_ns"`       // of events
	Histogram []byte           `json:"-"`                // HDR histogram of event latency in ns, V2 compressed
	PerSecond []int64          `json:"per_second,omitempty"`

	ServerCPUNs           int64 `json:"server_cpu_ns"`           // of the server's whole process tree; -1 if unknown
	ClientCPUNs           int64 `json:"client_cpu_ns"`           // of this program; -1 if unknown
	ForeignCPUNs          int64 `json:"foreign_cpu_ns"`          // of all else on the host, the other targets' servers included; -1 if unknown
	StealNs               int64 `json:"steal_ns"`                // that a hypervisor took from the host; -1 if unknown
	ServerContextSwitches int64 `json:"server_context_switches"` // -1 if unknown

	Metrics []Metric `json:"metrics,omitempty"` // what else was probed, by name (docs/METRICS.md); what is absent is unknown, or a counter of the DBMS that did not move

	Void string `json:"void,omitempty"` // why the slice does not count
}

// Latency is a summary of a latency distribution in nanoseconds.
type Latency struct {
	Min  int64   `json:"min"`
	Mean float64 `json:"mean"`
	P50  int64   `json:"p50"`
	P95  int64   `json:"p95"`
	P99  int64   `json:"p99"`
	Max  int64   `json:"max"`
}

// QPS is the rate of statements per second, 0 for a slice without time.
func (t *Trial) QPS() float64 {
	if t.ElapsedNs <= 0 {
		return 0
	}
	return float64(t.Operations) / (float64(t.ElapsedNs) / 1e9)
}
