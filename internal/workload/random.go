package workload

import "github.com/dbcanary/dbcanary/internal/workload/draw"

// zipfTheta is the exponent of the published update-zipf.
const zipfTheta = 0.8

// newDistribution gives that of keys over 1..n; uniform for those that are none.
func newDistribution(keys Keys, n int) draw.Distribution {
	switch keys {
	case First:
		return func(*draw.Source) int64 { return 1 }
	case Zipf:
		return draw.Zipf(n, zipfTheta)
	case Gaussian:
		return draw.Gaussian(n)
	case Pareto:
		return draw.Pareto(n, 0.2)
	case Special:
		return draw.Special(n)
	default:
		return draw.Uniform(n)
	}
}
