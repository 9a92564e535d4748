package workload

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testDigests holds what the tables of the scenarios and of slap hold for serverData:
// the same in every version of dbcanary, on every family.
func (s *serverTest) testDigests(t *testing.T) {
	all := map[string]string{
		"shop_customer": "1050 rows 5037657a4487f6a2",
		"shop_order":    "10500 rows 12b20f11f2c870ba",
		"shop_part":     "10500 rows 63eb7992f8134114",
		"shop_text":     "10500 rows f6818d91f0fdc336",
		"shop_wide":     "10500 rows ae906508d1a2b011",
		"slap":          "64000 rows ecc4e0a99649b6a0",
		"slap_memory":   "64000 rows ecc4e0a99649b6a0",
		"slap_myisam":   "64000 rows ecc4e0a99649b6a0",
	}
	want, got := map[string]string{}, map[string]string{}
	for _, table := range shopTables(s.family, serverData.TableSize) {
		got[table.Name] = s.digest(t, table.Name, "id")
	}
	for _, engine := range slapEngines() {
		if engine.not[s.family] == "" {
			got[engine.table()] = s.digest(t, engine.table(), "i")
		}
	}
	for table := range got {
		want[table] = all[table]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

// digest sums up the rows of a table in the order of a column.
func (s *serverTest) digest(t *testing.T, table, order string) string {
	t.Helper()
	rows, err := s.server.Admin().QueryContext(t.Context(), "SELECT * FROM "+table+" ORDER BY "+order)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	hash, count := sha256.New(), 0
	for ; rows.Next(); count++ {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for _, value := range values {
			fmt.Fprintf(hash, "%q,", value.String)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d rows %x", count, hash.Sum(nil)[:8])
}
