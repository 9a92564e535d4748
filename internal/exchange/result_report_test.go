package exchange_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/exchange"
	"github.com/dbcanary/dbcanary/internal/report"
)

func importRuns(t *testing.T, args ...string) []exchange.ImportedRun {
	t.Helper()
	files, err := exchange.ReadFiles(context.Background(), args, exchange.FileOptions{})
	if err != nil || len(files.Rejected) > 0 {
		t.Fatal(err, files.Rejected)
	}
	runs, err := exchange.MakeRuns(files.Measurements, exchange.RunOptions{Now: time.Unix(1e9, 0)})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// TestImportedRuns_NoVerdict holds that no imported change gets a verdict, whatever its size and repeats.
func TestImportedRuns_NoVerdict(t *testing.T) {
	dir := t.TempDir()
	var args []string
	for _, file := range []struct{ path, tps string }{
		{"8.0.28/a.txt", "1000"}, {"8.0.28/b.txt", "1000"}, {"8.0.40/a.txt", "500"}, {"8.0.40/b.txt", "2000"},
	} {
		path := filepath.Join(dir, file.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("transaction type: <builtin: select only>\nnumber of clients: 4\nnumber of transactions actually processed: 10000\ntps = "+file.tps+".0 (without initial connection time)\n", 12)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args = append(args, filepath.Join(dir, "8.0.28"), filepath.Join(dir, "8.0.40"))
	runs := importRuns(t, args...)
	if len(runs) != 1 || len(runs[0].Trials) != 48 || runs[0].Run.Plan.Blocks != 12 {
		t.Fatalf("%d runs: %+v", len(runs), runs[0].Run.Plan)
	}
	r := report.New(runs[0].Run, runs[0].Trials)
	if len(r.Comparisons) != 2 {
		t.Fatalf("%d comparisons", len(r.Comparisons))
	}
	for _, c := range r.Comparisons {
		if c.Verdict != dbcanary.Inconclusive || !strings.HasPrefix(c.Reason, "one instance") {
			t.Errorf("%s: %s, %s", c.Benchmark, c.Verdict, c.Reason)
		}
	}
}
