package verdict

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
)

// Targets that were measured one after the other get no verdict, however clear their
// difference is and however many starts show it.
func TestClassicGivesNoVerdict(t *testing.T) {
	d := design{benchmarks: 4, targets: 2, instances: 12, blocks: 1, effect: all(-0.2)}
	trials := quiet.trials(d, rand.New(rand.NewPCG(1, 2)))
	plan := d.plan()
	slower := 0
	for _, c := range Compare(plan, trials, Options{}) {
		if c.Verdict == dbcanary.Slower {
			slower++
		}
	}
	if slower == 0 {
		t.Fatal("the difference is not clear to the paired mode")
	}
	plan.Mode = dbcanary.ModeClassic
	comparisons := Compare(plan, trials, Options{})
	for _, c := range comparisons {
		if c.Verdict != dbcanary.Inconclusive || c.CPUVerdict != "" && c.CPUVerdict != dbcanary.Inconclusive {
			t.Errorf("%s: %s, CPU %s", c.Benchmark, c.Verdict, c.CPUVerdict)
		}
		if !math.IsNaN(c.MinDetectable) || !strings.Contains(c.Reason, "measured one after the other") || !strings.Contains(c.Reason, "is provisional") {
			t.Errorf("%s: %s; detectable is %v", c.Benchmark, c.Reason, c.MinDetectable)
		}
		if math.IsNaN(c.QPSRatio.Ratio) || c.Instances != d.instances {
			t.Errorf("%s: ratio %v of %d instances", c.Benchmark, c.QPSRatio.Ratio, c.Instances)
		}
	}
	for _, g := range Groups(comparisons) {
		if g.Verdict != dbcanary.Inconclusive {
			t.Errorf("group %q is %s", g.Name, g.Verdict)
		}
	}
}
