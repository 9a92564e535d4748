package stat_test

import (
	"fmt"

	"github.com/dbcanary/dbcanary/stat"
)

// A target and its base, each started eight times: the ratio of their rates in
// each pair of instances, with an interval and a test.
func Example() {
	target := []float64{35900, 36810, 34700, 36040, 36650, 35000, 36010, 36020}
	base := []float64{37700, 38200, 37900, 38100, 37500, 38000, 37800, 38050}
	logs := stat.LogRatios(target, base)

	ratio := stat.TInterval(logs, 0.95).Exp()
	fmt.Printf("ratio %.3f, 95 %% interval %.3f to %.3f, n = %d\n", ratio.Estimate, ratio.Low, ratio.High, ratio.N)

	test := stat.SignedRank(logs, 0.95)
	fmt.Printf("no change: p = %.4f, rejected: %v\n", test.P, test.Reject())

	// Output:
	// ratio 0.947, 95 % interval 0.930 to 0.964, n = 8
	// no change: p = 0.0078, rejected: true
}

// How many starts show a slowdown of 3 % when pairs of starts differ by 2 %?
func ExampleDesign() {
	design := stat.Design{SD: 0.02, Alpha: 0.05}
	n, ok := design.SampleSize(0.03, 0.8, 100)
	fmt.Println(n, ok)
	fmt.Printf("10 starts show %.3f\n", design.MinDetectable(10, 0.8))

	// Output:
	// 6 true
	// 10 starts show 0.020
}
