package mysqlwire

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/stream"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest"
)

// FuzzAnswer holds that no answer panics, that it means the same in whatever
// pieces it comes, and that no more is counted than has come.
func FuzzAnswer(f *testing.F) {
	for _, test := range answers {
		for _, payloads := range [][][]byte{test.old, test.modern} {
			if answer := frame(1, payloads...); len(answer) < 1<<10 {
				f.Add(answer, true, false)
				f.Add(answer, false, test.cache)
			}
		}
	}
	f.Fuzz(func(t *testing.T, answer []byte, deprecateEOF, cache bool) {
		whole := over(answer, len(answer)+1, deprecateEOF, cache)
		want, wantErr := whole.Query(nil)
		if want.Bytes > int64(len(answer)) || want.Rows > int64(len(answer)) || want.Rows < 0 {
			t.Errorf("%+v from %d bytes", want, len(answer))
		}
		for _, size := range []int{1, 5} {
			c := over(answer, size, deprecateEOF, cache)
			got, err := c.Query(nil)
			if got != want || (err == nil) != (wantErr == nil) || (c.err == nil) != (whole.err == nil) {
				t.Errorf("in pieces of %d: %+v, %v, want %+v, %v", size, got, err, want, wantErr)
			}
		}
		c := over(answer, 3, deprecateEOF, cache)
		_, _ = c.prepare("", 1)
	})
}

// FuzzLogin holds that no server's side of a login panics or leads to a broken
// packet of ours.
func FuzzLogin(f *testing.F) {
	greeting := greetingPayload(modern, cachingSHA2)
	f.Add(frame(0, greeting), frame(2, []byte{authMoreData, fastAuthDone}, okPayload(okPacket, 0, 2)), false)
	f.Add(frame(0, greeting), frame(2, append([]byte("\xfeclient_ed25519\x00"), make([]byte, 32)...)), true)
	f.Add(frame(0, greeting), frame(2, []byte{authMoreData, fullAuthNeeded}), false)
	f.Add(frame(0, errPayload(1040, "x")), []byte{}, false)
	f.Fuzz(func(t *testing.T, greeting, rest []byte, secure bool) {
		var sent bytes.Buffer
		server := &wiretest.Pieces{Answer: append(bytes.Clone(greeting), rest...), Size: 9}
		l := login{packets: newPackets(&pipe{Reader: server, w: &sent}), address: wire.Address{User: "u", Password: "p", Database: "d"}}
		if secure {
			l.address.Socket = "s"
		}
		if _, err := l.run(&stream.Stream{}); err != nil && sent.Len() == 0 {
			return
		}
		check := newPackets(&pipe{Reader: &sent, w: io.Discard})
		for sent.Len() > 0 || check.r.Buffered() > 0 {
			head, err := check.r.Peek(headerSize)
			if err != nil {
				t.Fatalf("half a header sent: %v", err)
			}
			check.seq = head[3] // the server's packets lie between
			length, err := check.header()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := check.skip(length); err != nil {
				t.Fatalf("half a packet sent: %v", err)
			}
		}
	})
}

// TestBoundedMemory holds that lengths in a packet lead to no allocation.
func TestBoundedMemory(t *testing.T) {
	for _, answer := range [][]byte{
		{0xff, 0xff, 0xff, 1, 0xff},                                        // an error of 16 MB
		{0xff, 0xff, 0xff, 1, 0x00},                                        // an OK of 16 MB
		append(frame(1, []byte{0xfd, 0xff, 0xff, 0}), 0xff, 0xff, 0xff, 2), // 65535 long definitions
	} {
		c := over(nil, 0, true, false)
		allocated := testing.AllocsPerRun(10, func() {
			c.r.Reset(bytes.NewReader(answer))
			c.err = nil
			if _, err := c.Query(nil); !errors.Is(err, wire.ErrProtocol) && !errors.Is(err, io.EOF) {
				t.Errorf("error %v", err)
			}
		})
		if allocated >= 20 {
			t.Errorf("%x: %v allocations", answer, allocated)
		}
	}
}
