package postgres

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
)

// replica is a standby that streams from its primary.
type replica struct {
	*server
	primary dbms.Server
}

// PrimarySettings are the defaults since PostgreSQL 10, which others may have changed,
// and no vacuum, which comes by the clock: the log holds what was written and no more.
func (d *Driver) PrimarySettings(string) []dbcanary.Setting {
	return []dbcanary.Setting{{Name: "wal_level", Value: "replica"}, {Name: "max_wal_senders", Value: "10"}, {Name: "autovacuum", Value: "off"}}
}

// StartReplica starts a standby. It begins at the checkpoint with which the copied
// data were shut down, which the primary's log begins with too.
func (d *Driver) StartReplica(ctx context.Context, options dbms.StartOptions, primary dbms.Server) (dbms.Replica, error) {
	where := primary.Address()
	if _, err := primary.Admin().ExecContext(ctx, "ALTER ROLE "+where.User+" REPLICATION"); err != nil {
		return nil, fmt.Errorf("replicate: let the replica read the log: %w", err)
	}
	// A standby must have room for as many sessions and senders as its primary.
	options.Settings = append(options.Settings[:len(options.Settings):len(options.Settings)], d.PrimarySettings("")...)
	// Its replay removes old rows; queries that may still see them, such as those that
	// ask how far it is, must not be cancelled for that, however old the log is.
	options.Settings = append(options.Settings, dbcanary.Setting{Name: "hot_standby", Value: "on"}, dbcanary.Setting{Name: "max_standby_streaming_delay", Value: "-1"})
	l, err := d.prepare(ctx, options)
	if err == nil && l.instance.Fresh {
		err = errors.New("there is no copy of the primary's data")
	}
	if err != nil {
		return nil, fmt.Errorf("start the replica postgres %s: %w", options.Build.Version, err)
	}
	l.primary = &where
	started, err := dbms.WithFreePort(func(port int) (*server, error) { return l.serve(ctx, port) }, portTaken)
	if err != nil {
		return nil, fmt.Errorf("start the replica postgres %s: %w", options.Build.Version, err)
	}
	r := &replica{server: started, primary: primary}
	position, err := r.Position(ctx)
	if err == nil {
		err = r.Replayed(ctx, position)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("replicate: %w", err), r.Stop(context.WithoutCancel(ctx)))
	}
	return r, nil
}

// standby has the server follow the primary: since PostgreSQL 12 a setting and an
// empty file say so, before that a file of its own.
func (l *launch) standby() (more []dbcanary.Setting, err error) {
	if l.primary == nil {
		return nil, nil
	}
	from := dbcanary.Setting{
		Name:  "primary_conninfo",
		Value: fmt.Sprintf("host=%s port=%d user=%s password=%s sslmode=disable", l.primary.Host, l.primary.Port, l.primary.User, l.primary.Password),
	}
	if dbms.CompareVersions(l.binary.Version, "12") >= 0 {
		return []dbcanary.Setting{from}, l.instance.WriteFile(filepath.Join(l.instance.Data, "standby.signal"), "")
	}
	text := "standby_mode = on\n" + from.Name + " = " + quote(from.Value) + "\n"
	return nil, l.instance.WriteFile(filepath.Join(l.instance.Data, "recovery.conf"), text)
}

// Position writes a small record to the primary's log, flushes it, and gives where
// it ends: what was written before is on its way to the replica then.
func (r *replica) Position(ctx context.Context) (string, error) {
	const query = "SELECT set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'dbcanary', '')::text"
	var setting, position string
	if err := r.primary.Admin().QueryRowContext(ctx, query).Scan(&setting, &position); err != nil {
		return "", fmt.Errorf("read the position of the primary's log: %w", err)
	}
	return position, nil
}

func (r *replica) exec(ctx context.Context, statement string) error {
	if _, err := r.DB.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// Pause stops the replay before the next record.
func (r *replica) Pause(ctx context.Context) error {
	return r.exec(ctx, "SELECT pg_wal_replay_pause()")
}

// Resume lets it go on.
func (r *replica) Resume(ctx context.Context) error {
	return r.exec(ctx, "SELECT pg_wal_replay_resume()")
}

// How often a replica is asked. The time of the replay is what is measured.
const (
	arrivedEvery  = 20 * time.Millisecond
	replayedEvery = 2 * time.Millisecond
)

// Arrived asks until the log is there.
func (r *replica) Arrived(ctx context.Context, position string) error {
	return r.wait(ctx, arrivedEvery, "received the log", "pg_last_wal_receive_lsn()", position)
}

// Replayed asks until it is replayed.
func (r *replica) Replayed(ctx context.Context, position string) error {
	return r.wait(ctx, replayedEvery, "replayed the log", "pg_last_wal_replay_lsn()", position)
}

func (r *replica) wait(ctx context.Context, every time.Duration, what, function, position string) error {
	query := "SELECT COALESCE(" + function + " >= '" + position + "'::pg_lsn, false)"
	return dbms.WaitReplica(ctx, every, what, func(ctx context.Context) (there bool, err error) {
		select {
		case <-r.Done():
			return false, dbms.WithTail(errors.New("it has ended"), r.LogTail(5), isReason)
		default:
		}
		return there, r.DB.QueryRowContext(ctx, query).Scan(&there)
	})
}
