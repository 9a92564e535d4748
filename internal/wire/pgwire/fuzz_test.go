package pgwire

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// FuzzAnswer holds that no answer panics, that it means the same in whatever
// pieces it comes, and that no more is counted than has come.
func FuzzAnswer(f *testing.F) {
	for _, test := range answers {
		if len(test.answer) < 1<<10 {
			f.Add(test.answer)
		}
	}
	f.Add(described(oidInt4, oidInt8))
	f.Fuzz(func(t *testing.T, answer []byte) {
		whole := over(answer, len(answer)+1)
		want, wantErr := whole.Query(nil)
		if want.Bytes > int64(len(answer)) || want.Rows > int64(len(answer)) || want.Rows < 0 || want.Affected < 0 {
			t.Errorf("%+v from %d bytes", want, len(answer))
		}
		for _, size := range []int{1, 5} {
			c := over(answer, size)
			got, err := c.Query(nil)
			if got != want || (err == nil) != (wantErr == nil) || (c.err == nil) != (whole.err == nil) {
				t.Errorf("in pieces of %d: %+v, %v, want %+v, %v", size, got, err, want, wantErr)
			}
		}
		_, _ = over(answer, 3).prepare("", make([]wire.Kind, 2))
	})
}

// TestBoundedMemory holds that lengths in a message lead to no allocation.
func TestBoundedMemory(t *testing.T) {
	for _, answer := range []string{"E\x7f\xff\xff\xff", "C\x7f\xff\xff\xff", "D\x7f\xff\xff\xff", "t\x7f\xff\xff\xff"} {
		c := over(nil, 0)
		allocated := testing.AllocsPerRun(10, func() {
			c.r.Reset(bytes.NewReader([]byte(answer)))
			c.err = nil
			if _, err := c.Query(nil); !errors.Is(err, wire.ErrProtocol) && !errors.Is(err, io.EOF) {
				t.Errorf("error %v", err)
			}
		})
		if allocated >= 20 {
			t.Errorf("%q: %v allocations", answer, allocated)
		}
	}
}
