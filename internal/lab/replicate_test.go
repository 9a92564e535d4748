package lab

import (
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// A benchmark that starts servers of its own applies to builds, and not to the server of
// somebody else or to a family without replicas.
func TestNotApplicable_Servers(t *testing.T) {
	s := &state{data: workload.Data{Tables: 1, TableSize: 1000}}
	for label, reasons := range map[string]map[string]string{
		"replica-catch-up": {"mariadb": "", "mariadb dsn": workload.NoServers, "sqlite": "it has no replicas"},
		"point-query":      {"mariadb": "", "mariadb dsn": "", "sqlite": ""},
	} {
		benchmark, err := workload.Find(label)
		if err != nil {
			t.Fatal(err)
		}
		for target, want := range reasons {
			on := &subject{Subject: Subject{Driver: drivers.For(dbcanary.MariaDB)}}
			switch target {
			case "sqlite":
				on.Driver = drivers.For(dbcanary.SQLite)
			case "mariadb dsn":
				on.DSN = "mariadb://user@127.0.0.1/"
			}
			if got := s.notApplicable(benchmark, on); got != want {
				t.Errorf("%s on %s: %q, want %q", label, target, got, want)
			}
		}
	}
}
