package dbcanary

// Verdict is what a comparison says.
type Verdict string

// The verdicts.
const (
	Faster       Verdict = "faster"       // above 1 beyond what chance shows in the whole run, and the estimate passes the smallest change that matters
	Slower       Verdict = "slower"       // the same below 1
	Same         Verdict = "same"         // the interval lies within 1 +/- the smallest change that matters
	Inconclusive Verdict = "inconclusive" // anything else
)

// Differs tells whether the verdict claims a change.
func (v Verdict) Differs() bool { return v == Faster || v == Slower }

// Estimate is a ratio to the base with its interval. All three are NaN when
// there was nothing to estimate from; Low and High are 0 and +Inf when there is no
// interval: of one instance, or of numbers that don't vary.
type Estimate struct {
	Ratio float64
	Low   float64
	High  float64
}

// Comparison is a target against the base target on one benchmark.
type Comparison struct {
	Benchmark string
	Group     string
	Target    string
	Base      string

	QPSRatio Estimate // target QPS / base QPS: above 1 is faster
	CPURatio Estimate // target server CPU per statement / base: above 1 costs more
	Level    float64  // of the intervals: 0.95
	Verdict  Verdict
	// CPUVerdict is the second witness: slower if the target spends more server CPU
	// per statement, faster if less, "" if CPU is unknown.
	CPUVerdict Verdict
	Reason     string // why the verdict, for inconclusive also what would settle it
	MinEffect  float64

	QPS     float64 // median over instances of the target's rate
	BaseQPS float64
	CPUUs   float64 // median server CPU per statement in microseconds; NaN if unknown
	BaseCPU float64

	Instances     int
	Blocks        int // blocks that count, over all instances
	VoidSlices    int
	MinDetectable float64 // smallest effect this many instances could show, as a fraction; NaN if unknown
	Warnings      []string
}
