package pgwire

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestExecute checks the messages that a statement sends, byte by byte.
func TestExecute(t *testing.T) {
	var got []string
	c := connect(t, &fake{answer: func(messages []byte) []byte {
		got = append(got, string(messages))
		if len(got) == 1 {
			return described(oidInt2, oidInt4, oidInt8, 1700, 25)
		}
		return join(bound, row(3), complete("SELECT 1"), ready)
	}})
	kinds := []wire.Kind{wire.Int, wire.Int, wire.Int, wire.Int, wire.Text}
	s, err := c.Prepare(t.Context(), "SELECT $1", kinds)
	if err != nil {
		t.Fatal(err)
	}
	args := []wire.Arg{{Int: -2}, {Int: -2}, {Int: -2}, {Int: -21}, {Text: []byte("hi")}}
	for range 2 {
		result, err := s.Exec(args)
		if want := (wire.Result{Rows: 1, Bytes: 3}); err != nil || result != want {
			t.Fatalf("%v, %v, want %v", result, err, want)
		}
	}
	execute := string(join(
		message(msgBind, "\x00s1\x00"+
			"\x00\x05\x00\x01\x00\x01\x00\x01\x00\x00\x00\x00"+
			"\x00\x05\x00\x00\x00\x02\xff\xfe\x00\x00\x00\x04\xff\xff\xff\xfe\x00\x00\x00\x08\xff\xff\xff\xff\xff\xff\xff\xfe"+
			"\x00\x00\x00\x03-21\x00\x00\x00\x02hi"+
			"\x00\x00"),
		message(msgExecute, "\x00\x00\x00\x00\x00"),
		message(msgSync, ""),
	))
	parse := string(join(message(msgParse, "s1\x00SELECT $1\x00\x00\x00"), message(msgDescribe, "Ss1\x00"), message(msgSync, "")))
	if diff := cmp.Diff([]string{parse, execute, execute}, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}

	// Arguments that cannot be sent are errors before anything is.
	for i, value := range []int64{1 << 15, 1 << 31} {
		wrong := append([]wire.Arg(nil), args...)
		wrong[i].Int = value
		if _, err := s.Exec(wrong); err == nil || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("%d as argument %d: error %v, want out of range", value, i+1, err)
		}
	}
	if _, err := s.Exec(args[:1]); err == nil {
		t.Error("missing arguments are no error")
	}
	if _, err := s.Exec(args); err != nil || len(got) != 4 {
		t.Errorf("after wrong arguments: %v, %d messages, want 4", err, len(got))
	}
}

func TestPrepareErrors(t *testing.T) {
	answer := join(failure("ERROR", "42601", "syntax"), ready)
	c := connect(t, &fake{answer: func([]byte) []byte { return answer }})
	var refused *wire.ServerError
	if _, err := c.Prepare(t.Context(), "SELEC", nil); !errors.As(err, &refused) || refused.Code != "42601" {
		t.Errorf("error %v, want 42601", err)
	}
	answer = described(oidInt4, oidInt4)
	if _, err := c.Prepare(t.Context(), "SELECT $1, $2", []wire.Kind{wire.Int}); err == nil {
		t.Error("two parameters for one kind are no error")
	}
	answer = join(complete("UPDATE 5"), ready)
	if result, err := c.Query([]byte("UPDATE t SET c = 1")); err != nil || result.Affected != 5 {
		t.Errorf("%v, %v after errors that leave the connection good", result, err)
	}
	answer = join(message(msgParameterDescription, "\x00\x09"), ready)
	if _, err := c.Prepare(t.Context(), "SELECT 1", nil); !errors.Is(err, wire.ErrProtocol) {
		t.Errorf("error %v, want %v", err, wire.ErrProtocol)
	}
}

// TestServerGone closes the connection instead of an answer, with and without a
// last word.
func TestServerGone(t *testing.T) {
	for _, last := range [][]byte{nil, failure("FATAL", "57P01", "terminating connection due to administrator command")} {
		c := connect(t, &fake{answer: func([]byte) []byte { return last }})
		_, err := c.Query([]byte("SELECT 1"))
		var refused *wire.ServerError
		if err == nil || errors.As(err, &refused) || errors.Is(err, wire.ErrAborted) {
			t.Errorf("error %v, want a plain one", err)
		}
		if last != nil && !strings.Contains(err.Error(), "57P01") {
			t.Errorf("error %v lacks what the server said", err)
		}
		if _, again := c.Query([]byte("SELECT 1")); again != err {
			t.Errorf("the next query gave %v, want %v", again, err)
		}
	}
}

// TestAbort breaks a query that the server never answers, and closes at once.
func TestAbort(t *testing.T) {
	asked, done := make(chan struct{}), make(chan struct{})
	c := connect(t, &fake{answer: func([]byte) []byte {
		close(asked)
		<-done
		return nil
	}})
	defer close(done)
	go func() {
		<-asked
		c.Abort()
	}()
	if _, err := c.Query([]byte("SELECT pg_sleep(1000)")); !errors.Is(err, wire.ErrAborted) {
		t.Errorf("error %v, want %v", err, wire.ErrAborted)
	}
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	c.Abort() // after Close it does nothing
	if _, err := c.Query([]byte("SELECT 1")); !errors.Is(err, wire.ErrAborted) {
		t.Errorf("error %v, want %v", err, wire.ErrAborted)
	}
}

func TestPrepareCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	c := connect(t, &fake{answer: func([]byte) []byte {
		cancel()
		<-done
		return nil
	}})
	defer close(done)
	if _, err := c.Prepare(ctx, "SELECT 1", nil); !errors.Is(err, wire.ErrAborted) {
		t.Errorf("error %v, want %v", err, wire.ErrAborted)
	}
}

// TestLoginContextEnds holds that the context of the login does not bound what
// comes later.
func TestLoginContextEnds(t *testing.T) {
	f := &fake{answer: func([]byte) []byte { return join(complete("DO"), ready) }}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	c, err := Dial(ctx, wiretest.Serve(t, f.serve))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cancel()
	if _, err := c.Query([]byte("DO $$ BEGIN END $$")); err != nil {
		t.Error(err)
	}
}
