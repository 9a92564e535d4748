// Package stat holds the statistics of paired comparisons on noisy machines:
// estimators, intervals, tests, equivalence, adjustment for many comparisons,
// power, and the shrinking of variances over many benchmarks. It is pure: no
// clock, no I/O, no random source of its own (seeds are passed in), and nothing
// is shared, so every function may be called concurrently. No function changes
// its input.
//
// # Values
//
// Functions take plain slices. For ratios of rates or costs pass logarithms
// (LogRatios makes them), and turn the answer back with Interval.Exp: the ratio
// of 0.5 and the ratio of 2 are then equally far from 1.
//
// # What every result carries
//
// N, the values that were used; Level, the level asked for; Assumption, what
// must hold for the answer to be right; Warnings, what a reader must know.
// Warnings never stop an analysis and must be shown.
//
// # Degenerate input
//
// The same answers everywhere, unless a function says otherwise:
//   - NaN and infinite values are dropped, with a warning;
//   - no values: estimates and p are NaN, an interval is (-Inf, +Inf), a test rejects nothing (p = 1);
//   - one value: the estimate is that value, the interval (-Inf, +Inf), p = 1;
//   - all values equal: the variance is 0, and the interval has no width; a warning says so;
//   - a level outside (0, 1): the interval is (-Inf, +Inf) and a warning says so.
//
// Sources are named at each function; docs/STATISTICS.md in the repository has
// the formulas, and the coverage and power measured by simulation.
package stat
