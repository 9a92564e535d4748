package own

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// FuzzPgbench holds that a script is compiled or refused with a place, and that what
// is compiled runs without a panic.
func FuzzPgbench(f *testing.F) {
	script, err := os.ReadFile(filepath.Join("testdata", "pgbench.sql"))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		string(script), builtins()["tpcb-like"], "\\set x CASE WHEN 1 THEN -:x ELSE 2 END\nSELECT :x, ':x' /* :x */;",
		"\\if\n\\elif 1\n\\else\n\\endif\n\\set", "\\set a 9223372036854775807 + 1\nSELECT :a;", "SELECT $a$ ; $a$\\; SELECT '", "\\sleep :x us", "\\set x ((((1\\\n",
		"\\set x random(1, 0)\n\\set y permute(1, 0)\nSELECT :x % 0;",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4000 || strings.Contains(text, `\sleep`) { // which may take its time
			return
		}
		w := dbcanary.OwnWorkload{Kind: dbcanary.OwnPgbench, Scale: 1, Files: []dbcanary.OwnFile{{Name: "f.sql", Text: text}}}
		list, err := Open([]dbcanary.OwnWorkload{w})
		if err != nil {
			if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.HasPrefix(err.Error(), "f.sql:") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		for _, mode := range []string{workload.Text, workload.Prepared} {
			events(list[0], dbcanary.Postgres, mode, 3)
		}
	})
}

// FuzzYAML holds that a file is compiled or refused with a place.
func FuzzYAML(f *testing.F) {
	for _, name := range []string{"shop.yaml", "../../../../examples/own/store.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("tables: {t: {rows: 1, columns: {a: {type: int, clustered: {min: 1, max: 1, spread: 1}}}}}\nbenchmarks: {x: {transactions: {statements: [SELECT a FROM t]}}}")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 8000 {
			return
		}
		w := dbcanary.OwnWorkload{Kind: dbcanary.OwnYAML, Files: []dbcanary.OwnFile{{Name: "w.yaml", Text: text}, {Name: "cities.txt", Text: "Berlin\nCork\n"}}}
		list, err := Open([]dbcanary.OwnWorkload{w})
		if err != nil {
			if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.HasPrefix(err.Error(), "w.yaml") {
				t.Errorf("%v\n%s", err, text)
			}
			return
		}
		for _, b := range list {
			events(b, dbcanary.MySQL, workload.Text, 2)
		}
	})
}
