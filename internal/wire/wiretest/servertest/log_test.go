package servertest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Values go into their places; lines that belong to a statement do too, and others don't.
func TestReadPostgresLog(t *testing.T) {
	const text = `2026-12-01 10:00:00.000 UTC [7] LOG:  statement: SELECT 1,
		2
2026-12-01 10:00:00.001 UTC [7] LOG:  checkpoint starting: time
	not of a statement
2026-12-01 10:00:00.002 UTC [7] LOG:  execute <unnamed>: UPDATE t SET a = $2, b = $11, c = $3 WHERE id = $1
2026-12-01 10:00:00.002 UTC [7] DETAIL:  Parameters: $1 = '-12', $2 = 'it''s, $1', $3 = NULL, $11 = '1.5'
2026-12-01 10:00:00.003 UTC [7] ERROR:  nothing of it
`
	want := []string{"SELECT 1,\n\t2", "UPDATE t SET a = 'it''s, $1', b = '1.5', c = NULL WHERE id = -12"}
	if diff := cmp.Diff(want, readPostgresLog(text)); diff != "" {
		t.Error(diff)
	}
}
