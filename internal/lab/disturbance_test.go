package lab

import (
	"slices"
	"testing"

	"github.com/dbcanary/dbcanary"
)

func TestDisturbance(t *testing.T) {
	quiet := slices.Repeat([]float64{0.01, 0.02, 0.03}, 4)
	busy := slices.Repeat([]float64{0.2, 0.5, 0.8}, 4)
	tests := []struct {
		name   string
		share  float64
		before []float64
		want   bool
	}{
		{"a neighbour on a quiet host", 0.5, quiet, true},
		{"within the margin of a quiet host", 0.16, quiet, false},
		{"normal on a busy host", 0.9, busy, false},
		{"far above a busy host's spread", 1.9, busy, true},
		{"nothing is normal yet", 0.9, quiet[:9], false},
		{"unknown", -1, quiet, false},
		{"some disturbed slices don't move what is normal", 0.5, append([]float64{0.9, 0.9, 0.9}, quiet...), true},
	}
	for _, test := range tests {
		if got := disturbance(test.share, test.before); (got != "") != test.want {
			t.Errorf("%s: got %q", test.name, got)
		}
	}
}

func TestChangedLoad(t *testing.T) {
	quiet, busy := slices.Repeat([]float64{0.02}, 20), slices.Repeat([]float64{0.9}, 20)
	if got := changedLoad(append(slices.Clone(quiet), busy...)); got == "" {
		t.Error("a neighbour that came in the middle was not noticed")
	}
	for name, shares := range map[string][]float64{
		"quiet": quiet, "always busy": busy, "too few": append(slices.Clone(quiet[:5]), busy[:5]...),
		"a few busy slices": append(slices.Clone(quiet), busy[:4]...),
	} {
		if got := changedLoad(shares); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestOtherCPUs(t *testing.T) {
	trial := dbcanary.Trial{ElapsedNs: 1000, ForeignCPUNs: 300, StealNs: 200}
	if got := otherCPUs(&trial); got != 0.5 {
		t.Errorf("got %g", got)
	}
	trial.ForeignCPUNs = -1
	if got := otherCPUs(&trial); got != -1 {
		t.Errorf("unknown gave %g", got)
	}
}
