package mysqlwire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// prepared is the answer to COM_STMT_PREPARE.
func prepared(deprecateEOF bool, columns, params uint16) [][]byte {
	head := append([]byte{okPacket}, 7, 0, 0, 0)
	head = binary.LittleEndian.AppendUint16(head, columns)
	head = binary.LittleEndian.AppendUint16(head, params)
	out := [][]byte{append(head, 0, 0, 0)}
	for _, n := range []uint16{params, columns} {
		for range n {
			out = append(out, definition())
		}
		if n > 0 && !deprecateEOF {
			out = append(out, eofPayload(2))
		}
	}
	return out
}

// TestExecute checks the packets that a statement sends, byte by byte.
func TestExecute(t *testing.T) {
	for _, caps := range []capabilities{old, modern} {
		deprecateEOF := caps.base&clientDeprecateEOF != 0
		var got [][]byte
		refuse := true
		f := &fake{caps: caps, answer: func(command []byte) [][]byte {
			got = append(got, command)
			switch {
			case command[0] == comStmtPrepare:
				return prepared(deprecateEOF, 1, 2)
			case refuse:
				refuse = false
				return [][]byte{errPayload(1213, "Deadlock")}
			}
			return resultSet(deprecateEOF, []byte{0, 0, 1})
		}}
		c := connect(t, f)
		s, err := c.Prepare(t.Context(), "SELECT ?, ?", []wire.Kind{wire.Int, wire.Text})
		if err != nil {
			t.Fatal(err)
		}
		args := []wire.Arg{{Int: -2}, {Text: []byte("hi")}}
		if _, err := s.Exec(args); err == nil {
			t.Fatal("the server's error is lost")
		}
		for range 2 {
			result, err := s.Exec(args)
			if want := (wire.Result{Rows: 1, Bytes: 3}); err != nil || result != want {
				t.Fatalf("%v, %v, want %v", result, err, want)
			}
		}
		if _, err := s.Exec(args[:1]); err == nil {
			t.Error("a missing argument is no error")
		}
		head := "\x17\x07\x00\x00\x00\x00\x01\x00\x00\x00\x00"
		values := "\xfe\xff\xff\xff\xff\xff\xff\xff\x02hi"
		want := [][]byte{
			[]byte("\x16SELECT ?, ?"),
			[]byte(head + "\x01\x08\x00\xfd\x00" + values),
			[]byte(head + "\x01\x08\x00\xfd\x00" + values), // an error may have come before the types were read
			[]byte(head + "\x00" + values),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("packets (-want +got):\n%s", diff)
		}
	}
}

func TestPrepareErrors(t *testing.T) {
	answer := [][]byte{errPayload(1064, "syntax")}
	c := connect(t, &fake{caps: modern, answer: func([]byte) [][]byte { return answer }})
	var refused *wire.ServerError
	if _, err := c.Prepare(t.Context(), "SELEC", nil); !errors.As(err, &refused) || refused.Code != "1064" {
		t.Errorf("error %v, want 1064", err)
	}
	answer = prepared(true, 1, 2)
	if _, err := c.Prepare(t.Context(), "SELECT ?, ?", []wire.Kind{wire.Int}); err == nil {
		t.Error("two placeholders for one kind are no error")
	}
	answer = [][]byte{okPayload(okPacket, 5, 2)}
	if result, err := c.Query([]byte("DO 1")); err != nil || result.Affected != 5 {
		t.Errorf("%v, %v after errors that leave the connection good", result, err)
	}
	answer = [][]byte{{okPacket, 1, 2}}
	if _, err := c.Prepare(t.Context(), "SELECT 1", nil); !errors.Is(err, wire.ErrProtocol) {
		t.Errorf("error %v, want %v", err, wire.ErrProtocol)
	}
}

// TestLargePackets sends and receives payloads of more than one packet, and of
// exactly one, which an empty packet follows.
func TestLargePackets(t *testing.T) {
	f := &fake{caps: modern}
	f.answer = func(command []byte) [][]byte { return resultSet(true, command) }
	for _, size := range []int{maxPayload, maxPayload + 1, 2*maxPayload + 100} {
		command := append([]byte{comQuery}, bytes.Repeat([]byte("x"), size-1)...)
		sent := &bytes.Buffer{}
		p := newPackets(&pipe{w: sent})
		if err := p.write(append(make([]byte, headerSize), command...)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(sent.Bytes(), frame(0, command)) {
			t.Errorf("%d bytes are not framed as they should be", size)
		}
	}
	c := connect(t, f)
	query := bytes.Repeat([]byte("y"), 1<<20)
	for range 2 {
		if result, err := c.Query(query); err != nil || result.Rows != 1 || result.Bytes != 1<<20+1 {
			t.Fatalf("%v, %v", result, err)
		}
	}
}

type pipe struct {
	io.Reader
	w io.Writer
}

func (p *pipe) Write(b []byte) (int, error) { return p.w.Write(b) }

// TestServerGone closes the connection instead of an answer.
func TestServerGone(t *testing.T) {
	c := connect(t, &fake{caps: modern, answer: func([]byte) [][]byte { return nil }})
	_, err := c.Query([]byte("SELECT 1"))
	var refused *wire.ServerError
	if err == nil || errors.As(err, &refused) || errors.Is(err, wire.ErrAborted) {
		t.Errorf("error %v, want a plain one", err)
	}
	if _, again := c.Query([]byte("SELECT 1")); again != err {
		t.Errorf("the next query gave %v, want %v", again, err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// TestAbort breaks a query that the server never answers, and closes at once.
func TestAbort(t *testing.T) {
	asked, done := make(chan struct{}), make(chan struct{})
	c := connect(t, &fake{caps: modern, answer: func([]byte) [][]byte {
		close(asked)
		<-done
		return nil
	}})
	defer close(done)
	go func() {
		<-asked
		c.Abort()
	}()
	if _, err := c.Query([]byte("SELECT SLEEP(1000)")); !errors.Is(err, wire.ErrAborted) {
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
	c := connect(t, &fake{caps: modern, answer: func([]byte) [][]byte {
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
	f := &fake{caps: modern, plugin: nativePassword, answer: func([]byte) [][]byte { return [][]byte{okPayload(okPacket, 1, 2)} }}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	c, err := Dial(ctx, wiretest.Serve(t, f.serve))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cancel()
	if _, err := c.Query([]byte("DO 1")); err != nil {
		t.Error(err)
	}
}
