package lab

import (
	"context"
	"math"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/load"
	"github.com/dbcanary/dbcanary/internal/probe"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// lookEvery is how often levels are looked at in a long slice; a short one has its two ends.
const lookEvery = time.Second

// findDisks finds out what is behind the data directories.
func (s *state) findDisks(ctx context.Context) error {
	var err error
	if s.disks, err = probe.DisksOf(s.WorkDir); err != nil {
		return s.miss(ctx, dbcanary.MissingProbe{Probe: "disks", Reason: err.Error()})
	}
	return nil
}

// readMade finds out how the server was made, if its process can be seen.
func (s *state) readMade(ctx context.Context, subject *subject, server dbms.Server) error {
	reason := "somebody else runs the server: its program can't be seen"
	if server.PID() != 0 {
		made, err := probe.Made(server.PID())
		if err == nil {
			subject.target.Made = made
			return nil
		}
		reason = err.Error()
	} else if subject.DSN == "" {
		return nil // dbcanary itself is the server
	}
	return s.miss(ctx, dbcanary.MissingProbe{Target: subject.target.Name, Probe: "build", Reason: reason})
}

// miss keeps what could not be probed, once for each probe of a target, so that a
// report can tell it from what did not happen.
func (s *state) miss(ctx context.Context, missing dbcanary.MissingProbe) error {
	known := slices.ContainsFunc(s.run.Missing, func(other dbcanary.MissingProbe) bool {
		return other.Target == missing.Target && other.Probe == missing.Probe
	})
	if known {
		return nil
	}
	s.run.Missing = append(s.run.Missing, missing)
	return s.Store.SaveRun(context.WithoutCancel(ctx), s.run)
}

// addMetrics gives the trial what was probed of its slice, scaled to its elapsed
// time as its CPU times are.
func (s *state) addMetrics(ctx context.Context, c *cell, trial *dbcanary.Trial, recording *load.Recording, cost probe.Delta, counted *observed) error {
	scale := 1.0
	if recording.Window > 0 {
		scale = float64(recording.Elapsed) / float64(recording.Window)
	}
	remote := isRemote(c.server.Address())
	for _, metric := range cost.Metrics {
		if remote && strings.HasPrefix(metric.Name, "host.") {
			continue // what this host does says nothing of another one
		}
		if !metric.Gauge {
			metric.Value = thousandths(metric.Value * scale)
		}
		trial.Metrics = append(trial.Metrics, metric)
	}
	trial.Metrics = append(trial.Metrics, counted.metrics(recording)...)
	if c.benchmark.Background > 0 {
		// They are counted in the window, whose length Elapsed may differ from.
		trial.Metrics = append(trial.Metrics,
			dbcanary.Metric{Name: "client.background_events", Value: thousandths(float64(recording.Background.Events) * scale)},
			dbcanary.Metric{Name: "client.background_statements", Value: thousandths(float64(recording.Background.Operations) * scale)})
	}
	slices.SortFunc(trial.Metrics, func(a, b dbcanary.Metric) int { return strings.Compare(a.Name, b.Name) })
	missing := cost.Missing
	if remote {
		missing = append(missing, dbcanary.MissingProbe{Probe: "host", Reason: "the server runs on another host, which only itself can probe"})
	}
	if c.DSN != "" {
		missing = append(missing, dbcanary.MissingProbe{Probe: "disks", Reason: "somebody else runs the server: where its data lies is unknown"})
	}
	for i := range missing {
		if slices.Contains([]string{"server", "server io"}, missing[i].Probe) || remote || c.DSN != "" {
			missing[i].Target = c.target.Name
		}
	}
	for _, one := range counted.missing(counted.last) {
		one.Target = c.target.Name
		missing = append(missing, one)
	}
	for _, one := range missing {
		if err := s.miss(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// thousandths is as exact as a scaled count can be, and short in the store.
func thousandths(value float64) float64 { return math.Round(value*1000) / 1000 }

// isRemote tells a server on another host.
func isRemote(address wire.Address) bool {
	if address.Socket != "" || address.Host == "" || address.Host == "localhost" {
		return false
	}
	ip := net.ParseIP(address.Host)
	return ip == nil || !ip.IsLoopback()
}
