package lab_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
)

// Every slice has what its host, client and disks did, sorted by name; what can't be
// probed is told once for each target, and has no numbers.
func TestRun_StoresMetrics(t *testing.T) {
	b := newBench(t, "a", "b")
	if err := b.execute(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, trial := range b.trials() {
		byName := map[string]dbcanary.Metric{}
		for _, metric := range trial.Metrics {
			byName[metric.Name] = metric
			if strings.HasPrefix(metric.Name, "server.") {
				t.Errorf("%s: SQLite has no process of its own", metric.Name)
			}
		}
		for _, name := range []string{"host.user_ns", "host.context_switches", "host.runnable", "host.loopback_bytes", "client.rss_bytes", "client.minor_faults"} {
			if _, ok := byName[name]; !ok {
				t.Errorf("no %s in %+v", name, trial.Metrics)
			}
		}
		cpuNs := byName["client.user_ns"].Value + byName["client.system_ns"].Value
		if cpuNs < float64(trial.ClientCPUNs)-2 || cpuNs > float64(trial.ClientCPUNs)+2 {
			t.Errorf("user and system time of the client are %.0f ns, all of it %d", cpuNs, trial.ClientCPUNs)
		}
		if rss := byName["client.rss_bytes"]; !rss.Gauge || rss.Max < rss.First || rss.Max < rss.Value || rss.First <= 0 {
			t.Errorf("%+v", rss)
		}
		if !slices.IsSortedFunc(trial.Metrics, func(a, b dbcanary.Metric) int { return strings.Compare(a.Name, b.Name) }) {
			t.Error("the metrics are not sorted")
		}
	}
	saved, err := b.store.Run(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, missing := range saved.Missing {
		if missing.Probe == "server" {
			targets = append(targets, missing.Target)
		}
	}
	slices.Sort(targets)
	if !slices.Equal(targets, []string{"a", "b"}) {
		t.Errorf("missing: %+v", saved.Missing)
	}
}
