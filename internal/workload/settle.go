package workload

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// ErrUnsettled is in the chain of Settle's error when statistics are up to date
// but the debt of writes is not fully paid: the time limit passed or the user may
// not do it. Measuring goes on, with a warning.
var ErrUnsettled = errors.New("the debt of writes is not fully paid")

const (
	settlePoll = 50 * time.Millisecond

	// How long the conditions of InnoDB are waited for: a minute, and a second for so
	// many pages (256 MiB), about as long as the published scripts sleep.
	settleBase, settleMost = time.Minute, 20 * time.Minute
	settlePages            = 1 << 14
)

func settleLimit(pages int64) time.Duration {
	return min(settleMost, settleBase+time.Duration(pages/settlePages)*time.Second)
}

// Settle pays what loading and writing left to be done in the background, and
// renews the statistics, so that no later benchmark is charged for it: ANALYZE
// and, on InnoDB, flushing until few pages are dirty and little history is left;
// VACUUM ANALYZE of tables and indexes and CHECKPOINT on PostgreSQL; ANALYZE and a checkpoint of the log
// on SQLite. It waits for conditions, not for a time, up to a limit after which
// the error is ErrUnsettled. The unanalyzed tables stay as they are. admin must use
// the database that holds the tables.
func Settle(ctx context.Context, admin *sql.DB, family dbcanary.Family) error {
	var err error
	switch family {
	case dbcanary.MySQL, dbcanary.MariaDB:
		err = settleInnoDB(ctx, admin)
	case dbcanary.Postgres:
		err = settlePostgres(ctx, admin)
	case dbcanary.SQLite:
		err = settleSQLite(ctx, admin)
	default:
		err = dbcanary.Errorf(dbcanary.CodeUsage, "unknown family")
	}
	if err != nil {
		return fmt.Errorf("settle %s: %w", family, err)
	}
	return nil
}

func execAll(ctx context.Context, admin *sql.DB, statements ...string) error {
	for _, statement := range statements {
		if _, err := admin.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// texts reads the first column of a query.
func texts(ctx context.Context, admin *sql.DB, query string) ([]string, error) {
	rows, err := admin.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}

func settlePostgres(ctx context.Context, admin *sql.DB) error {
	tables, err := texts(ctx, admin, "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT IN ("+unanalyzedTables+") ORDER BY 1")
	if err != nil {
		return err
	}
	versions, err := texts(ctx, admin, "SELECT current_setting('server_version_num')")
	if err != nil {
		return err
	}
	vacuum := "VACUUM (ANALYZE) "
	if version, err := strconv.Atoi(versions[0]); err == nil && version >= 120000 {
		vacuum = "VACUUM (ANALYZE, INDEX_CLEANUP ON) " // else dead entries of indexes stay where they are few
	}
	for _, table := range tables {
		if err := execAll(ctx, admin, vacuum+table); err != nil {
			return err
		}
	}
	if err := execAll(ctx, admin, "CHECKPOINT"); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("%w: %w", ErrUnsettled, err)
	}
	return nil
}

func settleSQLite(ctx context.Context, admin *sql.DB) error {
	tables, err := texts(ctx, admin, "SELECT 'ANALYZE \"' || name || '\"' FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT IN ("+unanalyzedTables+") ORDER BY 1")
	if err != nil {
		return err
	}
	return execAll(ctx, admin, append(tables, "PRAGMA wal_checkpoint(TRUNCATE)")...)
}

func settleInnoDB(ctx context.Context, admin *sql.DB) error {
	tables, err := texts(ctx, admin, "SELECT CONCAT('`', table_name, '`') FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' AND table_name NOT IN ("+unanalyzedTables+") ORDER BY 1")
	if err != nil {
		return err
	}
	for _, table := range tables {
		if err := analyzeInnoDB(ctx, admin, table); err != nil {
			return fmt.Errorf("ANALYZE TABLE %s: %w", table, err)
		}
	}
	restore, err := flushEagerly(ctx, admin)
	if err == nil {
		err = waitInnoDB(ctx, admin)
	}
	return errors.Join(err, restore())
}

// analyzeInnoDB renews the statistics of a table. The statement reports a failure
// in a row of its answer.
func analyzeInnoDB(ctx context.Context, admin *sql.DB, table string) error {
	rows, err := admin.QueryContext(ctx, "ANALYZE TABLE "+table)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name, operation, kind, text string
		if err := rows.Scan(&name, &operation, &kind, &text); err != nil {
			return err
		}
		if strings.EqualFold(kind, "error") {
			return errors.New(text)
		}
	}
	return rows.Err()
}

// flushEagerly makes InnoDB write dirty pages out at once. restore puts the
// settings back, also when flushEagerly failed half-way or ctx has ended.
func flushEagerly(ctx context.Context, admin *sql.DB) (restore func() error, err error) {
	type saved struct{ name, value string }
	var before []saved
	restore = func() error {
		for i := len(before) - 1; i >= 0; i-- {
			statement := "SET GLOBAL " + before[i].name + " = " + before[i].value
			if err := execAll(context.WithoutCancel(ctx), admin, statement); err != nil {
				return err
			}
		}
		return nil
	}
	// The low water mark first: it must not lie above the other.
	for _, name := range []string{"innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct"} {
		values, err := texts(ctx, admin, "SELECT @@GLOBAL."+name)
		if err != nil {
			return restore, err
		}
		if err := execAll(ctx, admin, "SET GLOBAL "+name+" = 0"); err != nil {
			if ctx.Err() != nil {
				return restore, err
			}
			return restore, fmt.Errorf("%w: %w", ErrUnsettled, err)
		}
		before = append(before, saved{name, values[0]})
	}
	return restore, nil
}

// waitInnoDB waits until at most one page in a hundred of those with data is
// dirty and the history list is short.
func waitInnoDB(ctx context.Context, admin *sql.DB) error {
	_, pages, _, err := innoDBDebt(ctx, admin)
	if err != nil {
		return err
	}
	limit := time.NewTimer(settleLimit(pages))
	defer limit.Stop()
	tick := time.NewTicker(settlePoll)
	defer tick.Stop()
	for {
		dirty, data, history, err := innoDBDebt(ctx, admin)
		if err != nil {
			return err
		}
		const fewPages, shortHistory = 64, 1000
		if dirty <= max(fewPages, data/100) && history <= shortHistory {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-limit.C:
			return fmt.Errorf("%w after %v: %d of %d pages are dirty, history list length is %d", ErrUnsettled, settleLimit(pages), dirty, data, history)
		case <-tick.C:
		}
	}
}

func innoDBDebt(ctx context.Context, admin *sql.DB) (dirty, data, history int64, err error) {
	for _, counter := range []struct {
		name string
		into *int64
	}{
		{"Innodb_buffer_pool_pages_dirty", &dirty},
		{"Innodb_buffer_pool_pages_data", &data},
	} {
		var name, value string
		if err := admin.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE '"+counter.name+"'").Scan(&name, &value); err != nil {
			return 0, 0, 0, fmt.Errorf("read %s: %w", counter.name, err)
		}
		if *counter.into, err = strconv.ParseInt(value, 10, 64); err != nil {
			return 0, 0, 0, fmt.Errorf("read %s: %w", counter.name, err)
		}
	}
	// The metric is on by default since MySQL 5.6 and in every MariaDB.
	err = admin.QueryRowContext(ctx, "SELECT count FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'").Scan(&history)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("read the history list length: %w", err)
	}
	return dirty, data, history, nil
}
