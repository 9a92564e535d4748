package history

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary/changepoint"
	"github.com/dbcanary/dbcanary/internal/exchange"
)

// valueText gives a value with four digits that count, large ones whole with separators.
func valueText(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case math.IsInf(v, 0), a >= 1e15, a > 0 && a < 1e-4:
		return strconv.FormatFloat(v, 'g', 4, 64)
	case a >= 1000:
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	case a == 0:
		return "0"
	default:
		digits := max(0, 3-int(math.Floor(math.Log10(a))))
		text := strconv.FormatFloat(v, 'f', digits, 64)
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		return text
	}
}

func grouped(digits string) string {
	sign := ""
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		sign, digits = digits[:1], digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

func percent(fraction float64) string {
	p := 100 * fraction
	switch a := math.Abs(p); {
	case math.IsInf(p, 0):
		return strings.TrimSuffix(fmt.Sprintf("%+f", p), "nf") + "nf"
	case a < 0.095:
		return fmt.Sprintf("%+.2f", p)
	case a < 9.95:
		return fmt.Sprintf("%+.1f", p)
	}
	return grouped(fmt.Sprintf("%+.0f", p))
}

// sizeText is the size as a part of the level before: "-12 %"; from 0 it is absolute.
func sizeText(c changepoint.Change) string {
	size, _, _ := c.Relative()
	if math.IsNaN(size) {
		return "from 0 to " + valueText(c.After.Median)
	}
	return percent(size) + " %"
}

// intervalText is the interval of the size in percent, "" if there is none.
func intervalText(c changepoint.Change) string {
	_, low, high := c.Relative()
	if math.IsNaN(low) || math.IsNaN(high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
		return ""
	}
	return rangeText(low, high)
}

// rangeText gives the ends of an interval with a decimal, since they may be near each other.
func rangeText(low, high float64) string {
	decimals := 1
	if math.Abs(low) < 0.001 && math.Abs(high) < 0.001 {
		decimals = 2
	}
	return fmt.Sprintf("%+.*f to %+.*f %%", decimals, 100*low, decimals, 100*high)
}

func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun == "series":
		return grouped(strconv.Itoa(n)) + " series"
	}
	return grouped(strconv.Itoa(n)) + " " + noun + "s"
}

// name is a series in few words.
func name(s exchange.Series) string {
	text := s.Benchmark
	if s.Metric != "value" && s.Metric != s.Unit || s.Benchmark == "" {
		text = strings.TrimSpace(text + " " + s.Metric)
	}
	if s.Metric == s.Unit && s.Unit != "" {
		text += " " + s.Unit
	}
	if s.Config != "" {
		text += " (" + s.Config + ")"
	}
	return text
}

// shortLabel cuts a commit to the length that people use.
func shortLabel(label string) string {
	if isCommit(label) {
		return label[:12]
	}
	return label
}
