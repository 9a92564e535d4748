package workload

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/workload/draw"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRows holds the content of some rows: stored results rest on it.
func TestRows(t *testing.T) {
	datadriven.RunTest(t, "testdata/rows", func(t *testing.T, d *datadriven.TestData) string {
		var data Data
		var table, id int
		d.ScanArgs(t, "seed", &data.Seed)
		d.ScanArgs(t, "size", &data.TableSize)
		d.ScanArgs(t, "table", &table)
		d.ScanArgs(t, "id", &id)
		return string(appendRow(nil, &data, table, id))
	})
}

func TestRowsHaveTheirForm(t *testing.T) {
	form := regexp.MustCompile(`^\(\d+,\d+,'(\d{11}-){9}\d{11}','(\d{11}-){4}\d{11}'\)$`)
	data := Data{Tables: 1, TableSize: 10, Seed: 9}
	k := map[string]int{}
	seen := map[string]bool{}
	for id := 1; id <= 2000; id++ {
		row := string(appendRow(nil, &data, 1, id))
		if !form.MatchString(row) {
			t.Fatalf("row %d is %s", id, row)
		}
		fields := strings.SplitN(row, ",", 3)
		k[fields[1]]++
		if seen[fields[2]] {
			t.Fatalf("row %d has the text of another", id)
		}
		seen[fields[2]] = true
	}
	observed, expected := []float64{}, []float64{}
	for _, n := range k {
		observed, expected = append(observed, float64(n)), append(expected, 200)
	}
	if p := chiSquareP(observed, expected); len(k) != 10 || p < rejectBelow {
		t.Errorf("k has %d values, p = %g", len(k), p)
	}
}

func TestDigitsAreUniform(t *testing.T) {
	var r draw.Source
	r.Reseed(1)
	text := make([]byte, cSize)
	observed := make([][]float64, groupDigits)
	for i := range observed {
		observed[i] = make([]float64, 10)
	}
	const texts = 5000
	for range texts {
		putText(text, &r)
		for i, char := range text {
			if place := i % (groupDigits + 1); place == groupDigits {
				if char != '-' {
					t.Fatalf("%s", text)
				}
			} else {
				observed[place][char-'0']++
			}
		}
	}
	expected := slices.Repeat([]float64{texts * cGroups / 10}, 10)
	for place, digits := range observed {
		if p := chiSquareP(digits, expected); p < rejectBelow {
			t.Errorf("digit %d: p = %g", place, p)
		}
	}
}

// recorder is the server of a load: it keeps what it is sent.
type recorder struct {
	mu   sync.Mutex
	sent []string
	fail func(sql string) error
}

type recorderConn struct {
	*fakeConn
	r *recorder
}

func (r *recorder) connect(context.Context) (wire.Conn, error) {
	return recorderConn{&fakeConn{}, r}, nil
}

func (c recorderConn) Query(query []byte) (wire.Result, error) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	sql := string(query)
	if c.r.fail != nil {
		if err := c.r.fail(sql); err != nil {
			return wire.Result{}, err
		}
	}
	c.r.sent = append(c.r.sent, sql)
	return wire.Result{Affected: int64(strings.Count(sql, "'),(") + 1)}, nil
}

// loaded gives the rows of all INSERTs, sorted.
func (r *recorder) loaded() []string {
	var rows []string
	for _, sql := range r.sent {
		if head, values, ok := strings.Cut(sql, " VALUES("); ok {
			for row := range strings.SplitSeq(strings.TrimSuffix(values, ")"), "),(") {
				rows = append(rows, head+" "+row)
			}
		}
	}
	slices.Sort(rows)
	return rows
}

func TestLoadDoesNotDependOnParallelism(t *testing.T) {
	data := Data{Tables: 2, TableSize: 7001, Seed: 4}
	var first []string
	for _, family := range []dbcanary.Family{dbcanary.MySQL, dbcanary.Postgres} {
		for _, parallel := range []int{1, 2, 3, 7} {
			r := &recorder{}
			var last int64
			err := Load(t.Context(), r.connect, family, data, parallel, func(done, total int64) {
				if done <= last || total != data.Rows() {
					t.Errorf("progress %d of %d after %d", done, total, last)
				}
				last = done
			})
			if err != nil || last != data.Rows() {
				t.Fatalf("%v after %d rows", err, last)
			}
			rows := r.loaded()
			if first == nil {
				first = rows
			}
			if diff := cmp.Diff(first, rows); diff != "" || len(rows) != int(data.Rows()) {
				t.Fatalf("%s over %d connections loads %d rows:\n%s", family, parallel, len(rows), diff)
			}
			for _, sql := range r.sent {
				if len(sql) > 64<<10 {
					t.Errorf("a statement of %d bytes", len(sql))
				}
			}
		}
	}
}

func TestLoadStops(t *testing.T) {
	data := Data{Tables: 4, TableSize: 20000, Seed: 4}
	full := &wire.ServerError{Code: "1114", Message: "The table is full"}
	r := &recorder{fail: func(sql string) error {
		if strings.HasPrefix(sql, "INSERT INTO sbtest2") {
			return full
		}
		return nil
	}}
	err := Load(t.Context(), r.connect, dbcanary.MariaDB, data, 2, nil)
	if !errors.Is(err, full) || !strings.Contains(err.Error(), "load rows from 1 on into sbtest2") || strings.Contains(strings.Join(r.sent, "\n"), "CREATE INDEX") {
		t.Errorf("a full table: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the user stopped the work")
	r = &recorder{fail: func(sql string) error {
		if strings.HasPrefix(sql, "INSERT") {
			cancel(stop)
		}
		return nil
	}}
	if err := Load(ctx, r.connect, dbcanary.MariaDB, data, 2, nil); !errors.Is(err, stop) {
		t.Errorf("a cancelled load: %v", err)
	}
}

func TestSchema(t *testing.T) {
	datadriven.RunTest(t, "testdata/schema", func(t *testing.T, d *datadriven.TestData) string {
		var family string
		d.ScanArgs(t, "family", &family)
		data := Data{Tables: 1, TableSize: 3, Seed: 1, Secondary: d.HasArg("secondary")}
		r := &recorder{}
		if err := Load(t.Context(), r.connect, dbcanary.Family(family), data, 1, nil); err != nil {
			return err.Error()
		}
		for i, sql := range r.sent {
			if head, _, ok := strings.Cut(sql, "VALUES"); ok {
				r.sent[i] = head + "VALUES …"
			}
		}
		return strings.Join(r.sent, "\n")
	})
}

// TestExpect checks the digest against one added up by hand.
func TestExpect(t *testing.T) {
	var got TableDigest
	got.add([]byte("(1000003,7,'00000000005-"+strings.Repeat("99999999999-", 8)+"00000000007','00000002000-"+
		strings.Repeat("99999999999-", 3)+"00000000001')"), 1000003)
	// ids weigh id%1000003+1 = 1; c begins with 000000000 and ends with 000000007, pad with 000000020 and 000000001.
	want := TableDigest{Rows: 1, IDs: 1000003, K: 7, C: 7, Pad: 21, Length: 178}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	a, b := Data{Tables: 2, TableSize: 100, Seed: 1}, Data{Tables: 2, TableSize: 100, Seed: 2}
	if cmp.Equal(Expect(a), Expect(b)) || cmp.Equal(Expect(a).Tables[0], Expect(a).Tables[1]) {
		t.Error("another seed or table gives the same digest")
	}
}

func BenchmarkRow(b *testing.B) {
	data := Data{Tables: 1, TableSize: 1_000_000, Seed: 1}
	var buf []byte
	id := 0
	for b.Loop() {
		id++
		buf = appendRow(buf[:0], &data, 1, id)
	}
	if len(buf) < cSize+padSize {
		b.Fatal("no row")
	}
}

func TestEightDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Uint32Range(0, 99_999_999).Draw(t, "number")
		var got [8]byte
		binary.LittleEndian.PutUint64(got[:], eightDigits(number))
		if want := fmt.Sprintf("%08d", number); string(got[:]) != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
