package lab

import (
	"time"

	"github.com/dbcanary/dbcanary"
)

// EventKind says what an Event tells.
type EventKind string

// The kinds, with the fields that are set beside Kind, Time and LeftNs.
const (
	EventRun         EventKind = "run"         // Run: the run begins, its plan is final
	EventPrepare     EventKind = "prepare"     // Target, Phase; Done and Total rows in phase "load"; phase "settle" also between benchmarks, after writes
	EventInstance    EventKind = "instance"    // Instance: servers of a new instance start, in the classic mode that of Target alone; Clear: what it measures no further
	EventSlice       EventKind = "slice"       // Target, Benchmark, Instance, Block: a slice begins
	EventProfile     EventKind = "profile"     // Target, Benchmark, Instance, Phase: a profiling slice begins, which shows "waits", "perf" or "stacks"
	EventTrial       EventKind = "trial"       // Trial: a slice is stored
	EventComparisons EventKind = "comparisons" // Comparisons: verdicts over all trials so far
	EventProblem     EventKind = "problem"     // Problem, Target if it concerns one: something is void or dropped
	EventEnd         EventKind = "end"         // Run: the run ended, in its final state
)

// Event is what a run tells its watchers while it goes on.
type Event struct {
	Kind        EventKind             `json:"event"`
	Time        time.Time             `json:"time"`
	LeftNs      int64                 `json:"left_ns,omitempty"` // expected time left
	Run         *dbcanary.Run         `json:"run,omitempty"`
	Target      string                `json:"target,omitempty"`
	Benchmark   string                `json:"benchmark,omitempty"`
	Phase       string                `json:"phase,omitempty"`
	Done        int64                 `json:"done,omitempty"`
	Total       int64                 `json:"total,omitempty"`
	Instance    int                   `json:"instance"`
	Block       int                   `json:"block"`
	Clear       []string              `json:"clear,omitempty"`
	Trial       *dbcanary.Trial       `json:"trial,omitempty"`
	Problem     string                `json:"problem,omitempty"`
	Comparisons []dbcanary.Comparison `json:"-"` // the report has the documented form
}
