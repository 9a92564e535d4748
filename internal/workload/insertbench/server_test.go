package insertbench

import (
	"crypto/sha256"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/load"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest/servertest"
)

// tiny has two clients.
func tiny() Params { return Params{Rows: 2000, Rows1: 500, Rows2: 100, Seconds: 1, Clients: 2} }

// TestServers runs the ten steps on a real server of each family: answers are
// right, the statements at the server are the documented ones in their number, the
// rate is kept, and the tables hold the same on every family.
func TestServers(t *testing.T) {
	targets := []string{"postgres@17", "mariadb@10.11", "mysql@9.7"}
	servertest.Alike(t, targets, func(t *testing.T, target string) []string {
		s := startServer(t, target)
		found := s.testSteps(t)
		s.testAlone(t)
		return found
	})
}

type serverTest struct {
	server *servertest.Server
	bench  *Bench
	log    func(testing.TB) []string
}

func startServer(t *testing.T, target string) *serverTest {
	t.Helper()
	server := servertest.Start(t, target)
	return &serverTest{server: server, log: server.LogStatements(t), bench: New(tiny(), server.Build.Family, 3)}
}

// run does a step as a run does and gives its trial.
func (s *serverTest) run(t *testing.T, index int) dbcanary.Trial {
	t.Helper()
	step := Steps()[index]
	conn, err := s.server.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if !s.bench.Continues(index) {
		if err := s.bench.Reset(t.Context(), conn, index); err != nil {
			t.Fatal(err)
		}
	}
	s.mark(t, step.Name)
	run := s.bench.Start(index)
	var workers []load.Worker
	clients := s.bench.Params.Clients
	for n := range clients + step.Background(s.bench.Params) {
		conn, err := s.server.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		worker, err := run.Worker(t.Context(), n, conn, s.bench.Family == dbcanary.Postgres)
		if err != nil {
			t.Fatal(err)
		}
		worker.Reseed(uint64(n))
		workers = append(workers, load.Worker{Conn: conn, Event: worker, Background: n >= clients})
	}
	options := load.Options{Events: int64(step.Events(s.bench.Params)), Exact: true}
	if step.Queries() {
		options = load.Options{Time: 1200 * time.Millisecond}
	}
	recording, err := load.Run(t.Context(), workers, options)
	if err != nil || recording.Void() != "" {
		t.Fatalf("%s: %v %s", step.Name, err, recording.Void())
	}
	trial := dbcanary.Trial{ElapsedNs: recording.Elapsed.Nanoseconds(), Events: recording.Events, Operations: recording.Operations}
	// What the host was too busy for is no fault of ours; that it is told is tested elsewhere.
	if err := run.Finish(t.Context(), s.server.Admin(), &trial); err != nil && !strings.Contains(err.Error(), "did not sustain") {
		t.Fatalf("%s: %v", step.Name, err)
	}
	s.mark(t, "")
	return trial
}

func (s *serverTest) mark(t *testing.T, text string) {
	t.Helper()
	if _, err := s.server.Admin().ExecContext(t.Context(), "SELECT 'mark "+text+"'"); err != nil {
		t.Fatal(err)
	}
}

func metric(t *testing.T, trial dbcanary.Trial, name string) dbcanary.Metric {
	t.Helper()
	for _, m := range trial.Metrics {
		if m.Name == name {
			return m
		}
	}
	t.Errorf("no metric %s", name)
	return dbcanary.Metric{}
}

// testSteps runs all steps in order, and gives digests of the tables after the first four.
func (s *serverTest) testSteps(t *testing.T) []string {
	var digests []string
	clients := s.bench.Params.Clients
	for index, step := range Steps() {
		trial := s.run(t, index)
		inserted := metric(t, trial, InsertedRows)
		sum := 0.0
		for _, rows := range inserted.PerSecond {
			sum += rows
		}
		if step.Queries() {
			sum *= float64(trial.ElapsedNs) / 1e9 // of one whole second
		}
		if math.Abs(sum-inserted.Value) > 1e-6 || metric(t, trial, InsertMax).Max <= 0 || metric(t, trial, TableBytes).Value <= 0 {
			t.Errorf("%s: metrics %+v", step.Name, trial.Metrics)
		}
		if !step.Queries() {
			digests = append(digests, s.digest(t))
			if want := float64(clients * step.rows(s.bench.Params)); inserted.Value != want {
				t.Errorf("%s: %v rows were inserted, not %v", step.Name, inserted.Value, want)
			}
			continue
		}
		// A busy host may miss the rate; nothing exceeds it.
		if most := float64(clients * step.Rate); len(inserted.PerSecond) != 1 || inserted.PerSecond[0] > most || inserted.PerSecond[0] < most/4 {
			t.Errorf("%s: %v rows were inserted at %d a second of %d clients", step.Name, inserted.PerSecond, step.Rate, clients)
		}
	}
	s.checkLog(t)
	return digests
}

// testAlone runs a step with queries on a server that has seen none before.
func (s *serverTest) testAlone(t *testing.T) {
	s.bench = New(tiny(), s.bench.Family, 3)
	if trial := s.run(t, 5); trial.Events == 0 {
		t.Error("no query was run")
	}
}

func (s *serverTest) digest(t *testing.T) string {
	t.Helper()
	hash := sha256.New()
	for client := range s.bench.Params.Clients {
		when := "dateandtime"
		if s.bench.Family == dbcanary.Postgres {
			when = "to_char(dateandtime, 'YYYY-MM-DD HH24:MI:SS')"
		}
		rows, err := s.server.Admin().QueryContext(t.Context(),
			fmt.Sprintf("select transactionid, %s, cashregisterid, customerid, productid, price, data from %s order by 1", when, Table(client)))
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var values [7]string
			if err := rows.Scan(&values[0], &values[1], &values[2], &values[3], &values[4], &values[5], &values[6]); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(hash, "%q\n", values)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("%x", hash.Sum(nil))
}

var values = regexp.MustCompile(`\('[^)]*\)`)

// shape is a statement without its values: "insert … values 100 rows".
func shape(statement string) string {
	if head, rows, ok := strings.Cut(statement, " values "); ok {
		return fmt.Sprintf("%s values %d rows", head, len(values.FindAllString(rows, -1)))
	}
	table := regexp.MustCompile(`\bpi\d+`)
	kept := table.ReplaceAllStringFunc(statement, func(name string) string { return "pi" + strings.Repeat("#", int(name[2]-'0')) })
	limit := regexp.MustCompile(`limit \d+`).FindString(kept)
	kept = regexp.MustCompile(`\$?\d+`).ReplaceAllString(kept, "?")
	return regexp.MustCompile(`limit \?`).ReplaceAllString(kept, limit)
}

// checkLog compares the statements that the server logged in each step with the
// documented ones: by their number where a step has one, by their form elsewhere.
func (s *serverTest) checkLog(t *testing.T) {
	got := map[string]map[string]int{}
	name := ""
	for _, statement := range s.log(t) {
		if mark, ok := strings.CutPrefix(statement, "SELECT 'mark "); ok {
			name = strings.TrimSuffix(mark, "'")
			continue
		}
		// What Finish asks for itself, and what a connection begins with.
		if name == "" || strings.HasPrefix(statement, "select count(*)") || strings.Contains(statement, "pg_total_relation_size") ||
			strings.Contains(statement, "information_schema") || strings.HasPrefix(statement, "SET NAMES") || statement == "-- ping" {
			continue
		}
		if got[name] == nil {
			got[name] = map[string]int{}
		}
		got[name][shape(statement)]++
	}
	for _, step := range Steps() {
		want := s.documented(step)
		for form, n := range want {
			if n == 0 && got[step.Name][form] > 0 {
				want[form] = got[step.Name][form]
			}
		}
		if diff := cmp.Diff(want, got[step.Name]); diff != "" {
			t.Errorf("%s: statements at the server (-documented +logged):\n%s", step.Name, diff)
		}
		s.checkProportions(t, step, got[step.Name])
	}
}

// documented gives the forms of a step with their number, 0 for one that time decides.
func (s *serverTest) documented(step Step) map[string]int {
	forms := map[string]int{}
	p := s.bench.Params
	for client := range p.Clients {
		n := step.rows(p) / step.Commit
		if step.Queries() {
			n = 0
		}
		forms[shape(string(appendInsert(nil, 1, client, 1, step.Commit)))] = n
		switch step.Kind {
		case Index:
			for _, text := range index(s.bench.Family, client) {
				forms[shape(text)] = 1
			}
		case Churn, Range, Point:
			forms[shape(string(appendDelete(nil, s.bench.Family, client, 1, step.Commit)))] = n
			forms["select min(transactionid) from pi"+strings.Repeat("#", client+1)] = 1
		}
		if step.Kind == Range {
			for which := range 3 {
				query, _ := rangeQuery(s.bench.Family, client, which)
				forms[shape(query)] = 0
			}
		}
		if step.Kind == Point {
			forms[shape(pointQuery(client))] = 0
			forms["select max(transactionid) from pi"+strings.Repeat("#", client+1)] = 0
		}
	}
	return forms
}

// checkProportions: as many deletes as inserts, the three ranges in equal parts, and
// the greatest id once in a hundred queries.
func (s *serverTest) checkProportions(t *testing.T, step Step, got map[string]int) {
	t.Helper()
	if !step.Queries() {
		return
	}
	for client := range s.bench.Params.Clients {
		inserts := got[shape(string(appendInsert(nil, 1, client, 1, step.Commit)))]
		deletes := got[shape(string(appendDelete(nil, s.bench.Family, client, 1, step.Commit)))]
		if inserts != deletes {
			t.Errorf("%s: %d inserts and %d deletes of client %d", step.Name, inserts, deletes, client)
		}
		if step.Kind == Point {
			queries, maxima := got[shape(pointQuery(client))], got["select max(transactionid) from pi"+strings.Repeat("#", client+1)]
			if maxima != (queries+greatest-1)/greatest {
				t.Errorf("%s: the greatest id was asked for %d times for %d queries", step.Name, maxima, queries)
			}
			continue
		}
		var counts []int
		total := 0
		for which := range 3 {
			query, _ := rangeQuery(s.bench.Family, client, which)
			counts = append(counts, got[shape(query)])
			total += counts[which]
		}
		for _, n := range counts {
			// The seeds are fixed; six standard deviations are for the number of queries.
			if off := float64(n) - float64(total)/3; off*off > 36*float64(total)*2/9 {
				t.Errorf("%s: the three ranges were asked for %v times", step.Name, counts)
			}
		}
	}
}

// A rate that is not reached is told with both numbers, and its queries don't count.
func TestSustained(t *testing.T) {
	b := New(Params{Clients: 2}, dbcanary.Postgres, 1)
	run := &Run{bench: b, step: Steps()[4]} // 100 rows a second of each client
	for rows, want := range map[float64]string{
		190: "",
		200: "",
		189: "the server did not sustain the inserts beside the queries: 189.0 of 200 rows a second, under 95 %",
		0:   "the server did not sustain the inserts beside the queries: 0.0 of 200 rows a second, under 95 %",
	} {
		run.inserts = []*series{{count: []float64{rows / 2, 100}}, {count: []float64{rows / 2, 100}}}
		got := ""
		if err := run.sustained(&dbcanary.Trial{ElapsedNs: 1.25e9}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%v rows in a second: %q, want %q", rows, got, want)
		}
	}
}
