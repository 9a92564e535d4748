package mysqlwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// answers are what a server may say to one command.
var answers = []struct {
	name          string
	old, modern   [][]byte // without and with CLIENT_DEPRECATE_EOF; nil if there is no difference
	cache         bool
	want          wire.Result
	code          string
	retryable     bool
	brokenBecause error // the connection is of no use after it
}{
	{name: "ok", old: [][]byte{okPayload(okPacket, 300, 2)}, want: wire.Result{Affected: 300}},
	{
		name: "no rows", old: resultSet(false), modern: resultSet(true),
		want: wire.Result{},
	},
	{
		name:   "rows, with a first value longer than 250 bytes",
		old:    resultSet(false, []byte("\x03abc"), append([]byte{0xfc, 0, 1}, make([]byte, 256)...)),
		modern: resultSet(true, []byte("\x03abc"), append([]byte{0xfc, 0, 1}, make([]byte, 256)...)),
		want:   wire.Result{Rows: 2, Bytes: 4 + 259},
	},
	{
		name:   "a row larger than the buffer",
		old:    resultSet(false, make([]byte, 3*readBuffer), []byte{0, 0}),
		modern: resultSet(true, make([]byte, 3*readBuffer), []byte{0, 0}),
		want:   wire.Result{Rows: 2, Bytes: 3*readBuffer + 2},
	},
	{
		name:   "rows of exactly and just over a full packet, beginning with 0xfe",
		old:    resultSet(false, bytes.Repeat([]byte{0xfe}, maxPayload), bytes.Repeat([]byte{0xfe}, maxPayload+5)),
		modern: resultSet(true, bytes.Repeat([]byte{0xfe}, maxPayload), bytes.Repeat([]byte{0xfe}, maxPayload+5)),
		want:   wire.Result{Rows: 2, Bytes: 2*maxPayload + 5},
	},
	{
		name: "cached column definitions", cache: true,
		modern: [][]byte{{1, 0}, {0, 0, 1}, okPayload(eofPacket, 0, 2)},
		old:    [][]byte{{1, 0}, eofPayload(2), {0, 0, 1}, eofPayload(2)},
		want:   wire.Result{Rows: 1, Bytes: 3},
	},
	{
		name: "column definitions that could be cached and are not", cache: true,
		modern: [][]byte{{1, 1}, definition(), {0, 0, 1}, okPayload(eofPacket, 0, 2)},
		old:    [][]byte{{1, 1}, definition(), eofPayload(2), {0, 0, 1}, eofPayload(2)},
		want:   wire.Result{Rows: 1, Bytes: 3},
	},
	{name: "deadlock", old: [][]byte{errPayload(1213, "Deadlock\nfound")}, code: "1213", retryable: true},
	{name: "lock wait timeout", old: [][]byte{errPayload(1205, "x")}, code: "1205", retryable: true},
	{name: "record changed", old: [][]byte{errPayload(1020, "x")}, code: "1020", retryable: true},
	{name: "no such table", old: [][]byte{errPayload(1146, "x")}, code: "1146"},
	{
		name:   "error in the middle of rows",
		old:    append(resultSet(false, []byte{0, 1}, []byte{0, 2})[:5], errPayload(1317, "interrupted")),
		modern: append(resultSet(true, []byte{0, 1}, []byte{0, 2})[:4], errPayload(1317, "interrupted")),
		want:   wire.Result{Rows: 2, Bytes: 4},
		code:   "1317",
	},
	{name: "cut in the middle of rows", old: resultSet(false, []byte{0, 1})[:4], modern: resultSet(true, []byte{0, 1})[:3], want: wire.Result{Rows: 1, Bytes: 2}, brokenBecause: io.EOF},
	{name: "nothing", old: [][]byte{}, brokenBecause: io.EOF},
	{name: "empty packet", old: [][]byte{{}}, brokenBecause: wire.ErrProtocol},
	{name: "empty row", old: resultSet(false, []byte{}), modern: resultSet(true, []byte{}), brokenBecause: wire.ErrProtocol},
	{name: "local file wanted", old: [][]byte{[]byte("\xfb/etc/passwd")}, brokenBecause: wire.ErrProtocol},
	{name: "too many columns", old: [][]byte{{0xfe, 1, 2, 3, 4, 5, 6, 7, 8}}, brokenBecause: wire.ErrProtocol},
	{name: "short ok", old: [][]byte{{0, 0xfc}}, brokenBecause: wire.ErrProtocol},
	{name: "short error", old: [][]byte{{0xff, 1}}, brokenBecause: wire.ErrProtocol},
	{name: "huge error", old: [][]byte{errPayload(1, string(make([]byte, 2*readBuffer)))}, brokenBecause: wire.ErrProtocol},
	{name: "a second result", old: [][]byte{okPayload(okPacket, 1, moreResults)}, brokenBecause: wire.ErrProtocol},
	{name: "a second result set", old: [][]byte{{1}, definition(), eofPayload(2), eofPayload(moreResults)}, modern: [][]byte{{1}, definition(), okPayload(eofPacket, 0, moreResults)}, brokenBecause: wire.ErrProtocol},
}

func TestAnswers(t *testing.T) {
	for _, test := range answers {
		for _, deprecateEOF := range []bool{false, true} {
			payloads := test.old
			if deprecateEOF && test.modern != nil {
				payloads = test.modern
			}
			answer := frame(1, payloads...)
			sizes := []int{1, 2, 3, 7, readBuffer, len(answer) + 1}
			if len(answer) > 1<<20 {
				sizes = sizes[4:] // byte by byte takes too long
			}
			for _, size := range sizes {
				t.Run(fmt.Sprintf("%s/deprecateEOF=%t/pieces of %d", test.name, deprecateEOF, size), func(t *testing.T) {
					c := over(answer, size, deprecateEOF, test.cache)
					got, err := c.Query([]byte("SELECT c FROM t"))
					checkAnswer(t, c, got, err, test.want, test.code, test.retryable, test.brokenBecause)
				})
			}
		}
	}
}

func checkAnswer(t *testing.T, c *conn, got wire.Result, err error, want wire.Result, code string, retryable bool, broken error) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	var refused *wire.ServerError
	switch {
	case code != "":
		if !errors.As(err, &refused) || refused.Code != code || refused.Retryable != retryable {
			t.Errorf("error %#v, want server's %s, retryable %t", err, code, retryable)
		}
		if c.err != nil {
			t.Errorf("the connection is out of use: %v", c.err)
		}
	case broken != nil:
		if !errors.Is(err, broken) || errors.As(err, &refused) {
			t.Errorf("error %#v, want a plain one with %v", err, broken)
		}
		if _, again := c.Query([]byte("SELECT 1")); again != err {
			t.Errorf("the next query gave %v, want the same error", again)
		}
	case err != nil:
		t.Errorf("error %v", err)
	}
}

// TestSplits holds that an answer means the same however it is cut in two.
func TestSplits(t *testing.T) {
	answer := frame(1, resultSet(true, []byte{0, 1, 2}, []byte{0}, []byte{0, 5, 6, 7})...)
	for cut := 1; cut < len(answer); cut++ {
		c := over(nil, 0, true, false)
		c.r.Reset(io.MultiReader(bytes.NewReader(answer[:cut]), bytes.NewReader(answer[cut:])))
		got, err := c.Query([]byte("SELECT c FROM t"))
		if want := (wire.Result{Rows: 3, Bytes: 8}); err != nil || got != want {
			t.Errorf("cut at %d: %v, %v, want %v", cut, got, err, want)
		}
	}
}

func TestWrongSequence(t *testing.T) {
	answer := frame(1, resultSet(true, []byte{0, 1}, []byte{0, 2})...)
	for at := 0; at < len(answer); {
		length := int(answer[at])
		broken := bytes.Clone(answer)
		broken[at+3] += 3
		c := over(broken, len(broken), true, false)
		if _, err := c.Query([]byte("SELECT c FROM t")); !errors.Is(err, wire.ErrProtocol) {
			t.Errorf("header at %d: error %v, want %v", at, err, wire.ErrProtocol)
		}
		at += headerSize + length
	}
}

func TestLengthEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 250, 251, 1<<16 - 1, 1 << 16, 1<<24 - 1, 1 << 24, math.MaxUint64})).Draw(t, "n")
		encoded := appendLenenc(nil, n)
		if got, size := lenenc(append(encoded, "tail"...)); got != n || size != len(encoded) {
			t.Errorf("%d came back as %d, %d bytes of %d", n, got, size, len(encoded))
		}
		for cut := range encoded {
			if _, size := lenenc(encoded[:cut]); size != 0 {
				t.Errorf("%d was read from %d of %d bytes", n, cut, len(encoded))
			}
		}
	})
}
