package workload

import (
	"context"
	"database/sql"
	"fmt"
)

// Warm reads every table by its primary order and by its secondary index, so that
// a server that has just started answers the first slice from memory.
func Warm(ctx context.Context, admin *sql.DB, data Data) error {
	for table := 1; table <= data.Tables; table++ {
		for _, query := range []string{
			"SELECT COUNT(*) FROM sbtest%d WHERE LENGTH(c) < 0",
			"SELECT COUNT(k) FROM sbtest%d WHERE k > 0",
		} {
			var count int64
			query = fmt.Sprintf(query, table)
			if err := admin.QueryRowContext(ctx, query).Scan(&count); err != nil {
				return fmt.Errorf("warm the caches: %s: %w", query, err)
			}
		}
	}
	return nil
}
