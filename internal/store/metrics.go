package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// Metrics are JSON in one column, with numbers for names: a row for each of the
// 150 that a slice on MySQL moves would take five times the space of a trial and
// most of the time of a report.

// encodeMetrics is the column of a trial, NULL for no metrics. A value that is no
// finite number is unknown, and left out as every unknown one.
func encodeMetrics(ctx context.Context, tx *sql.Tx, metrics []dbcanary.Metric) (any, error) {
	if len(metrics) == 0 {
		return nil, nil
	}
	ids, err := metricIDs(ctx, tx)
	if err != nil {
		return nil, err
	}
	sorted := slices.SortedFunc(slices.Values(metrics), func(a, b dbcanary.Metric) int { return strings.Compare(a.Name, b.Name) })
	var entries [][]float64
	for i := range sorted {
		m := &sorted[i]
		if i > 0 && m.Name == sorted[i-1].Name {
			return nil, fmt.Errorf("two metrics of the name %s", m.Name)
		}
		if !finite(m.Value) || m.Gauge && !(finite(m.First) && finite(m.Max)) {
			continue
		}
		id, known := ids[m.Name]
		if !known {
			const add = "INSERT INTO metric_names (name) VALUES (?) RETURNING id"
			if err := tx.QueryRowContext(ctx, add, m.Name).Scan(&id); err != nil {
				return nil, fmt.Errorf("metric %s: %w", m.Name, err)
			}
			ids[m.Name] = id
		}
		entry := []float64{float64(id), m.Value}
		if m.Gauge {
			entry = append(entry, m.First, m.Max)
		}
		entries = append(entries, entry)
		if len(m.PerSecond) > 0 && !slices.ContainsFunc(m.PerSecond, func(v float64) bool { return !finite(v) }) {
			entries = append(entries, append([]float64{-float64(id)}, m.PerSecond...))
		}
	}
	return jsonOrNull(entries, len(entries))
}

func finite(value float64) bool { return !math.IsNaN(value) && !math.IsInf(value, 0) }

// metricIDs gives the number of each name that some trial of the store has.
func metricIDs(ctx context.Context, tx *sql.Tx) (map[string]int64, error) {
	rows, err := tx.QueryContext(ctx, "SELECT id, name FROM metric_names")
	if err != nil {
		return nil, err
	}
	ids := map[string]int64{}
	_, err = collect(rows, func(row scanner) (struct{}, error) {
		var id int64
		var name string
		err := row.Scan(&id, &name)
		ids[name] = id
		return struct{}{}, err
	})
	return ids, err
}

// metricNames gives the names by their numbers.
func metricNames(ctx context.Context, tx *sql.Tx) (map[int64]string, error) {
	ids, err := metricIDs(ctx, tx)
	names := make(map[int64]string, len(ids))
	for name, id := range ids {
		names[id] = name
	}
	return names, err
}

// decodeMetrics reads the column of a trial; the metrics are sorted by name.
func decodeMetrics(text []byte, names map[int64]string) ([]dbcanary.Metric, error) {
	if text == nil {
		return nil, nil
	}
	var entries [][]float64
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("metrics of a trial: %w", err)
	}
	var metrics []dbcanary.Metric
	for _, entry := range entries {
		if n := len(metrics); n > 0 && len(entry) > 1 && entry[0] < 0 && names[int64(-entry[0])] == metrics[n-1].Name {
			metrics[n-1].PerSecond = entry[1:]
			continue
		}
		if len(entry) != 2 && len(entry) != 4 || names[int64(entry[0])] == "" {
			return nil, fmt.Errorf("metrics of a trial: %v is no entry", entry)
		}
		metric := dbcanary.Metric{Name: names[int64(entry[0])], Value: entry[1]}
		if len(entry) == 4 {
			metric.Gauge, metric.First, metric.Max = true, entry[2], entry[3]
		}
		metrics = append(metrics, metric)
	}
	return metrics, nil
}
