package changepoint

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// noisy makes Gaussian noise with a step of 5 sigma, up and down in turn, at
// each multiple of every; 0 for none.
func noisy(n, every int) []float64 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float64, n)
	for i := range x {
		x[i] = 100 + 2*r.NormFloat64()
		if every > 0 {
			x[i] += 10 * float64(i/every%2)
		}
	}
	return x
}

func BenchmarkDetect(b *testing.B) {
	for _, every := range []int{0, 1000, 50} {
		for _, n := range []int{100, 1000, 10_000, 100_000, 1_000_000} {
			x := noisy(n, every)
			b.Run("every="+strconv.Itoa(every)+"/n="+strconv.Itoa(n), func(b *testing.B) {
				for b.Loop() {
					if _, err := Detect(Series{Values: x}, Options{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/point")
			})
		}
	}
}

// BenchmarkDetectExponent prints the exponent of the growth from 10,000 to
// 1,000,000 points; n log n is 1.08.
func BenchmarkDetectExponent(b *testing.B) {
	for _, every := range []int{0, 1000, 50} {
		b.Run("every="+strconv.Itoa(every), func(b *testing.B) {
			small, large := noisy(10_000, every), noisy(1_000_000, every)
			for b.Loop() {
				exponent := math.Log(float64(fastest(b, large, 1))/float64(fastest(b, small, 10))) / math.Log(100)
				b.ReportMetric(exponent, "exponent")
			}
		})
	}
}

func fastest(b *testing.B, x []float64, times int) time.Duration {
	best := time.Duration(math.MaxInt64)
	for range times {
		start := time.Now()
		if _, err := Detect(Series{Values: x}, Options{}); err != nil {
			b.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	return best
}
