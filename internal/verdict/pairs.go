package verdict

import (
	"maps"
	"math"
	"slices"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/stat"
)

// place is where a slice belongs.
type place struct {
	benchmark string
	target    string
}

// spot is a block within a benchmark.
type spot struct {
	instance int
	block    int
}

// trialIndex finds the valid trials of a benchmark and target, and counts the others.
type trialIndex struct {
	valid map[place]map[spot]*dbcanary.Trial
	void  map[place]map[string]int // void slices by reason
	// column is the place of an instance among those of the run, so that instances
	// of different benchmarks line up whatever their numbers are.
	column map[int]int
}

func indexTrials(trials []dbcanary.Trial) trialIndex {
	index := trialIndex{valid: map[place]map[spot]*dbcanary.Trial{}, void: map[place]map[string]int{}, column: map[int]int{}}
	for i := range trials {
		trial := &trials[i]
		at := place{trial.Benchmark, trial.Target}
		if trial.Void != "" {
			if index.void[at] == nil {
				index.void[at] = map[string]int{}
			}
			index.void[at][trial.Void]++
			continue
		}
		if index.valid[at] == nil {
			index.valid[at] = map[spot]*dbcanary.Trial{}
		}
		index.valid[at][spot{trial.Instance, trial.Block}] = trial
		index.column[trial.Instance] = 0
	}
	for column, instance := range slices.Sorted(maps.Keys(index.column)) {
		index.column[instance] = column
	}
	return index
}

// block is a target beside the base in one block.
type block struct {
	spot
	qps, cpu             float64 // log ratio to the base; NaN if either is missing or zero
	targetQPS, baseQPS   float64
	targetCPU, baseCPU   float64 // server CPU per operation in microseconds, NaN if unknown
	targetOps, baseOps   int64
	targetErrs, baseErrs int64
	target, base         *dbcanary.Trial
}

// pairs are the blocks of one benchmark and target, by instance and block.
type pairs struct {
	list        []block
	instances   []int // numbers of the instances that have a block, rising
	column      map[int]int
	void        int // void slices of target and base
	voidReason  string
	targetVoid  int
	baseVoid    int
	targetValid int // valid slices
	baseValid   int
	idle        int   // blocks that dropped out because a slice did not finish one operation
	alone       block // rate and CPU of the one side that was measured, if the other was not; else NaN
}

func (index trialIndex) pairs(benchmark, base, target string) pairs {
	baseTrials, targetTrials := index.valid[place{benchmark, base}], index.valid[place{benchmark, target}]
	p := pairs{column: index.column, targetValid: len(targetTrials), baseValid: len(baseTrials), alone: alone(targetTrials, baseTrials)}
	reasons := map[string]int{}
	for name, void := range map[string]*int{base: &p.baseVoid, target: &p.targetVoid} {
		for reason, count := range index.void[place{benchmark, name}] {
			*void += count
			reasons[reason] += count
		}
	}
	p.void = p.baseVoid + p.targetVoid
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		if p.voidReason == "" || reasons[reason] > reasons[p.voidReason] {
			p.voidReason = reason
		}
	}
	for at, trial := range targetTrials {
		other, ok := baseTrials[at]
		if !ok {
			continue
		}
		b := pairUp(at, trial, other)
		if math.IsNaN(b.qps) {
			p.idle++
			continue
		}
		p.list = append(p.list, b)
	}
	slices.SortFunc(p.list, func(a, b block) int {
		if a.instance != b.instance {
			return a.instance - b.instance
		}
		return a.block - b.block
	})
	for _, b := range p.list {
		if n := len(p.instances); n == 0 || p.instances[n-1] != b.instance {
			p.instances = append(p.instances, b.instance)
		}
	}
	return p
}

// alone gives what is known of a side whose counterpart has no slice that counts:
// there is no ratio, but a rate.
func alone(targetTrials, baseTrials map[spot]*dbcanary.Trial) block {
	nan := math.NaN()
	b := block{targetQPS: nan, baseQPS: nan, targetCPU: nan, baseCPU: nan}
	if len(baseTrials) == 0 {
		b.targetQPS, b.targetCPU = medianOf(targetTrials, (*dbcanary.Trial).QPS), medianOf(targetTrials, cpuPerOperation)
	}
	if len(targetTrials) == 0 {
		b.baseQPS, b.baseCPU = medianOf(baseTrials, (*dbcanary.Trial).QPS), medianOf(baseTrials, cpuPerOperation)
	}
	return b
}

// medianOf is the median over instances of each instance's median.
func medianOf(trials map[spot]*dbcanary.Trial, value func(*dbcanary.Trial) float64) float64 {
	instances := map[int][]float64{}
	for at, trial := range trials {
		instances[at.instance] = append(instances[at.instance], value(trial))
	}
	var medians []float64
	for _, values := range instances {
		medians = append(medians, stat.Median(values))
	}
	return stat.Median(medians)
}

func pairUp(at spot, target, base *dbcanary.Trial) block {
	b := block{
		spot: at, target: target, base: base,
		targetQPS: target.QPS(), baseQPS: base.QPS(),
		targetCPU: cpuPerOperation(target), baseCPU: cpuPerOperation(base),
		targetOps: target.Operations, baseOps: base.Operations,
	}
	b.qps = stat.LogRatios([]float64{b.targetQPS}, []float64{b.baseQPS})[0]
	b.cpu = stat.LogRatios([]float64{b.targetCPU}, []float64{b.baseCPU})[0]
	for _, count := range target.Errors {
		b.targetErrs += count
	}
	for _, count := range base.Errors {
		b.baseErrs += count
	}
	return b
}

// cpuPerOperation gives microseconds of server CPU; NaN if unknown.
func cpuPerOperation(trial *dbcanary.Trial) float64 {
	if trial.ServerCPUNs <= 0 || trial.Operations <= 0 {
		return math.NaN()
	}
	return float64(trial.ServerCPUNs) / 1e3 / float64(trial.Operations)
}

func (p pairs) blocks() int { return len(p.list) }

// mostlyVoid tells whether a side has more slices that don't count, idle ones among
// them, than slices that do: those that are left are no fair sample of it.
func (p pairs) mostlyVoid() bool {
	return p.targetVoid+p.idle > p.targetValid-p.idle || p.baseVoid+p.idle > p.baseValid-p.idle
}

// byInstance gives the blocks of each instance, in the order of instances.
func (p pairs) byInstance() [][]block {
	groups := make([][]block, 0, len(p.instances))
	for start := 0; start < len(p.list); {
		end := start
		for end < len(p.list) && p.list[end].instance == p.list[start].instance {
			end++
		}
		groups = append(groups, p.list[start:end])
		start = end
	}
	return groups
}

// centers gives the median of each instance in its column; NaN where there is none.
func (p pairs) centers(value func(block) float64) []float64 {
	centers := make([]float64, len(p.column))
	for i := range centers {
		centers[i] = math.NaN()
	}
	for i, blocks := range p.byInstance() {
		values := make([]float64, len(blocks))
		for j, b := range blocks {
			values[j] = value(b)
		}
		centers[p.column[p.instances[i]]] = stat.Median(values)
	}
	return centers
}

// medians gives the median over instances of each instance's median.
func (p pairs) medians(value func(block) (target, base float64)) (target, base float64) {
	var targets, bases []float64
	for _, blocks := range p.byInstance() {
		var ofTarget, ofBase []float64
		for _, b := range blocks {
			t, o := value(b)
			ofTarget, ofBase = append(ofTarget, t), append(ofBase, o)
		}
		targets, bases = append(targets, stat.Median(ofTarget)), append(bases, stat.Median(ofBase))
	}
	return stat.Median(targets), stat.Median(bases)
}
