package load

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// A server with time to spare gets each event when it is due.
func TestRun_OpenLoopKeepsTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		workers := []Worker{fakeWorker(2, constant(10*time.Millisecond)), fakeWorker(2, constant(10*time.Millisecond))}
		r, err := run(t, workers, Options{Time: 10 * time.Second, Warmup: time.Second, Rate: 100})
		if err != nil {
			t.Fatal(err)
		}
		if r.Events != 1000 || r.Operations != 2000 || r.Elapsed != 10*time.Second || r.Offered != 100 {
			t.Errorf("%d events in %v, %g offered", r.Events, r.Elapsed, r.Offered)
		}
		if r.LateStarts != 0 || r.Backlog != 0 || !near(r.Response.Summary().Max, 10e6) || !near(r.Service.Summary().Max, 10e6) {
			t.Errorf("%d late, %d in the backlog, response %+v", r.LateStarts, r.Backlog, r.Response.Summary())
		}
	})
}

// A stall of a second delays every arrival in it: the response time shows it for
// each of them, the service time for one.
func TestRun_OpenLoopNoCoordinatedOmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stall := func(n int) time.Duration {
			if n == 500 {
				return time.Second
			}
			return time.Millisecond
		}
		r, err := run(t, []Worker{fakeWorker(1, stall)}, Options{Time: 10 * time.Second, Rate: 100})
		if err != nil {
			t.Fatal(err)
		}
		// Arrivals come each 10 ms and are worked off in 1 ms, so 9 ms of the second
		// are made good by each: 111 events wait.
		if r.Events != 1000 || r.LateStarts < 109 || r.LateStarts > 111 {
			t.Errorf("%d events, %d started late", r.Events, r.LateStarts)
		}
		if p := r.Response.Percentile(94); p < 400e6 {
			t.Errorf("94 %% of responses within %d ns: the waiting ones are missing", p)
		}
		if p := r.Service.Percentile(99); !near(p, 1e6) {
			t.Errorf("99 %% of service times within %d ns, want 1 ms", p)
		}
	})
}

// An overloaded server is a result: what it did, at what rate, and what was left.
func TestRun_OpenLoopOverload(t *testing.T) {
	for _, poisson := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			workers := []Worker{fakeWorker(1, constant(20*time.Millisecond)), fakeWorker(1, constant(20*time.Millisecond))}
			r, err := run(t, workers, Options{Time: 10 * time.Second, Rate: 200, Poisson: poisson, Seed: 5})
			if err != nil {
				t.Fatal(err)
			}
			rate := float64(r.Events) / r.Elapsed.Seconds()
			// 2,000 arrivals have a standard deviation of 45 if they are Poisson's.
			if math.Abs(rate-100) > 0.3 || r.Offered != 200 || math.Abs(float64(r.Events+r.Backlog)-2000) > 200 {
				t.Errorf("%g of %g per second, %d events, backlog %d", rate, r.Offered, r.Events, r.Backlog)
			}
			if worst := r.Response.Summary().Max; worst < 4.5e9 {
				t.Errorf("the longest response took %d ns, want some 5 s", worst)
			}
			if r.Void() != "" {
				t.Errorf("an overloaded server made the slice void: %s", r.Void())
			}
		})
	}
}

func TestRun_OpenLoopPoisson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var workers []Worker
		for range 20 {
			workers = append(workers, fakeWorker(1, constant(time.Millisecond)))
		}
		r, err := run(t, workers, Options{Time: 20 * time.Second, Rate: 500, Poisson: true, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		// 10,000 arrivals have a standard deviation of 100.
		if r.Events < 9500 || r.Events > 10_500 || r.Window != 20*time.Second || r.Offered != 500 || r.Backlog != 0 {
			t.Errorf("%d events in %v, %g offered", r.Events, r.Elapsed, r.Offered)
		}
	})
}

func TestRun_OpenLoopEventsDecide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := run(t, []Worker{fakeWorker(1, constant(time.Millisecond))}, Options{Events: 50, Rate: 100})
		if err != nil {
			t.Fatal(err)
		}
		if r.Events != 50 || r.Elapsed != 500*time.Millisecond || r.Offered != 100 || r.Backlog != 0 {
			t.Errorf("%d events in %v, %g offered, backlog %d", r.Events, r.Elapsed, r.Offered, r.Backlog)
		}
		slow, err := run(t, []Worker{fakeWorker(1, constant(100*time.Millisecond))}, Options{Events: 50, Rate: 100})
		if err != nil {
			t.Fatal(err)
		}
		if slow.Events != 50 || slow.Elapsed != 5*time.Second || slow.LateStarts != 49 {
			t.Errorf("%d events in %v, %d late", slow.Events, slow.Elapsed, slow.LateStarts)
		}
	})
}

// The pauses end on time with the real clock too: half of the starts are less
// than half a millisecond late, in the best of some tries since other work may
// hold the CPUs.
func TestRun_OpenLoopRealClock(t *testing.T) {
	worker := Worker{Conn: newFakeConn(), Event: eventFunc(func() (int, error) { return 1, nil })}
	best := time.Hour
	for range 10 {
		r, err := Run(t.Context(), []Worker{worker, worker}, Options{Time: 200 * time.Millisecond, Rate: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if want := 1000 * r.Window.Seconds(); math.Abs(float64(r.Events+r.Backlog)-want) > 3 {
			t.Errorf("%d events and a backlog of %d, want %g", r.Events, r.Backlog, want)
		}
		if best = min(best, time.Duration(r.Response.Percentile(50))); best < 500*time.Microsecond {
			return
		}
	}
	t.Errorf("half of the starts are at least %v late", best)
}

// A halt is seen while workers wait for an arrival.
func TestRun_OpenLoopCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		lost := Worker{Conn: newFakeConn(), Event: eventFunc(func() (int, error) {
			if n++; n == 3 {
				return 0, wire.ErrAborted
			}
			return 1, nil
		})}
		start := time.Now()
		r, err := run(t, []Worker{lost, fakeWorker(1, constant(time.Millisecond))}, Options{Time: time.Hour, Rate: 0.5})
		if err == nil || time.Since(start) > time.Minute || r.Events == 0 {
			t.Errorf("%d events, ended after %v with %v", r.Events, time.Since(start), err)
		}
	})
}
