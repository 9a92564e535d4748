package sqlite_test

import (
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms/dbmstest"
	"github.com/dbcanary/dbcanary/internal/dbms/sqlite"
)

func TestSQLite(t *testing.T) {
	driver := sqlite.New()
	binary, err := driver.Identify(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	dbmstest.Run(t, dbmstest.Subject{
		Driver:  driver,
		Build:   dbcanary.Build{Family: dbcanary.SQLite, Version: binary.Version, Provider: "builtin"},
		Overlay: dbcanary.Setting{Name: "wal_autocheckpoint", Value: "500"},
		Refused: dbcanary.Setting{Name: "jurnal_mode", Value: "WAL"},
		Message: "did you mean journal_mode",
	})
}
