package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/plan"
	"github.com/dbcanary/dbcanary/internal/probe"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// dataBytes is what one copy of the loaded data takes on disk, with so many rows in
// each table.
func (s *state) dataBytes(tableSize int) int64 {
	data := s.data
	data.TableSize = tableSize
	var size int64
	for _, dataset := range s.datasets {
		size += dataset.SizeBytes(data)
	}
	return size
}

// datasetsOf lists the datasets that the benchmarks run on that apply to a target.
func (s *state) datasetsOf(subject *subject) []workload.Dataset {
	applicable := slices.DeleteFunc(slices.Clone(s.benchmarks), func(b workload.Benchmark) bool {
		return s.notApplicable(b, subject) != ""
	})
	datasets, err := workload.DatasetsOf(applicable)
	if err != nil {
		panic(err) // begin has found every name
	}
	return datasets
}

// memoryBytes is what each server may use.
func (s *state) memoryBytes() (int64, error) {
	available, err := probe.MemoryAvailableBytes()
	if err != nil {
		return 0, err
	}
	return plan.Needs(s.run.Plan, plan.Room{MemoryBytes: available}, s.dataBytes).ServerBytes, nil
}

// checkResources refuses a run that would not fit, before anything is started.
func (s *state) checkResources() error {
	room, err := HostRoom(s.WorkDir)
	if err != nil {
		return err
	}
	return plan.CheckRoom(s.run.Plan, room, s.dataBytes)
}

// HostRoom tells what this host has to give to servers whose data directories lie
// below a folder, or will.
func HostRoom(workDir string) (plan.Room, error) {
	memory, err := probe.MemoryAvailableBytes()
	if err != nil {
		return plan.Room{}, err
	}
	there, err := filepath.Abs(workDir)
	if err != nil {
		return plan.Room{}, err
	}
	for {
		if _, err := os.Stat(there); err == nil || there == filepath.Dir(there) {
			break
		}
		there = filepath.Dir(there)
	}
	free, err := probe.DiskFreeBytes(there)
	return plan.Room{MemoryBytes: memory, DiskBytes: free, Dir: workDir}, err
}

// prepare loads the data of a target. A target that fails is dropped; an error
// is returned only for what ends the run.
func (s *state) prepare(ctx context.Context, subject *subject) error {
	if err := s.stopped(ctx); err != nil {
		return err
	}
	return s.loaded(ctx, subject, s.load(ctx, subject))
}

// loaded drops a target that could not be loaded, or gives the error that ends the run.
func (s *state) loaded(ctx context.Context, subject *subject, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if dbcanary.ErrorCode(err) == dbcanary.CodeUsage && (len(s.trials) == 0 || !s.run.Plan.Classic()) {
		return err // nothing is measured yet, so what was mistyped is mended first
	}
	if err != nil {
		return s.drop(ctx, subject, err)
	}
	return nil
}

// load starts a target, has its data loaded, and stops it.
func (s *state) load(ctx context.Context, subject *subject) (err error) {
	server, err := s.open(ctx, subject)
	if err != nil {
		return s.unknownSetting(ctx, subject, err)
	}
	if subject.DSN == "" {
		defer func() {
			s.emit(Event{Kind: EventPrepare, Target: subject.target.Name, Phase: "stop"})
			if stopErr := s.stopServer(ctx, server); err == nil {
				err = stopErr
			}
		}()
	} else {
		subject.attached = server
	}
	return s.fill(ctx, subject, server)
}

// fill reads what a server is, and loads and settles its data.
func (s *state) fill(ctx context.Context, subject *subject, server dbms.Server) error {
	name := subject.target.Name
	subject.target.Build.Version = server.Version()
	if err := s.readMade(ctx, subject, server); err != nil {
		return err
	}
	var err error
	subject.target.Settings, err = server.Settings(ctx)
	if err != nil {
		return fmt.Errorf("read the settings back: %w", err)
	}
	progress := func(done, total int64) {
		s.emit(Event{Kind: EventPrepare, Target: name, Phase: "load", Done: done, Total: total})
	}
	connect := func(ctx context.Context) (wire.Conn, error) { return server.Connect(ctx) }
	for _, dataset := range s.datasetsOf(subject) {
		err := dataset.Load(ctx, workload.Loading{
			Connect: connect, Family: subject.Driver.Family(), Data: s.data, Parallel: loaders(subject), Progress: progress,
		})
		if err != nil {
			return withLog(fmt.Errorf("load the data of %s: %w", dataset.Name(), err), server)
		}
	}
	s.emit(Event{Kind: EventPrepare, Target: name, Phase: "settle"})
	err = workload.Settle(ctx, server.Admin(), subject.Driver.Family())
	if errors.Is(err, workload.ErrUnsettled) {
		s.emit(Event{Kind: EventProblem, Target: name, Problem: err.Error()})
	} else if err != nil {
		return withLog(fmt.Errorf("settle the loaded data: %w", err), server)
	}
	return nil
}

// open starts the server that loads the data, or attaches to the one that runs.
func (s *state) open(ctx context.Context, subject *subject) (dbms.Server, error) {
	s.emit(Event{Kind: EventPrepare, Target: subject.target.Name, Phase: "start"})
	if subject.DSN != "" {
		return subject.Driver.Attach(ctx, subject.DSN)
	}
	memory, err := s.memoryBytes()
	if err != nil {
		return nil, err
	}
	defaults := subject.Driver.Defaults(subject.target.Build.Version, memory)
	subject.settings = append(defaults, subject.Settings...)
	subject.golden, err = s.claim(fmt.Sprintf("%d-loaded", subject.index))
	if err != nil {
		return nil, err
	}
	return subject.Driver.Start(ctx, dbms.StartOptions{Build: subject.target.Build, Settings: subject.settings, Dir: subject.golden, CPUs: s.loadCPUs()})
}

// unknownSetting explains why a server did not start, if one of the target's
// settings is none that the server has: it asks a server without them.
func (s *state) unknownSetting(ctx context.Context, subject *subject, cause error) error {
	if len(subject.Settings) == 0 || subject.DSN != "" || ctx.Err() != nil {
		return cause
	}
	names, err := s.settingNames(ctx, subject)
	if err != nil {
		return cause // the settings are not to blame, or not alone
	}
	for _, setting := range subject.Settings {
		if !slices.Contains(names, setting.Name) {
			return dbcanary.Errorf(dbcanary.CodeUsage, "%s: unknown setting %s%s; %w",
				subject.target.Name, setting.Name, dbcanary.DidYouMean(setting.Name, names), cause)
		}
	}
	return cause
}

// settingNames asks a server that runs with the defaults only.
func (s *state) settingNames(ctx context.Context, subject *subject) (names []string, err error) {
	memory, err := s.memoryBytes()
	if err != nil {
		return nil, err
	}
	dir, err := s.claim(fmt.Sprintf("%d-plain", subject.index))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dbms.Remove(dir)) }()
	defaults := subject.Driver.Defaults(subject.target.Build.Version, memory)
	server, err := subject.Driver.Start(ctx, dbms.StartOptions{Build: subject.target.Build, Settings: defaults, Dir: dir})
	if err != nil {
		return nil, err
	}
	settings, err := server.Settings(ctx)
	for _, setting := range settings {
		names = append(names, setting.Name)
	}
	return names, errors.Join(err, s.stopServer(ctx, server))
}

// loaders is how many connections load at once: SQLite has one writer.
func loaders(subject *subject) int {
	if subject.Driver.Family() == dbcanary.SQLite {
		return 1
	}
	return 4
}

// stopServer stops a server also when ctx is cancelled.
func (s *state) stopServer(ctx context.Context, server dbms.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return server.Stop(ctx)
}

// withLog adds the last lines of the log of a server that died.
func withLog(err error, server dbms.Server) error {
	select {
	case <-server.Done():
	default:
		return err
	}
	return fmt.Errorf("%w: the server died; the end of its log: %s", err, strings.Join(server.LogTail(5), " | "))
}
