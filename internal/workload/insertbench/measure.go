package insertbench

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// The metrics of a step.
const (
	InsertedRows = "work.inserted_rows"
	DeletedRows  = "work.deleted_rows"
	Queries      = "work.queries"
	OfferedRows  = "work.offered_rows"
	InsertMax    = "work.insert_max_ns"
	DeleteMax    = "work.delete_max_ns"
	QueryMax     = "work.query_max_ns"
	IndexTime    = "work.create_index_ns"
	TableBytes   = "work.table_bytes"
)

// series is what one worker did in each second of a step.
type series struct {
	run   *Run
	count []float64 // rows, or queries
	most  []float64 // longest statement, ns
}

// add counts the rows of a statement that has just ended.
func (s *series) add(rows int, began time.Time) {
	now := time.Now()
	at := max(0, int(now.Sub(s.run.base)/time.Second))
	for len(s.count) <= at {
		s.count = append(s.count, 0)
		s.most = append(s.most, 0)
	}
	s.count[at] += float64(rows)
	s.most[at] = max(s.most[at], float64(now.Sub(began)))
}

// rows gives what the workers did in each second, and the total for the time of the
// trial. Of a step that ends by time only whole seconds count: work at a rate comes
// at the begin of each, and the one under way at the end is none of the step's.
func (r *Run) rows(list []*series, trial *dbcanary.Trial) (total float64, seconds []float64) {
	seconds = bySecond(list, func(s *series) []float64 { return s.count }, func(a, b float64) float64 { return a + b })
	scale := 1.0
	if whole := int(trial.ElapsedNs / 1e9); r.step.Queries() && whole > 0 {
		seconds = seconds[:min(whole, len(seconds))]
		scale = float64(trial.ElapsedNs) / 1e9 / float64(whole)
	}
	for _, n := range seconds {
		total += n * scale
	}
	return total, seconds
}

// bySecond joins the series of several workers.
func bySecond(list []*series, of func(*series) []float64, join func(a, b float64) float64) []float64 {
	var joined []float64
	for _, s := range list {
		for at, value := range of(s) {
			if at == len(joined) {
				joined = append(joined, 0)
			}
			joined[at] = join(joined[at], value)
		}
	}
	return joined
}

// measure adds what the step did to the trial.
func (r *Run) measure(ctx context.Context, admin *sql.DB, trial *dbcanary.Trial) error {
	for _, kind := range []struct {
		rows, longest string
		list          []*series
	}{
		{InsertedRows, InsertMax, r.inserts},
		{DeletedRows, DeleteMax, r.deletes},
		{Queries, QueryMax, r.queries},
	} {
		if len(kind.list) == 0 {
			continue
		}
		total, rows := r.rows(kind.list, trial)
		longest := bySecond(kind.list, func(s *series) []float64 { return s.most }, math.Max)
		longest = longest[:len(rows)]
		trial.Metrics = append(trial.Metrics, dbcanary.Metric{Name: kind.rows, Value: total, PerSecond: rows})
		if len(longest) > 0 {
			trial.Metrics = append(trial.Metrics, dbcanary.Metric{
				Name: kind.longest, Gauge: true, First: longest[0], Value: longest[len(longest)-1], Max: slices.Max(longest), PerSecond: longest,
			})
		}
	}
	if r.step.Queries() {
		offered := float64(r.step.Rate*r.bench.Params.Clients) * float64(trial.ElapsedNs) / 1e9
		trial.Metrics = append(trial.Metrics, dbcanary.Metric{Name: OfferedRows, Value: offered})
	}
	if r.step.Kind == Index {
		trial.Metrics = append(trial.Metrics, dbcanary.Metric{Name: IndexTime, Value: float64(r.indexed.Load())})
	}
	size, err := r.bench.size(ctx, admin)
	if err != nil {
		return err
	}
	trial.Metrics = append(trial.Metrics, dbcanary.Metric{Name: TableBytes, Gauge: true, First: size, Value: size, Max: size})
	slices.SortFunc(trial.Metrics, func(a, b dbcanary.Metric) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// size is what the tables take with their indexes, as the server tells it.
func (b *Bench) size(ctx context.Context, admin *sql.DB) (float64, error) {
	total := 0.0
	for _, c := range b.clients {
		query := "select pg_total_relation_size('" + Table(c.number) + "')"
		if isMySQL(b.Family) {
			query = "select coalesce(sum(data_length + index_length), 0) from information_schema.tables where table_schema = database() and table_name = '" + Table(c.number) + "'"
		}
		var size float64
		if err := admin.QueryRowContext(ctx, query).Scan(&size); err != nil {
			return 0, fmt.Errorf("%s: %w", query, err)
		}
		total += size
	}
	return total, nil
}
