package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
)

// replica is a server that replays the binary log of another one.
type replica struct {
	*server
	primary dbms.Server
	words   words
}

// words are how a release spells replication.
type words struct {
	binlog, start, stop, status   string // statements
	change, from                  string // statement, and what its options begin with
	wait                          string // function that waits for a position
	replayRunning, arrivedFile    string // columns of the status
	arrivedAt, lastIO, lastReplay string
}

// wordsOf knows the spelling of MySQL since 8.0.26, when the last of the new words
// came, and the one before it, which MariaDB keeps.
func wordsOf(family dbcanary.Family, version string) words {
	if family == dbcanary.MariaDB || dbms.CompareVersions(version, "8.0.26") < 0 {
		return words{
			binlog: "SHOW MASTER STATUS", start: "START SLAVE", stop: "STOP SLAVE", status: "SHOW SLAVE STATUS", change: "CHANGE MASTER TO", from: "MASTER_",
			wait: "MASTER_POS_WAIT", replayRunning: "Slave_SQL_Running", arrivedFile: "Master_Log_File", arrivedAt: "Read_Master_Log_Pos",
			lastIO: "Last_IO_Error", lastReplay: "Last_SQL_Error",
		}
	}
	w := words{
		binlog: "SHOW BINARY LOG STATUS", start: "START REPLICA", stop: "STOP REPLICA", status: "SHOW REPLICA STATUS", change: "CHANGE REPLICATION SOURCE TO", from: "SOURCE_",
		wait: "SOURCE_POS_WAIT", replayRunning: "Replica_SQL_Running", arrivedFile: "Source_Log_File", arrivedAt: "Read_Source_Log_Pos",
		lastIO: "Last_IO_Error", lastReplay: "Last_SQL_Error",
	}
	if dbms.CompareVersions(version, "8.2") < 0 {
		w.binlog = "SHOW MASTER STATUS"
	}
	return w
}

// PrimarySettings switch the binary log on.
func (d *Driver) PrimarySettings(string) []dbcanary.Setting {
	return append(d.Overlays()["binlog"], dbcanary.Setting{Name: "server_id", Value: "1"})
}

// StartReplica starts a server that follows the primary from where its log is now:
// its data are those that the primary was started on, and the start has changed none
// that are replayed.
func (d *Driver) StartReplica(ctx context.Context, options dbms.StartOptions, primary dbms.Server) (dbms.Replica, error) {
	options.Settings = append(options.Settings[:len(options.Settings):len(options.Settings)],
		dbcanary.Setting{Name: "server_id", Value: "2"}, dbcanary.Setting{Name: "relay_log", Value: "relay"})
	started, err := d.start(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("start the replica %s %s: %w", d.family, options.Build.Version, err)
	}
	r := &replica{server: started, primary: primary, words: wordsOf(d.family, started.Release)}
	if err := r.follow(ctx, d.family); err != nil {
		return nil, errors.Join(fmt.Errorf("replicate: %w", err), r.Stop(context.WithoutCancel(ctx)))
	}
	return r, nil
}

func (r *replica) follow(ctx context.Context, family dbcanary.Family) error {
	where := r.primary.Address()
	if _, err := r.primary.Admin().ExecContext(ctx, "GRANT REPLICATION SLAVE ON *.* TO '"+where.User+"'@'%'"); err != nil {
		return fmt.Errorf("let the replica read the log: %w", err)
	}
	position, err := r.Position(ctx)
	if err != nil {
		return err
	}
	file, at, _ := strings.Cut(position, ":")
	options := []string{
		"HOST='" + where.Host + "'", fmt.Sprintf("PORT=%d", where.Port), "USER='" + where.User + "'", "PASSWORD='" + where.Password + "'",
		"LOG_FILE='" + file + "'", "LOG_POS=" + at, "SSL=0",
	}
	if family == dbcanary.MariaDB {
		options = append(options, "USE_GTID=no")
	}
	for i := range options {
		options[i] = r.words.from + options[i]
	}
	if family == dbcanary.MySQL && dbms.CompareVersions(r.Release, "8.0.4") >= 0 {
		key := "GET_MASTER_PUBLIC_KEY=1"
		if r.words.from == "SOURCE_" {
			key = "GET_SOURCE_PUBLIC_KEY=1"
		}
		options = append(options, key)
	}
	// The statement has a password, so no error may hold it.
	if _, err := r.DB.ExecContext(ctx, r.words.change+" "+strings.Join(options, ", ")); err != nil {
		return fmt.Errorf("%s: %w", r.words.change, err)
	}
	if err := r.exec(ctx, r.words.start); err != nil {
		return err
	}
	if position, err = r.Position(ctx); err != nil {
		return err
	}
	if err := r.Arrived(ctx, position); err != nil {
		return err
	}
	return r.Replayed(ctx, position)
}

func (r *replica) exec(ctx context.Context, statement string) error {
	if _, err := r.DB.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// Position is "FILE:OFFSET".
func (r *replica) Position(ctx context.Context) (string, error) {
	row, err := oneRow(ctx, r.primary.Admin(), r.words.binlog)
	if err != nil {
		return "", err
	}
	if row["File"] == "" {
		return "", fmt.Errorf("%s: the primary writes no log", r.words.binlog)
	}
	return row["File"] + ":" + row["Position"], nil
}

// oneRow reads the only row of a SHOW by the names of its columns, which differ
// from release to release.
func oneRow(ctx context.Context, db *sql.DB, query string) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	values, pointers := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		pointers[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
		for i, column := range columns {
			found[column] = values[i].String
		}
	}
	return found, rows.Err()
}

// Pause stops the thread, or threads, that replay.
func (r *replica) Pause(ctx context.Context) error { return r.exec(ctx, r.words.stop+" SQL_THREAD") }

// Resume starts them again.
func (r *replica) Resume(ctx context.Context) error {
	return r.exec(ctx, r.words.start+" SQL_THREAD")
}

const askEvery = 20 * time.Millisecond // of a replica's status

// Arrived asks the replica's status until the log is there.
func (r *replica) Arrived(ctx context.Context, position string) error {
	return dbms.WaitReplica(ctx, askEvery, "received the log", func(ctx context.Context) (bool, error) {
		row, err := oneRow(ctx, r.DB, r.words.status)
		if err != nil {
			return false, err
		}
		if row[r.words.lastIO] != "" {
			return false, errors.New(row[r.words.lastIO])
		}
		return !before(row[r.words.arrivedFile]+":"+row[r.words.arrivedAt], position), nil
	})
}

// before tells whether a position lies before another one. The names of files end
// in a number of equal width.
func before(a, b string) bool {
	fileA, atA, _ := strings.Cut(a, ":")
	fileB, atB, _ := strings.Cut(b, ":")
	if fileA != fileB {
		return fileA < fileB
	}
	offsetA, errA := strconv.ParseUint(atA, 10, 64)
	offsetB, errB := strconv.ParseUint(atB, 10, 64)
	return errA != nil || errB != nil || offsetA < offsetB
}

// Replayed lets the server itself wait, which asks nothing of it meanwhile.
func (r *replica) Replayed(ctx context.Context, position string) error {
	file, at, _ := strings.Cut(position, ":")
	const seconds = 600
	var waited sql.NullInt64
	query := fmt.Sprintf("SELECT %s('%s', %s, %d)", r.words.wait, file, at, seconds)
	if err := r.DB.QueryRowContext(ctx, query).Scan(&waited); err != nil {
		return fmt.Errorf("wait until the replica has replayed the log: %w", err)
	}
	if waited.Valid && waited.Int64 >= 0 {
		return nil
	}
	row, err := oneRow(ctx, r.DB, r.words.status)
	if err != nil {
		return err
	}
	if why := row[r.words.lastReplay]; why != "" {
		return fmt.Errorf("the replica has stopped to replay the log: %s", why)
	}
	return fmt.Errorf("the replica has not replayed the log after %d s; %s: %s", seconds, r.words.replayRunning, row[r.words.replayRunning])
}
