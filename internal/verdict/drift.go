package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/stat"
)

const (
	driftChange = 0.05 // change over an instance or a long slice that is worth a word
	driftLevel  = 0.99

	// A long slice is told by its seconds: ten parts of at least so many each.
	seriesParts   = 10
	secondsInPart = 6
	// Of ten values the statistic of Mann (1945) and Kendall is so large in less than
	// 1 % of cases without a trend, both sides: Kendall, "Rank Correlation Methods",
	// table 1 (one-sided 0.0046).
	seriesTrend = 29

	grown      = 1.5 // times that a gauge grew, in every instance, to be named beside a fall
	mostGauges = 3
)

// curve is one of what may drift.
type curve struct {
	name  string
	value func(block) float64
	trial func(block) *dbcanary.Trial // nil for the ratio
}

// driftWarnings tells when throughput changes steadily within instances, or within
// slices of a minute and more: the average of a falling curve is not a rate. Beside a
// fall it names the gauges that grew.
func (s *subject) driftWarnings() []string {
	instances := s.pairs.byInstance()
	target, base := func(b block) *dbcanary.Trial { return b.target }, func(b block) *dbcanary.Trial { return b.base }
	var list []string
	for _, c := range []curve{
		{name: "the ratio to the base", value: func(b block) float64 { return b.qps }},
		{name: "throughput of " + s.Target, value: func(b block) float64 { return math.Log(b.targetQPS) }, trial: target},
		{name: "throughput of " + s.Base, value: func(b block) float64 { return math.Log(b.baseQPS) }, trial: base},
	} {
		within := "the first to the last block of an instance"
		total, ok := drift(instances, c.value)
		if !ok && c.trial != nil {
			within = "the beginning to the end of a slice"
			total, ok = seriesDrift(instances, c.trial)
		}
		if !ok {
			continue
		}
		direction, beside := "rises", ""
		if total < 0 {
			direction, beside = "falls", gaugesBeside(instances, c.trial)
		}
		list = append(list, fmt.Sprintf("%s %s by %s from %s%s", c.name, direction, percent(math.Abs(math.Expm1(total))), within, beside))
	}
	return list
}

// drift gives the mean change over an instance, and whether it is large and
// beyond chance; it takes 3 instances of 3 blocks.
func drift(instances [][]block, value func(block) float64) (total float64, ok bool) {
	var changes []float64
	for _, blocks := range instances {
		if len(blocks) < 3 {
			continue
		}
		var x, y []float64
		for _, b := range blocks {
			x, y = append(x, float64(b.block)), append(y, value(b))
		}
		meanX, meanY, xx, xy := stat.Mean(x), stat.Mean(y), 0.0, 0.0
		for i := range x {
			xx += (x[i] - meanX) * (x[i] - meanX)
			xy += (x[i] - meanX) * (y[i] - meanY)
		}
		changes = append(changes, xy/xx*(x[len(x)-1]-x[0]))
	}
	return beyondChance(changes)
}

// beyondChance tells whether changes of several instances are large and no chance.
func beyondChance(changes []float64) (total float64, ok bool) {
	if len(changes) < 3 {
		return 0, false
	}
	interval := stat.TInterval(changes, driftLevel)
	return interval.Estimate, math.Abs(math.Expm1(interval.Estimate)) >= driftChange && !interval.Contains(0)
}

// seriesDrift gives the mean change over a long slice. With less than three instances
// each of them must show it by itself.
func seriesDrift(instances [][]block, trial func(block) *dbcanary.Trial) (total float64, ok bool) {
	var changes []float64
	each := true
	for _, blocks := range instances {
		for _, b := range blocks {
			if change, trend, long := seriesChange(trial(b).PerSecond); long {
				changes = append(changes, change)
				each = each && trend
				break // one of an instance: slices of one start are no samples of their own
			}
		}
	}
	if len(changes) == 0 || len(changes) >= 3 {
		return beyondChance(changes)
	}
	total = stat.Mean(changes)
	same := !slices.ContainsFunc(changes, func(change float64) bool { return (change < 0) != (total < 0) })
	return total, each && same && math.Abs(math.Expm1(total)) >= driftChange
}

// seriesChange gives the change of the logarithm of a rate over a slice, by the slope
// of Theil and Sen over ten parts, and whether the parts have a trend; long is false
// for a slice that is too short to tell. The last second may be part of one.
func seriesChange(perSecond []int64) (change float64, trend, long bool) {
	size := (len(perSecond) - 1) / seriesParts
	if size < secondsInPart {
		return 0, false, false
	}
	var parts [seriesParts]float64
	for i := range parts {
		for _, count := range perSecond[i*size : (i+1)*size] {
			parts[i] += float64(count)
		}
		if parts[i] <= 0 {
			return 0, false, false // nothing finished for so long: events are longer than parts
		}
		parts[i] = math.Log(parts[i])
	}
	var slopes []float64
	score := 0
	for i := range parts {
		for j := i + 1; j < len(parts); j++ {
			slopes = append(slopes, (parts[j]-parts[i])/float64(j-i))
			score += cmp.Compare(parts[j], parts[i])
		}
	}
	return stat.Median(slopes) * (seriesParts - 1), max(score, -score) >= seriesTrend, true
}

// gaugesBeside names the gauges of a target that grew in every instance, the most
// grown first: history, memory, dirty pages. It is "" if there are none.
func gaugesBeside(instances [][]block, trial func(block) *dbcanary.Trial) string {
	if trial == nil || len(instances) == 0 {
		return ""
	}
	least := map[string]float64{} // growth in the instance where it grew least
	for i, blocks := range instances {
		first, growths := map[string]float64{}, map[string]float64{}
		for _, b := range blocks {
			for _, m := range trial(b).Metrics {
				if !m.Gauge || strings.HasPrefix(m.Name, "host.") || strings.HasPrefix(m.Name, "client.") {
					continue
				}
				if _, ok := first[m.Name]; !ok {
					first[m.Name] = max(1, m.First)
				}
				growths[m.Name] = m.Value / first[m.Name]
			}
		}
		if i == 0 {
			least = growths
			continue
		}
		for name := range least {
			least[name] = min(least[name], growths[name]) // 0 where it is not known
		}
	}
	var names []string
	for name, growth := range least {
		if growth >= grown {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(least[b], least[a]), cmp.Compare(a, b)) })
	if len(names) == 0 {
		return ""
	}
	var parts []string
	for _, name := range names[:min(len(names), mostGauges)] {
		digits := 1
		if least[name] >= 10 {
			digits = 0
		}
		parts = append(parts, fmt.Sprintf("%s grows %.*f times", name, digits, least[name]))
	}
	return ", while " + strings.Join(parts, ", ")
}
