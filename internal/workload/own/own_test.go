package own

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/workload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a connection that keeps what it is sent, with arguments filled in.
type recorder struct {
	sent   []string
	answer func(sql string) (wire.Result, error)
}

func (r *recorder) reply(sql string) (wire.Result, error) {
	r.sent = append(r.sent, sql)
	if r.answer != nil {
		return r.answer(sql)
	}
	return wire.Result{Rows: 1, Affected: 1}, nil
}

func (r *recorder) Query(query []byte) (wire.Result, error) { return r.reply(string(query)) }

func (r *recorder) Prepare(_ context.Context, query string, kinds []wire.Kind) (wire.Stmt, error) {
	return &recorded{r, query, kinds}, nil
}
func (r *recorder) Abort()       {}
func (r *recorder) Close() error { return nil }

type recorded struct {
	*recorder
	query string
	kinds []wire.Kind
}

func (s *recorded) Exec(args []wire.Arg) (wire.Result, error) {
	var shown []string
	for i, arg := range args {
		if s.kinds[i] == wire.Int {
			shown = append(shown, fmt.Sprint(arg.Int))
		} else {
			shown = append(shown, fmt.Sprintf("%q", arg.Text))
		}
	}
	return s.reply(s.query + "  [" + strings.Join(shown, " ") + "]")
}

// events runs a benchmark and gives what it sent, an event a paragraph.
func events(b workload.Benchmark, family dbcanary.Family, mode string, n int) string {
	r := &recorder{}
	work, err := b.Open(context.Background(), workload.Env{
		Family: family, Conn: r, PSMode: mode, Data: workload.Data{Tables: 1, TableSize: 1, Seed: 1}, Workers: 1,
	})
	if err != nil {
		return err.Error()
	}
	work.Reseed(7)
	var out strings.Builder
	for range n {
		r.sent = nil
		if _, err := work.Run(); err != nil {
			r.sent = append(r.sent, "error: "+err.Error())
		}
		out.WriteString(strings.Join(r.sent, "\n") + "\n--\n")
	}
	return out.String()
}

// TestScripts holds what pgbench scripts and queries send, and what is wrong with bad ones.
func TestScripts(t *testing.T) {
	datadriven.RunTest(t, "testdata/scripts", func(t *testing.T, d *datadriven.TestData) string {
		family, mode, n := "postgres", "text", 1
		d.MaybeScanArgs(t, "family", &family)
		d.MaybeScanArgs(t, "mode", &mode)
		d.MaybeScanArgs(t, "events", &n)
		w := dbcanary.OwnWorkload{Kind: dbcanary.OwnKind(d.Cmd), Scale: 3, Delimiter: ";", Defines: map[string]string{"given": "42"}}
		for i, text := range strings.Split(d.Input, "\n=====\n") {
			w.Files = append(w.Files, dbcanary.OwnFile{Name: fmt.Sprintf("f%d.sql", i), Text: text, Weight: i + 1})
		}
		list, err := Open([]dbcanary.OwnWorkload{w})
		if err != nil {
			return err.Error()
		}
		return events(list[0], dbcanary.Family(family), mode, n)
	})
}

// TestBadFiles holds the problems of YAML files, each told with line and column.
func TestBadFiles(t *testing.T) {
	datadriven.RunTest(t, "testdata/bad", func(t *testing.T, d *datadriven.TestData) string {
		_, err := Open([]dbcanary.OwnWorkload{{Kind: dbcanary.OwnYAML, Files: []dbcanary.OwnFile{{Name: "w.yaml", Text: d.Input}}}})
		if err == nil {
			return "ok"
		}
		if dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
			t.Errorf("code %s", dbcanary.ErrorCode(err))
		}
		return err.Error()
	})
}

func shop(t testing.TB) []workload.Benchmark {
	t.Helper()
	w, err := ReadYAML(filepath.Join("testdata", "shop.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := Open([]dbcanary.OwnWorkload{w})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The same seed gives the same statements on every family, but for their dialect.
func TestShop_SameValuesOnEveryFamily(t *testing.T) {
	for _, b := range shop(t) {
		want := events(b, dbcanary.MySQL, workload.Text, 20)
		for _, family := range []dbcanary.Family{dbcanary.MariaDB, dbcanary.Postgres, dbcanary.SQLite} {
			got := strings.ReplaceAll(events(b, family, workload.Text, 20), "BEGIN IMMEDIATE", "BEGIN")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s on %s: %s", b.Label, family, diff)
			}
		}
		if prepared := events(b, dbcanary.Postgres, workload.Prepared, 20); strings.Count(prepared, "\n--\n") != 20 || !strings.Contains(prepared, "$1") {
			t.Errorf("%s prepared:\n%s", b.Label, prepared)
		}
	}
}

// What a deadlock ends is repeated with the same values; a wrong answer is rolled back.
func TestSession_RepeatsAndRollsBack(t *testing.T) {
	b := shop(t)[0]
	deadlock := &wire.ServerError{Code: "1213", Retryable: true}
	fail := true
	r := &recorder{}
	r.answer = func(sql string) (wire.Result, error) {
		if strings.HasPrefix(sql, "UPDATE") && fail {
			fail = false
			return wire.Result{}, deadlock
		}
		return wire.Result{Rows: 1, Affected: 1}, nil
	}
	work, err := b.Open(t.Context(), workload.Env{Family: dbcanary.MySQL, Conn: r, PSMode: workload.Text, Data: workload.Data{Tables: 1, TableSize: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(0); fail; seed++ { // until an event buys
		work.Reseed(seed)
		r.sent = nil
		if _, err = work.Run(); err != nil && !errors.Is(err, deadlock) {
			t.Fatal(err)
		}
	}
	first := r.sent
	r.sent = nil
	if _, err := work.Run(); err != nil {
		t.Fatal(err)
	}
	if len(first) != 3 || first[2] != "ROLLBACK" || len(r.sent) != 4 || first[1] != r.sent[1] {
		t.Errorf("first %q, again %q", first, r.sent)
	}
	r.answer = func(string) (wire.Result, error) { return wire.Result{Rows: 7, Affected: 7}, nil }
	var failure error
	for failure == nil {
		r.sent = nil
		_, failure = work.Run()
	}
	if !strings.Contains(failure.Error(), "shop.yaml:") || !strings.Contains(failure.Error(), "7 rows, expected 1") {
		t.Errorf("a wrong answer: %v", failure)
	}
}

// The example of the docs is right.
func TestExample(t *testing.T) {
	w, err := ReadYAML("../../../examples/own/store.yaml")
	if err != nil {
		t.Fatal(err)
	}
	list, err := Open([]dbcanary.OwnWorkload{w})
	if err != nil || len(list) != 2 || list[0].Label != "store.mixed" || !list[0].Writes || list[1].Writes {
		t.Fatalf("%v, %+v", err, list)
	}
	for _, want := range []string{"-- look, weight 9", "BEGIN", "INSERT INTO orders"} {
		if !strings.Contains(list[0].Describe(), want) {
			t.Errorf("%q is missing in %s", want, list[0].Describe())
		}
	}
}

// A plan keeps the text: what Open needs is not read again.
func TestReadYAML_KeepsFilesOfValues(t *testing.T) {
	w, err := ReadYAML(filepath.Join("testdata", "shop.yaml"))
	if err != nil || len(w.Files) != 2 || w.Files[1].Name != "cities.txt" {
		t.Fatalf("%v, %+v", err, w)
	}
	w.Files[1].Name = "other.txt"
	if _, err := Open([]dbcanary.OwnWorkload{w}); err == nil || !strings.Contains(err.Error(), `the file "cities.txt" can't be read`) {
		t.Errorf("a file that is missing: %v", err)
	}
}

func TestRead_Refuses(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "a.sql")
	if err := os.WriteFile(script, []byte("SELECT 1;"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		read func() (dbcanary.OwnWorkload, error)
		want string
	}{
		{func() (dbcanary.OwnWorkload, error) { return ReadPgbench([]string{script + "@0"}, 1, nil) }, `the weight "0"`},
		{func() (dbcanary.OwnWorkload, error) { return ReadPgbench([]string{script}, 0, nil) }, "scale"},
		{func() (dbcanary.OwnWorkload, error) { return ReadPgbench([]string{filepath.Join(dir, "no")}, 1, nil) }, "no such file"},
		{func() (dbcanary.OwnWorkload, error) { return ReadQuery("SELECT 1", "", "") }, "delimiter"},
		{func() (dbcanary.OwnWorkload, error) { return ReadYAML(filepath.Join(dir, "no.yaml")) }, "no such file"},
	} {
		if _, err := test.read(); dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
	w, err := ReadPgbench([]string{script + "@3", "select-only"}, 1, nil)
	if err != nil || w.Files[0].Weight != 3 || !strings.Contains(w.Files[1].Text, "abalance") {
		t.Errorf("%v, %+v", err, w)
	}
}
