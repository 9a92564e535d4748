package lab

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/load"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// counterServer gives one reading after the other, then an error.
type counterServer struct {
	dbms.Server // no other method is called
	readings    []map[string]float64
	log         []string
}

var errGone = errors.New("the connection is gone")

func (s *counterServer) Counters(context.Context) (dbms.Counters, error) {
	s.log = append(s.log, "read")
	if len(s.readings) == 0 {
		return dbms.Counters{}, errGone
	}
	c := dbms.Counters{Values: map[string]dbms.Counter{}, Missing: map[string]string{"x": "no privilege"}}
	for name, value := range s.readings[0] {
		c.Values[name] = dbms.Counter{Value: value, Gauge: name == "level" || name == "still"}
	}
	s.readings = s.readings[1:]
	return c, nil
}

// lateServer counts late what its sessions did.
type lateServer struct{ *counterServer }

func (s lateServer) FlushCounters(wire.Conn) error {
	s.log = append(s.log, "flush")
	return nil
}

func TestCounting(t *testing.T) {
	server := &counterServer{readings: []map[string]float64{
		{"count": 0}, // opens the connection
		{"count": 100, "queries": 10, "background": 0},
		{"count": 103, "queries": 12, "background": 50}, // the server is at work too
		{"count": 153, "queries": 14, "background": 50},
		{"count": 156, "queries": 16, "background": 70},
		// the slice
		{"count": 156, "queries": 16, "background": 70, "level": 7, "still": 5, "reset": 90, "idle": 4},
		{"count": 359, "queries": 118, "background": 90, "level": 3, "still": 5, "reset": 10, "idle": 4, "new": 8},
	}}
	c := newCounting(server)
	c.calibrate(t.Context(), nil)
	c.calibrate(t.Context(), nil) // known already
	first, last := c.read(t.Context(), nil), c.read(t.Context(), nil)
	want := []dbcanary.Metric{
		{Name: "dbms.background", Value: 10},
		{Name: "dbms.count", Value: 100},
		{Name: "dbms.level", Gauge: true, First: 7, Value: 3, Max: 7},
		{Name: "dbms.queries", Value: 50},
	}
	if diff := cmp.Diff(want, c.between(first, last, 0.5)); diff != "" {
		t.Error(diff)
	}
	missing := []dbcanary.MissingProbe{{Probe: "x", Reason: "no privilege"}}
	if diff := cmp.Diff(missing, c.missing(last)); diff != "" {
		t.Error(diff)
	}
}

// A slice of which one reading failed has no counters, with the reason, and nobody
// waits for the next reading.
func TestCounting_FailsHalfWay(t *testing.T) {
	server := &counterServer{readings: []map[string]float64{{"count": 1}}}
	c := newCounting(server)
	first, last := c.read(t.Context(), nil), c.read(t.Context(), nil)
	if got := c.between(first, last, 1); got != nil {
		t.Errorf("metrics of half a slice: %v", got)
	}
	if got := c.missing(last); len(got) != 1 || got[0].Probe != "counters" || got[0].Reason != errGone.Error() {
		t.Errorf("missing: %+v", got)
	}
	calls := len(server.log)
	c.read(t.Context(), nil)
	c.calibrate(t.Context(), nil)
	if len(server.log) != calls {
		t.Error("a server that failed is read again")
	}
}

func TestCounting_FlushesIdleSessionsFirst(t *testing.T) {
	server := &counterServer{readings: []map[string]float64{{"count": 1}}}
	newCounting(lateServer{server}).read(t.Context(), make([]load.Worker, 2))
	if diff := cmp.Diff([]string{"flush", "flush", "read"}, server.log); diff != "" {
		t.Error(diff)
	}
}

// Counts are scaled from the time with load between the readings to the elapsed time.
func TestObserved_Scale(t *testing.T) {
	start := time.Unix(1000, 0)
	recording := &load.Recording{Started: start, Window: 900 * time.Millisecond, Elapsed: 1800 * time.Millisecond, Operations: 300, Sent: 400}
	readings := func(c *counting) *observed {
		return &observed{
			counting: c,
			first:    reading{dbms.Counters{Values: map[string]dbms.Counter{"count": {Value: 0}}}, start.Add(-100 * time.Millisecond)},
			last:     reading{dbms.Counters{Values: map[string]dbms.Counter{"count": {Value: 1000}}}, start.Add(time.Second)},
		}
	}
	if got := readings(newCounting(&counterServer{})).metrics(recording); len(got) != 1 || got[0].Value != 1800 {
		t.Errorf("by time: %+v, want 1000 / (900 + 100) * 1800", got)
	}
	if got := readings(newCounting(lateServer{&counterServer{}})).metrics(recording); len(got) != 1 || got[0].Value != 750 {
		t.Errorf("by statements: %+v, want 1000 * 300 / 400", got)
	}
}

func TestIsRemote(t *testing.T) {
	for _, row := range []struct {
		address wire.Address
		remote  bool
	}{
		{wire.Address{Host: "127.0.0.1"}, false},
		{wire.Address{Host: "::1"}, false},
		{wire.Address{Host: "localhost"}, false},
		{wire.Address{Socket: "/run/mysqld.sock", Host: "db"}, false},
		{wire.Address{Database: "file.db"}, false}, // SQLite
		{wire.Address{Host: "10.0.0.7"}, true},
		{wire.Address{Host: "db.example.org"}, true},
	} {
		if got := isRemote(row.address); got != row.remote {
			t.Errorf("%+v: %v", row.address, got)
		}
	}
}
