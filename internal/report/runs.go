package report

import (
	"io"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// Runs lists runs for a terminal, in the order given, with the number of trials by run ID.
func Runs(w io.Writer, runs []dbcanary.Run, trials map[int64]int) error {
	if len(runs) == 0 {
		_, err := io.WriteString(w, "There are no runs yet: dbcanary compare makes one.\n")
		return err
	}
	t := &table{columns: []column{
		{title: "run", right: true},
		{title: "started (UTC)"},
		{title: "state"},
		{title: "took", right: true},
		{title: "benchmarks", right: true},
		{title: "trials", right: true},
		{title: "targets, base first"},
	}}
	for _, run := range runs {
		took := missing
		if !run.Ended.IsZero() {
			took = durationText(run.Ended.Sub(run.Started))
		}
		benchmarks := strconv.Itoa(len(run.Plan.Benchmarks))
		t.add(cell{text: strconv.FormatInt(run.ID, 10)}, cell{text: run.Started.UTC().Format("2006-01-02 15:04:05")},
			cell{text: string(run.State)}, cell{text: took}, cell{text: benchmarks},
			cell{text: grouped(int64(trials[run.ID]))}, cell{text: strings.Join(run.Plan.Targets, " ")})
	}
	_, err := io.WriteString(w, t.text(0, false))
	return err
}
