// Package changepoint finds where the level of a series of measurements
// shifts: when a benchmark got slower, and by how much. It is pure: no clock,
// file or random source, and no state between calls; every function may be
// called from many goroutines.
//
// Which function for which data:
//
//   - Detect: a commit history, one or a few samples per position, 20 to
//     1,000,000 positions. Stream is the same for a history that grows.
//   - Ladder: a release ladder, 2 to 60 versions with several instances each.
//   - Analyze looks at the shape of the data and takes one of the two.
//   - EDivisive: E-divisive means as Apache Otava does it, with its parameters
//     and its answers, for users who come from there.
//
// # Input
//
// A Series is values in the order of their positions. NaN and infinite values
// and values of weight 0 are missing: they are left out and counted, and a gap
// in the positions is no gap for the statistics, which see the order only.
// Values at the same position are one point, their weighted median, with the
// sum of their weights. Zero and negative values are values like all others;
// only a relative size is undefined (NaN) if the level before is 0. Positions
// that go backwards, lengths that differ and a negative weight are errors.
//
// # Method of Detect
//
// Candidates come from windows of 50 points that overlap by half, at the full
// resolution and at every fourth part of it, outliers clipped. They are then
// deleted from the weakest up while one is left that fails. A change passes if
//
//	z + ln(step/range) >= 2.2  with up to 25 points on each side, or
//	z + ln(step/range) >= 7    with up to 200 points on each side,
//
// where z is the rank-sum z-score and range is that of the plot (500 points to
// both sides): the smaller the step in the plot, the surer it must be. The
// likelihood ratio against autocorrelated noise without a change must be at
// least 19. docs/CHANGEPOINT.md has the reasons and the measurements. No
// number in it is a p-value; the thresholds are set by simulation so that at
// most 1 % of series without a change are flagged.
package changepoint
