package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/store"
)

// measurement is one run of dbcanary that a part wants.
type measurement struct {
	Part        string   `json:"part"`
	Name        string   `json:"name"`                   // unique in the part
	Args        []string `json:"args"`                   // of dbcanary, but for the store
	FixedLayout bool     `json:"fixed_layout,omitempty"` // address-space randomisation off, for servers and client
}

// stopTimeout is how long dbcanary may take to stop its servers when it is interrupted.
const stopTimeout = 2 * time.Minute

// argv is the command line; address-space randomisation is a trait of a process
// that its children inherit.
func (m measurement) argv(program string) []string {
	argv := append([]string{program}, m.Args...)
	if m.FixedLayout {
		argv = append([]string{"setarch", "--addr-no-randomize"}, argv...)
	}
	return argv
}

// command is what a user would type.
func (m measurement) command(program string) string {
	var words []string
	for _, word := range m.argv(program) {
		if strings.ContainsAny(word, " ;'\"$()*?<>|&") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// journal says which run of the store belongs to which measurement.
type journal struct {
	path    string
	Entries []entry `json:"measurements"`
}

type entry struct {
	measurement
	RunID int64 `json:"run"`
}

func journalPath(db string) string { return strings.TrimSuffix(db, ".db") + ".json" }

func readJournal(path string) (*journal, error) {
	j := &journal{path: path}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return j, nil
}

// has tells whether a measurement is done. One of the same name that was done in
// another way would be mixed up with it.
func (j *journal) has(m measurement) (bool, error) {
	at := slices.IndexFunc(j.Entries, func(e entry) bool { return e.Part == m.Part && e.Name == m.Name })
	if at < 0 {
		return false, nil
	}
	if done := j.Entries[at]; !slices.Equal(done.Args, m.Args) || done.FixedLayout != m.FixedLayout {
		return false, fmt.Errorf("%s has %s %s measured by %q and not by %q: give the same flags, or another -db", j.path, m.Part, m.Name, done.Args, m.Args)
	}
	return true, nil
}

// add keeps a measurement. The file is replaced whole, so that it is never half written.
func (j *journal) add(m measurement, runID int64) error {
	j.Entries = append(j.Entries, entry{measurement: m, RunID: runID})
	text, err := json.MarshalIndent(j, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(j.path+".new", append(text, '\n'), 0o666); err != nil {
		return err
	}
	return os.Rename(j.path+".new", j.path)
}

// measure runs dbcanary and keeps which run it made. A run that was interrupted or
// lost a target is none: the next call measures it again.
func measure(ctx context.Context, o options, j *journal, m measurement, out io.Writer) error {
	before, err := newestRun(ctx, o.db)
	if err != nil {
		return err
	}
	argv := append(m.argv(o.program), "--db", o.db)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopTimeout
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w; its last words were:\n%s", errors.Join(err, ctx.Err()), lastLines(said.String(), 10))
	}
	run, err := newestRun(ctx, o.db)
	if err != nil {
		return err
	}
	if run.ID == before.ID || run.State != dbcanary.RunDone {
		return fmt.Errorf("it left no finished run in %s; its last words were:\n%s", o.db, lastLines(said.String(), 10))
	}
	for _, target := range run.Targets {
		if target.Dropped != "" {
			return fmt.Errorf("%s was dropped from run %d: %s", target.Name, run.ID, target.Dropped)
		}
	}
	fmt.Fprintf(out, "  run %d, %s\n", run.ID, run.Ended.Sub(run.Started).Round(time.Second))
	return j.add(m, run.ID)
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// newestRun gives the newest run of a store, the zero run if there is none.
func newestRun(ctx context.Context, db string) (run dbcanary.Run, err error) {
	if _, err := os.Stat(db); errors.Is(err, fs.ErrNotExist) {
		return run, nil
	}
	s, err := store.OpenExisting(ctx, db)
	if err != nil {
		return run, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	runs, err := s.Runs(ctx)
	if err != nil || len(runs) == 0 {
		return run, err
	}
	return runs[0], nil
}

// result is a measurement with what it stored.
type result struct {
	measurement
	run    dbcanary.Run
	trials []dbcanary.Trial
}

// readResults reads the runs of a journal, in its order.
func readResults(ctx context.Context, db string, j *journal) (results []result, err error) {
	if len(j.Entries) == 0 {
		return nil, nil
	}
	s, err := store.OpenExisting(ctx, db)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, e := range j.Entries {
		r := result{measurement: e.measurement}
		if r.run, err = s.Run(ctx, strconv.FormatInt(e.RunID, 10)); err != nil {
			return nil, err
		}
		if r.trials, err = s.Trials(ctx, e.RunID); err != nil {
			return nil, err
		}
		for i := range r.trials {
			r.trials[i].Metrics, r.trials[i].Histogram = nil, nil
		}
		results = append(results, r)
	}
	return results, nil
}

// of gives the results of a part.
func of(part string, results []result) []result {
	var list []result
	for _, r := range results {
		if r.Part == part {
			list = append(list, r)
		}
	}
	return list
}
