package verdict

import (
	"math/rand/v2"
	"testing"

	"github.com/dbcanary/dbcanary"
)

// TestAdviceSettles follows what inconclusive comparisons say would settle them: so many
// more instances give a verdict in about two thirds of the cases (docs/STATISTICS.md).
func TestAdviceSettles(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	machine := noise{between: all(0.02), within: 0.005}
	advised, settled, most := 0, 0, 0
	for range 25 {
		d := design{benchmarks: 16, targets: 2, instances: 5 + mostInstances, blocks: 3, effect: every(-0.04, 0, 0, 0.01, -0.06, 0.005, 0, 0.03)}
		centers := machine.centers(d, random)
		plan := d.plan()
		// Comparisons say how many more; the run goes on by as many for each.
		for b, c := range compareCenters(plan, centers, 5) {
			if c.verdict != dbcanary.Inconclusive || !c.ok {
				continue
			}
			advised++
			most = max(most, c.more)
			if compareCenters(plan, centers, 5+c.more)[b].verdict != dbcanary.Inconclusive {
				settled++
			}
		}
	}
	share := float64(settled) / float64(advised)
	t.Logf("%d of %d settled (%.0f %%), at most %d more instances advised", settled, advised, 100*share, most)
	if advised < 150 || share < 0.5 || share > 0.9 {
		t.Errorf("%d of %d inconclusive comparisons were settled by the instances that they asked for", settled, advised)
	}
}

// advice is a comparison with what it says would settle it.
type advice struct {
	verdict dbcanary.Verdict
	more    int
	ok      bool
}

// compareCenters judges the first so many instances, as Compare does.
func compareCenters(plan dbcanary.Plan, centers [][]float64, instances int) []advice {
	cut := make([][]float64, len(centers))
	for b := range centers {
		cut[b] = centers[b][:instances]
	}
	metrics, verdicts := judged(cut, DefaultLevel)
	list := make([]advice, len(metrics))
	for b, m := range metrics {
		s := &subject{qps: m}
		s.Instances, s.MinEffect, s.Verdict = m.interval.N, DefaultMinEffect, verdicts[b]
		list[b].verdict = verdicts[b]
		list[b].more, list[b].ok = s.moreInstances(s.design(DefaultLevel, len(metrics)), DefaultLevel)
	}
	return list
}
