package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary/internal/dbms"
	driver "github.com/go-sql-driver/mysql"
)

// Counters reads SHOW GLOBAL STATUS and what InnoDB counts beside it.
func (s *server) Counters(ctx context.Context) (dbms.Counters, error) {
	c := dbms.Counters{Values: map[string]dbms.Counter{}, Missing: map[string]string{}}
	err := s.eachRow(ctx, "SHOW GLOBAL STATUS", func(rows *sql.Rows) error {
		var name string
		var value sql.NullString
		err := rows.Scan(&name, &value)
		c.Add(name, value.String, isGauge(name))
		return err
	})
	if err != nil {
		return c, fmt.Errorf("read the status of the server: %w", err)
	}
	if err := s.addInnoDBMetrics(ctx, &c); err != nil {
		if ctx.Err() != nil {
			return c, err
		}
		c.Missing["innodb_metrics"] = err.Error()
	}
	if err := s.addEngineStatus(ctx, &c); err != nil {
		if ctx.Err() != nil {
			return c, err
		}
		c.Missing["innodb_status"] = err.Error()
	}
	return c, nil
}

func (s *server) eachRow(ctx context.Context, query string, each func(*sql.Rows) error) (err error) {
	rows, err := s.DB.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// addInnoDBMetrics adds the rows of INNODB_METRICS that are switched on and are no
// copies of status variables.
func (s *server) addInnoDBMetrics(ctx context.Context, c *dbms.Counters) error {
	known := map[string]bool{}
	for name := range c.Values {
		known[strings.ToLower(name)] = true
	}
	add := func(rows *sql.Rows) error {
		var name string
		var value sql.NullString
		if err := rows.Scan(&name, &value); err != nil {
			return err
		}
		// buffer_pool_reads, buffer_pages_read and lock_row_lock_time have status variables.
		_, rest, _ := strings.Cut(name, "_")
		if !known["innodb_"+name] && !known["innodb_"+rest] {
			c.Add("innodb_metrics."+name, value.String, isGauge(name))
		}
		return nil
	}
	const query = "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE "
	var err error
	// MariaDB has a number where MySQL and MariaDB before 10.6 have a word.
	if !s.metricsByWord.Load() {
		err = s.eachRow(ctx, query+"ENABLED = 1", add)
	}
	var answer *driver.MySQLError
	if s.metricsByWord.Load() || errors.As(err, &answer) && answer.Number == unknownColumn {
		s.metricsByWord.Store(true)
		err = s.eachRow(ctx, query+"STATUS = 'enabled'", add)
	}
	if err != nil {
		return fmt.Errorf("read information_schema.INNODB_METRICS, which takes the PROCESS privilege: %w", err)
	}
	return nil
}

const unknownColumn = 1054

// Levels of InnoDB that MariaDB has as status variables, under its names.
const (
	checkpointAge = "Innodb_checkpoint_age"
	historyLength = "Innodb_history_list_length"
)

// addEngineStatus adds what has no variable in this server.
func (s *server) addEngineStatus(ctx context.Context, c *dbms.Counters) error {
	if history, ok := c.Values["innodb_metrics.trx_rseg_history_len"]; ok {
		delete(c.Values, "innodb_metrics.trx_rseg_history_len")
		c.Values[historyLength] = dbms.Counter{Value: history.Value, Gauge: true}
	}
	now, ok := c.Values["Innodb_redo_log_current_lsn"]
	then, also := c.Values["Innodb_redo_log_checkpoint_lsn"]
	if ok && also {
		c.Values[checkpointAge] = dbms.Counter{Value: max(0, now.Value-then.Value), Gauge: true}
	}
	_, hasAge := c.Values[checkpointAge]
	_, hasHistory := c.Values[historyLength]
	if hasAge && hasHistory {
		return nil
	}
	var kind, name, text string
	err := s.DB.QueryRowContext(ctx, "SHOW ENGINE INNODB STATUS").Scan(&kind, &name, &text)
	if err != nil {
		return fmt.Errorf("read the status of InnoDB, which takes the PROCESS privilege: %w", err)
	}
	for name, value := range parseEngineStatus(text) {
		if _, known := c.Values[name]; !known {
			c.Values[name] = dbms.Counter{Value: value, Gauge: true}
		}
	}
	return nil
}

var (
	historyPattern    = regexp.MustCompile(`(?m)^History list length (\d+)`)
	lsnPattern        = regexp.MustCompile(`(?m)^Log sequence number +(\d+)(?: (\d+))?\s*$`)
	checkpointPattern = regexp.MustCompile(`(?m)^Last checkpoint at +(\d+)(?: (\d+))?\s*$`)
)

// parseEngineStatus finds the levels in the text of SHOW ENGINE INNODB STATUS.
// Before MySQL 5.5 a log sequence number was printed as two halves of 32 bits.
func parseEngineStatus(text string) map[string]float64 {
	levels := map[string]float64{}
	if match := historyPattern.FindStringSubmatch(text); match != nil {
		if value, err := strconv.ParseFloat(match[1], 64); err == nil {
			levels[historyLength] = value
		}
	}
	now, ok := parseLSN(lsnPattern.FindStringSubmatch(text))
	then, also := parseLSN(checkpointPattern.FindStringSubmatch(text))
	if ok && also && now >= then {
		levels[checkpointAge] = float64(now - then)
	}
	return levels
}

func parseLSN(match []string) (uint64, bool) {
	if match == nil {
		return 0, false
	}
	first, err := strconv.ParseUint(match[1], 10, 64)
	if err != nil || match[2] == "" {
		return first, err == nil
	}
	second, err := strconv.ParseUint(match[2], 10, 32)
	return first<<32 | second, err == nil
}

// levelPattern finds levels by their names, in lower case; all else are counts.
var levelPattern = regexp.MustCompile(`^(?:` + strings.Join([]string{
	// The whole server.
	`threads_(cached|connected|running)`, `threadpool_.*threads`, `open_.*`, `.*_open_temp_tables`, `uptime.*`, `last_.*`, `acl_.*`,
	`max_used_.*`, `(max_)?tmp_space_used`, `memory_used.*`, `global_connection_memory`, `stack_usage`, `prepared_stmt_count`,
	`key_blocks_.*`, `aria_pagecache_blocks_.*`, `qcache_(free|queries|total)_.*`, `tc_log_(max_pages_used|page_size)`,
	`not_flushed_.*`, `delayed_insert_threads`, `error_log_(buffered|latest)_.*`, `.*_last_timestamp`, `.*_longest_seen`,
	`ssl_((ctx_)?verify|default|used)_.*`, `ssl_session_cache_(size|timeout)`, `table_open_cache_active_instances`,
	// Replication.
	`slaves_.*`, `ongoing_.*_count`, `binlog_snapshot_position`, `rpl_.*_(clients|wait_sessions|avg_wait_time)`, `wsrep_cluster_.*`, `wsrep_local_index`, `wsrep_.*thread_count`,
	// InnoDB.
	`.*_pending(_.*)?`, `.*_queue_size`, `.*_tasks_running`, `.*_pages_(data|dirty|free|misc|old|total|latched)`, `.*_bytes_(data|dirty)`,
	`innodb_checkpoint_(max_)?age`, `innodb_history_list_length`, `.*_history_len`, `.*_(page|pool|segment|logical|physical|ibuf)_size`, `ibuf_size`, `.*_free_list`,
	`innodb_mem_.*`, `.*num_open_files`, `.*_onlineddl_.*`, `.*_resize_status_.*`, `.*_capacity_resized`, `.*_uuid`,
	`.*_current_waits`, `.*_time_(avg|max)`, `lock_threads_waiting`, `.*_undo_tablespaces_.*`, `.*_available_undo_logs`, `.*_slots_cached`,
}, "|") + `)$`)

// isGauge says whether a status variable or a metric is a level.
func isGauge(name string) bool { return levelPattern.MatchString(strings.ToLower(name)) }
