package mysql_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build/buildtest"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/dbms/dbmstest"
	"github.com/dbcanary/dbcanary/internal/dbms/mysql"
)

func TestMain(m *testing.M) {
	os.Exit(dbmstest.Main(m, mysql.New(dbcanary.MySQL), mysql.New(dbcanary.MariaDB)))
}

func subject(t *testing.T, family dbcanary.Family, target string) dbmstest.Subject {
	t.Helper()
	return dbmstest.Subject{
		Driver:  mysql.New(family),
		Build:   buildtest.Get(t, target),
		Overlay: dbcanary.Setting{Name: "sort_buffer_size", Value: "524288"},
		Refused: dbcanary.Setting{Name: "no_such_setting", Value: "7"},
		Message: "unknown variable 'no_such_setting=7'",
		Foreign: func(server dbms.Server, _ string) string {
			address := server.Address()
			return fmt.Sprintf("%s://%s:%s@127.0.0.1:%d/", family, address.User, address.Password, address.Port)
		},
	}
}

func TestMySQL97(t *testing.T) { dbmstest.Run(t, subject(t, dbcanary.MySQL, "mysql@9.7")) }

func TestMariaDB1011(t *testing.T) { dbmstest.Run(t, subject(t, dbcanary.MariaDB, "mariadb@10.11")) }

func TestMariaDB105(t *testing.T) { dbmstest.RunShort(t, subject(t, dbcanary.MariaDB, "mariadb@10.5")) }

func TestMariaDB118(t *testing.T) { dbmstest.RunShort(t, subject(t, dbcanary.MariaDB, "mariadb@11.8")) }
