package dbmstest

import (
	"context"
	"errors"
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
)

// counters does known work on a server and finds it in its counters, which never go
// down; a reading that is cancelled is an error.
func (f *fixture) counters(t *testing.T) {
	server := f.start(t, f.copy(t))
	conn, err := server.Connect(t.Context())
	must(t, err)
	defer func() { must(t, conn.Close()) }()
	read := func() dbms.Counters {
		if flusher, ok := server.(dbms.Flusher); ok {
			must(t, flusher.FlushCounters(conn))
		}
		counters, err := server.Counters(t.Context())
		must(t, err)
		return counters
	}
	read()
	first := read()
	own := read() // what a reading adds itself
	const statements = 1000
	for range statements {
		_, err := conn.Query([]byte("SELECT c FROM seen WHERE id = 2"))
		must(t, err)
	}
	last := read()
	for name, counter := range last.Values {
		if then, ok := own.Values[name]; ok && !counter.Gauge && counter.Value < then.Value {
			t.Errorf("%s went from %v down to %v: it is a level", name, then.Value, counter.Value)
		}
	}
	name, ok := map[dbcanary.Family]string{
		dbcanary.MySQL: "Com_select", dbcanary.MariaDB: "Com_select", dbcanary.Postgres: "pg_stat_database.xact_commit",
	}[f.Driver.Family()]
	if _, late := last.Missing["pg_stat"]; late {
		name = ""
	}
	if ok && name != "" {
		got := (last.Values[name].Value - own.Values[name].Value) - (own.Values[name].Value - first.Values[name].Value)
		if got < statements || got > 1.05*statements {
			t.Errorf("%s grew by %v for %d statements", name, got, statements)
		}
	}
	if len(last.Values) == 0 && len(last.Missing) == 0 {
		t.Error("no counters, and nothing that says why")
	}
	for name, why := range last.Missing {
		t.Logf("missing %s: %s", name, why)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := server.Counters(ctx); f.Driver.Family() != dbcanary.SQLite && !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled reading gives %v", err)
	}
	f.stop(t, server)
	if counters, err := server.Counters(t.Context()); err == nil && len(counters.Values) > 0 {
		t.Errorf("a stopped server has counters: %v", counters)
	}
}
