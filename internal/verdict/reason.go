package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/stat"
)

// mostInstances is where advice to measure more ends: nobody starts a server so often.
const mostInstances = 100

// reason says in a reader's words why the verdict is what it is.
func (s *subject) reason(design stat.Design, verdictLevel float64) string {
	e := s.QPSRatio
	switch {
	case s.Instances == 0:
		return s.nothing()
	case math.IsNaN(s.qps.p):
		return fmt.Sprintf("one instance; two starts of the same server can differ by some %% for as long as they live, so %s is provisional: more starts would tell", change(e.Ratio))
	case s.Instances < leastInstances:
		return fmt.Sprintf("%d instances say too little of how much starts of the same server differ, so %s is provisional: more starts would tell", s.Instances, change(e.Ratio))
	case s.pairs.mostlyVoid():
		return fmt.Sprintf("more slices dropped out than count%s; those that are left (%s) may not be typical: it takes a run in which most count",
			because(s.pairs.voidReason), change(e.Ratio))
	case s.qps.isCopied():
		return fmt.Sprintf("every start gave the same ratio (%s), as rounded or copied numbers do and no server does, so nothing tells how much starts differ: it takes exact rates",
			change(e.Ratio))
	}
	switch s.Verdict {
	case dbcanary.Faster, dbcanary.Slower:
		return fmt.Sprintf("%s (%s), beyond the %s that matters", change(e.Ratio), span(e), percent(s.MinEffect))
	case dbcanary.Same:
		return fmt.Sprintf("%s (%s), within the %s that matters", change(e.Ratio), span(e), percent(s.MinEffect))
	}
	return s.doubt(verdictLevel) + "; " + s.remedy(design, verdictLevel)
}

func (s *subject) nothing() string {
	switch {
	case s.pairs.idle > 0:
		return "no slice of target and base finished an operation in the same block"
	case s.pairs.targetValid == 0 && s.pairs.baseValid == 0 && s.pairs.void > 0:
		return "every slice was void: " + s.pairs.voidReason
	case s.pairs.targetValid == 0 && s.pairs.baseValid == 0:
		return "nothing was measured"
	case s.pairs.baseValid == 0:
		return "the base " + s.Base + " has no valid slice" + because(s.pairs.voidReason)
	case s.pairs.targetValid == 0:
		return s.Target + " has no valid slice" + because(s.pairs.voidReason)
	}
	return "no block has a valid slice of both target and base" + because(s.pairs.voidReason)
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// doubt says what can't be told.
func (s *subject) doubt(verdictLevel float64) string {
	e, estimate := s.QPSRatio, s.qps.interval.Estimate
	beyond := estimate >= math.Log1p(s.MinEffect) || estimate <= math.Log1p(-s.MinEffect)
	excludes := e.Low > 1 || e.High < 1
	switch {
	case beyond && excludes:
		return fmt.Sprintf("looks %s (%s), but chance can show as much among so many comparisons", change(e.Ratio), span(e))
	case beyond:
		return fmt.Sprintf("looks %s, but could be no change (%s)", change(e.Ratio), span(e))
	case excludes:
		size := change(e.Ratio)
		if strings.HasPrefix(size, percent(s.MinEffect)+" ") {
			size = "just under " + size // the two differ by less than is printed
		}
		return fmt.Sprintf("%s is less than the %s that matters, but it could be more (%s)", size, percent(s.MinEffect), span(e))
	}
	return fmt.Sprintf("could be the same or not (%s, and %s matters)", span(e), percent(s.MinEffect))
}

// remedy says what would settle it.
func (s *subject) remedy(design stat.Design, verdictLevel float64) string {
	more, ok := s.moreInstances(design, verdictLevel)
	switch {
	case !ok && !s.isNear():
		return fmt.Sprintf("it varies too much from start to start to be settled by %d instances: find out what makes it vary", mostInstances)
	case !ok:
		return fmt.Sprintf("it is too near %s to be settled by more instances: choose another smallest change that matters", percent(s.MinEffect))
	case more == 1:
		return "about 1 more instance would settle it"
	}
	return fmt.Sprintf("about %d more instances would settle it", more)
}

// isNear tells whether the estimate is within the smallest change that matters and so
// near to it that this, more than noise, keeps the verdict open.
func (s *subject) isNear() bool {
	estimate, low, high := s.qps.interval.Estimate, math.Log1p(-s.MinEffect), math.Log1p(s.MinEffect)
	distance := min(estimate-low, high-estimate)
	return distance >= 0 && distance < high/4
}

// moreInstances tells how many instances beyond those at hand give a verdict if
// the estimate stays where it is.
func (s *subject) moreInstances(design stat.Design, verdictLevel float64) (more int, ok bool) {
	estimate := s.qps.interval.Estimate
	low, high := math.Log1p(-s.MinEffect), math.Log1p(s.MinEffect)
	var n int
	if estimate <= low || estimate >= high {
		n, ok = design.NeededToExclude(math.Abs(estimate), mostInstances)
	} else {
		single := design
		single.Alpha, single.SD = 1-verdictLevel, s.qps.interval.SE*math.Sqrt(float64(s.Instances))
		n, ok = single.NeededToExclude(min(estimate-low, high-estimate), mostInstances)
	}
	return max(1, n-s.Instances), ok
}

// change says a ratio as a user would: "3.1 % slower".
func change(ratio float64) string {
	switch {
	case ratio > mostTimes:
		return fmt.Sprintf("more than %d times as fast", mostTimes)
	case ratio >= 2:
		return fmt.Sprintf("%.3g times as fast", ratio)
	case ratio >= 1:
		return percent(ratio-1) + " faster"
	case ratio >= 0.1:
		return percent(1-ratio) + " slower"
	case ratio >= 1.0/mostTimes:
		return fmt.Sprintf("%.2g times as fast", ratio)
	}
	return fmt.Sprintf("less than 1/%d as fast", mostTimes)
}

// mostTimes is where a ratio has no meaning but "very much".
const mostTimes = 1000

// span says an interval of ratios.
func span(e dbcanary.Estimate) string {
	return fmt.Sprintf("%s to %s", change(e.Low), change(e.High))
}

func percent(fraction float64) string {
	digits := 1
	if fraction >= 0.1 {
		digits = 0
	}
	text := fmt.Sprintf("%.*f", digits, 100*fraction)
	return strings.TrimSuffix(text, ".0") + " %"
}
