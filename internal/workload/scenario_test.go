package workload

import (
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/load"
)

// loadScenarios loads and warms the datasets of the scenarios.
func (s *serverTest) loadScenarios(t *testing.T) {
	t.Helper()
	for _, dataset := range []Dataset{shop{}, catalog{}} {
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
	for _, b := range scenarios() {
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
