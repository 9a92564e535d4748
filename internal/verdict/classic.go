package verdict

import (
	"fmt"
	"math"

	"github.com/dbcanary/dbcanary"
)

// withhold takes the verdict from targets that were measured one after the other:
// whatever changed on the host in between passes for their difference, in every
// instance alike, and no interval covers it.
func (s *subject) withhold() {
	s.MinDetectable = math.NaN()
	s.Verdict = dbcanary.Inconclusive
	if s.CPUVerdict != "" {
		s.CPUVerdict = dbcanary.Inconclusive
	}
	if s.Instances > 0 {
		s.Reason = fmt.Sprintf("measured one after the other, so what changed on the host in between passes for a difference: %s is provisional; the paired mode gives a verdict", change(s.QPSRatio.Ratio))
	}
}
