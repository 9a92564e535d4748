package exchange

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	sysstatHead    = regexp.MustCompile(`\A\s*Linux \S+ \(.*\).*CPU\)\s`)
	sysstatCPUs    = regexp.MustCompile(`\((\d+) CPU\)\s*$`)
	iostatMark     = regexp.MustCompile(`(?m)^(avg-cpu:  *%user|Device:?  +.*([rw]/s|kB_read/s|MB_read/s|Blk_read/s))`)
	iostatJSONHead = regexp.MustCompile(`\A\s*\{\s*"sysstat":\s*\{`)
	// partition is a part of a disk that iostat shows beside it with -p.
	partition = regexp.MustCompile(`^((sd|vd|xvd|hd)[a-z]+\d+|(nvme\d+n\d+|mmcblk\d+|md\d+)p\d+)$`)
	// stacked lies on other devices, or on none.
	stacked = regexp.MustCompile(`^(dm-\d+|loop\d+|ram\d+|zram\d+|sr\d+|fd\d+|nbd\d+)$`)
)

// iostat reads the text of iostat N in any of its layouts; the columns go by their
// names. What the devices did is added up: of a software RAID where there is one, as
// the published scripts do, else of the disks, never of both.
func iostat() resultFormat {
	return resultFormat{
		name: "iostat",
		recognise: func(head string) bool {
			return sysstatHead.MatchString(head) && iostatMark.MatchString(head)
		},
		begins: func(line string) bool {
			return strings.HasPrefix(line, "avg-cpu:") || strings.HasPrefix(line, "Linux ") && sysstatCPUs.MatchString(line)
		},
		read: func(l *lines, results *Results) error {
			r := &iostatReader{lines: l, results: results, disks: newDisks()}
			return r.read()
		},
	}
}

// isSysstat tells the tools whose output begins with the same line.
func isSysstat(format string) bool { return strings.HasPrefix(format, "iostat") || format == "pidstat" }

// disks adds up what devices did, by device.
type disks struct {
	names []string
	sums  map[string]*[diskColumns]float64
}

const (
	diskReads = iota
	diskWrites
	diskReadBytes
	diskWriteBytes
	diskColumns
)

// mostDisks bounds the memory of damaged files.
const mostDisks = 10_000

func newDisks() disks { return disks{sums: map[string]*[diskColumns]float64{}} }

func (d *disks) add(name string, values [diskColumns]float64) bool {
	sum := d.sums[name]
	if sum == nil {
		if len(d.names) >= mostDisks {
			return false
		}
		sum = &[diskColumns]float64{}
		name = strings.Clone(name)
		d.sums[name] = sum
		d.names = append(d.names, name)
	}
	for i, v := range values {
		sum[i] += v
	}
	return true
}

// rates adds what all disks did in a mean sample.
func (d *disks) rates(rec *Recording, samples int, known [diskColumns]bool) {
	if len(d.names) == 0 {
		return
	}
	md := slices.ContainsFunc(d.names, isArray)
	var total [diskColumns]float64
	for _, name := range d.names {
		if partition.MatchString(name) || stacked.MatchString(name) || md != isArray(name) {
			continue
		}
		for i, v := range d.sums[name] {
			total[i] += v
		}
	}
	for i, name := range [diskColumns]string{metricDiskReads, metricDiskWrites, metricDiskReadBytes, metricDiskWritten} {
		if known[i] {
			rec.rate(name, total[i]/float64(max(1, samples)))
		}
	}
}

func isArray(device string) bool {
	return strings.HasPrefix(device, "md") && !partition.MatchString(device)
}

// diskColumn tells what a column of iostat counts, and the factor to counts and bytes; -1 for the others.
func diskColumn(name string) (column int, factor float64) {
	switch name {
	case "r/s":
		return diskReads, 1
	case "w/s":
		return diskWrites, 1
	case "rkB/s", "kB_read/s":
		return diskReadBytes, 1024
	case "wkB/s", "kB_wrtn/s":
		return diskWriteBytes, 1024
	case "rMB/s", "MB_read/s":
		return diskReadBytes, 1 << 20
	case "wMB/s", "MB_wrtn/s":
		return diskWriteBytes, 1 << 20
	case "rsec/s", "Blk_read/s":
		return diskReadBytes, 512
	case "wsec/s", "Blk_wrtn/s":
		return diskWriteBytes, 512
	}
	return -1, 0
}

// iostatReader reads the reports of the text one after the other.
type iostatReader struct {
	*lines
	results *Results
	disks   disks
	cpus    int
	first   int
	kind    iostatPart
	header  []string
	title   string // the line of the header, which repeats
	columns []int
	factors []float64
	known   [diskColumns]bool
	fields  []string
	sampler sampler
	counts  bool
	hasCPU  bool
	cpuSum  hostCPU
	// The report under way counts when the next one begins, or the file ends after it.
	pending    []deviceValues
	pendingCPU hostCPU
	devicesOf  int // in the report before
}

// hostCPU is percent of all CPUs, added up.
type hostCPU struct{ user, system, steal float64 }

type deviceValues struct {
	name   string
	values [diskColumns]float64
}

// iostatPart is the part of a report under way.
type iostatPart int

const (
	iostatNone iostatPart = iota
	iostatCPU
	iostatDevices
)

func (r *iostatReader) read() error {
	for line := range r.all {
		if err := r.line(line); err != nil {
			return err
		}
	}
	if r.err != nil {
		return r.err
	}
	if err := r.endLast(); err != nil {
		return err
	}
	rec := Recording{Line: max(1, r.first), Tool: "iostat", CPUs: r.cpus}
	r.disks.rates(&rec, r.sampler.counted, r.known)
	r.cpuRates(&rec)
	return r.results.addRecording(r.lines, rec, r.sampler)
}

func (r *iostatReader) line(line string) error {
	switch {
	case strings.TrimSpace(line) == "":
		r.kind = iostatNone
		return nil
	case strings.HasPrefix(line, "Linux "):
		if match := sysstatCPUs.FindStringSubmatch(line); match != nil {
			r.cpus, _ = strconv.Atoi(match[1]) // digits; too many are no number of CPUs
		}
		return nil
	case strings.HasPrefix(line, "avg-cpu:"):
		if err := r.report(); err != nil {
			return err
		}
		r.kind, r.header, r.hasCPU, r.title = iostatCPU, strings.Fields(line)[1:], true, ""
		return nil
	case strings.HasPrefix(line, "Device"):
		if !r.hasCPU {
			if err := r.report(); err != nil {
				return err
			}
		}
		r.kind = iostatDevices
		return r.devices(line)
	case r.kind == iostatNone:
		return nil // a time, or a device group
	}
	if !r.whole {
		return nil // the end of the file tells
	}
	if r.kind == iostatCPU {
		return r.cpu(line)
	}
	return r.device(line)
}

// report ends the one under way and begins the next.
func (r *iostatReader) report() error {
	if r.first == 0 {
		r.first = r.number
		r.sampler = r.recording.newSampler(0, r.recording.sinceBoot)
	}
	if err := r.commit(); err != nil {
		return err
	}
	r.counts = r.sampler.next()
	return nil
}

// commit adds the report under way to the sums.
func (r *iostatReader) commit() error {
	for _, d := range r.pending {
		if r.counts && !r.disks.add(d.name, d.values) {
			return r.failf(r.number, "there are more than %d devices", mostDisks)
		}
	}
	if r.counts {
		r.cpuSum.user += r.pendingCPU.user
		r.cpuSum.system += r.pendingCPU.system
		r.cpuSum.steal += r.pendingCPU.steal
	}
	r.devicesOf, r.pending, r.pendingCPU = len(r.pending), r.pending[:0], hostCPU{}
	return nil
}

// endLast takes the last report if it is whole: iostat that is killed ends anywhere.
func (r *iostatReader) endLast() error {
	if r.number > 0 && (!r.whole || len(r.pending) < r.devicesOf) {
		r.results.cutTail(r.lines, r.number)
		if r.counts {
			r.sampler.counted--
		}
		return nil
	}
	return r.commit()
}

// devices takes the header of the devices.
func (r *iostatReader) devices(line string) error {
	if line == r.title {
		return nil
	}
	r.title = strings.Clone(line)
	r.header = strings.Fields(r.title)
	r.columns, r.factors = r.columns[:0], r.factors[:0]
	found := false
	for _, name := range r.header {
		column, factor := diskColumn(name)
		r.columns, r.factors = append(r.columns, column), append(r.factors, factor)
		if column >= 0 {
			r.known[column], found = true, true
		}
	}
	if !found {
		return r.failf(r.number, "iostat should have columns such as r/s and rkB/s; its header is %q", clip(line))
	}
	return nil
}

func (r *iostatReader) device(line string) error {
	fields := appendFields(r.fields[:0], line)
	r.fields = fields
	if len(fields) != len(r.header) {
		return r.failf(r.number, "expected a device and %d numbers as the header names columns, found %d: was the line cut?", len(r.header)-1, len(fields)-1)
	}
	var values [diskColumns]float64
	for i, column := range r.columns {
		if column < 0 || i == 0 {
			continue
		}
		v, err := r.float(r.header[i]+" of "+clip(fields[0]), fields[i])
		if err != nil {
			return err
		}
		values[column] = v * r.factors[i]
	}
	if len(r.pending) >= mostDisks {
		return r.failf(r.number, "there are more than %d devices", mostDisks)
	}
	r.pending = append(r.pending, deviceValues{strings.Clone(fields[0]), values})
	return nil
}

func (r *iostatReader) cpu(line string) error {
	fields := appendFields(r.fields[:0], line)
	r.fields = fields
	if len(fields) != len(r.header) {
		return r.failf(r.number, "expected %d numbers as the header names columns, found %d: was the line cut?", len(r.header), len(fields))
	}
	for i, name := range r.header {
		v, err := r.float(name, fields[i])
		if err != nil {
			return err
		}
		r.pendingCPU.add(strings.TrimPrefix(name, "%"), v)
	}
	return nil
}

func (c *hostCPU) add(name string, percent float64) {
	switch name {
	case "user", "nice":
		c.user += percent
	case "system":
		c.system += percent
	case "steal":
		c.steal += percent
	}
}

func (r *iostatReader) cpuRates(rec *Recording) {
	if n := float64(max(1, r.sampler.counted)); r.hasCPU {
		rec.cpu(r.cpuSum.user/n, r.cpuSum.system/n, r.cpuSum.steal/n)
	}
}
