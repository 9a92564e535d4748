package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// promptStatistics is the first release whose views count at once, when asked, what a
// session did. Sessions of older ones tell a collector of it at most every half second,
// and nothing makes them but half a second without work and a statement after it
// (PGSTAT_STAT_INTERVAL in pgstat.c of 14): too late for a slice.
const promptStatistics = "15"

// A statisticsView is a view of one or more rows that count. Its numeric columns are
// taken as they are, so that a release may add and drop some.
type statisticsView struct {
	from  string // first release that has it
	query string // names what the row counts, and the row as JSON
}

func statisticsViews() []statisticsView {
	return []statisticsView{
		{"15", `SELECT 'pg_stat_database', row_to_json(s) FROM pg_stat_database s WHERE datname = current_database()`},
		{"15", `SELECT 'pg_stat_bgwriter', row_to_json(s) FROM pg_stat_bgwriter s`},
		{"15", `SELECT 'pg_stat_wal', row_to_json(s) FROM pg_stat_wal s`},
		{"16", `SELECT concat_ws('.', 'pg_stat_io', replace(backend_type, ' ', '_'), replace(object, ' ', '_'), context), row_to_json(s) FROM pg_stat_io s`},
		{"17", `SELECT 'pg_stat_checkpointer', row_to_json(s) FROM pg_stat_checkpointer s`},
	}
}

// statementsQuery sums up the statements; the view is there with its extension only,
// of a version that is not the server's. It lies in shared memory and counts at once,
// in old releases too.
func statementsQuery(version string) string {
	// Version 1.8, of PostgreSQL 13, parted planning from execution and counts WAL.
	own := "sum(total_time) AS total_exec_time"
	if dbms.CompareVersions(version, "1.8") >= 0 {
		own = `sum(total_plan_time) AS total_plan_time, sum(total_exec_time) AS total_exec_time,
	sum(wal_records) AS wal_records, sum(wal_fpi) AS wal_fpi, sum(wal_bytes) AS wal_bytes`
	}
	return `SELECT 'pg_stat_statements', row_to_json(s) FROM (SELECT sum(calls) AS calls, sum(rows) AS rows,
	sum(shared_blks_hit) AS shared_blks_hit, sum(shared_blks_read) AS shared_blks_read,
	sum(shared_blks_dirtied) AS shared_blks_dirtied, sum(shared_blks_written) AS shared_blks_written,
	sum(temp_blks_read) AS temp_blks_read, sum(temp_blks_written) AS temp_blks_written,
	` + own + ` FROM pg_stat_statements) s`
}

// createStatements makes the view of statements where its library is loaded.
func createStatements(ctx context.Context, db *sql.DB) error {
	var loaded bool
	err := db.QueryRowContext(ctx, "SELECT current_setting('shared_preload_libraries') LIKE '%pg_stat_statements%'").Scan(&loaded)
	if err == nil && loaded {
		_, err = db.ExecContext(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
	}
	if err != nil {
		return fmt.Errorf("make the view of statements: %w", err)
	}
	return nil
}

// Counters reads the statistics views in one statement.
func (s *server) Counters(ctx context.Context) (_ dbms.Counters, err error) {
	c := dbms.Counters{Values: map[string]dbms.Counter{}, Missing: map[string]string{}}
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return c, fmt.Errorf("read the statistics of the server: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	query, err := s.countersQuery(ctx, conn)
	if err != nil {
		return c, err
	}
	if s.prompt() {
		// So that this reading counts itself always, and not now and then.
		if _, err := conn.ExecContext(ctx, flushStatistics); err != nil {
			return c, fmt.Errorf("read the statistics of the server: %w", err)
		}
	} else {
		c.Missing["pg_stat"] = "before PostgreSQL " + promptStatistics + " a session tells what it did up to half a second later, too late for a slice"
	}
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return c, fmt.Errorf("read the statistics of the server: %w", err)
	}
	for rows.Next() {
		var name string
		var row []byte
		err := rows.Scan(&name, &row)
		if err == nil {
			err = addRow(&c, name, row)
		}
		if err != nil {
			return c, errors.Join(err, rows.Close())
		}
	}
	return c, errors.Join(rows.Err(), rows.Close())
}

// addRow adds the numeric columns of a row, whose JSON the server leaves to us to
// take apart: that would cost it as much as all else here.
func addRow(c *dbms.Counters, name string, row []byte) error {
	var columns map[string]json.RawMessage
	if err := json.Unmarshal(row, &columns); err != nil {
		return fmt.Errorf("read the statistics of the server: %s: %w", name, err)
	}
	for column, value := range columns {
		full := name + "." + column
		c.Add(full, string(value), isGauge(full))
	}
	return nil
}

// isGauge says whether a column is a level; the others are counts.
func isGauge(name string) bool {
	_, column, _ := strings.Cut(name, ".")
	return column == "numbackends" || column == "datid" || strings.HasSuffix(column, ".op_bytes")
}

// countersQuery makes the statement for this server once.
func (s *server) countersQuery(ctx context.Context, conn *sql.Conn) (string, error) {
	s.countersMutex.Lock()
	defer s.countersMutex.Unlock()
	if s.counters != "" {
		return s.counters, nil
	}
	var parts []string
	for _, view := range statisticsViews() {
		if dbms.CompareVersions(s.Release, view.from) >= 0 {
			parts = append(parts, view.query)
		}
	}
	var statements string // version of the extension, "" without it
	var standby bool
	err := conn.QueryRowContext(ctx, "SELECT coalesce((SELECT extversion FROM pg_extension WHERE extname = 'pg_stat_statements'), ''), pg_is_in_recovery()").Scan(&statements, &standby)
	if err != nil {
		return "", fmt.Errorf("ask which statistics the server has: %w", err)
	}
	if statements != "" {
		parts = append(parts, statementsQuery(statements))
	}
	wal := "pg_current_wal_lsn()"
	if standby {
		wal = "pg_last_wal_replay_lsn()"
	}
	parts = append(parts, "SELECT 'wal', json_build_object('lsn', "+wal+" - '0/0')")
	s.counters = strings.Join(parts, " UNION ALL ")
	return s.counters, nil
}

func (s *server) prompt() bool { return dbms.CompareVersions(s.Release, promptStatistics) >= 0 }

const flushStatistics = "SELECT pg_stat_force_next_flush()"

// FlushCounters has the server count what a session did.
func (s *server) FlushCounters(conn wire.Conn) error {
	if !s.prompt() {
		return nil
	}
	if _, err := conn.Query([]byte(flushStatistics)); err != nil {
		return fmt.Errorf("have the server count what a session did: %w", err)
	}
	return nil
}
