package store

import (
	"database/sql"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// TestSchema holds the schema to testdata/schema.sql: a change of it is seen in
// a review, and needs a migration of its own.
func TestSchema(t *testing.T) {
	s := newStore(t)
	rows, err := s.db.QueryContext(t.Context(),
		"SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type, name")
	if err != nil {
		t.Fatal(err)
	}
	statements, err := collect(rows, func(row scanner) (string, error) {
		var text string
		return text, row.Scan(&text)
	})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(statements, ";\n\n") + ";\n"
	golden := filepath.Join("testdata", "schema.sql")
	if *rewrite {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}

// TestUpgrade opens a store that each released version wrote (the dump of one
// run with two trials by sqlite3's .dump) and finds everything in it.
func TestUpgrade(t *testing.T) {
	fixtures, err := filepath.Glob("testdata/v*.sql")
	if err != nil {
		t.Fatal(err)
	}
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	if len(fixtures) != len(steps) {
		t.Errorf("%d fixtures for %d versions of the schema", len(fixtures), len(steps))
	}
	for _, fixture := range fixtures {
		t.Run(filepath.Base(fixture), func(t *testing.T) {
			dump, err := os.ReadFile(fixture)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "old.db")
			if _, err := rawDB(t, path).Exec(string(dump)); err != nil {
				t.Fatal(err)
			}
			s := openStore(t, path)
			version, err := schemaVersion(t.Context(), s.db)
			if err != nil || version != len(steps) {
				t.Errorf("version %d, error %v, want %d", version, err, len(steps))
			}
			run, err := s.Run(t.Context(), "last")
			if err != nil {
				t.Fatal(err)
			}
			want := newRun()
			hasMetrics := filepath.Base(fixture) >= "v2"
			if !hasMetrics {
				want.Missing = nil
			}
			if filepath.Base(fixture) < "v3" {
				want.Targets[0].Made = nil
			}
			want.ID, want.UID, want.State = 1, run.UID, "interrupted"
			want.Ended = newTrial(1).Started
			want.Problems = append(want.Problems, killed)
			if diff := cmp.Diff(*want, run); diff != "" {
				t.Errorf("run (-want +got):\n%s", diff)
			}
			if filepath.Base(fixture) >= "v4" {
				checkProfiles(t, s, run.ID)
			}
			trials, err := s.Trials(t.Context(), run.ID)
			if err != nil || len(trials) != 2 {
				t.Fatalf("%d trials, error %v", len(trials), err)
			}
			for i := range trials {
				want := newTrial(i)
				if !hasMetrics {
					want.Metrics = nil
				}
				if diff := cmp.Diff(*want, trials[i]); diff != "" {
					t.Errorf("trial %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

func TestMigrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "steps.db")
	db := rawDB(t, path)
	one := []string{"CREATE TABLE a (x); INSERT INTO a VALUES (1)"}
	if err := migrate(t.Context(), db, one); err != nil {
		t.Fatal(err)
	}
	broken := append(one, "ALTER TABLE a ADD COLUMN y", "CREATE TABLE a (x)")
	err := migrate(t.Context(), db, broken)
	if err == nil || !strings.Contains(err.Error(), "bring the schema to version 3") {
		t.Errorf("a broken step: %v", err)
	}
	checkColumns(t, db, 1, 1)
	two := append(one, "ALTER TABLE a ADD COLUMN y DEFAULT 2; UPDATE a SET x = x + 10")
	for range 2 { // the second time nothing is left to do
		if err := migrate(t.Context(), db, two); err != nil {
			t.Fatal(err)
		}
		checkColumns(t, db, 2, 2)
	}
	var x, y int
	if err := db.QueryRowContext(t.Context(), "SELECT x, y FROM a").Scan(&x, &y); err != nil || x != 11 || y != 2 {
		t.Errorf("x %d, y %d, error %v", x, y, err)
	}
}

func checkColumns(t *testing.T, db *sql.DB, columns, version int) {
	t.Helper()
	var gotColumns int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pragma_table_info('a')").Scan(&gotColumns); err != nil {
		t.Fatal(err)
	}
	gotVersion, err := schemaVersion(t.Context(), db)
	if err != nil || gotColumns != columns || gotVersion != version {
		t.Errorf("%d columns at version %d, error %v, want %d at %d", gotColumns, gotVersion, err, columns, version)
	}
}
