package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/dbcanary/dbcanary/changepoint"
)

// Simulated series have level 100 and noise of 2 %.
const (
	base  = 100.0
	sigma = 2.0
)

type noise struct {
	name   string
	make   func(r *rand.Rand, n int) []float64
	beyond bool // more than is promised; it does not count for the largest share
}

func independent(draw func(r *rand.Rand) float64) func(*rand.Rand, int) []float64 {
	return func(r *rand.Rand, n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = base + sigma*draw(r)
		}
		return x
	}
}

func normal(r *rand.Rand) float64 { return r.NormFloat64() }

func changed(change func(x []float64)) func(*rand.Rand, int) []float64 {
	return func(r *rand.Rand, n int) []float64 {
		x := independent(normal)(r, n)
		change(x)
		return x
	}
}

// noises are the kinds of series without a change.
func noises() []noise {
	return []noise{
		{name: "gaussian", make: independent(normal)},
		{name: "t3", make: independent(func(r *rand.Rand) float64 {
			sum := 0.0
			for range 3 {
				v := r.NormFloat64()
				sum += v * v
			}
			return r.NormFloat64() / math.Sqrt(sum/3)
		})},
		{name: "lognormal", make: independent(func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) })},
		{name: "bimodal", make: independent(func(r *rand.Rand) float64 { return r.NormFloat64() + 5*float64(r.IntN(2)) })},
		{name: "AR(1) .5", make: autoregressive(0.5)},
		{name: "spike in the middle", make: changed(func(x []float64) { x[len(x)/2] += 10 * sigma })},
		{name: "spike at the end", make: changed(func(x []float64) { x[len(x)-1] += 10 * sigma })},
		{name: "variance tripled", make: changed(func(x []float64) {
			for i := len(x) / 2; i < len(x); i++ {
				x[i] = base + math.Sqrt(3)*(x[i]-base)
			}
		})},
		{name: "deviation tripled", make: changed(func(x []float64) {
			for i := len(x) / 2; i < len(x); i++ {
				x[i] = base + 3*(x[i]-base)
			}
		})},
		{name: "quantised to 1 sigma", make: changed(quantise(sigma))},
		{name: "quantised to 3 sigma", make: changed(quantise(3 * sigma))},
		{name: "AR(1) .7 *", make: autoregressive(0.7), beyond: true},
		{name: "AR(1) .9 *", make: autoregressive(0.9), beyond: true},
	}
}

func quantise(step float64) func([]float64) {
	return func(x []float64) {
		for i := range x {
			x[i] = step * math.Round(x[i]/step)
		}
	}
}

func autoregressive(rho float64) func(*rand.Rand, int) []float64 {
	return func(r *rand.Rand, n int) []float64 {
		x := make([]float64, n)
		v := r.NormFloat64() / math.Sqrt(1-rho*rho)
		for i := range x {
			v = rho*v + r.NormFloat64()
			x[i] = base + sigma*v
		}
		return x
	}
}

// falseAlarms prints the share of series without a change in which a change
// was confirmed, and gives the largest at n = 100.
func (r *report) falseAlarms(repeats int) float64 {
	lengths := []int{20, 30, 50, 100, 300, 1000}
	r.printf("False alarms: share of series without a change that are flagged, %d series each (tenth as many at 1000); * is more than is promised\n\n%-22s", repeats, "noise \\ n")
	for _, n := range lengths {
		r.printf(" %6d", n)
	}
	r.printf("   suspects at 100\n")
	worst := 0.0
	for k, kind := range noises() {
		r.printf("%-22s", kind.name)
		for _, n := range lengths {
			count := repeats
			if n == 1000 {
				count = max(1, repeats/10)
			}
			random := rand.New(rand.NewPCG(uint64(n), uint64(k)))
			flagged := 0
			for range count {
				if len(ours(changepoint.Options{})(kind.make(random, n))) > 0 {
					flagged++
				}
			}
			share := float64(flagged) / float64(count)
			r.printf(" %.4f", share)
			if n == 100 && !kind.beyond {
				worst = max(worst, share)
			}
		}
		r.printf("   %.4f\n", suspects(kind, repeats, k))
	}
	r.printf("\n")
	return worst
}

func suspects(kind noise, repeats, k int) float64 {
	random := rand.New(rand.NewPCG(100, uint64(k)))
	count := 0
	for range repeats {
		result, err := changepoint.Detect(changepoint.Series{Values: kind.make(random, 100)}, changepoint.Options{})
		if err != nil {
			panic(err)
		}
		if n := len(result.Changes); n > 0 && result.Changes[n-1].State == changepoint.Suspect {
			count++
		}
	}
	return float64(count) / float64(repeats)
}

func (r *report) power(repeats int) {
	cases := [][2]int{{30, 5}, {20, 10}, {60, 30}, {200, 10}, {600, 300}}
	steps := []float64{1, 2, 3, 5}
	r.printf("Power: share found within 2 points, Gaussian noise, step of 1, 2, 3, 5 sigma; dbcanary, then Otava p=1e-6 on the same series\n\n")
	for _, c := range cases {
		n, after := c[0], c[1]
		line := [2][]string{}
		for _, step := range steps {
			hits := [2]int{}
			random := rand.New(rand.NewPCG(uint64(n), uint64(after)))
			count := repeats / 2
			if n > 300 {
				count = repeats / 20
			}
			count = max(1, count)
			for range count {
				x := independent(normal)(random, n)
				for i := n - after; i < n; i++ {
					x[i] += step * sigma
				}
				for m, find := range []detector{ours(changepoint.Options{}), otava(1e-6)} {
					for _, at := range find(x) {
						if max(at-(n-after), n-after-at) <= 2 {
							hits[m]++
							break
						}
					}
				}
			}
			for m := range hits {
				line[m] = append(line[m], fmt.Sprintf("%.3f", float64(hits[m])/float64(count)))
			}
		}
		r.printf("n=%-4d %3d after   %s   %s\n", n, after, strings.Join(line[0], " "), strings.Join(line[1], " "))
	}
	r.printf("\n")
}

// intervals measures how often the intervals of confirmed changes hold the truth.
func (r *report) intervals(repeats int) {
	r.printf("Intervals at 95 %%: share that hold the true place and the true size, n=100, step in the middle\n\n")
	for _, kind := range []noise{{name: "gaussian", make: independent(normal)}, {name: "AR(1) .5", make: autoregressive(0.5)}} {
		for _, step := range []float64{3, 5} {
			random := rand.New(rand.NewPCG(3, uint64(step)))
			place, size, confirmed := 0, 0, 0
			for range max(1, repeats/4) {
				x := kind.make(random, 100)
				for i := 50; i < 100; i++ {
					x[i] += step * sigma
				}
				result, err := changepoint.Detect(changepoint.Series{Values: x}, changepoint.Options{})
				if err != nil {
					panic(err)
				}
				if len(result.Changes) != 1 || result.Changes[0].State != changepoint.Confirmed {
					continue
				}
				c := result.Changes[0]
				confirmed++
				if c.LastGood < 50 && 50 <= c.FirstBad {
					place++
				}
				if c.SizeLow <= step*sigma && step*sigma <= c.SizeHigh {
					size++
				}
			}
			r.printf("%-9s %v sigma: place %.3f size %.3f of %d\n", kind.name, step,
				float64(place)/float64(confirmed), float64(size)/float64(confirmed), confirmed)
		}
	}
	r.printf("\n")
}

// speed prints wall times; they depend on the machine and on what else it does.
func (r *report) speed() {
	r.printf("Speed on %d CPUs, Gaussian noise (wall time)\n\n", runtime.GOMAXPROCS(0))
	for _, every := range []int{0, 1000, 50} {
		line := []string{}
		for _, n := range []int{1000, 10_000, 100_000, 1_000_000} {
			x := withSteps(n, every)
			find := ours(changepoint.Options{})
			start := time.Now()
			found := len(find(x))
			line = append(line, fmt.Sprintf("n=%d %.4f s (%d changes)", n, time.Since(start).Seconds(), found))
		}
		name := "no change"
		if every > 0 {
			name = fmt.Sprintf("step every %d", every)
		}
		r.printf("%-16s %s\n", name, strings.Join(line, "; "))
	}
	r.printf("10,000 series of 1,000 points on all CPUs: %.2f s\n\n", many(10_000, 1000).Seconds())
}

// withSteps makes noise with a step of 5 sigma, up and down in turn, at each
// multiple of every; 0 for none.
func withSteps(n, every int) []float64 {
	x := independent(normal)(rand.New(rand.NewPCG(1, uint64(n))), n)
	if every > 0 {
		for i := range x {
			x[i] += 5 * sigma * float64(i/every%2)
		}
	}
	return x
}

func many(count, n int) time.Duration {
	all := make([][]float64, 0, 100)
	for k := range 100 {
		all = append(all, independent(normal)(rand.New(rand.NewPCG(2, uint64(k))), n))
	}
	start := time.Now()
	work := make(chan []float64)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			find := ours(changepoint.Options{})
			for x := range work {
				find(x)
			}
		})
	}
	for k := range count {
		work <- all[k%len(all)]
	}
	close(work)
	group.Wait()
	return time.Since(start)
}
