package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/load"
	"github.com/dbcanary/dbcanary/internal/plan"
	"github.com/dbcanary/dbcanary/internal/probe"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// instance is one start of a target's server on its own copy of the loaded data.
type instance struct {
	*subject
	number  int
	server  dbms.Server
	dir     string
	data    workload.State // what benchmarks have done to this copy of the data
	err     error          // why it could not start
	settled time.Duration  // that paid the debt of writes since its last trial

	counting *counting // of the server's own counters; nil before the first benchmark
}

// runInstance starts one instance of every target, measures all benchmarks, and
// stops them. An error is returned only for what ends the run.
func (s *state) runInstance(ctx context.Context, number int) error {
	s.emit(Event{Kind: EventInstance, Instance: number, Clear: s.skipped})
	instances := s.startInstances(ctx, number)
	defer s.stopInstances(ctx, instances)
	if err := s.dropFailed(ctx, instances); err != nil {
		return err
	}
	return s.runSteps(ctx, number, instances)
}

// startInstances starts all live targets at the same time.
func (s *state) startInstances(ctx context.Context, number int) []*instance {
	var instances []*instance
	var group sync.WaitGroup
	for _, subject := range s.live() {
		started := &instance{subject: subject, number: number}
		instances = append(instances, started)
		group.Go(func() { started.err = s.startInstance(ctx, started, number) })
	}
	group.Wait()
	return instances
}

func (s *state) startInstance(ctx context.Context, i *instance, number int) error {
	if i.attached != nil {
		i.server = i.attached
		return nil
	}
	var err error
	i.dir, err = s.claim(fmt.Sprintf("%d-%d", i.index, number))
	if err != nil {
		return err
	}
	if err := dbms.Copy(ctx, i.golden, i.dir); err != nil {
		return err
	}
	i.server, err = i.Driver.Start(ctx, dbms.StartOptions{
		Build: i.target.Build, Settings: i.settings, Dir: i.dir, CPUs: s.serverCPUs,
	})
	if err != nil {
		return fmt.Errorf("start instance %d: %w", number, err)
	}
	return nil
}

// warm has all instances read their tables, at the same time. One that can't is
// dropped; an error is returned only for what ends the run.
func (s *state) warm(ctx context.Context, instances []*instance, number int) error {
	var group sync.WaitGroup
	for _, i := range instances {
		if i.attached != nil || i.target.Dropped != "" {
			continue
		}
		group.Go(func() {
			for _, dataset := range s.datasetsOf(i.subject) {
				if err := dataset.Warm(ctx, i.server.Admin(), i.Driver.Family(), s.data); err != nil {
					i.err = withLog(fmt.Errorf("warm the caches of instance %d: %w", number, err), i.server)
					return
				}
			}
		})
	}
	group.Wait()
	return s.dropFailed(ctx, instances)
}

// dropFailed drops the targets whose instance failed.
func (s *state) dropFailed(ctx context.Context, instances []*instance) error {
	if err := s.stopped(ctx); err != nil {
		return err
	}
	for _, instance := range instances {
		if instance.err == nil || instance.target.Dropped != "" {
			continue
		}
		if err := s.drop(ctx, instance.subject, instance.err); err != nil {
			return err
		}
	}
	return s.enough()
}

// stopInstances stops the servers that are ours and removes their copies. A
// server that did not stop cleanly was killed; its data was a copy.
func (s *state) stopInstances(ctx context.Context, instances []*instance) {
	var group sync.WaitGroup
	for _, i := range instances {
		if i.dir == "" {
			continue
		}
		group.Go(func() {
			var err error
			if i.server != nil {
				err = s.stopServer(ctx, i.server)
			}
			err = errors.Join(err, dbms.Remove(i.dir))
			if err != nil {
				s.emit(Event{Kind: EventProblem, Target: i.target.Name, Problem: err.Error()})
			}
		})
	}
	group.Wait()
}

// runBenchmark measures the blocks of one benchmark on all instances that are up.
func (s *state) runBenchmark(ctx context.Context, number int, instances []*instance, next step) error {
	benchmark := next.benchmark
	var cells []*cell
	defer func() {
		for _, c := range cells {
			c.close()
		}
	}()
	for _, i := range instances {
		if i.target.Dropped != "" || s.notApplicable(benchmark, i.subject) != "" {
			continue
		}
		if err := s.stopped(ctx); err != nil {
			return err
		}
		c, err := s.newCell(ctx, i, benchmark)
		if err != nil {
			if err := s.failed(ctx, i, benchmark, number, 0, err); err != nil {
				return err
			}
			continue
		}
		c.sampler, c.length = s.newSampler(c, instances), next.length
		cells = append(cells, c)
	}
	blocks := s.run.Plan.Blocks
	if s.isAttached() && !s.deadline.IsZero() {
		blocks = s.blocksUntilDeadline(len(cells))
	}
	if benchmark.Single || s.run.Plan.Classic() {
		_, err := s.runBlock(ctx, number, 0, benchmark, cells)
		return err
	}
	s.boundWrites(ctx, cells, benchmark, number)
	// A block that other work disturbed is measured again, up to as many times as
	// there are blocks: what disturbs may not end.
	for block, good := 0, 0; good < blocks && block < 2*blocks; block++ {
		disturbed, err := s.runBlock(ctx, number, block, benchmark, cells)
		if err != nil {
			return err
		}
		if !disturbed {
			good++
		}
	}
	return nil
}

// runBlock measures one slice of each target in random order.
func (s *state) runBlock(ctx context.Context, number, block int, benchmark workload.Benchmark, cells []*cell) (disturbed bool, err error) {
	order := plan.Order(s.run.Plan.Seed, benchmark.Label, number, block, len(cells))
	for position, index := range order {
		if err := s.stopped(ctx); err != nil {
			return disturbed, err
		}
		if cells[index].ended {
			continue
		}
		d, err := s.runSlice(ctx, cells[index], number, block, position)
		if err != nil {
			return disturbed, err
		}
		disturbed = disturbed || d
	}
	return disturbed, nil
}

// blocksUntilDeadline spreads the time that is left over the benchmarks that are
// not measured yet, when there is only one instance.
func (s *state) blocksUntilDeadline(targets int) int {
	measured := map[string]bool{}
	for i := range s.trials {
		measured[s.trials[i].Benchmark] = true
	}
	p := s.run.Plan
	share := int64(s.deadline.Sub(s.Now())) / int64(max(1, len(s.benchmarks)-len(measured)))
	perBlock := int64(max(1, targets)) * (p.SliceNs + p.WarmupNs)
	return int(max(int64(p.Blocks), share/perBlock))
}

// cell is one benchmark on one instance: its connections with their prepared statements.
type cell struct {
	*instance
	benchmark workload.Benchmark
	workers   []load.Worker
	works     []workload.Work // of the workers
	sampler   probe.Sampler
	counting  *counting          // of the measured server
	cancel    context.CancelFunc // ends what programs began
	length    time.Duration      // of its slice in the classic mode, which has one
	ended     bool               // no further slice is possible: rows exhausted, connection lost
}

// newCell opens the connections for a benchmark and prepares its statements.
// Each benchmark has connections of its own, as with sysbench, so that prepared
// statements don't pile up in the server.
func (s *state) newCell(ctx context.Context, i *instance, benchmark workload.Benchmark) (*cell, error) {
	c := &cell{instance: i, benchmark: benchmark}
	ctx, c.cancel = context.WithCancel(ctx)
	env := workload.Env{
		Family: i.Driver.Family(), Data: s.data, PSMode: s.run.Plan.PSMode, State: &i.data,
		Workers: benchmark.Workers(s.run.Plan.Threads), Admin: i.server.Admin(), Connect: i.server.Connect, Address: i.server.Address(),
		Replicate: s.replicator(i),
	}
	for env.Worker = range env.Workers {
		var err error
		if env.Conn, err = i.server.Connect(ctx); err != nil {
			c.close()
			return nil, fmt.Errorf("connect: %w", err)
		}
		c.workers = append(c.workers, load.Worker{
			Conn: env.Conn, Multiplex: benchmark.Multiplexes(), Background: env.Worker >= env.Workers-benchmark.Background,
		})
		work, err := benchmark.Open(ctx, env)
		if err != nil {
			c.close()
			return nil, fmt.Errorf("prepare the statements: %w", err)
		}
		c.workers[env.Worker].Event = work
		c.works = append(c.works, work)
	}
	if i.counting == nil {
		i.counting = newCounting(i.server)
	}
	c.counting = i.counting
	if server := c.measured(); server != i.server {
		c.counting = newCounting(server)
	}
	c.counting.calibrate(ctx, c.workers)
	return c, nil
}

// newSampler accounts for the server that is measured and tells it from the idle ones.
func (s *state) newSampler(measured *cell, instances []*instance) probe.Sampler {
	pid := measured.measured().PID()
	sampler := probe.Sampler{Server: pid, Apart: pid == 0, Every: lookEvery}
	if measured.DSN == "" {
		sampler.Disks = s.disks
	}
	for _, other := range instances {
		if other.server != nil && other.server.PID() > 0 && other.server.PID() != pid {
			sampler.Idle = append(sampler.Idle, other.server.PID())
		}
	}
	return sampler
}

func (c *cell) close() {
	c.cancel()
	for _, work := range c.works {
		if closer, ok := work.(io.Closer); ok {
			_ = closer.Close()
		}
	}
	for _, worker := range c.workers {
		// What a closing connection says can't change what was measured.
		_ = worker.Conn.Close()
	}
	c.workers = nil
}

// failed records a void slice for a benchmark that could not run, and drops the
// target if its server is gone.
func (s *state) failed(ctx context.Context, i *instance, benchmark workload.Benchmark, number, block int, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	cause = withLog(cause, i.server)
	trial := &dbcanary.Trial{
		Benchmark: benchmark.Label, Target: i.target.Name, Instance: number, Block: block,
		Started: s.Now(), Void: cause.Error(), ServerCPUNs: -1, ClientCPUNs: -1, ServerContextSwitches: -1,
	}
	if err := s.record(ctx, trial); err != nil {
		return err
	}
	select {
	case <-i.server.Done():
		return s.drop(ctx, i.subject, fmt.Errorf("%s: %w", benchmark.Label, cause))
	default:
		return nil
	}
}

// record stores a trial and tells the watchers.
func (s *state) record(ctx context.Context, trial *dbcanary.Trial) error {
	// A slice that was measured is stored also when the user is impatient.
	if err := s.Store.AddTrial(context.WithoutCancel(ctx), s.run.ID, trial); err != nil {
		return err
	}
	kept := *trial
	kept.Metrics = nil
	s.trials = append(s.trials, kept)
	s.emit(Event{Kind: EventTrial, Target: trial.Target, Benchmark: trial.Benchmark, Instance: trial.Instance, Block: trial.Block, Trial: trial})
	if trial.Void != "" {
		s.emit(Event{Kind: EventProblem, Target: trial.Target, Benchmark: trial.Benchmark, Instance: trial.Instance, Block: trial.Block, Problem: "slice void: " + trial.Void})
	}
	return nil
}
