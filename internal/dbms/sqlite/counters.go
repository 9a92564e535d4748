package sqlite

import (
	"context"

	"github.com/dbcanary/dbcanary/internal/dbms"
)

// Counters has nothing to give.
func (s *server) Counters(context.Context) (dbms.Counters, error) {
	return dbms.Counters{Missing: map[string]string{"counters": "SQLite keeps no counters"}}, nil
}
