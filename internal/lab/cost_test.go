package lab

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
	"github.com/dbcanary/dbcanary/internal/load"
	"github.com/dbcanary/dbcanary/internal/probe"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest/servertest"
	"github.com/dbcanary/dbcanary/internal/workload"
	"github.com/dbcanary/dbcanary/stat"
)

// TestCounting_Cost holds what probing takes of a real server to 1 % of the CPU time
// that a slice of a second on one connection takes of it: the two readings of the
// counters, which are outside of the measured time; the kernel's numbers take nothing
// of the server. It takes medians of slices and readings in turn, since a busy host
// makes a reading dear, and its moment unsure. docs/METRICS.md has the numbers that
// it prints.
func TestCounting_Cost(t *testing.T) {
	for _, target := range []string{"mariadb@10.11", "mysql@9.7", "postgres@18"} {
		t.Run(target, func(t *testing.T) {
			c := startLoaded(t, target)
			c.counting = newCounting(c.server)
			c.counting.calibrate(t.Context(), c.workers)
			selects := map[dbcanary.Family]string{
				dbcanary.MariaDB: "dbms.Com_select", dbcanary.MySQL: "dbms.Com_select", dbcanary.Postgres: "dbms.pg_stat_database.xact_commit",
			}[c.Driver.Family()]
			var shares, statements []float64
			for range 7 {
				read := costOfReading(t, c)
				slice, recording, metrics := countedSlice(t, c)
				share := 2 * read / float64(slice.ServerCPUNs)
				t.Logf("a reading takes %.2f ms of CPU time of the server, both %.2f %% of the %.0f ms of a slice of %v; %d counters moved",
					read/1e6, 100*share, float64(slice.ServerCPUNs)/1e6, recording.Window.Round(time.Millisecond), len(metrics))
				shares = append(shares, share)
				statements = append(statements, counterOf(metrics, selects)/float64(recording.Operations))
			}
			if counted := stat.Median(statements); !(counted > 0.95 && counted < 1.05) {
				t.Errorf("the server counts %.3f statements for each that was sent", counted)
			}
			if share := stat.Median(shares); !(share <= 0.01) {
				t.Errorf("probing takes %.2f %% of the server's CPU time", 100*share)
			}
		})
	}
}

// costOfReading is the CPU time of the server, in ns, that one reading takes.
func costOfReading(t *testing.T, c *cell) float64 {
	t.Helper()
	const readings = 10
	sampler := probe.Sampler{Server: c.server.PID()}
	before := sampler.Begin()
	for range readings {
		c.counting.read(t.Context(), c.workers)
	}
	cost := probe.Between(before, sampler.End())
	if c.counting.failure != nil {
		t.Fatal(c.counting.failure)
	}
	return float64(cost.ServerCPUNs) / readings
}

// countedSlice measures as many point queries as one connection does in about a second.
func countedSlice(t *testing.T, c *cell) (probe.Delta, *load.Recording, []dbcanary.Metric) {
	t.Helper()
	sampler := probe.Sampler{Server: c.server.PID(), Every: lookEvery}
	var begin, end probe.Snapshot
	options := load.Options{Warmup: 200 * time.Millisecond, Events: 20_000, OverrunLimit: overrunLimit}
	options.Begin = func() { begin = sampler.Begin() }
	options.End = func() { end = sampler.End() }
	recording, counted, err := c.counting.observe(t.Context(), c.workers, options)
	if err != nil {
		t.Fatal(err)
	}
	return probe.Between(begin, end), recording, counted.metrics(recording)
}

func counterOf(metrics []dbcanary.Metric, name string) float64 {
	for _, metric := range metrics {
		if metric.Name == name {
			return metric.Value
		}
	}
	return math.NaN()
}

// startLoaded starts a target with a small table and prepares a point query on it.
func startLoaded(t *testing.T, target string) *cell {
	t.Helper()
	started := servertest.StartSized(t, target, 512<<20)
	server, family := started.Server, started.Build.Family
	connect := func(ctx context.Context) (wire.Conn, error) { return server.Connect(ctx) }
	data := workload.Data{Tables: 1, TableSize: 10_000, Seed: 1}
	if err := workload.Load(t.Context(), connect, family, data, 1, func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	benchmark, err := workload.Find("point-query")
	if err != nil {
		t.Fatal(err)
	}
	s := &state{Lab: &Lab{}, run: &dbcanary.Run{Plan: dbcanary.Plan{Threads: 1, PSMode: "prepared"}}, data: data}
	c, err := s.newCell(t.Context(), &instance{subject: &subject{Subject: Subject{Driver: drivers.For(family)}}, server: server}, benchmark)
	if err != nil {
		t.Fatal(fmt.Errorf("prepare the point query: %w", err))
	}
	t.Cleanup(c.close)
	return c
}
