package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeConn is a connection whose Abort ends a running fakeEvent.
type fakeConn struct{ aborted chan struct{} }

func newFakeConn() *fakeConn { return &fakeConn{aborted: make(chan struct{})} }

func (c *fakeConn) Prepare(context.Context, string, []wire.Kind) (wire.Stmt, error) {
	return nil, errors.New("the load generator prepares nothing")
}

func (c *fakeConn) Query([]byte) (wire.Result, error) {
	return wire.Result{}, errors.New("the load generator asks nothing")
}
func (c *fakeConn) Abort()       { close(c.aborted) }
func (c *fakeConn) Close() error { return nil }

// eventFunc makes an Event of a function.
type eventFunc func() (int, error)

func (f eventFunc) Run() (int, error) { return f() }

// fakeWorker takes length(n) for its event n, from 0, and sends statements.
func fakeWorker(statements int, length func(n int) time.Duration) Worker {
	conn := newFakeConn()
	n := 0
	return Worker{Conn: conn, Event: eventFunc(func() (int, error) {
		timer := time.NewTimer(length(n))
		defer timer.Stop()
		n++
		select {
		case <-timer.C:
			return statements, nil
		case <-conn.aborted:
			return 0, wire.ErrAborted
		}
	})}
}

func constant(d time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return d }
}

// run is Run with the virtual clock of synctest also for the pauses of an open loop.
func run(t *testing.T, workers []Worker, options Options) (*Recording, error) {
	t.Helper()
	if err := check(workers, options); err != nil {
		return nil, err
	}
	return newSlice(workers, options, time.Sleep).run(t.Context())
}

// An event of length L gives exactly 1/L, however short the slice is.
func TestRun_ConstantLength(t *testing.T) {
	for _, row := range []struct{ length, time, warmup time.Duration }{
		{time.Millisecond, time.Second, 0},
		{time.Millisecond, time.Second, 100 * time.Millisecond},
		{7 * time.Millisecond, time.Second, 10 * time.Millisecond},
		{3 * time.Second, 500 * time.Millisecond, 200 * time.Millisecond}, // a scan longer than the slice
		{time.Second, time.Second, 0},
		{time.Second, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			workers := []Worker{fakeWorker(3, constant(row.length)), fakeWorker(3, constant(row.length))}
			r, err := run(t, workers, Options{Warmup: row.warmup, Time: row.time})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := float64(r.Operations)/r.Elapsed.Seconds(), 3*2/row.length.Seconds(); math.Abs(got/want-1) > 1e-9 {
				t.Errorf("%+v: %d operations in %v are %.12g per second, want %.12g", row, r.Operations, r.Elapsed, got, want)
			}
			if r.Operations != 3*r.Events || r.Window != row.time || r.Overrun < 0 || r.Overrun > row.length {
				t.Errorf("%+v: %d events, window %v, overrun %v", row, r.Events, r.Window, r.Overrun)
			}
			began := row.warmup
			if began > 0 {
				began = max(began, row.length)
			}
			// At the very end a worker may or may not start once more.
			if most := 3 * 2 * int64((began+row.time+r.Overrun)/row.length); r.Sent > most || r.Sent < most-3*2 {
				t.Errorf("%+v: %d statements sent in all, want %d", row, r.Sent, most)
			}
			// What a probe sees of a server that is always busy is the length of the event for each of two workers.
			if perEvent := float64(r.Scale(2*int64(r.Window))) / float64(r.Events); math.Abs(perEvent/float64(row.length)-1) > 1e-6 && row.time > 1 {
				t.Errorf("%+v: %g ns for each event", row, perEvent)
			}
			if s := r.Response.Summary(); !near(s.Min, int64(row.length)) || !near(s.Max, int64(row.length)) {
				t.Errorf("%+v: latencies %+v", row, s)
			}
			if r.Void() != "" {
				t.Errorf("%+v: void: %s", row, r.Void())
			}
		})
	}
}

// On average over many short slices, the rate of events of very varying length
// is 1/mean. By the other usual rules it would be over twice that here: events that
// finish in time are the short ones, and the nominal time leaves out the long ones.
func TestRun_UnbiasedForVaryingLengths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slices, mean = 1000, 0.9*1e-3 + 0.1*50e-3
		random := rand.New(rand.NewPCG(1, 2))
		length := func(int) time.Duration {
			if random.Float64() < 0.1 {
				return 50 * time.Millisecond
			}
			return time.Millisecond
		}
		sum := 0.0
		for range slices {
			r, err := run(t, []Worker{fakeWorker(1, length)}, Options{Warmup: 400 * time.Millisecond, Time: 20 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			sum += float64(r.Events) / r.Elapsed.Seconds()
		}
		// The rates of the slices have a standard deviation of about 1.5 times their
		// mean, so the mean of them all has one of 5 %.
		if got := sum / slices * mean; math.Abs(got-1) > 0.12 {
			t.Errorf("the rate is %.3f of the true one", got)
		}
	})
}

// A saturated server does 1,000 events per second for any number of workers; who
// starts late or ends early must not change that.
func TestRun_SaturatedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := make(chan struct{}, 1)
		var workers []Worker
		for i := range 16 {
			starting := true
			workers = append(workers, Worker{Conn: newFakeConn(), Event: eventFunc(func() (int, error) {
				if starting {
					time.Sleep(time.Duration(i) * 20 * time.Millisecond)
					starting = false
				}
				server <- struct{}{}
				time.Sleep(time.Millisecond)
				<-server
				return 1, nil
			})})
		}
		r, err := run(t, workers, Options{Warmup: 50 * time.Millisecond, Time: 500 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if rate := float64(r.Operations) / r.Elapsed.Seconds(); math.Abs(rate-1000) > 5 {
			t.Errorf("a server that does 1000 events per second is said to do %g", rate)
		}
	})
}

func TestRun_WarmupIsNotRecorded(t *testing.T) {
	for _, row := range []struct{ warmup, begin time.Duration }{
		{120 * time.Millisecond, 120 * time.Millisecond},
		{time.Millisecond, 30 * time.Millisecond}, // one event at least
	} {
		synctest.Test(t, func(t *testing.T) {
			// Events that start before the measured time take 30 ms, later ones 10 ms.
			length := func(n int) time.Duration {
				if time.Duration(n)*30*time.Millisecond < row.begin {
					return 30 * time.Millisecond
				}
				return 10 * time.Millisecond
			}
			start := time.Now()
			var begin, end time.Duration
			r, err := run(t, []Worker{fakeWorker(1, length)}, Options{
				Warmup: row.warmup, Time: time.Second,
				Begin: func() { begin = time.Since(start) },
				End:   func() { end = time.Since(start) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if begin != row.begin || end != begin+time.Second || r.Started.Sub(start) != begin {
				t.Errorf("measured from %v to %v, started %v", begin, end, r.Started.Sub(start))
			}
			if r.Events != 100 || r.Elapsed != time.Second || r.Response.Summary().Max > 10_010_000 {
				t.Errorf("%d events in %v, at most %d ns", r.Events, r.Elapsed, r.Response.Summary().Max)
			}
			if diff := cmp.Diff([]int64{99, 1}, r.PerSecond); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRun_EventsDecide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		workers := []Worker{fakeWorker(2, constant(time.Millisecond)), fakeWorker(2, constant(3*time.Millisecond))}
		r, err := run(t, workers, Options{Warmup: 5 * time.Millisecond, Events: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if r.Events != 1000 || r.Operations != 2000 || r.Elapsed < 749*time.Millisecond || r.Elapsed > 751*time.Millisecond {
			t.Errorf("%d events, %d operations in %v", r.Events, r.Operations, r.Elapsed)
		}
	})
}

// Events of unlike lengths, the last one the longest, take as long as they take.
func TestRun_Exact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, workers := range []int{1, 2} {
			var runs atomic.Int64
			length := func(int) time.Duration {
				return time.Duration(runs.Add(1)) * 10 * time.Millisecond
			}
			var list []Worker
			for range workers {
				list = append(list, fakeWorker(3, length))
			}
			begin, events := time.Now(), 4
			r, err := run(t, list, Options{Events: int64(events), Exact: true, Begin: func() { time.Sleep(5 * time.Millisecond) }})
			if err != nil {
				t.Fatal(err)
			}
			// Alone: 10+20+30+40 ms; of two, the one that begins with 20 goes on with 40.
			want := map[int]time.Duration{1: 100 * time.Millisecond, 2: 60 * time.Millisecond}[workers]
			if runs.Load() != int64(events) || r.Events != 4 || r.Operations != 12 || r.Elapsed != want || r.Window != want || r.Response.Count() != 4 {
				t.Errorf("%d workers: %d runs, %d events, %d operations, %d latencies in %v", workers, runs.Load(), r.Events, r.Operations, r.Response.Count(), r.Elapsed)
			}
			if r.Started.Sub(begin) != 5*time.Millisecond {
				t.Errorf("events began %v before the probes", r.Started.Sub(begin))
			}
		}
		if _, err := run(t, []Worker{fakeWorker(1, constant(1))}, Options{Events: 5, Exact: true, Warmup: 1}); err == nil {
			t.Error("a warm-up of events that can't be repeated was taken")
		}
	})
}

// serverErrors fails as told by event number, with 1 ms for each try.
func serverErrors(failures map[int]*wire.ServerError) Worker {
	n := -1
	return Worker{Conn: newFakeConn(), Event: eventFunc(func() (int, error) {
		n++
		time.Sleep(time.Millisecond)
		if failure := failures[n]; failure != nil {
			return 1, failure
		}
		return 4, nil
	})}
}

func TestRun_ErrorsAndRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deadlock := &wire.ServerError{Code: "1213", Message: "Deadlock", Retryable: true}
		duplicate := &wire.ServerError{Code: "1062", Message: "Duplicate"}
		workers := []Worker{
			serverErrors(map[int]*wire.ServerError{2: deadlock, 3: deadlock, 7: duplicate}),
			serverErrors(map[int]*wire.ServerError{4: duplicate, 5: {Code: "1146"}, 6: deadlock, 7: duplicate}),
		}
		r, err := run(t, workers, Options{Time: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]int64{"1062": 3, "1146": 1}, r.Errors); diff != "" {
			t.Error(diff)
		}
		// Of 200 tries, 3 were retried and 4 ended in an error.
		if r.Retries != 3 || r.Events != 193 || r.Operations != 4*193 || r.Response.Count() != 193 {
			t.Errorf("%d retries, %d events, %d operations", r.Retries, r.Events, r.Operations)
		}
		if max := r.Response.Summary().Max; !near(max, 3e6) {
			t.Errorf("the longest event took %d ns, want 3 ms: its retries are part of it", max)
		}
		if got, want := r.Void(), "errors from the server: 3 x 1062, 1 x 1146"; got != want {
			t.Errorf("void is %q, want %q", got, want)
		}
	})
}

func TestRun_HopelessEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hopeless := Worker{Conn: newFakeConn(), Event: eventFunc(func() (int, error) {
			time.Sleep(time.Millisecond)
			return 0, &wire.ServerError{Code: "40001", Message: "could not serialize", Retryable: true}
		})}
		_, err := run(t, []Worker{hopeless}, Options{Time: time.Second})
		if err == nil || !strings.Contains(err.Error(), "connection 0") || !strings.Contains(err.Error(), "100 retries: 40001") {
			t.Errorf("error %v", err)
		}
	})
}

func TestRun_LostConnectionEndsTheSlice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		lost := Worker{Conn: newFakeConn(), Event: eventFunc(func() (int, error) {
			time.Sleep(time.Millisecond)
			if n++; n > 10 {
				return 0, io.ErrUnexpectedEOF
			}
			return 1, nil
		})}
		start := time.Now()
		r, err := run(t, []Worker{fakeWorker(1, constant(2*time.Millisecond)), lost}, Options{Time: time.Hour})
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "connection 1") {
			t.Fatalf("error %v", err)
		}
		if took := time.Since(start); took > 13*time.Millisecond || r.Events < 15 || r.Events > 16 {
			t.Errorf("%d events, ended after %v", r.Events, took)
		}
	})
}

func TestRun_CancelInALongScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		workers := []Worker{fakeWorker(1, constant(time.Hour)), fakeWorker(1, constant(time.Second))}
		s := newSlice(workers, Options{Time: time.Minute, OverrunLimit: 2 * time.Second}, time.Sleep)
		r, err := s.run(ctx)
		if dbcanary.ErrorCode(err) != dbcanary.CodeInterrupted || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if took := time.Since(start); took != 7*time.Second || r.Events < 5 || r.Events > 6 {
			t.Errorf("%d events, ended after %v", r.Events, took)
		}
	})
}

func TestRun_CancelInWarmup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		probe := func() { t.Error("a slice without measured time was probed") }
		s := newSlice([]Worker{fakeWorker(1, constant(time.Millisecond))}, Options{Warmup: time.Second, Time: time.Second, Begin: probe, End: probe}, time.Sleep)
		r, err := s.run(ctx)
		if err == nil || r.Events != 0 || r.Elapsed != 0 || r.Void() == "" {
			t.Errorf("%d events in %v, error %v", r.Events, r.Elapsed, err)
		}
	})
}

func TestRun_OverrunIsAborted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r, err := run(t, []Worker{fakeWorker(1, constant(time.Hour))}, Options{Time: time.Second})
		if !errors.Is(err, wire.ErrAborted) || !strings.Contains(err.Error(), "still ran 10s after the end") {
			t.Errorf("error %v", err)
		}
		if took := time.Since(start); took != 11*time.Second || r.Void() != "no event finished" {
			t.Errorf("ended after %v, void %q", took, r.Void())
		}
	})
}

func TestRun_Intervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []Progress
		workers := []Worker{fakeWorker(2, constant(10*time.Millisecond)), serverErrors(map[int]*wire.ServerError{1500: {Code: "1"}})}
		r, err := run(t, workers, Options{
			Time: 3500 * time.Millisecond, Warmup: 100 * time.Millisecond, IntervalEvery: time.Second,
			Interval: func(p Progress) { got = append(got, p) },
		})
		if err != nil || len(got) != 3 {
			t.Fatalf("%d reports, error %v", len(got), err)
		}
		var events, errorCount int64
		for i, p := range got {
			if p.Elapsed != time.Duration(i+1)*time.Second || p.Length != time.Second || p.Threads != 2 || p.Response.Count() != p.Events {
				t.Errorf("report %d: %+v", i, p)
			}
			events += p.Events
			errorCount += p.Errors
		}
		if events < 3297 || events > 3300 || errorCount != 1 || r.Response.Count() != r.Events {
			t.Errorf("%d events and %d errors reported; %d events, %d latencies recorded", events, errorCount, r.Events, r.Response.Count())
		}
	})
}

func TestRun_RejectsNonsense(t *testing.T) {
	good := []Worker{fakeWorker(1, constant(1))}
	for want, row := range map[string]struct {
		workers []Worker
		options Options
	}{
		"no workers":                {nil, Options{Time: 1}},
		"no connection or no event": {[]Worker{{}}, Options{Time: 1}},
		"is negative":               {good, Options{Time: -1}},
		"neither a time nor":        {good, Options{}},
		"a rate of NaN":             {good, Options{Time: 1, Rate: math.NaN()}},
		"a rate of -1":              {good, Options{Time: 1, Rate: -1}},
		"between reports is 0":      {good, Options{Time: 1, Interval: func(Progress) {}}},
	} {
		if _, err := Run(t.Context(), row.workers, row.options); err == nil || !strings.Contains(err.Error(), want) || dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}

// A pinned worker runs where it was told to, and leaves no pinned thread behind.
func TestRun_Pinned(t *testing.T) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for !allowed.IsSet(cpu) {
		cpu++
	}
	pinned := Worker{Conn: newFakeConn(), Event: eventFunc(func() (int, error) {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			return 0, err
		}
		if set.Count() != 1 || !set.IsSet(cpu) {
			return 0, fmt.Errorf("runs on %d CPUs", set.Count())
		}
		return 1, nil
	})}
	own, check := pinnedThread(t, allowed)
	procs := runtime.GOMAXPROCS(0)
	if _, err := Run(t.Context(), []Worker{pinned, pinned}, Options{Events: 100, CPUs: []int{cpu}}); err != nil {
		t.Fatal(err)
	}
	if got := check(); got != own {
		t.Errorf("a thread with CPUs of its own was left on %v", got)
	}
	if got := runtime.GOMAXPROCS(0); got != procs {
		t.Errorf("GOMAXPROCS was left at %d, not at %d", got, procs)
	}
	for range 100 {
		done := make(chan int)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(0, &set); err != nil {
				t.Error(err)
			}
			done <- set.Count()
		}()
		if got := <-done; got != allowed.Count() {
			t.Fatalf("a later thread may run on %d CPUs, not on %d", got, allowed.Count())
		}
	}
}

// pinnedThread starts a thread that has the last allowed CPU to itself, as one that
// starts a server may have, and gives what tells where it may run later.
func pinnedThread(t *testing.T, allowed unix.CPUSet) (own unix.CPUSet, later func() unix.CPUSet) {
	t.Helper()
	for cpu := range 1024 {
		if allowed.IsSet(cpu) {
			own.Zero()
			own.Set(cpu)
		}
	}
	ready, ask, answer := make(chan error), make(chan struct{}), make(chan unix.CPUSet)
	go func() {
		runtime.LockOSThread()
		ready <- unix.SchedSetaffinity(0, &own)
		<-ask
		var now unix.CPUSet
		if err := unix.SchedGetaffinity(0, &now); err != nil {
			t.Error(err)
		}
		answer <- now
	}()
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	return own, func() unix.CPUSet { close(ask); return <-answer }
}

// The steady state of the loop allocates nothing, whatever the mode.
func TestRun_AllocatesNothingPerEvent(t *testing.T) {
	workers := []Worker{{Conn: newFakeConn(), Event: eventFunc(func() (int, error) { return 1, nil })}}
	for name, options := range map[string]Options{"closed": {}, "open": {Rate: maxRate}} {
		allocations := func(events int64) float64 {
			options.Events = events
			return testing.AllocsPerRun(3, func() {
				if _, err := Run(t.Context(), workers, options); err != nil {
					t.Fatal(err)
				}
			})
		}
		if few, many := allocations(1000), allocations(200_000); many > few+50 {
			t.Errorf("%s: %g allocations for 1,000 events and %g for 200,000", name, few, many)
		}
	}
}

// What the generator adds to each event.
func BenchmarkRun(b *testing.B) {
	for name, options := range map[string]Options{
		"closed":        {},
		"closed report": {Interval: func(Progress) {}, IntervalEvery: time.Second},
		"open":          {Rate: maxRate},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			options.Events = int64(b.N)
			workers := []Worker{{Conn: newFakeConn(), Event: eventFunc(func() (int, error) { return 1, nil })}}
			r, err := Run(b.Context(), workers, options)
			if err != nil || r.Events != int64(b.N) {
				b.Fatalf("%d events of %d: %v", r.Events, b.N, err)
			}
		})
	}
}
