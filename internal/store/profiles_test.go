package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
)

// newProfiles are what two profiling slices showed, and one that showed nothing.
func newProfiles() []dbcanary.Profile {
	return []dbcanary.Profile{
		{
			Benchmark: "scan", Target: "mariadb@10.5", Instance: 1, Started: time.Unix(1e9, 7).UTC(), ElapsedNs: 5e9, Operations: 12,
			Waits: []dbcanary.Wait{
				{Event: "wait/synch/mutex/innodb/trx_sys_mutex", Count: 3, TotalNs: 9e9},
				{Event: "LWLock:WALWrite", Count: 1, TotalNs: 1, Sampled: true},
			},
		},
		{
			Benchmark: "scan", Target: "mariadb@10.5", Started: time.Unix(2e9, 0).UTC(), ElapsedNs: 1, Operations: 1,
			Stacks: []dbcanary.Stacks{{Sampler: "perf cpu-clock", Pprof: []byte{31, 139, 0}}, {Sampler: "gdb", Pprof: []byte{1}}},
		},
		{Benchmark: "scan", Target: "mariadb@11.8+noahi", Started: time.Unix(3e9, 0).UTC(), Void: "the server died"},
	}
}

func addProfiles(t testing.TB, s *Store, runID int64) {
	t.Helper()
	for _, profile := range newProfiles() {
		if err := s.AddProfile(t.Context(), runID, &profile); err != nil {
			t.Fatal(err)
		}
	}
}

func checkProfiles(t testing.TB, s *Store, runID int64) {
	t.Helper()
	got, err := s.Profiles(t.Context(), runID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(newProfiles(), got); diff != "" {
		t.Errorf("profiles (-want +got):\n%s", diff)
	}
}

func TestProfiles(t *testing.T) {
	s := newStore(t)
	run, other := createRun(t, s), createRun(t, s)
	addProfiles(t, s, run.ID)
	checkProfiles(t, s, run.ID)
	if got, err := s.Profiles(t.Context(), other.ID); len(got) != 0 || err != nil {
		t.Errorf("%d profiles of another run, error %v", len(got), err)
	}
	trials, err := s.Trials(t.Context(), run.ID)
	if len(trials) != 0 || err != nil {
		t.Errorf("%d profiles pass for trials, error %v", len(trials), err)
	}
	if err := s.AddProfile(t.Context(), 99, &newProfiles()[0]); dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
		t.Errorf("a profile of no run: %v", err)
	}
}

// Profiles go with their run into another store, under keys that are new there.
func TestProfiles_Merge(t *testing.T) {
	from := newStore(t)
	run := createRun(t, from)
	addProfiles(t, from, run.ID)
	into := openStore(t, filepath.Join(t.TempDir(), "into.db"))
	own := createRun(t, into)
	addProfiles(t, into, own.ID)
	merged, err := into.Merge(t.Context(), from)
	if err != nil || len(merged) != 1 || merged[0].Outcome != MergeAdded {
		t.Fatalf("merged %+v, error %v", merged, err)
	}
	checkProfiles(t, into, own.ID)
	checkProfiles(t, into, merged[0].ID)
}
