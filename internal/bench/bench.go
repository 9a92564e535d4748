// Package bench puts load on a server that somebody else runs: one benchmark, at
// one number of connections or a sweep of them, on tables like sysbench's that it
// makes and removes on demand. It also knows sysbench's names and options, so
// that a script written for sysbench runs. It compares nothing: that is compare's.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/load"
	"github.com/dbcanary/dbcanary/internal/plan"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// Options says what to run and how fast.
type Options struct {
	Benchmark workload.Benchmark
	Data      workload.Data
	PSMode    string // workload.Prepared or workload.Text
	Threads   []int  // numbers of connections, one step for each

	Reconnect int // events after which a worker logs in anew; 0 for never

	Warmup time.Duration
	Time   time.Duration // 0 if Events decides
	Events int64         // of each step; 0 for no limit

	Rate    float64 // open loop: events per second; 0 for a closed loop
	Poisson bool
	Seed    uint64

	IntervalEvery time.Duration       // 0 for no intervals
	Interval      func(load.Progress) // called for each; may be nil
}

// Check gives an error with dbcanary.CodeUsage for options that can't be run.
func (o Options) Check() error {
	problem := ""
	switch {
	case len(o.Threads) == 0:
		problem = "--threads names no number of connections"
	case o.Time < 0 || o.Warmup < 0 || o.IntervalEvery < 0:
		problem = "--time, --warmup and --report-interval can't be below 0"
	case o.Reconnect < 0:
		problem = "--reconnect can't be below 0"
	case o.Reconnect > 0 && o.Benchmark.Program != nil:
		problem = "--reconnect makes no sense for " + o.Benchmark.Label + ", which decides itself when to log in"
	case o.Benchmark.Single && o.Benchmark.Program != nil:
		problem = o.Benchmark.Label + " is a step of a suite that runs once, in its order: use dbcanary compare --suite"
	case o.Events < 0:
		problem = "--events can't be below 0"
	case o.Time == 0 && o.Events == 0:
		problem = "--time 0 without --events would never end"
	case o.Rate < 0:
		problem = "--rate can't be below 0"
	}
	for _, threads := range o.Threads {
		if threads < 1 || threads > maxThreads {
			problem = fmt.Sprintf("--threads %d is not from 1 to %d", threads, maxThreads)
		}
	}
	if problem != "" {
		return dbcanary.Errorf(dbcanary.CodeUsage, "%s", problem)
	}
	return o.Data.Check()
}

const maxThreads = 100_000

// Result is what a run gave.
type Result struct {
	Options
	Name    string // of the benchmark as the user called it
	Program string
	Server  Identity
	Started time.Time
	Steps   []Step
}

// Identity says which server was measured.
type Identity struct {
	Family  dbcanary.Family
	Version string
	Address string // "user@host:port/database"
}

// Step is what one number of connections gave.
type Step struct {
	Threads   int
	Recording *load.Recording // never nil
	Intervals []load.Progress
	Err       error // why the step is no full measurement; nil if it is one
}

// Run does a step for each number of connections and tells done of it as it ends.
// It stops at the first step that is no full measurement and gives its error; the
// step is in the list too, if it began.
func (s *Server) Run(ctx context.Context, options Options, done func(Step)) ([]Step, error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	// Others may have run their benchmarks on the tables; rows that they deleted
	// are missed, so that no empty answer passes for a fast one.
	state := workload.ChangedState()
	if options.Benchmark.Threads > 0 {
		options.Threads = []int{options.Benchmark.Threads}
	}
	var steps []Step
	for index, threads := range options.Threads {
		step, err := s.step(ctx, options, state, index, threads)
		if step != nil {
			steps = append(steps, *step)
			done(*step)
		}
		if err != nil {
			return steps, err
		}
	}
	return steps, nil
}

// step runs one number of connections; the step is nil if it never began.
func (s *Server) step(ctx context.Context, options Options, state *workload.State, index, threads int) (*Step, error) {
	workers, err := s.workers(ctx, options, state, index, threads)
	defer func() {
		for _, worker := range workers {
			if closer, ok := worker.Event.(io.Closer); ok {
				_ = closer.Close()
			}
			// What a closing connection says can't change what was measured.
			_ = worker.Conn.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	step := Step{Threads: threads}
	settings := load.Options{
		Warmup: options.Warmup, Time: options.Time, Events: options.Events,
		Rate: options.Rate, Poisson: options.Poisson, Seed: options.Seed,
	}
	if b := options.Benchmark; b.Single {
		settings = b.SingleOptions()
	}
	if options.IntervalEvery > 0 {
		settings.IntervalEvery = options.IntervalEvery
		settings.Interval = func(progress load.Progress) {
			step.Intervals = append(step.Intervals, progress)
			if options.Interval != nil {
				options.Interval(progress)
			}
		}
	}
	step.Recording, step.Err = load.Run(ctx, workers, settings)
	if step.Recording == nil {
		return nil, step.Err
	}
	if step.Err == nil {
		step.Err = finish(ctx, workers)
	}
	if step.Err == nil {
		if reason := step.Recording.Void(); reason != "" {
			step.Err = errors.New(reason)
		}
	}
	if step.Err != nil {
		step.Err = explain(step.Err, s.address.String())
	}
	return &step, step.Err
}

// finish lets what was run check what it left.
func finish(ctx context.Context, workers []load.Worker) error {
	for _, worker := range workers {
		if finisher, ok := worker.Event.(workload.Finisher); ok {
			if err := finisher.Finish(ctx, new(dbcanary.Trial)); err != nil {
				return err
			}
		}
	}
	return nil
}

// workers opens the connections of a step and prepares its statements.
func (s *Server) workers(ctx context.Context, options Options, state *workload.State, index, threads int) ([]load.Worker, error) {
	var workers []load.Worker
	background := options.Benchmark.Background
	threads += background
	for number := range threads {
		logins := 0
		open := func() (session, error) {
			logins++
			return s.session(ctx, options, state, place{index, number, threads, logins})
		}
		first, err := open()
		if err != nil {
			return workers, err
		}
		worker := load.Worker{Conn: first.Conn, Event: first.work, Multiplex: options.Benchmark.Multiplexes(), Background: number >= threads-background}
		if options.Reconnect > 0 {
			again := &reconnecting{every: options.Reconnect, open: open, current: first}
			worker = load.Worker{Conn: again, Event: again}
		}
		workers = append(workers, worker)
	}
	return workers, nil
}

// place is where in a run a session is: the step, the worker, how many there are,
// and the how manieth connection of the worker it has.
type place struct{ step, worker, workers, login int }

func (s *Server) session(ctx context.Context, options Options, state *workload.State, at place) (session, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return session{}, fmt.Errorf("connection %d of %d: %w", at.worker+1, at.workers, err)
	}
	work, err := options.Benchmark.Open(ctx, workload.Env{
		Family: s.Family, Data: options.Data, PSMode: options.PSMode, State: state,
		Worker: at.worker, Workers: at.workers, Conn: conn, Admin: s.server.Admin(), Connect: s.connect, Address: s.address,
	})
	if err != nil {
		return session{}, errors.Join(explain(err, s.address.String()), conn.Close())
	}
	work.Reseed(plan.KeySeed(options.Seed, options.Benchmark.Label, at.step, at.login-1, at.worker))
	return session{conn, work}, nil
}

// explain adds to the failure of a step which server it was and what to do.
func explain(err error, where string) error {
	code := dbcanary.ErrorCode(err)
	failure := &dbcanary.Error{Code: code, Op: "bench " + where, Err: err}
	var refused *wire.ServerError
	switch {
	case code == dbcanary.CodeInterrupted:
		return err
	case errors.As(err, &refused) && (refused.Code == "1146" || refused.Code == "42P01"):
		failure.Hint = "make them with: dbcanary bench BENCHMARK prepare, with the same --tables"
	case workload.IsWrongAnswer(err):
		failure.Hint = "are there fewer rows than --table-size, or have rows been deleted? cleanup and prepare make the tables anew"
	}
	return failure
}
