package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/dbcanary/dbcanary"
)

// AddProfile stores what a profiling slice of a run showed; the run belongs to this
// process.
func (s *Store) AddProfile(ctx context.Context, runID int64, profile *dbcanary.Profile) error {
	return s.write(ctx, fmt.Sprintf("add a profile of run %d to", runID), func(tx *sql.Tx) error {
		if err := s.checkOwner(ctx, tx, runID); err != nil {
			return err
		}
		const insert = `INSERT INTO profiles (run_id, benchmark, target, instance, started, elapsed_ns, operations, void)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`
		var id int64
		err := tx.QueryRowContext(ctx, insert, runID, profile.Benchmark, profile.Target, profile.Instance, formatTime(profile.Started),
			profile.ElapsedNs, profile.Operations, profile.Void).Scan(&id)
		if err != nil {
			return err
		}
		for i, wait := range profile.Waits {
			const insert = `INSERT INTO waits (profile_id, position, event, count, total_ns, sampled) VALUES (?, ?, ?, ?, ?, ?)`
			if _, err := tx.ExecContext(ctx, insert, id, i, wait.Event, wait.Count, wait.TotalNs, wait.Sampled); err != nil {
				return err
			}
		}
		for i, stacks := range profile.Stacks {
			const insert = `INSERT INTO stacks (profile_id, position, sampler, pprof) VALUES (?, ?, ?, ?)`
			if _, err := tx.ExecContext(ctx, insert, id, i, stacks.Sampler, stacks.Pprof); err != nil {
				return err
			}
		}
		return nil
	})
}

// Profiles gives the profiles of a run in the order in which they were stored, void
// ones included.
func (s *Store) Profiles(ctx context.Context, runID int64) ([]dbcanary.Profile, error) {
	var profiles []dbcanary.Profile
	err := s.read(ctx, fmt.Sprintf("read the profiles of run %d from", runID), func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT id, benchmark, target, instance, started, elapsed_ns, operations, void
			FROM profiles WHERE run_id = ? ORDER BY id`, runID)
		if err != nil {
			return err
		}
		type stored struct {
			id int64
			dbcanary.Profile
		}
		list, err := collect(rows, func(row scanner) (stored, error) {
			var one stored
			var started string
			p := &one.Profile
			err := row.Scan(&one.id, &p.Benchmark, &p.Target, &p.Instance, &started, &p.ElapsedNs, &p.Operations, &p.Void)
			if err != nil {
				return one, err
			}
			p.Started, err = parseTime(started)
			return one, err
		})
		if err != nil {
			return err
		}
		for _, one := range list {
			if one.Waits, err = waits(ctx, tx, one.id); err != nil {
				return err
			}
			if one.Stacks, err = stacks(ctx, tx, one.id); err != nil {
				return err
			}
			profiles = append(profiles, one.Profile)
		}
		return nil
	})
	return profiles, err
}

func waits(ctx context.Context, tx *sql.Tx, profileID int64) ([]dbcanary.Wait, error) {
	rows, err := tx.QueryContext(ctx, "SELECT event, count, total_ns, sampled FROM waits WHERE profile_id = ? ORDER BY position", profileID)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row scanner) (dbcanary.Wait, error) {
		var wait dbcanary.Wait
		err := row.Scan(&wait.Event, &wait.Count, &wait.TotalNs, &wait.Sampled)
		return wait, err
	})
}

func stacks(ctx context.Context, tx *sql.Tx, profileID int64) ([]dbcanary.Stacks, error) {
	rows, err := tx.QueryContext(ctx, "SELECT sampler, pprof FROM stacks WHERE profile_id = ? ORDER BY position", profileID)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row scanner) (dbcanary.Stacks, error) {
		var one dbcanary.Stacks
		err := row.Scan(&one.Sampler, &one.Pprof)
		return one, err
	})
}
