package workload

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/load"
)

// loadScenarios loads and warms the datasets of the scenarios.
func (s *serverTest) loadScenarios(t *testing.T) {
	t.Helper()
	for _, dataset := range []Dataset{shop{}, unanalyzed{}, catalog{}} {
		if err := dataset.Load(t.Context(), Loading{Connect: s.server.Connect, Family: s.family, Data: serverData}); err != nil {
			t.Fatal(err)
		}
		if err := dataset.Warm(t.Context(), s.server.Admin(), s.family, serverData); err != nil {
			t.Fatal(err)
		}
	}
}

// testScenarios runs the scenarios that apply; a wrong answer is an error.
func (s *serverTest) testScenarios(t *testing.T) {
	s.load(t, serverData)
	if err := Settle(t.Context(), s.server.Admin(), s.family); err != nil {
		t.Fatal(err)
	}
	t.Run("unanalyzed", s.testUnanalyzed)
	for _, b := range scenarios() {
		if b.Servers {
			continue // it has a test of its own
		}
		b.Label = b.label()
		reason := b.NotApplicable(s.family, serverData)
		if reason != "" {
			t.Logf("%s is not applicable: %s", b.Label, reason)
			continue
		}
		t.Run(b.Label, func(t *testing.T) { s.runScenario(t, b) })
	}
}

// lacking says what the servers of these tests don't have: TLS, and plugins that
// come in packages of their own or are gone.
func lacking(family dbcanary.Family) map[string]string {
	lacks := map[string]string{"connect-tls": "TLS"}
	switch family {
	case dbcanary.MariaDB:
		lacks["connect-ed25519"] = "Plugin 'ed25519' is not loaded"
	case dbcanary.MySQL:
		lacks["connect-native"] = "Plugin 'mysql_native_password' is not loaded"
	}
	return lacks
}

func (s *serverTest) runScenario(t *testing.T, b Benchmark) {
	t.Helper()
	state := new(State)
	state.changed.Store(true)
	env := Env{
		Family: s.family, Data: serverData, State: state, Workers: 2 + b.Background,
		Address: s.server.Address(), Admin: s.server.Admin(), Connect: s.server.Connect,
	}
	var workers []load.Worker
	for env.Worker = range env.Workers {
		env.Conn = s.connect(t)
		work, err := b.Open(t.Context(), env)
		if lacks := lacking(s.family)[b.Name]; lacks != "" {
			if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), lacks) {
				t.Errorf("error %v, want one with %q", err, lacks)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		work.Reseed(seedOf(b) + uint64(env.Worker))
		workers = append(workers, load.Worker{Conn: env.Conn, Event: work, Multiplex: b.Multiplexes(), Background: env.Worker >= env.Workers-b.Background})
	}
	recording, err := load.Run(t.Context(), workers, load.Options{Events: 6})
	if err != nil {
		t.Fatal(err)
	}
	if void := recording.Void(); void != "" || recording.Events != 6 {
		t.Errorf("%d events; void: %s", recording.Events, void)
	}
}

// testPrograms compares what the server logged of the scenarios that are more than a
// list of statements with what they say they do.
func (s *serverTest) testPrograms(t *testing.T) {
	if s.family == dbcanary.SQLite {
		return // it keeps no log
	}
	s.load(t, serverData)
	for _, b := range scenarios() {
		b.Label = b.label()
		if b.Program == nil || b.Servers || b.NotApplicable(s.family, serverData) != "" || lacking(s.family)[b.Name] != "" {
			continue
		}
		t.Run(b.Label, func(t *testing.T) {
			if b.Group == Connect {
				s.testLogins(t, b)
			} else {
				s.testBackground(t, b)
			}
		})
	}
}

// open makes the work of each worker.
func (s *serverTest) open(t *testing.T, b Benchmark, workers int) []Work {
	t.Helper()
	state := new(State)
	state.changed.Store(true)
	var works []Work
	for worker := range workers {
		work, err := b.Open(t.Context(), Env{
			Family: s.family, Data: serverData, State: state, Worker: worker, Workers: workers, Conn: s.connect(t),
			Address: s.server.Address(), Admin: s.server.Admin(), Connect: s.server.Connect,
		})
		if err != nil {
			t.Fatal(err)
		}
		work.Reseed(uint64(worker))
		works = append(works, work)
	}
	return works
}

func (s *serverTest) runWork(t *testing.T, work Work, events int) {
	t.Helper()
	for range events {
		if _, err := work.Run(); err != nil {
			t.Fatal(err)
		}
	}
}

// plugins are by what the accounts of the storms log in.
func plugins() map[string]string {
	return map[string]string{"connect-native": "mysql_native_password", "connect-sha2": "caching_sha2_password"}
}

// testLogins: each event is one session that asks for one row; one more comes before.
func (s *serverTest) testLogins(t *testing.T, b Benchmark) {
	log := s.server.LogStatements(t)
	const events = 7
	s.runWork(t, s.open(t, b, 1)[0], events)
	if sessions := s.server.Sessions(t, "SELECT 1"); sessions != events+1 {
		t.Errorf("%d sessions for %d events", sessions, events)
	}
	asked := 0
	for _, statement := range log(t) {
		switch verb, _, _ := strings.Cut(statement, " "); {
		case statement == "SELECT 1":
			asked++
		case statement == "SET NAMES DEFAULT" || verb == "DROP" || verb == "CREATE" || verb == "GRANT" || verb == "INSTALL" || strings.Contains(statement, "general_log"):
			// What a connection begins with, the account, and how the log is read.
		default:
			t.Errorf("the server was sent %s", statement)
		}
	}
	if asked != events+1 {
		t.Errorf("a row was asked for %d times in %d events", asked, events)
	}
	if plugin := plugins()[b.Name]; plugin != "" {
		got, err := texts(t.Context(), s.server.Admin(), "SELECT plugin FROM mysql.user WHERE user = 'storm_"+strings.TrimPrefix(b.Name, "connect-")+"'")
		if err != nil || len(got) != 1 || got[0] != plugin {
			t.Errorf("the account logs in by %v, %v", got, err)
		}
	}
}

// testBackground: the last worker builds and drops an index, the others change a row
// in each event.
func (s *serverTest) testBackground(t *testing.T, b Benchmark) {
	if b.Name != "ddl-beside-dml" {
		t.Fatalf("what %s sends is held by no test", b.Name)
	}
	works := s.open(t, b, 2)
	log := s.server.LogStatements(t)
	s.runWork(t, works[0], 9)
	s.runWork(t, works[1], 2)
	changed, built := 0, []string{}
	update := regexp.MustCompile(`^UPDATE sbtest[12] SET c='[-0-9]{119}' WHERE id=\d+$`)
	for _, statement := range log(t) {
		if update.MatchString(statement) {
			changed++
		} else if strings.Contains(statement, " beside") {
			built = append(built, strings.Replace(statement, " CONCURRENTLY", "", 1))
		} else if strings.HasPrefix(statement, "UPDATE") {
			t.Errorf("the server was sent %s", statement)
		}
	}
	create, drop := "CREATE INDEX beside ON sbtest1 (k, id)", "DROP INDEX beside ON sbtest1"
	if s.family == dbcanary.Postgres {
		drop = "DROP INDEX beside"
	}
	if diff := cmp.Diff([]string{create, drop, create, drop}, built); diff != "" || changed != 9 {
		t.Errorf("%d rows changed in 9 events; indexes (-documented +logged):\n%s", changed, diff)
	}
}

// testUnanalyzed: the tables of that name have no statistics, and others have.
func (s *serverTest) testUnanalyzed(t *testing.T) {
	query := "SELECT COUNT(DISTINCT tbl) FROM sqlite_stat1 WHERE tbl IN "
	switch s.family {
	case dbcanary.Postgres:
		query = "SELECT COUNT(DISTINCT tablename) FROM pg_stats WHERE tablename IN "
	case dbcanary.MySQL, dbcanary.MariaDB:
		query = "SELECT COUNT(*) FROM mysql.innodb_table_stats WHERE database_name = DATABASE() AND n_rows > 0 AND table_name IN "
	}
	for names, want := range map[string]string{unanalyzedTables: "0", "'shop_customer', 'shop_order'": "2"} {
		got, err := texts(t.Context(), s.server.Admin(), query+"("+names+")")
		if err != nil || got[0] != want {
			t.Errorf("%v of %s have statistics, not %s: %v", got, names, want, err)
		}
	}
}
