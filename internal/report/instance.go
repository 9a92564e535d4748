package report

import (
	"math"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/stat"
)

// Instance is what one start of a target's server gave on one benchmark: the unit
// of replication, of which other tools take one for a sample. Slices that don't
// count are no part of it.
type Instance struct {
	Benchmark string
	Target    string
	Number    int // of the start, from 0

	Operations int64   // statements of all its slices
	ElapsedNs  int64   // of all its slices
	QPS        float64 // median of its slices
	CPUNs      float64 // server CPU time per statement, median of its slices; NaN if unknown
	P95Ns      float64 // of the latency of events, median of its slices; NaN if unknown
}

// instancesOf gives the instances by benchmark, target and number, in the order of
// the plan; only those with a slice that counts.
func instancesOf(run dbcanary.Run, trials []dbcanary.Trial) []Instance {
	type key struct {
		benchmark, target string
		number            int
	}
	slices := map[key][]*dbcanary.Trial{}
	last := -1
	for i := range trials {
		if t := &trials[i]; t.Void == "" && t.Operations > 0 && t.ElapsedNs > 0 {
			k := key{t.Benchmark, t.Target, t.Instance}
			slices[k] = append(slices[k], t)
			last = max(last, t.Instance)
		}
	}
	var instances []Instance
	for _, b := range run.Plan.Benchmarks {
		for _, target := range run.Plan.Targets {
			for number := range last + 1 {
				if list := slices[key{b.Label, target, number}]; len(list) > 0 {
					instances = append(instances, instanceOf(b.Label, target, number, list))
				}
			}
		}
	}
	return instances
}

func instanceOf(benchmark, target string, number int, slices []*dbcanary.Trial) Instance {
	one := Instance{Benchmark: benchmark, Target: target, Number: number}
	var qps, cpu, p95 []float64
	for _, t := range slices {
		one.Operations += t.Operations
		one.ElapsedNs += t.ElapsedNs
		qps = append(qps, t.QPS())
		if t.ServerCPUNs > 0 {
			cpu = append(cpu, float64(t.ServerCPUNs)/float64(t.Operations))
		}
		if t.LatencyNs.P95 > 0 {
			p95 = append(p95, float64(t.LatencyNs.P95))
		}
	}
	one.QPS, one.CPUNs, one.P95Ns = stat.Median(qps), medianOfAll(cpu, slices), medianOfAll(p95, slices)
	return one
}

// medianOfAll is NaN if some slice has no value: the others may not be like it.
func medianOfAll(values []float64, slices []*dbcanary.Trial) float64 {
	if len(values) < len(slices) {
		return math.NaN()
	}
	return stat.Median(values)
}

// summed gives the median over the instances of a target on a benchmark, with the
// least and the most, of a value; count is the number of instances that have one.
func (r *Report) summed(benchmark, target string, value func(Instance) float64) (median, least, most float64, count int) {
	var values []float64
	for _, one := range r.Instances {
		if v := value(one); one.Benchmark == benchmark && one.Target == target && !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return stat.Median(values), stat.Quantile(values, 0), stat.Quantile(values, 1), len(values)
}

func (one Instance) rate() float64 { return one.QPS }
