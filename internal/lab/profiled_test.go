package lab

import (
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/store"
)

// A run that goes on profiles what it has not: what was profiled by pauses in the
// place of perf counts as what was asked for, and what showed nothing does not count.
func TestReadProfiled(t *testing.T) {
	for _, test := range []struct {
		asked []string
		want  []profileKey
	}{
		{dbcanary.ProfileKinds(), []profileKey{{"scan", "a", "waits"}, {"scan", "a", "perf"}, {"scan", "a", "stacks"}}},
		{[]string{"perf"}, []profileKey{{"scan", "a", "waits"}, {"scan", "a", "perf"}}},
	} {
		st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "dbcanary.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		run := &dbcanary.Run{Started: time.Now(), Plan: dbcanary.Plan{Profile: test.asked}}
		if err := st.CreateRun(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		for _, p := range []dbcanary.Profile{
			{Waits: []dbcanary.Wait{{Event: "Lock:tuple", Count: 1}}},
			{Stacks: []dbcanary.Stacks{{Sampler: "perf cycles", Pprof: []byte{1}}}},
			{Stacks: []dbcanary.Stacks{{Sampler: "eu-stack", Pprof: []byte{1}}}},
			{Void: "the server died", Target: "b"},
		} {
			p.Benchmark = "scan"
			if p.Target == "" {
				p.Target = "a"
			}
			if err := st.AddProfile(t.Context(), run.ID, &p); err != nil {
				t.Fatal(err)
			}
		}
		s := &state{Lab: &Lab{Store: st}, run: run}
		if err := s.readProfiled(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := map[profileKey]bool{}
		for _, key := range test.want {
			want[key] = true
		}
		if !maps.Equal(want, s.profiled) {
			t.Errorf("asked for %v: %s", test.asked, cmp.Diff(want, s.profiled, cmp.AllowUnexported(profileKey{})))
		}
	}
}
