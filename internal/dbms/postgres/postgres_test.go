package postgres_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build/buildtest"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/dbms/dbmstest"
	"github.com/dbcanary/dbcanary/internal/dbms/postgres"
)

func TestMain(m *testing.M) { os.Exit(dbmstest.Main(m, postgres.New())) }

func subject(t *testing.T, target string) dbmstest.Subject {
	t.Helper()
	return dbmstest.Subject{
		Driver:  postgres.New(),
		Build:   buildtest.Get(t, target),
		Overlay: dbcanary.Setting{Name: "track_io_timing", Value: "on"},
		Refused: dbcanary.Setting{Name: "no_such_setting", Value: "7"},
		Message: `unrecognized configuration parameter "no_such_setting"`,
		Foreign: func(server dbms.Server, dir string) string {
			return fmt.Sprintf("postgres://dbcanary_admin@/postgres?host=%s/sock&port=%d", dir, server.Address().Port)
		},
	}
}

func TestPostgres15(t *testing.T) { dbmstest.Run(t, subject(t, "postgres@15")) }

func TestPostgres10(t *testing.T) { dbmstest.RunShort(t, subject(t, "postgres@10")) }

func TestPostgres18(t *testing.T) { dbmstest.RunShort(t, subject(t, "postgres@18")) }
