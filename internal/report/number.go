package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// missing stands where there is no number.
const missing = "-"

// fixed prints a number with so many decimals, as awk's "%.2f" does, and unknown if
// it is none.
func fixed(value float64, decimals int, unknown string) string {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return unknown
	}
	return strconv.FormatFloat(value, 'f', decimals, 64)
}

// decimals prints known numbers with so many of them.
func decimals(n int) func(float64) string {
	return func(value float64) string { return fixed(value, n, missing) }
}

// ratioText gives a ratio with three decimals, fewer where they would say nothing.
func ratioText(ratio float64) string {
	switch {
	case math.IsNaN(ratio):
		return missing
	case math.IsInf(ratio, 0):
		return "∞"
	case ratio < 10:
		return strconv.FormatFloat(ratio, 'f', 3, 64)
	case ratio < 100:
		return strconv.FormatFloat(ratio, 'f', 1, 64)
	}
	return strconv.FormatFloat(ratio, 'f', 0, 64)
}

// bounded tells whether an estimate has an interval that says anything.
func bounded(e dbcanary.Estimate) bool {
	return !math.IsNaN(e.Ratio) && !math.IsInf(e.High, 0)
}

// intervalText gives the interval of a ratio, "unknown" where one instance gives none.
func intervalText(e dbcanary.Estimate) string {
	switch {
	case math.IsNaN(e.Ratio):
		return missing
	case !bounded(e):
		return "unknown"
	}
	return ratioText(e.Low) + "–" + ratioText(e.High)
}

// plusMinus gives a ratio with the larger half of its interval: "0.912 ±.018".
func plusMinus(e dbcanary.Estimate) string {
	switch {
	case math.IsNaN(e.Ratio):
		return missing
	case !bounded(e):
		return ratioText(e.Ratio) + " ±?"
	}
	half := ratioText(max(e.High-e.Ratio, e.Ratio-e.Low))
	return ratioText(e.Ratio) + " ±" + strings.TrimPrefix(half, "0")
}

// rateText gives a rate as a whole number with separators, small ones with a decimal.
func rateText(rate float64) string {
	switch {
	case math.IsNaN(rate):
		return missing
	case rate < 100:
		return strconv.FormatFloat(rate, 'f', 1, 64)
	}
	return grouped(int64(math.Round(rate)))
}

func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	start := len(digits) % 3
	parts := []string{}
	if start > 0 {
		parts = append(parts, digits[:start])
	}
	for ; start < len(digits); start += 3 {
		parts = append(parts, digits[start:start+3])
	}
	return strings.Join(parts, ",")
}

// changeText says a ratio as a change: "-12 %", "+3.1 %", "2.3 times".
func changeText(ratio float64) string {
	change := 100 * (ratio - 1)
	switch {
	case math.IsNaN(ratio):
		return missing
	case ratio >= 2:
		return fmt.Sprintf("%.3g times", ratio)
	case math.Abs(change) < 9.95:
		return fmt.Sprintf("%+.1f %%", change)
	case ratio < 0.1: // -99 % and -100 % hide what may be ten times or a thousand
		return fmt.Sprintf("%.2g times", ratio)
	}
	return fmt.Sprintf("%+.0f %%", change)
}

func percentText(fraction float64) string {
	return strconv.FormatFloat(100*fraction, 'g', 3, 64) + " %"
}

func bytesText(n int64) string {
	const gib, mib = 1 << 30, 1 << 20
	if n >= gib {
		return fmt.Sprintf("%.1f GiB", float64(n)/gib)
	}
	return fmt.Sprintf("%d MiB", n/mib)
}

func countText(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(int64(n)) + " " + many
}

// durationText gives a duration to the second, or finer below a minute.
func durationText(d time.Duration) string {
	if d < time.Minute {
		return d.Round(10 * time.Millisecond).String()
	}
	text := d.Round(time.Second).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	return text
}

// shortChecksum gives the algorithm and the first digits: "sha256:3f2a9c1b4d5e".
func shortChecksum(checksum string) string {
	const digits = 12
	start := strings.IndexAny(checksum, ":-") + 1 // "sha256:hex" or, as npm has it, "sha512-base64"
	return checksum[:min(len(checksum), start+digits)]
}
