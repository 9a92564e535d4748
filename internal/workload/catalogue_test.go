package workload

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
)

// TestCatalogue holds what every benchmark sends, and how it is described.
func TestCatalogue(t *testing.T) {
	datadriven.Walk(t, "testdata/catalogue", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			label := strings.TrimSpace(d.Input)
			switch d.Cmd {
			case "labels":
				return strings.Join(Labels(), "\n")
			case "suite":
				suite, err := FindSuite(label)
				if err != nil {
					return err.Error()
				}
				return suite.Describe()
			case "describe":
				b, err := Find(label)
				if err != nil {
					return err.Error()
				}
				return fmt.Sprintf("%s\n%s", b.Label, b.Describe())
			case "event":
				return event(t, d, label)
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

// event runs one event of each benchmark named, all of them for "*".
func event(t *testing.T, d *datadriven.TestData, input string) string {
	family, mode := "mysql", Prepared
	d.MaybeScanArgs(t, "family", &family)
	d.MaybeScanArgs(t, "mode", &mode)
	labels := strings.Split(input, "\n")
	if input == "*" {
		labels = nil
		for _, b := range Catalogue() {
			if b.Program == nil {
				labels = append(labels, b.Label)
			}
		}
	}
	var out strings.Builder
	for _, label := range labels {
		b, err := Find(label)
		if err != nil {
			return err.Error()
		}
		if d.HasArg("published") {
			b = b.AsPublished()
		}
		conn := &fakeConn{record: true}
		s, err := b.Bind(t.Context(), conn, dbcanary.Family(family), Data{Tables: 4, TableSize: 50000, Seed: 1}, BindOptions{PSMode: mode})
		if err != nil {
			return err.Error()
		}
		if s.steps[0].texts != nil {
			conn.answer = rightAnswer(s)
		}
		s.Reseed(7)
		n, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		if n != b.Statements() || n != conn.queries {
			t.Errorf("%s: Run says %d statements, the benchmark %d, sent were %d", label, n, b.Statements(), conn.queries)
		}
		fmt.Fprintf(&out, "%s\n", b.Label)
		for _, sent := range conn.sent {
			fmt.Fprintf(&out, "  %s\n", shorten(sent))
		}
	}
	return out.String()
}

// shorten cuts lists of more than eight words.
func shorten(text string) string {
	words := strings.Split(text, " ")
	if len(words) <= 40 {
		return text
	}
	return fmt.Sprintf("%s …%d words… %s", strings.Join(words[:16], " "), len(words)-20, strings.Join(words[len(words)-4:], " "))
}

func TestEveryBenchmarkIsComplete(t *testing.T) {
	seen := map[string]bool{}
	same := cmp.Options{
		cmp.Comparer(func(a, b Program) bool { return (a == nil) == (b == nil) }),
		cmp.Comparer(func(a, b func() string) bool { return (a == nil) == (b == nil) }),
	}
	for _, b := range Catalogue() {
		if seen[b.Label] {
			t.Errorf("label %q is there twice", b.Label)
		}
		seen[b.Label] = true
		found, err := Find(b.Label)
		if diff := cmp.Diff(b, found, same); err != nil || diff != "" {
			t.Errorf("Find(%q): %v\n%s", b.Label, err, diff)
		}
		found, err = Find(b.PublishedName())
		if diff := cmp.Diff(b, found, same); err != nil || diff != "" {
			t.Errorf("Find(%q): %v\n%s", b.PublishedName(), err, diff)
		}
		if b.Program != nil {
			if b.Group == "" || b.Doc == "" || b.Single && (b.Shown == nil || b.Shown() == "") || b.Single && (b.Events > 0) == (b.Time > 0) {
				t.Errorf("%s: group, doc, SQL, or either events or a time are missing", b.Label)
			}
			continue
		}
		writes, drawn := false, false
		for _, step := range b.Steps {
			drawn = drawn || slices.ContainsFunc(step.Args, func(arg Arg) bool { return arg == Key || arg == KeyList || arg == SpanStart })
			writes = writes || step.Answer.judgesAffected()
			if step.Answer.describe(1) == string(step.Answer) {
				t.Errorf("%s: answer %q is not described", b.Label, step.Answer)
			}
			if wants := strings.Contains(step.SQL, "{list}"); wants != strings.Contains(fmt.Sprint(step.Args), string(KeyList)) {
				t.Errorf("%s: {list} and its argument belong together", b.Label)
			}
		}
		if b.Group == "" || b.Doc == "" || b.Keys == "" && drawn || len(b.Steps) == 0 {
			t.Errorf("%s: group, doc, keys or steps are missing", b.Label)
		}
		if writes != b.Writes || writes != (b.Group == Writes) {
			t.Errorf("%s: writes %v, Writes %v, group %s", b.Label, writes, b.Writes, b.Group)
		}
	}
}

func TestSuites(t *testing.T) {
	groups := map[string]map[string]int{
		"slap":             {"point": 45, "range-1": 81},
		"scenarios":        {"catalog": 3, "connect": 5, "first-minutes": 1, "plans": 9, "point": 3, "range-1": 2, "range-2": 3, "replication": 1, "writes": 2},
		"oltp-sweep":       {"read-only range=100": 9, "point-query": 9},
		"quick":            {"point": 2, "range-1": 3, "range-2": 1, "writes": 4},
		"sysbench-32":      {"point": 9, "range-1": 5, "range-2": 8, "writes": 10},
		"sysbench-42":      {"point-1": 11, "point-2": 6, "range-1": 9, "range-2": 6, "writes": 10},
		"insert-benchmark": {"inserts": 4, "queries": 6},
		"sql-bench": {
			"alter-table": 5, "ATIS": 8, "big-tables": 2, "connect": 10, "create": 5, "insert": 50, "select": 15, "transactions": 9, "wisconsin": 4,
		},
	}
	for _, suite := range Suites() {
		got := map[string]int{}
		seen := map[string]bool{}
		for _, b := range suite.Benchmarks() {
			got[b.Group]++
			if seen[b.Label] {
				t.Errorf("%s: %s is there twice", suite.Name, b.Label)
			}
			seen[b.Label] = true
		}
		if diff := cmp.Diff(groups[suite.Name], got); diff != "" {
			t.Errorf("%s: benchmarks by group (-want +got):\n%s", suite.Name, diff)
		}
		for _, step := range suite.Steps {
			if b, err := Find(step.Label); !step.Settle && (err != nil || b.Label != step.Label) {
				t.Errorf("%s: step %q is benchmark %q: %v", suite.Name, step.Label, b.Label, err)
			}
		}
	}
}

func TestFindErrors(t *testing.T) {
	for label, want := range map[string]string{
		"point-qurey":       `unknown benchmark "point-qurey"; did you mean point-query?`,
		"scan range=5":      `benchmark "scan range=5": scan has no range`,
		"read-only range=x": `benchmark "read-only range=x": the range must be a number from 1 to 10000`,
		"read-only.pree":    `benchmark "read-only.pree": unknown suffix ".pree"; did you mean .pre?`,

		"sql-bench.create.create+drp":       `unknown benchmark "sql-bench.create.create+drp"; did you mean sql-bench.create.create+drop or sql-bench.create.create_key+drop?`,
		"sql-bench.connect.connect scal=1":  `"sql-bench.connect.connect scal=1": unknown parameter "scal"; did you mean scale?`,
		"insert-benchmark.l.i0 rows=30G":    `rows=30G is no whole number, such as 500K or 30M`,
		"insert-benchmark.l.i0 rows=50":     `rows=50: it must be above 0 and divide by 100`,
		"sql-bench.connect.connect scale=x": `scale=x is no number`,
		"sql-bench.connect.connect scale=0": `scale 0: it must be from 0.001 to 10, where 1 is the published size`,
	} {
		_, err := Find(label)
		if err == nil || err.Error() != want || dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
			t.Errorf("Find(%q) = %v, want %s", label, err, want)
		}
	}
	_, err := FindSuite("sysbench-43")
	if err == nil || dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), "did you mean sysbench-42") {
		t.Errorf("FindSuite: %v", err)
	}
}

func TestFindVariants(t *testing.T) {
	for label, want := range map[string]string{
		"read-only":                      "read-only range=100",
		"read-only range=7":              "read-only range=7",
		"read-only.pre_range=10":         "read-only.pre range=10",
		"random-points.pre":              "random-points.pre range=100",
		"hot-points range=100":           "hot-points",
		"points-covered-pk range=10000":  "points-covered-pk range=10000",
		"point-query_range=100":          "point-query",
		"write-only_range=10000":         "write-only",
		" scan.warm ":                    "scan.warm",
		"points-covered-pk.pre range=12": "points-covered-pk.pre range=12",

		"sql-bench.insert.select_key":            "sql-bench.insert.select_key",
		"sql-bench.insert.select_key scale=0.03": "sql-bench.insert.select_key",
		"insert-benchmark.qr100 rows=30M secs=5": "insert-benchmark.qr100 rows=30000000",
		"sql-bench.insert.select_key_scale=1":    "sql-bench.insert.select_key scale=1",
	} {
		b, err := Find(label)
		if err != nil || b.Label != want {
			t.Errorf("Find(%q) = %q, %v, want %q", label, b.Label, err, want)
			continue
		}
		if again, err := Find(b.PublishedName()); err != nil || again.Label != b.Label {
			t.Errorf("Find(%q) = %q, %v, want %q", b.PublishedName(), again.Label, err, b.Label)
		}
	}
}
