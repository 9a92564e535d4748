package changepoint

import (
	"fmt"
	"math"
)

// Options change what Detect reports. The zero value is the default.
type Options struct {
	// Strictness is added to both thresholds: 1 wants every change to be surer
	// by one standard deviation, -0.5 reports more and cries wolf more often.
	Strictness float64
	// Near is the most points of each side that the near rule looks at; 0 is 25.
	Near int
	// MinRelative leaves out changes that are smaller, 0.02 for 2 % of the level before.
	MinRelative float64
}

func (o Options) check() error {
	switch {
	case math.IsNaN(o.Strictness) || math.IsInf(o.Strictness, 0):
		return fmt.Errorf("the strictness is %v, it must be a number", o.Strictness)
	case o.Near != 0 && o.Near < minSegment:
		return fmt.Errorf("the near rule looks at %d points, it needs %d or more", o.Near, minSegment)
	case !(o.MinRelative >= 0):
		return fmt.Errorf("the smallest relative change is %v, it must not be negative", o.MinRelative)
	}
	return nil
}

func (o Options) near() int {
	if o.Near == 0 {
		return nearPoints
	}
	return o.Near
}

// State says how far a change can be trusted.
type State string

// The states.
const (
	// Suspect is a change with fewer than five points after it: it may be a
	// spike. Measure again.
	Suspect State = "suspect"
	// Confirmed is a change with five or more points on both sides.
	Confirmed State = "confirmed"
)

// Level is the level of a series beside a change.
type Level struct {
	Median float64
	// Points is how many points the median is of: those nearest to the change.
	Points int
}

// Change is a place where the level of a series shifts.
type Change struct {
	// Index is where the change most likely is: the index in Series.Values of
	// the first value after it.
	Index int
	// The change lies after LastGood and not after FirstBad, at a level of
	// 95 %: indexes in Series.Values, LastGood < Index <= FirstBad.
	LastGood, FirstBad int
	// Their positions.
	LastGoodPosition, FirstBadPosition float64

	Before, After Level
	// Size is the difference of the medians with its 95 % interval, which
	// covers the autocorrelation of the noise. A suspect's interval may be infinite.
	Size, SizeLow, SizeHigh float64

	State State
	// Judged says by which rule the change passed, with the numbers.
	Judged Judgement
}

// Relative is the size as a part of the level before, 0.1 for 10 % more, with
// its interval; NaN if the level before is 0.
func (c Change) Relative() (size, low, high float64) {
	base := math.Abs(c.Before.Median)
	if base == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	return c.Size / base, c.SizeLow / base, c.SizeHigh / base
}

// Judgement is the evidence for a change; numbers that the rule did not need are NaN.
type Judgement struct {
	Rule      string  // "near", "wide", "tail" or "ladder"
	Score     float64 // what was compared with Threshold
	Threshold float64
	Visible   float64 // the step as a part of the height of the plot
	Ratio     float64 // twice the log likelihood ratio against autocorrelated noise
	Lag1      float64 // autocorrelation of the noise beside the change
}

// String gives the judgement as a sentence.
func (j Judgement) String() string {
	switch j.Rule {
	case "near", "wide":
		return fmt.Sprintf("%s rule: score %.1f, %.1f needed; step %.0f %% of the plot; likelihood ratio %.0f, %.0f needed",
			j.Rule, j.Score, j.Threshold, 100*j.Visible, j.Ratio, ratioThreshold)
	case "tail":
		return fmt.Sprintf("last points beyond all before them by %.1f deviations, %.1f needed", j.Score, j.Threshold)
	}
	return fmt.Sprintf("%s rule: t %.1f, %.1f needed", j.Rule, j.Score, j.Threshold)
}

// Result is what was found in a series.
type Result struct {
	Changes []Change // in the order of the series; a suspect can only be the last
	Method  string   // "history" or "ladder"
	Points  int      // positions with a value
	Dropped int      // values that were missing: NaN, infinite, or of weight 0
	Repeats int      // values joined to another of the same position
	Noise   float64  // standard deviation of the noise, from differences of neighbours
}

// minPoints is the shortest series in which Detect can find a change.
const minPoints = 2 * minSegment

// Detect finds the changes of a history with one or a few samples per
// position. The package comment states the input contract and the rule. A
// series of fewer than 10 points has no changes. The cost is close to n log n.
func Detect(s Series, opts Options) (Result, error) {
	if err := opts.check(); err != nil {
		return Result{}, err
	}
	p, err := s.points()
	if err != nil {
		return Result{}, err
	}
	result := Result{Method: "history", Points: len(p.x), Dropped: p.dropped, Repeats: p.repeats}
	exponent := p.scale()
	result.Noise = math.Ldexp(noiseOf(p.x), exponent)
	if len(p.x) >= minPoints {
		result.Changes = detect(p, opts)
	}
	kept := result.Changes[:0]
	for _, c := range result.Changes {
		c.rescale(exponent)
		if size, _, _ := c.Relative(); !(math.Abs(size) < opts.MinRelative) {
			kept = append(kept, c)
		}
	}
	result.Changes = kept
	return result, nil
}

// detect gives the confirmed changes and, at the end, a suspect.
func detect(p *points, opts Options) []Change {
	j := newJudge(p, opts.near(), opts.Strictness)
	if j.noise == 0 { // all values are equal
		return nil
	}
	n := len(p.x)
	// Most candidates are noise; the near rule alone, lowered, sees that cheaply.
	found, _ := eliminate(n, candidates(p.x), coarseFloor, j.coarse)
	found, _ = eliminate(n, j.locateAll(found), 0, j.evidence)
	found, why := eliminate(n, j.locateAll(found), 0, j.evidence)
	changes := make([]Change, 0, len(found))
	for k, i := range found {
		from, to := neighbour(found, k-1, 0), neighbour(found, k+1, n)
		changes = append(changes, j.describe(p, from, i, to, why[k]))
	}
	if c, ok := j.suspect(p, neighbour(found, len(found)-1, 0)); ok {
		changes = append(changes, c)
	}
	return changes
}

// coarseFloor is the margin below which a candidate need not be looked at closely.
const coarseFloor = -2

// scale divides the values by a power of two if squares of them could overflow
// or vanish, and gives its exponent.
func (p *points) scale() int {
	largest := 0.0
	for _, v := range p.x {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 || largest > 1e-100 && largest < 1e100 {
		return 0
	}
	_, exponent := math.Frexp(largest)
	for i, v := range p.x {
		p.x[i] = math.Ldexp(v, -exponent)
	}
	return exponent
}

func (c *Change) rescale(exponent int) {
	if exponent == 0 {
		return
	}
	for _, v := range []*float64{&c.Before.Median, &c.After.Median, &c.Size, &c.SizeLow, &c.SizeHigh} {
		*v = math.Ldexp(*v, exponent)
	}
}
