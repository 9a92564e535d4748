package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// killed is the problem that is shown of a run whose process ended without a word.
const killed = "killed: its process ended before it could close the run"

// CreateRun stores a new run of this process with its targets and sets its ID
// (1, 2, 3, … within the store), UID and state. A start that is zero is an error.
func (s *Store) CreateRun(ctx context.Context, run *dbcanary.Run) error {
	if run.Started.IsZero() {
		return s.failed("add a run to", errors.New("the run has no start"))
	}
	created := *run
	created.UID = strings.ToLower(rand.Text())
	created.State = dbcanary.RunRunning
	err := s.write(ctx, "add a run to", func(tx *sql.Tx) error {
		const insert = `INSERT INTO runs
			(uid, state, started, ended, program, owner_boot, owner_pid, owner_start, plan, host, problems)
			VALUES (?, ?, ?, NULL, ?, ?, ?, ?, '{}', '{}', '[]') RETURNING id`
		err := tx.QueryRowContext(ctx, insert, created.UID, created.State, formatTime(created.Started), created.Program,
			s.owner.boot, s.owner.pid, s.owner.start).Scan(&created.ID)
		if err != nil {
			return err
		}
		return saveRun(ctx, tx, &created)
	})
	if err != nil {
		return err
	}
	*run = created
	return nil
}

// SaveRun stores everything of the run but its ID, UID, owner and trials, in
// place of what was stored of it. The run must be this process's own.
func (s *Store) SaveRun(ctx context.Context, run *dbcanary.Run) error {
	return s.write(ctx, fmt.Sprintf("save run %d in", run.ID), func(tx *sql.Tx) error {
		if err := s.checkOwner(ctx, tx, run.ID); err != nil {
			return err
		}
		return saveRun(ctx, tx, run)
	})
}

func saveRun(ctx context.Context, tx *sql.Tx, run *dbcanary.Run) error {
	plan, err := json.Marshal(run.Plan)
	if err != nil {
		return err
	}
	host, err := json.Marshal(run.Host)
	if err != nil {
		return err
	}
	problems, err := listOrNone(run.Problems)
	if err != nil {
		return err
	}
	missing, err := listOrNone(run.Missing)
	if err != nil {
		return err
	}
	const update = `UPDATE runs SET state = ?, started = ?, ended = ?, program = ?, plan = ?, host = ?, problems = ?, missing = ? WHERE id = ?`
	ended := run.Ended
	if run.State == dbcanary.RunRunning {
		ended = time.Time{} // a resumed run brings the end of its first part
	}
	_, err = tx.ExecContext(ctx, update, run.State, formatTime(run.Started), formatOptionalTime(ended), run.Program,
		string(plan), string(host), problems, missing, run.ID)
	if err != nil {
		return err
	}
	return saveTargets(ctx, tx, run)
}

// listOrNone is a list as a JSON array.
func listOrNone[T any](list []T) (string, error) {
	if len(list) == 0 {
		return "[]", nil
	}
	text, err := json.Marshal(list)
	return string(text), err
}

func saveTargets(ctx context.Context, tx *sql.Tx, run *dbcanary.Run) error {
	for _, table := range []string{"targets", "settings"} {
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE run_id = ?", run.ID); err != nil {
			return err
		}
	}
	setting, err := tx.PrepareContext(ctx,
		"INSERT INTO settings (run_id, target, kind, position, name, value) VALUES (?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	const insert = `INSERT INTO targets
		(run_id, position, name, family, version, provider, origin, checksum, dir, config, dropped, made)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	for i, t := range run.Targets {
		made, err := listOrNone(t.Made)
		if err != nil {
			return errors.Join(err, setting.Close())
		}
		_, err = tx.ExecContext(ctx, insert, run.ID, i, t.Name, t.Build.Family, t.Build.Version, t.Build.Provider,
			t.Build.Origin, t.Build.Checksum, t.Build.Dir, t.Config.Name, t.Dropped, made)
		if err != nil {
			return errors.Join(err, setting.Close())
		}
		for kind, settings := range map[string][]dbcanary.Setting{"config": t.Config.Settings, "effective": t.Settings} {
			for j, one := range settings {
				if _, err := setting.ExecContext(ctx, run.ID, t.Name, kind, j, one.Name, one.Value); err != nil {
					return errors.Join(err, setting.Close())
				}
			}
		}
	}
	return setting.Close()
}

// Claim makes this process the owner of a run that another one left unfinished
// and sets its state to running, so that it can go on. A run whose owner lives
// is an error with CodeUnavailable, one that is done is one with CodeUsage.
func (s *Store) Claim(ctx context.Context, runID int64) error {
	return s.write(ctx, fmt.Sprintf("take over run %d in", runID), func(tx *sql.Tx) error {
		state, holder, err := ownerOf(ctx, tx, runID)
		if err != nil {
			return err
		}
		if state == dbcanary.RunDone {
			return dbcanary.Errorf(dbcanary.CodeUsage, "the run is done, nothing is left to measure")
		}
		if state == dbcanary.RunRunning && holder != s.owner && holder.alive() {
			return &dbcanary.Error{
				Code: dbcanary.CodeUnavailable,
				Err:  fmt.Errorf("process %d is measuring it", holder.pid),
				Hint: "wait for it, or stop it with Ctrl-C",
			}
		}
		_, err = tx.ExecContext(ctx,
			"UPDATE runs SET state = ?, ended = NULL, owner_boot = ?, owner_pid = ?, owner_start = ? WHERE id = ?",
			dbcanary.RunRunning, s.owner.boot, s.owner.pid, s.owner.start, runID)
		return err
	})
}

func ownerOf(ctx context.Context, tx *sql.Tx, runID int64) (state dbcanary.RunState, holder owner, err error) {
	const query = "SELECT state, owner_boot, owner_pid, owner_start FROM runs WHERE id = ?"
	err = tx.QueryRowContext(ctx, query, runID).Scan(&state, &holder.boot, &holder.pid, &holder.start)
	if errors.Is(err, sql.ErrNoRows) {
		err = dbcanary.Errorf(dbcanary.CodeUsage, "there is no run %d", runID)
	}
	return state, holder, err
}

// checkOwner keeps a process that was taken for dead from writing into a run
// that another one has taken over.
func (s *Store) checkOwner(ctx context.Context, tx *sql.Tx, runID int64) error {
	_, holder, err := ownerOf(ctx, tx, runID)
	if err == nil && holder != s.owner {
		err = dbcanary.Errorf(dbcanary.CodeUnavailable, "run %d belongs to process %d", runID, holder.pid)
	}
	return err
}

const selectRun = `SELECT id, uid, state, started, ended, program, owner_boot, owner_pid, owner_start, plan, host, problems, missing,
	(SELECT max(t.started) FROM trials t WHERE t.run_id = runs.id) FROM runs `

// Runs gives every run, newest first, with its targets but without the settings
// read back from their servers. A running run whose process is gone is given as
// interrupted, ended at its last trial.
func (s *Store) Runs(ctx context.Context) ([]dbcanary.Run, error) {
	var runs []dbcanary.Run
	err := s.read(ctx, "list the runs of", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, selectRun+"ORDER BY id DESC")
		if err != nil {
			return err
		}
		runs, err = collect(rows, scanRun)
		if err != nil {
			return err
		}
		for i := range runs {
			if runs[i].Targets, err = targets(ctx, tx, runs[i].ID, false); err != nil {
				return err
			}
		}
		return nil
	})
	return runs, err
}

// Run gives one run whole: by its ID ("7"), "last", or the start of its UID. A
// ref that names no run, or more than one, is an error with CodeUsage.
func (s *Store) Run(ctx context.Context, ref string) (dbcanary.Run, error) {
	var run dbcanary.Run
	err := s.read(ctx, "find a run in", func(tx *sql.Tx) error {
		id, err := findRun(ctx, tx, ref)
		if err != nil {
			return err
		}
		run, err = scanRun(tx.QueryRowContext(ctx, selectRun+"WHERE id = ?", id))
		if err != nil {
			return err
		}
		run.Targets, err = targets(ctx, tx, id, true)
		return err
	})
	return run, err
}

func findRun(ctx context.Context, tx *sql.Tx, ref string) (int64, error) {
	rows, err := tx.QueryContext(ctx, "SELECT id, uid FROM runs ORDER BY id DESC")
	if err != nil {
		return 0, err
	}
	type key struct {
		id  int64
		uid string
	}
	keys, err := collect(rows, func(row scanner) (key, error) {
		var k key
		return k, row.Scan(&k.id, &k.uid)
	})
	if err != nil {
		return 0, err
	}
	if len(keys) == 0 {
		return 0, dbcanary.Errorf(dbcanary.CodeUsage, "there is no run %q; the store has no runs yet", ref)
	}
	if ref == "last" {
		return keys[0].id, nil
	}
	var found []int64
	names := []string{}
	for _, k := range keys {
		if ref == strconv.FormatInt(k.id, 10) {
			return k.id, nil
		}
		if ref != "" && strings.HasPrefix(k.uid, strings.ToLower(ref)) {
			found = append(found, k.id)
		}
		names = append(names, strconv.FormatInt(k.id, 10))
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		const most = 8 // of the newest runs, so that the message stays one line
		list := strings.Join(names[:min(most, len(names))], ", ")
		if len(names) > most {
			list += fmt.Sprintf(", … %s", names[len(names)-1])
		}
		return 0, dbcanary.Errorf(dbcanary.CodeUsage, "there is no run %q; there are %s, and last", ref, list)
	default:
		return 0, dbcanary.Errorf(dbcanary.CodeUsage, "%q is the start of %d runs: %v", ref, len(found), found)
	}
}

// scanner is a row of a result.
type scanner interface {
	Scan(into ...any) error
}

func scanRun(row scanner) (dbcanary.Run, error) {
	var run dbcanary.Run
	var holder owner
	var started string
	var ended, lastTrial sql.NullString
	var plan, host, problems, missing []byte
	err := row.Scan(&run.ID, &run.UID, &run.State, &started, &ended, &run.Program,
		&holder.boot, &holder.pid, &holder.start, &plan, &host, &problems, &missing, &lastTrial)
	if err != nil {
		return run, err
	}
	if run.Started, err = parseTime(started); err != nil {
		return run, err
	}
	if err := json.Unmarshal(plan, &run.Plan); err != nil {
		return run, fmt.Errorf("plan of run %d: %w", run.ID, err)
	}
	if err := json.Unmarshal(host, &run.Host); err != nil {
		return run, fmt.Errorf("host of run %d: %w", run.ID, err)
	}
	if err := json.Unmarshal(problems, &run.Problems); err != nil {
		return run, fmt.Errorf("problems of run %d: %w", run.ID, err)
	}
	if err := json.Unmarshal(missing, &run.Missing); err != nil {
		return run, fmt.Errorf("missing probes of run %d: %w", run.ID, err)
	}
	if len(run.Problems) == 0 {
		run.Problems = nil
	}
	if len(run.Missing) == 0 {
		run.Missing = nil
	}
	if run.State == dbcanary.RunRunning && !holder.alive() {
		run.State = dbcanary.RunInterrupted
		run.Problems = append(run.Problems, killed)
		ended = lastTrial
	}
	if ended.Valid {
		run.Ended, err = parseTime(ended.String)
	}
	return run, err
}

func targets(ctx context.Context, tx *sql.Tx, runID int64, effective bool) ([]dbcanary.Target, error) {
	rows, err := tx.QueryContext(ctx, `SELECT name, family, version, provider, origin, checksum, dir, config, dropped, made
		FROM targets WHERE run_id = ? ORDER BY position`, runID)
	if err != nil {
		return nil, err
	}
	list, err := collect(rows, func(row scanner) (dbcanary.Target, error) {
		var t dbcanary.Target
		b := &t.Build
		var made []byte
		err := row.Scan(&t.Name, &b.Family, &b.Version, &b.Provider, &b.Origin, &b.Checksum, &b.Dir, &t.Config.Name, &t.Dropped, &made)
		if err != nil {
			return t, err
		}
		if err := json.Unmarshal(made, &t.Made); err != nil {
			return t, fmt.Errorf("made of target %s: %w", t.Name, err)
		}
		if len(t.Made) == 0 {
			t.Made = nil
		}
		return t, nil
	})
	if err != nil {
		return nil, err
	}
	for i := range list {
		t := &list[i]
		if t.Config.Settings, err = settings(ctx, tx, runID, t.Name, "config"); err != nil {
			return nil, err
		}
		if !effective {
			continue
		}
		if t.Settings, err = settings(ctx, tx, runID, t.Name, "effective"); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func settings(ctx context.Context, tx *sql.Tx, runID int64, target, kind string) ([]dbcanary.Setting, error) {
	rows, err := tx.QueryContext(ctx,
		"SELECT name, value FROM settings WHERE run_id = ? AND target = ? AND kind = ? ORDER BY position", runID, target, kind)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row scanner) (dbcanary.Setting, error) {
		var one dbcanary.Setting
		return one, row.Scan(&one.Name, &one.Value)
	})
}

// collect reads all rows with scan and closes them; no rows are nil.
func collect[T any](rows *sql.Rows, scan func(scanner) (T, error)) ([]T, error) {
	var list []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		list = append(list, one)
	}
	return list, errors.Join(rows.Err(), rows.Close())
}

// timeLayout sorts as text, since its length is fixed.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

func formatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

func formatOptionalTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return formatTime(t)
}

func parseTime(text string) (time.Time, error) { return time.Parse(timeLayout, text) }
