package report

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// csvColumns are the columns of the CSV form, one line for each comparison.
// Their names and meanings are those of the JSON form; what is not known is empty.
func csvColumns() []string {
	return []string{
		"run", "benchmark", "group", "target", "base", "verdict", "ratio", "low", "high", "level", "min_effect", "qps", "base_qps",
		"cpu_ratio", "cpu_low", "cpu_high", "cpu_us", "base_cpu_us", "instances", "blocks", "void_slices", "min_detectable", "reason", "warnings",
	}
}

// writeCSV writes comma-separated values of RFC 4180, lines ending in CRLF.
func (r *Report) writeCSV(w io.Writer, _ Options) error {
	var b strings.Builder
	out := csv.NewWriter(&b)
	out.UseCRLF = true
	if err := out.Write(csvColumns()); err != nil {
		return err
	}
	for _, c := range r.comparisons() {
		if err := out.Write(csvRecord(r.Run, c)); err != nil {
			return err
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return writeAll(w, &b)
}

func csvRecord(run dbcanary.Run, c dbcanary.Comparison) []string {
	return []string{
		strconv.FormatInt(run.ID, 10), c.Benchmark, c.Group, c.Target, c.Base, string(c.Verdict),
		csvNumber(c.QPSRatio.Ratio), csvNumber(c.QPSRatio.Low), csvNumber(c.QPSRatio.High),
		csvNumber(c.Level), csvNumber(c.MinEffect), csvNumber(c.QPS), csvNumber(c.BaseQPS),
		csvNumber(c.CPURatio.Ratio), csvNumber(c.CPURatio.Low), csvNumber(c.CPURatio.High), csvNumber(c.CPUUs), csvNumber(c.BaseCPU),
		strconv.Itoa(c.Instances), strconv.Itoa(c.Blocks), strconv.Itoa(c.VoidSlices), csvNumber(c.MinDetectable),
		c.Reason, strings.Join(c.Warnings, "; "),
	}
}

func csvNumber(value float64) string {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return ""
	}
	return strconv.FormatFloat(value, 'g', 6, 64)
}
