package report

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// writeGoBench writes Go benchmark results (golang.org/design/14313) for benchstat:
// a line for each start of a server, since slices of one start are no independent
// samples. The target is a configuration line, so `benchstat -col target` compares.
func (r *Report) writeGoBench(w io.Writer, _ Options) error {
	var b strings.Builder
	config := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, strings.TrimSpace(clean(value)))
		}
	}
	config("run", r.Run.UID)
	config("host", r.Run.Host.Name)
	config("cpu", r.Run.Host.CPU)
	config("kernel", r.Run.Host.Kernel)
	b.WriteString("Unit queries/s better=higher\n")
	for i, target := range r.Run.Plan.Targets {
		config("target", target)
		config("dbms", r.dbmsOf(target))
		config("version", r.versionOf(i))
		for _, one := range r.Instances {
			if one.Target == target {
				b.WriteString(r.goBenchLine(one))
			}
		}
	}
	return writeAll(w, &b)
}

func (r *Report) dbmsOf(target string) string {
	for _, t := range r.Run.Targets {
		if t.Name == target && t.Build.Family != "" {
			return string(t.Build.Family)
		}
	}
	return "unknown"
}

var endsInNumber = regexp.MustCompile(`-[0-9]+$`)

// goBenchLine is a result: statements for iterations, and pairs of value and unit.
func (r *Report) goBenchLine(one Instance) string {
	values := []struct {
		value float64
		unit  string
	}{{1e9 / one.QPS, "ns/op"}, {one.QPS, "queries/s"}, {one.CPUNs, "server-cpu-ns/op"}, {one.P95Ns, "p95-ns"}}
	name := goBenchName(one.Benchmark)
	// Connections, as go test says CPUs; 1 only where the name ends in what looks like them.
	if threads := max(1, r.Run.Plan.Threads); threads > 1 || endsInNumber.MatchString(name) {
		name += "-" + strconv.Itoa(threads)
	}
	line := fmt.Sprintf("Benchmark%s\t%d", name, one.Operations)
	for _, v := range values {
		if !math.IsNaN(v.value) && !math.IsInf(v.value, 0) {
			line += "\t" + strconv.FormatFloat(v.value, 'g', 8, 64) + " " + v.unit
		}
	}
	return line + "\n"
}

// goBenchName is a name without blanks: further words are parts, "read-only/range=100".
func goBenchName(label string) string {
	fields := strings.FieldsFunc(clean(label), unicode.IsSpace)
	return strings.Join(fields, "/")
}
