package lab

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/load"
)

// counting reads the counters of one instance's server around its slices: while the
// warm-up goes on, just before the measured time, and just after it. A server that
// counts late what its sessions did is asked when they are idle, before the warm-up
// and after the slice.
type counting struct {
	server  dbms.Server
	flusher dbms.Flusher       // nil if the counters are up to date at any time
	own     map[string]float64 // what a reading adds itself, nil before it is known
	failure error              // why there are no more readings
}

// readTimeout is how long the server may take to tell its counters.
const readTimeout = 5 * time.Second

func newCounting(server dbms.Server) *counting {
	flusher, _ := server.(dbms.Flusher)
	return &counting{server: server, flusher: flusher}
}

// reading is what the counters were at one moment.
type reading struct {
	dbms.Counters
	at time.Time
}

// read reads the counters, once what the workers did is counted. After a failure
// there is nothing more to read: the next one would take as long.
func (c *counting) read(ctx context.Context, workers []load.Worker) reading {
	if c.failure != nil {
		return reading{}
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if c.flusher != nil {
		for _, worker := range workers {
			if c.failure = c.flusher.FlushCounters(worker.Conn); c.failure != nil {
				return reading{}
			}
		}
	}
	began := time.Now()
	counters, err := c.server.Counters(ctx)
	if err != nil {
		c.failure = err
		return reading{}
	}
	return reading{counters, began.Add(time.Since(began) / 2)}
}

// calibrate finds out what a reading adds to the counters: the least that they
// grow by from one to the next without load, since the server may be at work too.
func (c *counting) calibrate(ctx context.Context, workers []load.Worker) {
	if c.own != nil || c.failure != nil {
		return
	}
	const pairs = 3
	c.read(ctx, workers) // the first one opens connections and tables
	last := c.read(ctx, workers)
	for range pairs {
		next := c.read(ctx, workers)
		grown := map[string]float64{}
		for name, counter := range next.Values {
			grown[name] = max(0, counter.Value-last.Values[name].Value)
			if least, ok := c.own[name]; ok {
				grown[name] = min(grown[name], least)
			}
		}
		c.own, last = grown, next
	}
}

// between gives the counts that grew and the levels that moved from one reading to
// another, of the share of the time between them that was measured.
func (c *counting) between(first, last reading, share float64) []dbcanary.Metric {
	if c.failure != nil {
		return nil // of a slice that was read half, nothing is known
	}
	var metrics []dbcanary.Metric
	for _, name := range slices.Sorted(maps.Keys(last.Values)) {
		now := last.Values[name]
		then, ok := first.Values[name]
		if !ok {
			continue
		}
		metric := dbcanary.Metric{Name: "dbms." + name, Value: thousandths((now.Value - then.Value - c.own[name]) * share)}
		if now.Gauge {
			metric = dbcanary.Metric{Name: "dbms." + name, Gauge: true, Value: now.Value, First: then.Value, Max: max(now.Value, then.Value)}
		}
		// A count that went down was reset, and is unknown.
		if now.Gauge && now.Value != then.Value || !now.Gauge && metric.Value > 0 {
			metrics = append(metrics, metric)
		}
	}
	return metrics
}

// missing says what of the counters could not be read.
func (c *counting) missing(last reading) []dbcanary.MissingProbe {
	if c.failure != nil {
		return []dbcanary.MissingProbe{{Probe: "counters", Reason: c.failure.Error()}}
	}
	var missing []dbcanary.MissingProbe
	for _, name := range slices.Sorted(maps.Keys(last.Missing)) {
		missing = append(missing, dbcanary.MissingProbe{Probe: name, Reason: last.Missing[name]})
	}
	return missing
}

// observed is one slice's readings.
type observed struct {
	*counting
	first, last reading
}

// observe runs the load of a slice between two readings. begin and end are called
// at the ends of the measured time, nearest to it.
func (c *counting) observe(ctx context.Context, workers []load.Worker, options load.Options) (*load.Recording, *observed, error) {
	o := &observed{counting: c}
	begin, end := options.Begin, options.End
	if c.flusher != nil {
		o.first = c.read(ctx, workers)
	} else {
		options.Begin = func() { o.first = c.read(ctx, nil); begin() }
		options.End = func() { end(); o.last = c.read(ctx, nil) }
	}
	recording, err := load.Run(ctx, workers, options)
	if c.flusher != nil && err == nil {
		o.last = c.read(ctx, workers)
	}
	return recording, o, err
}

// metrics are the counters of the slice, scaled to its elapsed time: by the time
// from the first reading to the end, in which there was load, or by the statements
// where the warm-up lies between the readings.
func (o *observed) metrics(recording *load.Recording) []dbcanary.Metric {
	if o.flusher != nil {
		return o.between(o.first, o.last, float64(recording.Operations)/float64(max(1, recording.Sent)))
	}
	measured := recording.Window + max(0, recording.Started.Sub(o.first.at))
	return o.between(o.first, o.last, float64(recording.Elapsed)/float64(max(1, measured)))
}
