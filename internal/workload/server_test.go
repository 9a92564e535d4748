package workload

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest/servertest"
)

// serverData is small, and large enough for spans of 10,000.
var serverData = Data{Tables: 2, TableSize: 10500, Seed: 11}

// TestServers runs the catalogue on a real server of each family.
func TestServers(t *testing.T) {
	for _, target := range []string{"sqlite", "postgres@18", "mariadb@10.11", "mysql@9.7"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, target, 512<<20)
			s.load(t, serverData)
			s.loadSlap(t)
			s.loadScenarios(t)
			t.Run("digests", s.testDigests)
			t.Run("statements", s.testStatements)
			t.Run("text", s.testTextMode)
			t.Run("secondary", s.testSecondary)
			t.Run("scenarios", s.testScenarios)
			t.Run("programs", s.testPrograms)
			t.Run("concurrent", s.testConcurrent)
		})
	}
}

func startServer(t testing.TB, target string, memoryBytes int64) *serverTest {
	t.Helper()
	var settings []dbcanary.Setting
	if strings.HasPrefix(target, "postgres") {
		// Few rows and many writers: deadlocks are what is looked for.
		settings = append(settings, dbcanary.Setting{Name: "deadlock_timeout", Value: "10ms"})
	}
	server := servertest.StartSized(t, target, memoryBytes, settings...)
	return &serverTest{server: server, family: server.Build.Family}
}

type serverTest struct {
	server *servertest.Server
	family dbcanary.Family
}

func (s *serverTest) connect(t *testing.T) wire.Conn {
	t.Helper()
	conn, err := s.server.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// load loads, settles and verifies: the digest is that of the seed, so it is the
// same on every family.
func (s *serverTest) load(t *testing.T, data Data) {
	t.Helper()
	if err := Load(t.Context(), s.server.Connect, s.family, data, 3, nil); err != nil {
		t.Fatal(err)
	}
	if err := Settle(t.Context(), s.server.Admin(), s.family); err != nil {
		t.Fatal(err)
	}
	digest, err := Verify(t.Context(), s.server.Admin(), s.family, data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Expect(data), digest); diff != "" {
		t.Error(diff)
	}
}

// loadSlap loads the tables of the slap benchmarks and warms them, also when a
// restart has emptied those in memory.
func (s *serverTest) loadSlap(t *testing.T) {
	t.Helper()
	var tables slapTables
	if err := tables.Load(t.Context(), Loading{Connect: s.server.Connect, Family: s.family}); err != nil {
		t.Fatal(err)
	}
	if s.family == dbcanary.MariaDB || s.family == dbcanary.MySQL {
		if err := execAll(t.Context(), s.server.Admin(), "DELETE FROM slap_memory"); err != nil {
			t.Fatal(err)
		}
	}
	if err := tables.Warm(t.Context(), s.server.Admin(), s.family, serverData); err != nil {
		t.Fatal(err)
	}
	for _, engine := range slapEngines() {
		if engine.not[s.family] != "" {
			continue
		}
		got, err := texts(t.Context(), s.server.Admin(), "SELECT SUM(i) FROM "+engine.table()+" WHERE i = j AND j = k AND l = 0")
		if err != nil || got[0] != fmt.Sprint(slapRows*(slapRows+1)/2) {
			t.Errorf("%s: the sum of its rows is %v, %v", engine.table(), got, err)
		}
	}
}

// testStatements runs the suite of 32 in order on one copy of the data, then the
// others that are lists of statements, and compares what the server logged with what
// the benchmark says it sends, value by value. SQLite keeps no log; there the answers alone are checked.
func (s *serverTest) testStatements(t *testing.T) {
	suite, err := FindSuite("sysbench-32")
	if err != nil {
		t.Fatal(err)
	}
	state, log := new(State), s.server.LogStatements(t)
	conn := s.connect(t)
	expected := map[string][]string{}
	var benchmarks []Benchmark
	for _, b := range suite.Benchmarks() {
		benchmarks = append(benchmarks, b)
		if b.Quirks() != (Quirks{}) { // as the classic mode has it
			b = b.AsPublished()
			b.Label += " as published"
			benchmarks = append(benchmarks, b)
		}
	}
	for _, b := range append(slap(), scenarios()...) {
		if b.Label = b.label(); b.Program == nil && b.NotApplicable(s.family, serverData) == "" {
			benchmarks = append(benchmarks, b)
		}
	}
	for _, b := range benchmarks {
		events := 5
		if b.Range > 1000 {
			events = 2
		}
		if _, err := conn.Query([]byte("SELECT 'begin " + b.Label + "'")); err != nil {
			t.Fatal(err)
		}
		s.runEvents(t, b, conn, BindOptions{State: state}, serverData, events)
		expected[b.Label] = s.expectedTexts(t, b, events)
	}
	if _, err := conn.Query([]byte("SELECT 'end'")); err != nil {
		t.Fatal(err)
	}
	if log == nil {
		return
	}
	logged := byBenchmark(log(t))
	for _, b := range benchmarks {
		if diff := cmp.Diff(expected[b.Label], logged[b.Label]); diff != "" {
			t.Errorf("%s: statements at the server (-documented +logged):\n%.4000s", b.Label, diff)
		}
	}
}

// seedOf gives each benchmark keys and texts of its own: an update that sets a
// column to what it is changes nothing on MySQL.
func seedOf(b Benchmark) uint64 {
	hash := fnv.New64a()
	fmt.Fprint(hash, b.Label)
	return hash.Sum64()
}

func (s *serverTest) runEvents(t *testing.T, b Benchmark, conn wire.Conn, options BindOptions, data Data, events int) {
	t.Helper()
	session, err := b.Bind(t.Context(), conn, s.family, data, options)
	if err != nil {
		t.Fatal(err)
	}
	session.Reseed(seedOf(b))
	for range events {
		n, err := session.Run()
		if err != nil {
			t.Fatalf("%s: %v", b.Label, err)
		}
		if n != b.Statements() {
			t.Errorf("%s: %d statements, documented are %d", b.Label, n, b.Statements())
		}
	}
}

// expectedTexts gives the statements of some events as text with their values.
func (s *serverTest) expectedTexts(t *testing.T, b Benchmark, events int) []string {
	t.Helper()
	conn := &fakeConn{}
	session, err := b.Bind(t.Context(), conn, s.family, serverData, BindOptions{PSMode: Text})
	if err != nil {
		t.Fatal(err)
	}
	right := rightAnswer(session)
	conn.answer = func(sql string) (wire.Result, error) {
		conn.sent = append(conn.sent, sql)
		return right(sql)
	}
	session.Reseed(seedOf(b))
	for range events {
		if _, err := session.Run(); err != nil {
			t.Fatal(err)
		}
	}
	return conn.sent
}

// byBenchmark splits a log at the marks between benchmarks.
func byBenchmark(log []string) map[string][]string {
	statements := map[string][]string{}
	label := ""
	for _, sql := range log {
		if mark, ok := strings.CutPrefix(sql, "SELECT 'begin "); ok {
			label = strings.TrimSuffix(mark, "'")
		} else if sql == "SELECT 'end'" {
			label = ""
		} else if label != "" {
			statements[label] = append(statements[label], sql)
		}
	}
	return statements
}

// testTextMode: answers are right also when everything goes as text.
func (s *serverTest) testTextMode(t *testing.T) {
	conn := s.connect(t)
	state := new(State)
	state.changed.Store(true) // by the test before
	state.deleted.Store(true)
	for _, b := range Catalogue() {
		if b.Deletes() || b.Program != nil || b.NotApplicable(s.family, serverData) != "" {
			continue // its rows are partly gone, or it has a test of its own
		}
		b.Label = "text " + b.Label // for other keys
		s.runEvents(t, b, conn, BindOptions{PSMode: Text, State: state}, serverData, 2)
	}
}

// testSecondary: the tables without a primary key hold the same rows and give the same answers.
func (s *serverTest) testSecondary(t *testing.T) {
	data := serverData
	data.Secondary = true
	s.load(t, data)
	conn := s.connect(t)
	state := new(State)
	for _, b := range Catalogue() {
		if b.NotApplicable(s.family, data) == "" && b.Program == nil {
			s.runEvents(t, b, conn, BindOptions{State: state}, data, 1)
		}
	}
}

// testConcurrent lets four connections write to few rows. Deadlocks and
// duplicates come back as errors to try again, and whatever they were, every row
// is there at the end.
func (s *serverTest) testConcurrent(t *testing.T) {
	data := Data{Tables: 1, TableSize: 12, Seed: 3}
	s.load(t, data)
	state := new(State)
	var mu sync.Mutex
	done, retries := 0, map[string]int{}
	for _, label := range []string{"write-only", "read-write range=10", "update-inlist range=10", "update-one"} {
		b, err := Find(label)
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for worker := range uint64(4) {
			conn := s.connect(t)
			session, err := b.Bind(t.Context(), conn, s.family, data, BindOptions{State: state})
			if err != nil {
				t.Fatal(err)
			}
			session.Reseed(worker)
			group.Go(func() {
				for range 100 {
					_, err := session.Run()
					var refused *wire.ServerError
					mu.Lock()
					if errors.As(err, &refused) && refused.Retryable {
						retries[refused.Code]++
					} else if err != nil {
						t.Errorf("%s: %v", label, err)
					} else {
						done++
					}
					mu.Unlock()
				}
			})
		}
		group.Wait()
	}
	t.Logf("%d events done, retries by code: %v", done, retries)
	if done < 400 {
		t.Errorf("only %d of 1600 events were done", done)
	}
	got, err := texts(t.Context(), s.server.Admin(), "SELECT COUNT(*) + SUM(id) FROM sbtest1")
	if err != nil || got[0] != fmt.Sprint(12+12*13/2) {
		t.Errorf("rows and ids add up to %v, %v", got, err)
	}
	s.testExhausted(t, data)
}

// testExhausted deletes every row and then finds nothing left.
func (s *serverTest) testExhausted(t *testing.T, data Data) {
	deletes, err := Find("delete")
	if err != nil {
		t.Fatal(err)
	}
	conn := s.connect(t)
	state := new(State)
	s.runEvents(t, deletes, conn, BindOptions{State: state}, data, data.TableSize)
	session, err := deletes.Bind(t.Context(), conn, s.family, data, BindOptions{State: state})
	if err != nil {
		t.Fatal(err)
	}
	session.Reseed(1)
	if _, err := session.Run(); !errors.Is(err, ErrExhausted) {
		t.Errorf("with nothing left: %v", err)
	}
	got, err := texts(t.Context(), s.server.Admin(), "SELECT COUNT(*) FROM sbtest1")
	if err != nil || got[0] != "0" {
		t.Errorf("%v rows are left, %v", got, err)
	}
}

// BenchmarkLoad loads a million rows, the indexes included.
func BenchmarkLoad(b *testing.B) {
	for _, target := range []string{"mariadb@10.11", "postgres@18"} {
		s := startServer(b, target, 1<<30)
		for _, test := range []struct{ tables, parallel int }{{1, 1}, {1, 4}, {4, 4}} {
			b.Run(fmt.Sprintf("%s/tables=%d/parallel=%d", target, test.tables, test.parallel), func(b *testing.B) {
				data := Data{Tables: test.tables, TableSize: 1_000_000 / test.tables, Seed: 1}
				for b.Loop() {
					if err := Load(b.Context(), s.server.Connect, s.family, data, test.parallel, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(data.Rows())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
