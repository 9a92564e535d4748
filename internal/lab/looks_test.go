package lab

import (
	"slices"
	"testing"

	"github.com/dbcanary/dbcanary/internal/workload"
)

// Writes go on as long as something after them is in doubt.
func TestWithoutNeeded(t *testing.T) {
	benchmarks := []workload.Benchmark{{Label: "read"}, {Label: "write", Writes: true}, {Label: "after"}, {Label: "last", Writes: true}}
	for _, test := range []struct{ clear, want []string }{
		{nil, nil},
		{[]string{"read", "write"}, []string{"read"}},
		{[]string{"read", "write", "after"}, []string{"read", "after"}},
		{[]string{"write", "after", "last"}, []string{"write", "after", "last"}},
		{[]string{"read", "write", "after", "last"}, []string{"read", "write", "after", "last"}},
	} {
		if got := withoutNeeded(benchmarks, test.clear); !slices.Equal(got, test.want) {
			t.Errorf("clear %q: left out %q, want %q", test.clear, got, test.want)
		}
	}
}
