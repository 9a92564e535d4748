package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"

	"github.com/dbcanary/dbcanary"
)

const insertTrial = `INSERT INTO trials (run_id, benchmark, target, instance, block, position, started,
	elapsed_ns, overrun_ns, operations, events, retries,
	latency_min_ns, latency_mean_ns, latency_p50_ns, latency_p95_ns, latency_p99_ns, latency_max_ns,
	server_cpu_ns, client_cpu_ns, foreign_cpu_ns, steal_ns, server_context_switches,
	void, errors, per_second, histogram, metrics)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// AddTrial stores a trial of a run that belongs to this process. Once it has
// returned nil, the trial outlives a kill -9 of this process. Two metrics of one
// name are an error; one whose value is no finite number is left out.
func (s *Store) AddTrial(ctx context.Context, runID int64, trial *dbcanary.Trial) error {
	return s.write(ctx, fmt.Sprintf("add a trial of run %d to", runID), func(tx *sql.Tx) error {
		if err := s.checkOwner(ctx, tx, runID); err != nil {
			return err
		}
		failures, err := jsonOrNull(trial.Errors, len(trial.Errors))
		if err != nil {
			return err
		}
		perSecond, err := jsonOrNull(trial.PerSecond, len(trial.PerSecond))
		if err != nil {
			return err
		}
		metrics, err := encodeMetrics(ctx, tx, trial.Metrics)
		if err != nil {
			return err
		}
		var histogram any
		if len(trial.Histogram) > 0 {
			histogram = trial.Histogram
		}
		latency := trial.LatencyNs
		_, err = tx.ExecContext(ctx, insertTrial, runID, trial.Benchmark, trial.Target, trial.Instance, trial.Block,
			trial.Position, formatTime(trial.Started),
			trial.ElapsedNs, trial.OverrunNs, trial.Operations, trial.Events, trial.Retries,
			latency.Min, numberOrNull(latency.Mean), latency.P50, latency.P95, latency.P99, latency.Max,
			knownOrNull(trial.ServerCPUNs), knownOrNull(trial.ClientCPUNs), trial.ForeignCPUNs, trial.StealNs,
			knownOrNull(trial.ServerContextSwitches), trial.Void, failures, perSecond, histogram, metrics)
		return err
	})
}

const selectTrials = `SELECT benchmark, target, instance, block, position, started,
	elapsed_ns, overrun_ns, operations, events, retries,
	latency_min_ns, latency_mean_ns, latency_p50_ns, latency_p95_ns, latency_p99_ns, latency_max_ns,
	server_cpu_ns, client_cpu_ns, foreign_cpu_ns, steal_ns, server_context_switches,
	void, errors, per_second, histogram, metrics FROM trials WHERE run_id = ? ORDER BY id`

// Trials gives the trials of a run in the order in which they were stored,
// which is the order of measurement, void ones included. Metrics are sorted by name.
func (s *Store) Trials(ctx context.Context, runID int64) ([]dbcanary.Trial, error) {
	var trials []dbcanary.Trial
	err := s.read(ctx, fmt.Sprintf("read the trials of run %d from", runID), func(tx *sql.Tx) error {
		names, err := metricNames(ctx, tx)
		if err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, selectTrials, runID)
		if err != nil {
			return err
		}
		trials, err = collect(rows, func(row scanner) (dbcanary.Trial, error) { return scanTrial(row, names) })
		return err
	})
	return trials, err
}

// TrialCounts gives the number of trials of each run, void ones included, by its ID.
func (s *Store) TrialCounts(ctx context.Context) (map[int64]int, error) {
	counts := map[int64]int{}
	err := s.read(ctx, "count the trials of", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT run_id, count(*) FROM trials GROUP BY run_id")
		if err != nil {
			return err
		}
		_, err = collect(rows, func(row scanner) (int, error) {
			var id int64
			var count int
			err := row.Scan(&id, &count)
			counts[id] = count
			return count, err
		})
		return err
	})
	return counts, err
}

func scanTrial(row scanner, names map[int64]string) (dbcanary.Trial, error) {
	var t dbcanary.Trial
	var started string
	var mean sql.NullFloat64
	var serverCPU, clientCPU, switches sql.NullInt64
	var failures, perSecond, metrics []byte
	latency := &t.LatencyNs
	err := row.Scan(&t.Benchmark, &t.Target, &t.Instance, &t.Block, &t.Position, &started,
		&t.ElapsedNs, &t.OverrunNs, &t.Operations, &t.Events, &t.Retries,
		&latency.Min, &mean, &latency.P50, &latency.P95, &latency.P99, &latency.Max,
		&serverCPU, &clientCPU, &t.ForeignCPUNs, &t.StealNs, &switches,
		&t.Void, &failures, &perSecond, &t.Histogram, &metrics)
	if err != nil {
		return t, err
	}
	latency.Mean = math.NaN()
	if mean.Valid {
		latency.Mean = mean.Float64
	}
	t.ServerCPUNs, t.ClientCPUNs, t.ServerContextSwitches = known(serverCPU), known(clientCPU), known(switches)
	if failures != nil {
		if err := json.Unmarshal(failures, &t.Errors); err != nil {
			return t, fmt.Errorf("errors of a trial: %w", err)
		}
	}
	if perSecond != nil {
		if err := json.Unmarshal(perSecond, &t.PerSecond); err != nil {
			return t, fmt.Errorf("per_second of a trial: %w", err)
		}
	}
	if t.Metrics, err = decodeMetrics(metrics, names); err != nil {
		return t, err
	}
	t.Started, err = parseTime(started)
	return t, err
}

// jsonOrNull is a list or map as JSON text, NULL if it is empty.
func jsonOrNull(value any, length int) (any, error) {
	if length == 0 {
		return nil, nil
	}
	text, err := json.Marshal(value)
	return string(text), err
}

// A counter that could not be read is -1 in a trial and NULL in the store, so
// that an average in SQL leaves it out.

func knownOrNull(count int64) any {
	if count == -1 {
		return nil
	}
	return count
}

func known(count sql.NullInt64) int64 {
	if !count.Valid {
		return -1
	}
	return count.Int64
}

func numberOrNull(value float64) any {
	if math.IsNaN(value) {
		return nil
	}
	return value
}
