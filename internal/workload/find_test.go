package workload

import "testing"

// BenchmarkFind finds the benchmarks of a suite as a plan does, by their labels.
func BenchmarkFind(b *testing.B) {
	for _, name := range []string{"sysbench-42", SQLBench} {
		b.Run(name, func(b *testing.B) {
			suite, err := FindSuite(name)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				suite.Benchmarks()
			}
		})
	}
}
