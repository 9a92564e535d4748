package lab

import (
	"context"
	"fmt"

	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// notApplicable gives the reason why a benchmark can't run on a target, "" if it can.
func (s *state) notApplicable(benchmark workload.Benchmark, subject *subject) string {
	if reason := benchmark.NotApplicable(subject.Driver.Family(), s.data); reason != "" {
		return reason
	}
	if benchmark.Servers && subject.DSN != "" {
		return workload.NoServers
	}
	return ""
}

// replicator starts further servers for a benchmark on an instance; nil where the
// server is somebody else's, whose data can't be copied.
func (s *state) replicator(i *instance) func(context.Context) (*dbms.Replication, error) {
	if i.attached != nil {
		return nil
	}
	return func(ctx context.Context) (*dbms.Replication, error) {
		options := dbms.StartOptions{Build: i.target.Build, Settings: i.settings, CPUs: s.serverCPUs}
		return dbms.Replicate(ctx, i.Driver, options, i.golden, func(role string) (string, error) {
			return s.claim(fmt.Sprintf("%d-%d-%s", i.index, i.number, role))
		})
	}
}

// measured is the server that does what is measured: that of the instance, or one
// that the benchmark has started.
func (c *cell) measured() dbms.Server {
	for _, work := range c.works {
		if elsewhere, ok := work.(workload.Elsewhere); ok {
			return elsewhere.Measured()
		}
	}
	return c.server
}
