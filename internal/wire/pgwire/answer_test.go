package pgwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// answers are what a server may say to one command.
var answers = []struct {
	name      string
	answer    []byte
	want      wire.Result
	code      string
	retryable bool
	broken    error // the connection is of no use after it
}{
	{name: "rows", answer: join(bound, row(4), row(0), row(300), complete("SELECT 3"), ready), want: wire.Result{Rows: 3, Bytes: 304}},
	{name: "no rows", answer: join(bound, complete("SELECT 0"), ready)},
	{name: "empty query", answer: join(message(msgEmptyQuery, ""), ready)},
	{name: "a row larger than the buffer", answer: join(bound, row(3*readBuffer), row(1), complete("SELECT 2"), ready), want: wire.Result{Rows: 2, Bytes: 3*readBuffer + 1}},
	{name: "a row of 16 MB", answer: join(bound, row(1<<24), complete("SELECT 1"), ready), want: wire.Result{Rows: 1, Bytes: 1 << 24}},
	{
		name:   "notices and parameters anywhere",
		answer: join(notice, bound, parameter, row(1), notice, row(2), message(msgNotification, "\x00\x00\x00\x01c\x00p\x00"), complete("SELECT 2"), parameter, ready),
		want:   wire.Result{Rows: 2, Bytes: 3},
	},
	{name: "a notice larger than the buffer", answer: join(message(msgNotice, string(make([]byte, 2*readBuffer))), complete("DO"), ready)},
	{name: "text protocol", answer: join(columns, row(7), complete("SELECT 1"), ready), want: wire.Result{Rows: 1, Bytes: 7}},
	{name: "several statements", answer: join(complete("INSERT 0 5"), complete("DELETE 2"), columns, row(7), complete("SELECT 1"), ready), want: wire.Result{Rows: 1, Affected: 7, Bytes: 7}},
	{name: "serialization failure", answer: join(failure("ERROR", "40001", "could not\nserialize"), ready), code: "40001", retryable: true},
	{name: "deadlock", answer: join(bound, failure("ERROR", "40P01", "deadlock detected"), ready), code: "40P01", retryable: true},
	{name: "no such table", answer: join(failure("ERROR", "42P01", "x"), ready), code: "42P01"},
	{name: "error in the middle of rows", answer: join(bound, row(2), row(3), failure("ERROR", "57014", "canceled"), parameter, ready), want: wire.Result{Rows: 2, Bytes: 5}, code: "57014"},
	{name: "shutdown", answer: join(failure("FATAL", "57P01", "terminating connection")), broken: io.EOF},
	{name: "cut in the middle of rows", answer: join(bound, row(2), row(3)[:7]), want: wire.Result{Rows: 2, Bytes: 5}, broken: io.EOF},
	{name: "nothing", broken: io.EOF},
	{name: "copy", answer: message('G', "\x00\x00\x00"), broken: wire.ErrProtocol},
	{name: "unknown message", answer: message('?', ""), broken: wire.ErrProtocol},
	{name: "length too short", answer: []byte("D\x00\x00\x00\x03"), broken: wire.ErrProtocol},
	{name: "length negative", answer: []byte("D\xff\xff\xff\xff"), broken: wire.ErrProtocol},
	{name: "huge tag", answer: complete(string(make([]byte, 2*readBuffer))), broken: wire.ErrProtocol},
	{name: "huge error", answer: failure("ERROR", "XX000", string(make([]byte, 2*readBuffer))), broken: wire.ErrProtocol},
}

func TestAnswers(t *testing.T) {
	for _, test := range answers {
		sizes := []int{1, 2, 3, 7, readBuffer, len(test.answer) + 1}
		if len(test.answer) > 1<<20 {
			sizes = sizes[4:] // byte by byte takes too long
		}
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/pieces of %d", test.name, size), func(t *testing.T) {
				c := over(test.answer, size)
				got, err := c.Query([]byte("SELECT c FROM t"))
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
				var refused *wire.ServerError
				switch {
				case test.code != "":
					if !errors.As(err, &refused) || refused.Code != test.code || refused.Retryable != test.retryable {
						t.Errorf("error %#v, want server's %s, retryable %t", err, test.code, test.retryable)
					}
					if c.err != nil {
						t.Errorf("the connection is out of use: %v", c.err)
					}
				case test.broken != nil:
					if !errors.Is(err, test.broken) || errors.As(err, &refused) {
						t.Errorf("error %#v, want a plain one with %v", err, test.broken)
					}
					if _, again := c.Query([]byte("SELECT 1")); again != err {
						t.Errorf("the next query gave %v, want the same error", again)
					}
				case err != nil:
					t.Errorf("error %v", err)
				}
			})
		}
	}
}

// TestSplits holds that an answer means the same however it is cut in two.
func TestSplits(t *testing.T) {
	answer := join(bound, row(3), notice, row(0), row(4), complete("UPDATE 12"), ready)
	for cut := 1; cut < len(answer); cut++ {
		c := over(nil, 0)
		c.r.Reset(io.MultiReader(bytes.NewReader(answer[:cut]), bytes.NewReader(answer[cut:])))
		got, err := c.Query([]byte("SELECT c FROM t"))
		if want := (wire.Result{Rows: 3, Affected: 12, Bytes: 7}); err != nil || got != want {
			t.Errorf("cut at %d: %v, %v, want %v", cut, got, err, want)
		}
	}
}

func TestAffected(t *testing.T) {
	for tag, want := range map[string]int64{
		"INSERT 0 5": 5, "UPDATE 17": 17, "DELETE 0": 0, "MERGE 123456789012": 123456789012,
		"SELECT 5": 0, "MOVE 5": 0, "FETCH 5": 0, "COPY 5": 5, "DROP TABLE": 0, "DO": 0, "": 0, "BEGIN": 0,
		"UPDATE 99999999999999999999": 0,
	} {
		if got := affected([]byte(tag + "\x00")); got != want {
			t.Errorf("%q changed %d rows, want %d", tag, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64Range(0, 1e17).Draw(t, "rows")
		if got := affected(fmt.Appendf(nil, "INSERT 0 %d\x00", want)); got != want {
			t.Errorf("%d rows became %d", want, got)
		}
	})
}
