package load

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// What runs in the background is counted apart and ends with the slice.
func TestRun_Background(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		background := fakeWorker(5, constant(10*time.Millisecond))
		background.Background = true
		r, err := run(t, []Worker{fakeWorker(2, constant(time.Millisecond)), background}, Options{Warmup: 100 * time.Millisecond, Time: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if r.Events != 1000 || r.Operations != 2000 || r.Response.Count() > 1000 {
			t.Errorf("measured were %d events, %d operations, %d latencies", r.Events, r.Operations, r.Response.Count())
		}
		if got := r.Background; got.Events < 99 || got.Events > 101 || got.Operations != 5*got.Events {
			t.Errorf("in the background were %+v", got)
		}
	})
}

// The number of events is that of those that are measured.
func TestRun_BackgroundEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		background := fakeWorker(1, constant(time.Microsecond*300))
		background.Background = true
		r, err := run(t, []Worker{background, fakeWorker(1, constant(time.Millisecond))}, Options{Events: 50})
		if err != nil || r.Events != 50 || r.Background.Events < 100 {
			t.Errorf("%d events, %+v in the background, %v", r.Events, r.Background, err)
		}
	})
}

// What fails in the background ends the slice, or makes it void.
func TestRun_BackgroundErrors(t *testing.T) {
	broken := errors.New("broken")
	for name, row := range map[string]struct {
		err  error
		ends bool
		void string
	}{
		"connection": {err: broken, ends: true},
		"server":     {err: &wire.ServerError{Code: "1146"}, void: "errors from the server in the background: "},
	} {
		synctest.Test(t, func(t *testing.T) {
			background := Worker{Conn: newFakeConn(), Background: true, Event: eventFunc(func() (int, error) {
				time.Sleep(250 * time.Millisecond)
				return 0, row.err
			})}
			r, err := run(t, []Worker{fakeWorker(1, constant(time.Millisecond)), background}, Options{Time: time.Second})
			if errors.Is(err, broken) != row.ends {
				t.Errorf("%s: error %v", name, err)
			}
			if void := r.Void(); row.void != "" && (len(void) < len(row.void) || void[:len(row.void)] != row.void) {
				t.Errorf("%s: void %q", name, void)
			}
		})
	}
	background := fakeWorker(1, constant(time.Millisecond))
	background.Background = true
	if _, err := Run(t.Context(), []Worker{background}, Options{Events: 1}); err == nil {
		t.Error("nothing to measure was taken")
	}
}
