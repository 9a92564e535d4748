package history

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build"
	"github.com/dbcanary/dbcanary/internal/exchange"
	"github.com/dbcanary/dbcanary/internal/store"
)

// FromStore makes the series of a store: benchmark x metric x host x config of
// one family, over its builds in version order. One value is the median of one
// instance, so that the instance is the unit of replication. What was measured
// with other tables, threads or placement is another series. Void slices and
// slices without time do not count.
func FromStore(ctx context.Context, st *store.Store) (exchange.SeriesFile, error) {
	runs, err := st.Runs(ctx)
	if err != nil {
		return exchange.SeriesFile{}, err
	}
	slices.Reverse(runs) // the oldest first
	c := newStoreCollector()
	for _, run := range runs {
		trials, err := st.Trials(ctx, run.ID)
		if err != nil {
			return exchange.SeriesFile{}, err
		}
		c.add(run, trials)
	}
	if len(c.cells) == 0 {
		return exchange.SeriesFile{}, dbcanary.Errorf(dbcanary.CodeUsage, "the store has no slices that count; measure several versions with `dbcanary compare`")
	}
	return c.file(), nil
}

// FromRun makes the same series of one run.
func FromRun(run dbcanary.Run, trials []dbcanary.Trial) exchange.SeriesFile {
	c := newStoreCollector()
	c.add(run, trials)
	return c.file()
}

// storeKey is what the values of one series have in common.
type storeKey struct {
	benchmark, family, config, host, setup string
}

// storeCell is one instance of one build.
type storeCell struct {
	version, checksum string
	run               int64
	instance          int
}

// storeValue is what was measured in it.
type storeValue struct {
	qps, cpu    []float64
	environment map[string]string
}

type storeCollector struct {
	cells map[storeKey]map[storeCell]*storeValue
	steps map[storeKey]float64 // of the rates
	order []storeKey           // as the benchmarks first appear
}

func newStoreCollector() *storeCollector {
	return &storeCollector{cells: map[storeKey]map[storeCell]*storeValue{}, steps: map[storeKey]float64{}}
}

func (c *storeCollector) add(run dbcanary.Run, trials []dbcanary.Trial) {
	targets := map[string]dbcanary.Target{}
	for _, t := range run.Targets {
		targets[t.Name] = t
	}
	p := run.Plan
	steps := map[string]float64{}
	for _, b := range p.Benchmarks {
		steps[b.Label] = b.Resolution
	}
	setup := fmt.Sprintf("%d × %d rows, %d threads, %s, %s", p.Tables, p.TableSize, p.Threads, p.PSMode, p.Placement)
	if p.Classic() {
		setup += ", classic"
	}
	for i := range trials {
		trial := &trials[i]
		target, ok := targets[trial.Target]
		if !ok || p.Classic() && !p.Reports(trial.Benchmark) || trial.Void != "" || trial.ElapsedNs <= 0 || trial.Operations <= 0 {
			continue
		}
		key := storeKey{trial.Benchmark, string(target.Build.Family), target.Config.Name, run.Host.Name, setup}
		cells := c.cells[key]
		if cells == nil {
			cells = map[storeCell]*storeValue{}
			c.cells[key] = cells
			c.order = append(c.order, key)
		}
		c.steps[key] = max(c.steps[key], steps[trial.Benchmark])
		cell := storeCell{target.Build.Version, target.Build.Checksum, run.ID, trial.Instance}
		value := cells[cell]
		if value == nil {
			value = &storeValue{environment: environmentOf(run, target)}
			cells[cell] = value
		}
		value.qps = append(value.qps, trial.QPS())
		if trial.ServerCPUNs > 0 {
			value.cpu = append(value.cpu, float64(trial.ServerCPUNs)/float64(trial.Operations)/1000)
		}
	}
}

// environmentOf is what may change between runs beside the build.
func environmentOf(run dbcanary.Run, target dbcanary.Target) map[string]string {
	environment := map[string]string{"provider": target.Build.Provider}
	for name, value := range map[string]string{
		"kernel": run.Host.Kernel, "cpu": run.Host.CPU, "os": run.Host.OS, "governor": run.Host.Governor, "filesystem": run.Host.Filesystem,
	} {
		if value != "" {
			environment[name] = value
		}
	}
	return environment
}

func (c *storeCollector) file() exchange.SeriesFile {
	var file exchange.SeriesFile
	describe := c.differences()
	for _, key := range c.order {
		cells := c.cells[key]
		order := sortedCells(cells)
		qps := exchange.Series{Benchmark: key.benchmark, Metric: "qps", Better: exchange.HigherIsBetter, Config: describe(key), Step: c.steps[key]}
		cpu := exchange.Series{Benchmark: key.benchmark, Metric: "cpu", Unit: "µs/op", Better: exchange.LowerIsBetter, Config: describe(key)}
		versions := map[string]map[string]bool{}
		for _, cell := range order {
			value := cells[cell]
			if versions[cell.version] == nil {
				versions[cell.version] = map[string]bool{}
			}
			versions[cell.version][cell.checksum] = true
			p := exchange.Point{Label: cell.version, Value: medianOf(value.qps), Environment: value.environment}
			qps.Points = append(qps.Points, p)
			if p.Value = medianOf(value.cpu); !math.IsNaN(p.Value) {
				cpu.Points = append(cpu.Points, p)
			}
		}
		for version, checksums := range versions {
			if len(checksums) > 1 {
				note := fmt.Sprintf("%s %s was measured with %d different builds", key.family, version, len(checksums))
				if !slices.Contains(file.Notes, note) {
					file.Notes = append(file.Notes, note)
				}
			}
		}
		file.Series = append(file.Series, qps)
		if len(cpu.Points) > 0 {
			file.Series = append(file.Series, cpu)
		}
	}
	slices.Sort(file.Notes)
	return file
}

// sortedCells orders by version, then run, then instance.
func sortedCells(cells map[storeCell]*storeValue) []storeCell {
	var order []storeCell
	for cell := range cells {
		order = append(order, cell)
	}
	slices.SortFunc(order, func(a, b storeCell) int {
		return cmp.Or(build.CompareVersions(a.version, b.version), cmp.Compare(a.version, b.version),
			cmp.Compare(a.run, b.run), cmp.Compare(a.instance, b.instance), cmp.Compare(a.checksum, b.checksum))
	})
	return order
}

// differences gives a function that names what distinguishes a series from the
// others: the family always, host and setup if there are several.
func (c *storeCollector) differences() func(storeKey) string {
	hosts, setups := map[string]bool{}, map[string]bool{}
	for key := range c.cells {
		hosts[key.host] = true
		setups[key.setup] = true
	}
	return func(key storeKey) string {
		parts := []string{key.family + key.config}
		if len(hosts) > 1 {
			parts = append(parts, "host "+key.host)
		}
		if len(setups) > 1 {
			parts = append(parts, key.setup)
		}
		return strings.Join(parts, ", ")
	}
}
