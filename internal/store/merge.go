package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// MergeOutcome says what became of a run of another store.
type MergeOutcome string

// The outcomes of a merge.
const (
	MergeAdded   MergeOutcome = "added"
	MergeUpdated MergeOutcome = "updated"       // it was here, and has gone on there since
	MergeKnown   MergeOutcome = "already there" // the same, or an older state of it
	MergeRefused MergeOutcome = "refused"       // here and there it went on in different ways
)

// MergedRun is what became of one run.
type MergedRun struct {
	Run     dbcanary.Run // as the other store has it, without settings
	ID      int64        // in this store; of a refused one, that of the run that is kept
	Trials  int          // in the other store
	Outcome MergeOutcome
	Reason  string // of a refusal
}

// Merge takes over the runs of another store that this one does not have, and
// those that have gone on there, in the order in which they were made. A run is
// known by its UID, so that merging again changes nothing; IDs are given anew. It
// is all done or nothing; a run that was refused is told and changes nothing.
func (s *Store) Merge(ctx context.Context, other *Store) ([]MergedRun, error) {
	var merged []MergedRun
	err := other.read(ctx, "read the runs of", func(from *sql.Tx) error {
		names, err := metricNames(ctx, from)
		if err != nil {
			return err
		}
		rows, err := from.QueryContext(ctx, selectRun+"ORDER BY id")
		if err != nil {
			return err
		}
		runs, err := collect(rows, scanRun)
		if err != nil {
			return err
		}
		return s.write(ctx, "merge runs into", func(to *sql.Tx) error {
			m := merger{from: from, to: to, names: names}
			for _, run := range runs {
				if run.Targets, err = targets(ctx, from, run.ID, false); err != nil {
					return err
				}
				one, err := m.merge(ctx, run)
				if err != nil {
					return fmt.Errorf("run %d of %s: %w", run.ID, other.path, err)
				}
				merged = append(merged, one)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return merged, nil
}

// merger copies runs from one store to another.
type merger struct {
	from, to *sql.Tx
	names    map[int64]string // of the metrics of from
}

func (m *merger) merge(ctx context.Context, run dbcanary.Run) (MergedRun, error) {
	one := MergedRun{Run: run}
	there, err := trialDigests(ctx, m.from, run.ID)
	if err != nil {
		return one, err
	}
	one.Trials = len(there)
	err = m.to.QueryRowContext(ctx, "SELECT id FROM runs WHERE uid = ?", run.UID).Scan(&one.ID)
	if errors.Is(err, sql.ErrNoRows) {
		one.Outcome = MergeAdded
		one.ID, err = m.copyRun(ctx, run.ID, nil)
		return one, err
	}
	if err != nil {
		return one, err
	}
	here, err := trialDigests(ctx, m.to, one.ID)
	if err != nil {
		return one, err
	}
	common := min(len(here), len(there))
	if !slices.Equal(here[:common], there[:common]) {
		one.Outcome = MergeRefused
		one.Reason = "it has other trials here under the same uid: both went on, or one was changed"
		return one, nil
	}
	newer, err := m.isNewer(ctx, run, one.ID, len(there)-len(here))
	if err != nil || !newer {
		one.Outcome = MergeKnown
		return one, err
	}
	if _, err := m.to.ExecContext(ctx, "DELETE FROM runs WHERE id = ?", one.ID); err != nil {
		return one, err
	}
	one.Outcome = MergeUpdated
	_, err = m.copyRun(ctx, run.ID, one.ID)
	return one, err
}

// isNewer tells whether the run of the other store is a later state of the one
// here: it has more trials, or has ended since.
func (m *merger) isNewer(ctx context.Context, run dbcanary.Run, id int64, more int) (bool, error) {
	if more != 0 {
		return more > 0, nil
	}
	var ended sql.NullString
	if err := m.to.QueryRowContext(ctx, "SELECT ended FROM runs WHERE id = ?", id).Scan(&ended); err != nil {
		return false, err
	}
	var there sql.NullString
	if err := m.from.QueryRowContext(ctx, "SELECT ended FROM runs WHERE id = ?", run.ID).Scan(&there); err != nil {
		return false, err
	}
	return there.Valid && (!ended.Valid || there.String > ended.String), nil
}

// trialDigests sums up each trial of a run, in their order, whatever numbers the
// store gave to its metrics.
func trialDigests(ctx context.Context, tx *sql.Tx, runID int64) ([][sha256.Size]byte, error) {
	names, err := metricNames(ctx, tx)
	if err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, selectTrials, runID)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row scanner) ([sha256.Size]byte, error) {
		trial, err := scanTrial(row, names)
		return sha256.Sum256(fmt.Appendf(nil, "%+v", trial)), err
	})
}

// copyRun copies a run and everything that belongs to it, under a new ID if id is nil.
func (m *merger) copyRun(ctx context.Context, runID int64, id any) (int64, error) {
	tables, err := tablesOfRuns(ctx, m.from)
	if err != nil {
		return 0, err
	}
	ids := map[string]map[int64]int64{}
	for _, t := range tables {
		if err := m.copyRows(ctx, t, runID, id, ids); err != nil {
			return 0, fmt.Errorf("copy its %s: %w", t.name, err)
		}
	}
	return ids["runs"][runID], nil
}

// copyRows copies the rows of one table that belong to a run. Keys are given anew,
// and ids notes them for the tables that refer to them.
func (m *merger) copyRows(ctx context.Context, t runTable, runID int64, newID any, ids map[string]map[int64]int64) error {
	rows, err := m.from.QueryContext(ctx, t.selection(), runID)
	if err != nil {
		return err
	}
	ids[t.name] = map[int64]int64{}
	list, err := collect(rows, func(row scanner) ([]any, error) {
		values := make([]any, len(t.columns))
		into := make([]any, len(values))
		for i := range values {
			into[i] = &values[i]
		}
		return values, row.Scan(into...)
	})
	if err != nil {
		return err
	}
	for _, values := range list {
		var old int64
		for i, column := range t.columns {
			switch {
			case column == t.key:
				old, _ = values[i].(int64)
				values[i] = nil
				if t.name == "runs" {
					values[i] = newID
				}
			case t.refers[column] != "":
				if values[i], err = m.reference(values[i], t.refers[column], ids); err != nil {
					return err
				}
			case t.name == "trials" && column == "metrics":
				if values[i], err = m.renumber(ctx, values[i]); err != nil {
					return err
				}
			}
		}
		insert := fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", t.name, strings.Join(t.columns, ", "), strings.Repeat(", ?", len(values)-1))
		result, err := m.to.ExecContext(ctx, insert, values...)
		if err != nil {
			return err
		}
		if t.key != "" {
			if ids[t.name][old], err = result.LastInsertId(); err != nil {
				return err
			}
		}
	}
	return nil
}

// reference is the key that a row of another table got here.
func (m *merger) reference(value any, table string, ids map[string]map[int64]int64) (any, error) {
	key, ok := value.(int64)
	if !ok {
		return value, nil // NULL
	}
	id, ok := ids[table][key]
	if !ok {
		return nil, fmt.Errorf("a row refers to row %d of %s, which is not of this run", key, table)
	}
	return id, nil
}

// renumber gives the metrics of a trial the numbers that their names have here.
func (m *merger) renumber(ctx context.Context, column any) (any, error) {
	text, ok := column.(string)
	if !ok {
		return column, nil // NULL
	}
	var entries [][]json.Number
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		return nil, fmt.Errorf("metrics of a trial: %w", err)
	}
	for _, entry := range entries {
		if len(entry) == 0 {
			return nil, fmt.Errorf("metrics of a trial: %s holds an empty entry", text)
		}
		number, err := entry[0].Int64()
		name := m.names[number]
		if err != nil || name == "" {
			return nil, fmt.Errorf("metrics of a trial: there is no metric %s", entry[0])
		}
		const find = `INSERT INTO metric_names (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = name RETURNING id`
		if err := m.to.QueryRowContext(ctx, find, name).Scan(&number); err != nil {
			return nil, err
		}
		entry[0] = json.Number(fmt.Sprint(number))
	}
	renumbered, err := json.Marshal(entries)
	return string(renumbered), err
}
