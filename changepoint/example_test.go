package changepoint_test

import (
	"fmt"

	"github.com/dbcanary/dbcanary/changepoint"
)

func ExampleDetect() {
	var qps []float64
	for commit := range 40 {
		level := 1000.0
		if commit >= 25 {
			level = 920
		}
		qps = append(qps, level+float64(7*commit%11)) // what a benchmark would give
	}
	result, err := changepoint.Detect(changepoint.Series{Values: qps}, changepoint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range result.Changes {
		size, low, high := c.Relative()
		fmt.Printf("%s: after commit %d, not after %d: %+.1f %% (%+.1f to %+.1f)\n",
			c.State, c.LastGood, c.FirstBad, 100*size, 100*low, 100*high)
	}
	// Output:
	// confirmed: after commit 24, not after 25: -7.9 % (-8.2 to -7.7)
}

func ExampleLadder() {
	releases := [][]float64{ // medians of the instances of each release
		{1012, 1003, 998, 1007},
		{1001, 1010, 996, 1004},
		{1009, 999, 1002, 1006},
		{871, 862, 880, 868},
		{866, 873, 860, 870},
		{875, 864, 869, 861},
	}
	result, err := changepoint.Ladder(releases, changepoint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range result.Changes {
		fmt.Printf("%s: came with release %d: %.0f to %.0f\n", c.State, c.Index, c.Before.Median, c.After.Median)
	}
	// Output:
	// confirmed: came with release 3: 1004 to 868
}

func ExampleStream() {
	stream := changepoint.NewStream(changepoint.Options{})
	for night := range 30 {
		level := 50.0
		if night >= 24 {
			level = 60
		}
		result, err := stream.Append(changepoint.Series{Values: []float64{level + float64(3*night%7)/4}})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, c := range result.Changes {
			fmt.Printf("night %d: %s since night %d\n", night, c.State, c.Index)
		}
	}
	// Output:
	// night 24: suspect since night 24
	// night 25: suspect since night 24
	// night 26: suspect since night 24
	// night 27: suspect since night 24
	// night 28: confirmed since night 24
	// night 29: confirmed since night 24
}
