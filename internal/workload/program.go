package workload

import (
	"context"
	"database/sql"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// Work is what one connection repeats: a Session, or what a Program makes. It
// belongs to one goroutine. One that is an io.Closer is closed after its last slice.
type Work interface {
	// Run does one event; see load.Event.
	Run() (statements int, err error)
	// Reseed starts the sequence of random choices that belongs to seed: the same
	// on every target and family. It is called before each slice.
	Reseed(seed uint64)
}

// Finisher is a Work that knows more of a slice than its time.
type Finisher interface {
	// Finish is called once for each worker after each slice, outside of the
	// measured time: it checks what the slice left and may add metrics to the trial.
	// Its error makes the slice void.
	Finish(ctx context.Context, trial *dbcanary.Trial) error
}

// Program makes the work of one worker of a benchmark whose events are more than
// a fixed list of statements: it opens connections, changes the schema, does
// something else on each worker, or something else in each event. An error with
// dbcanary.CodeUsage says that the server can't do it, with the reason.
type Program func(ctx context.Context, env Env) (Work, error)

// Env is what a Program may use. ctx of the Program ends with the benchmark.
type Env struct {
	Family  dbcanary.Family
	Data    Data
	PSMode  string // "prepared" or "text"
	State   *State
	Worker  int                                      // from 0
	Workers int                                      // of the whole benchmark, those in the background too
	Conn    wire.Conn                                // of this worker; its abort ends Run
	Address wire.Address                             // where the server listens, with the account of the run
	Admin   *sql.DB                                  // for what is not measured
	Connect func(context.Context) (wire.Conn, error) // further connections; the program closes them
	// Replicate starts two more servers of the target's build with its settings, one
	// the replica of the other, on copies of the loaded data; the program stops them.
	// It is nil where that can't be: see NoServers.
	Replicate func(context.Context) (*dbms.Replication, error)
}

// Dataset is the tables that a benchmark runs on, and how they come to be.
// A run loads each dataset that its benchmarks name once for each target.
type Dataset interface {
	Name() string // unique: "sbtest", "slap"
	// Load creates the tables anew and fills them; what they then hold depends on
	// Loading.Data and nothing else, and is the same on every family.
	Load(ctx context.Context, loading Loading) error
	// Warm reads the tables so that a server that has just started answers from memory.
	Warm(ctx context.Context, admin *sql.DB, family dbcanary.Family, data Data) error
	// SizeBytes is about what the tables take on disk.
	SizeBytes(data Data) int64
}

// Loading is what a Dataset needs to fill its tables.
type Loading struct {
	Connect  func(context.Context) (wire.Conn, error)
	Family   dbcanary.Family
	Data     Data
	Parallel int                             // most connections
	Progress func(doneRows, totalRows int64) // nil, or never called twice at a time
}
