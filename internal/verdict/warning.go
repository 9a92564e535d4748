package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/dbcanary/dbcanary"
)

const (
	fewInstances  = 5   // below, the interval leans on the other benchmarks
	manyVoid      = 0.2 // share of void slices that is worth a word
	unequalWrites = 0.1 // difference of operation counts that is worth a word
)

// warnings tells what a reader must know beside the verdict.
func (s *subject) warnings() []string {
	var list []string
	add := func(text string, args ...any) { list = append(list, fmt.Sprintf(text, args...)) }
	if s.Instances > 1 && s.Instances < fewInstances {
		add("only %d instances", s.Instances)
	}
	if valid := s.pairs.targetValid + s.pairs.baseValid; s.VoidSlices > 0 && float64(s.VoidSlices) >= manyVoid*float64(s.VoidSlices+valid) {
		add("%d of %d slices were void, most often: %s", s.VoidSlices, s.VoidSlices+valid, s.pairs.voidReason)
	}
	if s.pairs.idle > 0 {
		add("%d blocks dropped out because a slice did not finish one operation", s.pairs.idle)
	}
	if s.qps.outlier && s.Instances > 1 {
		add("varies far more from start to start than the other benchmarks (sd %s against %s)",
			percent(s.qps.interval.SE*math.Sqrt(float64(s.Instances))), percent(math.Sqrt(s.qps.family)))
	}
	if text := s.errorWarning(); text != "" {
		add("%s", text)
	}
	if text := s.writeWarning(); text != "" {
		add("%s", text)
	}
	list = append(list, s.driftWarnings()...)
	if text := s.witnessWarning(); text != "" {
		add("%s", text)
	}
	return list
}

func (s *subject) errorWarning() string {
	var target, base int64
	for _, b := range s.pairs.list {
		target, base = target+b.targetErrs, base+b.baseErrs
	}
	if target == 0 && base == 0 {
		return ""
	}
	return fmt.Sprintf("statements failed in slices that count: %d on %s, %d on %s", target, s.Target, base, s.Base)
}

// writeWarning tells when the two did different amounts of writes, after which
// their data differ.
func (s *subject) writeWarning() string {
	if !strings.HasPrefix(s.Group, "write") {
		return ""
	}
	var target, base int64
	for _, b := range s.pairs.list {
		target, base = target+b.targetOps, base+b.baseOps
	}
	if base == 0 || math.Abs(float64(target)/float64(base)-1) < unequalWrites {
		return ""
	}
	return fmt.Sprintf("%s did %.2f times the writes of %s, so their data differ", s.Target, float64(target)/float64(base), s.Base)
}

// witnessWarning tells when QPS and CPU per operation do not tell the same story.
func (s *subject) witnessWarning() string {
	cost := fmt.Sprintf("%s more CPU per statement", percent(s.CPURatio.Ratio-1))
	if s.CPURatio.Ratio < 1 {
		cost = fmt.Sprintf("%s less CPU per statement", percent(1-s.CPURatio.Ratio))
	}
	switch (pair{s.Verdict, s.CPUVerdict}) {
	case pair{dbcanary.Slower, dbcanary.Same}:
		return "QPS is lower but the server spends the same CPU per statement: look at waits, placement and the client"
	case pair{dbcanary.Slower, dbcanary.Faster}:
		return "QPS is lower although the server spends " + cost + ": look at waits, placement and the client"
	case pair{dbcanary.Faster, dbcanary.Same}:
		return "QPS is higher but the server spends the same CPU per statement: less waiting, or placement"
	case pair{dbcanary.Faster, dbcanary.Slower}:
		return "QPS is higher although the server spends " + cost + ": with more connections it may be slower"
	case pair{dbcanary.Same, dbcanary.Slower}:
		return "QPS is the same but the server spends " + cost + ": with more connections it may be slower"
	case pair{dbcanary.Same, dbcanary.Faster}:
		return "QPS is the same although the server spends " + cost + ": something else than its CPU sets the rate"
	case pair{dbcanary.Inconclusive, dbcanary.Slower}, pair{dbcanary.Inconclusive, dbcanary.Faster}:
		return "QPS can't tell, but the server clearly spends " + cost
	}
	return ""
}

// pair is what QPS says and what CPU per statement says.
type pair struct{ qps, cpu dbcanary.Verdict }
