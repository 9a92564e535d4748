package dbms

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dbcanary/dbcanary"
)

// Replicator is a driver whose servers can follow one another: what the primary
// does arrives at its replica as a log, and is replayed there.
type Replicator interface {
	// PrimarySettings are what a server needs to have replicas; they go after all others.
	PrimarySettings(version string) []dbcanary.Setting

	// StartReplica starts a server that follows the primary. options.Dir must hold a
	// copy of the data that the primary was started on, and nothing else may have
	// been done there since. It waits until all that the primary has done is replayed.
	StartReplica(ctx context.Context, options StartOptions, primary Server) (Replica, error)
}

// Replica is a server that follows another one. It must be stopped before its primary.
type Replica interface {
	Server
	// Position is how far the log of the primary has come.
	Position(ctx context.Context) (string, error)
	// Pause stops the replay; the log goes on arriving.
	Pause(ctx context.Context) error
	// Resume lets the replay go on.
	Resume(ctx context.Context) error
	// Arrived waits until the log has arrived up to a position.
	Arrived(ctx context.Context, position string) error
	// Replayed waits until the log is replayed up to a position. A replay that has
	// failed is an error that says why.
	Replayed(ctx context.Context, position string) error
}

// replicaPatience is how long nothing may be seen of what a replica is waited for.
const replicaPatience = 10 * time.Minute

// WaitReplica asks a replica every so often whether it has come as far as is waited for.
func WaitReplica(ctx context.Context, every time.Duration, what string, there func(ctx context.Context) (bool, error)) error {
	limit := time.NewTimer(replicaPatience)
	defer limit.Stop()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		ok, err := there(ctx)
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if err != nil {
			return fmt.Errorf("wait until the replica %s: %w", what, err)
		}
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-limit.C:
			return errors.New("the replica has not " + what + " after " + replicaPatience.String())
		case <-tick.C:
		}
	}
}

// Replication is a primary with a replica, both on copies of the same loaded data in
// directories of their own.
type Replication struct {
	Primary Server
	Replica Replica

	dirs []string
}

// Replicate starts both, with the build, settings and CPUs of the options. loaded is
// the directory of the stopped instance whose data they get; claim makes a directory
// for each. Nothing is left of them after an error.
func Replicate(ctx context.Context, driver Driver, options StartOptions, loaded string, claim func(role string) (string, error)) (_ *Replication, err error) {
	replicator, ok := driver.(Replicator)
	if !ok {
		return nil, dbcanary.Errorf(dbcanary.CodeUsage, "%s has no replicas", driver.Family())
	}
	r := new(Replication)
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Stop(context.WithoutCancel(ctx)))
		}
	}()
	for _, role := range []string{"primary", "replica"} {
		dir, err := claim(role)
		if err != nil {
			return nil, err
		}
		r.dirs = append(r.dirs, dir)
		if err := Copy(ctx, loaded, dir); err != nil {
			return nil, err
		}
		options.Dir = dir
		if role == "replica" {
			if r.Replica, err = replicator.StartReplica(ctx, options, r.Primary); err != nil {
				return nil, err
			}
			continue
		}
		own := options
		own.Settings = slices.Concat(options.Settings, replicator.PrimarySettings(options.Build.Version))
		if r.Primary, err = driver.Start(ctx, own); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Stop stops what runs of the two, the replica first, and removes their directories.
// A server that takes longer than stopPatience is killed. Calling it again does nothing.
func (r *Replication) Stop(ctx context.Context) error {
	var errs []error
	stop := func(server Server) {
		ctx, cancel := context.WithTimeout(ctx, stopPatience)
		defer cancel()
		errs = append(errs, server.Stop(ctx))
	}
	if r.Replica != nil {
		stop(r.Replica)
	}
	if r.Primary != nil {
		stop(r.Primary)
	}
	for _, dir := range r.dirs {
		errs = append(errs, Remove(dir))
	}
	r.dirs = nil
	return errors.Join(errs...)
}

const stopPatience = time.Minute
