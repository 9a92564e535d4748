package report

import (
	"math"
	"slices"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/stat"
)

// Cost is what one operation of a benchmark took of the hardware on one target:
// medians over instances, NaN where it is unknown. docs/METRICS.md defines each.
type Cost struct {
	Benchmark string
	Target    string

	CPUPercent float64 // percent of all CPUs of the host by second, user and system
	ServerUs   float64 // microseconds of CPU time of the server
	ClientUs   float64 // of the program that puts the load
	HostUs     float64 // of the whole host
	Switches   float64 // context switches of the host
	Reads      float64 // of the disk
	ReadKB     float64
	WriteKB    float64
	Rate       float64 // operations by second
}

// Costs gives the cost of each benchmark on each target, in the order of the plan.
func Costs(run dbcanary.Run, trials []dbcanary.Trial) []Cost {
	of := counted(trials)
	var costs []Cost
	for _, b := range run.Plan.Benchmarks {
		for _, target := range run.Plan.Targets {
			if valid := of[[2]string{b.Label, target}]; len(valid) > 0 {
				cost := costOf(valid, run.Host.CPUs)
				cost.Benchmark, cost.Target = b.Label, target
				costs = append(costs, cost)
			}
		}
	}
	return costs
}

// counted gathers the trials that count by benchmark and target.
func counted(trials []dbcanary.Trial) map[[2]string][]*dbcanary.Trial {
	of := map[[2]string][]*dbcanary.Trial{}
	for i := range trials {
		if t := &trials[i]; t.Void == "" && t.Operations > 0 && t.ElapsedNs > 0 {
			key := [2]string{t.Benchmark, t.Target}
			of[key] = append(of[key], t)
		}
	}
	return of
}

func costOf(trials []*dbcanary.Trial, cpus int) Cost {
	metric := func(names ...string) func(*dbcanary.Trial) float64 {
		return func(t *dbcanary.Trial) float64 { return metricSum(t, names) }
	}
	host := metric("host.user_ns", "host.system_ns")
	c := Cost{
		CPUPercent: perOperation(trials, metric("host.cpu_percent_s")),
		ServerUs:   perOperation(trials, func(t *dbcanary.Trial) float64 { return known(t.ServerCPUNs) }) / 1e3,
		ClientUs:   perOperation(trials, func(t *dbcanary.Trial) float64 { return known(t.ClientCPUNs) }) / 1e3,
		HostUs:     perOperation(trials, host) / 1e3,
		Switches:   perOperation(trials, metric("host.context_switches")),
		Reads:      perOperation(trials, metric("disk.reads")),
		ReadKB:     perOperation(trials, metric("disk.read_bytes")) / 1024,
		WriteKB:    perOperation(trials, metric("disk.written_bytes")) / 1024,
		Rate:       1 / perOperation(trials, func(t *dbcanary.Trial) float64 { return float64(t.ElapsedNs) / 1e9 }),
	}
	if math.IsNaN(c.CPUPercent) && cpus > 0 {
		c.CPUPercent = c.HostUs / 1e6 / float64(cpus) * 100
	}
	return c
}

// known is a count of a trial, NaN for -1, which is unknown.
func known(count int64) float64 {
	if count < 0 {
		return math.NaN()
	}
	return float64(count)
}

// metricSum adds up counts of a trial; NaN if one is missing.
func metricSum(t *dbcanary.Trial, names []string) float64 {
	sum := 0.0
	for _, name := range names {
		at := slices.IndexFunc(t.Metrics, func(m dbcanary.Metric) bool { return m.Name == name })
		if at < 0 {
			return math.NaN()
		}
		sum += t.Metrics[at].Value
	}
	return sum
}

// perOperation is the median over instances of what an operation of the instance took.
func perOperation(trials []*dbcanary.Trial, value func(*dbcanary.Trial) float64) float64 {
	return medianOfSums(trials, value, func(t *dbcanary.Trial) float64 { return float64(t.Operations) })
}

// medianOfSums is the median over instances of the sum of one value by the sum of
// another; trials where either is unknown are left out. It is NaN if no trial is left.
func medianOfSums(trials []*dbcanary.Trial, value, by func(*dbcanary.Trial) float64) float64 {
	type sums struct{ value, by float64 }
	instances := map[int]sums{}
	for _, t := range trials {
		if v, d := value(t), by(t); !math.IsNaN(v) && !math.IsNaN(d) {
			s := instances[t.Instance]
			instances[t.Instance] = sums{s.value + v, s.by + d}
		}
	}
	var ratios []float64
	for _, s := range instances {
		ratios = append(ratios, s.value/s.by)
	}
	return stat.Median(ratios)
}
