package exchange

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
)

var pidstatMark = regexp.MustCompile(`(?m)^(# Time|\S+( [AP]M)?) +UID +(TGID +TID|PID) .* Command$`)

// pidstat reads the output of pidstat N, with -h on one line by process or in a table
// for each kind. Servers (mysqld, mariadbd, postgres) and clients (sysbench, pgbench
// and others) are added up by their names; all else is left out.
func pidstat() resultFormat {
	return resultFormat{
		name: "pidstat",
		recognise: func(head string) bool {
			return sysstatHead.MatchString(head) && pidstatMark.MatchString(head)
		},
		begins: func(line string) bool { return strings.HasPrefix(line, "# Time ") && pidstatMark.MatchString(line) },
		read: func(l *lines, results *Results) error {
			r := &pidstatReader{lines: l, results: results}
			return r.read()
		},
	}
}

// The columns of pidstat that are added up, for servers and for clients.
const (
	pidCPU = iota
	pidSwitches
	pidReadKB
	pidWriteKB
	pidRSS
	pidColumns
)

// pidstatReader adds up processes by sample. Processes that did nothing have no row,
// so that the number of samples is that of the headers.
type pidstatReader struct {
	*lines
	results *Results
	cpus    int
	header  []string
	title   string
	columns []int
	threads int // place of TGID, -1 if threads are not shown
	shift   int // fields of a row before those that the header names
	counts  bool
	fields  []string

	samplers       [pidColumns]sampler // by kind: each has headers of its own
	known          [pidColumns]bool
	server, client [pidColumns]float64
	// The sample under way counts when the next header comes, or the file ends after it.
	nowServer, nowClient [pidColumns]float64
	rss                  dbcanary.Metric
	rssNow               float64
}

func (r *pidstatReader) read() error {
	for line := range r.all {
		if err := r.line(line); err != nil {
			return err
		}
	}
	if r.err != nil {
		return r.err
	}
	if r.number > 0 && !r.whole {
		r.results.cutTail(r.lines, r.number)
		for _, column := range r.columns {
			if r.counts && column >= 0 {
				r.samplers[column].counted--
			}
		}
	} else {
		r.commit()
	}
	rec := Recording{Line: 1, Tool: "pidstat", CPUs: r.cpus}
	all := sampler{}
	for column, known := range r.known {
		s := r.samplers[column]
		if s.seen > all.seen {
			all = s
		}
		if !known || s.counted == 0 {
			continue
		}
		server, client := r.server[column]/float64(s.counted), r.client[column]/float64(s.counted)
		switch column {
		case pidCPU:
			rec.rate(fieldServerCPU, server*1e7) // percent of one CPU
			rec.rate(fieldClientCPU, client*1e7)
		case pidSwitches:
			rec.rate(fieldServerSwitches, server)
		case pidReadKB:
			rec.rate(metricServerReadBytes, server*1024)
		case pidWriteKB:
			rec.rate(metricServerWritten, server*1024)
		case pidRSS:
			if r.rss.Name != "" {
				rec.Gauges = append(rec.Gauges, r.rss)
			}
		}
	}
	return r.results.addRecording(r.lines, rec, all)
}

func (r *pidstatReader) line(line string) error {
	switch {
	case strings.TrimSpace(line) == "":
		return nil
	case strings.HasPrefix(line, "Linux "):
		if match := sysstatCPUs.FindStringSubmatch(line); match != nil {
			r.cpus, _ = strconv.Atoi(match[1]) // digits; too many are no number of CPUs
		}
		return nil
	case strings.HasPrefix(line, "Average:"):
		return nil
	case strings.HasSuffix(line, " Command"):
		return r.headerLine(line)
	}
	if !r.whole {
		return nil // the end of the file tells
	}
	return r.process(line)
}

// headerLine begins a sample of the kinds that it names.
func (r *pidstatReader) headerLine(line string) error {
	uid := strings.Index(line, "UID")
	if uid < 0 {
		return r.failf(r.number, "pidstat should have columns UID and PID; its header is %q", clip(line))
	}
	if title := line[uid:]; title != r.title {
		r.title = strings.Clone(title)
		r.header = strings.Fields(r.title)
		r.threads = slices.Index(r.header, "TGID")
		r.columns = r.columns[:0]
		for _, name := range r.header {
			r.columns = append(r.columns, slices.Index([]string{"%CPU", "cswch/s", "kB_rd/s", "kB_wr/s", "RSS"}, name))
		}
	}
	r.shift = 1
	if fields := strings.Fields(line[:uid]); len(fields) == 2 && fields[0] != "#" {
		r.shift = 2 // 01:30:30 PM
	}
	r.commit()
	r.counts = false
	for _, column := range r.columns {
		if column < 0 {
			continue
		}
		if !r.known[column] {
			r.known[column] = true
			r.samplers[column] = r.recording.newSampler(0, false)
		}
		if r.samplers[column].next() {
			r.counts = true
		}
	}
	return nil
}

func (r *pidstatReader) process(line string) error {
	fields := appendFields(r.fields[:0], line)
	r.fields = fields
	if r.header == nil {
		return r.failf(r.number, "a header with UID, PID and Command should stand before the processes, found %q", clip(line))
	}
	if len(fields) < len(r.header)+r.shift {
		return r.failf(r.number, "expected %d columns as the header names, found %d: was the line cut?", len(r.header)+r.shift, len(fields))
	}
	fields = fields[r.shift:]
	command := fields[len(r.header)-1]
	server := isServer(command)
	if !r.counts || !server && !isClient(command) || r.threads >= 0 && fields[r.threads] == "-" {
		return nil
	}
	into := &r.nowClient
	if server {
		into = &r.nowServer
	}
	for i, column := range r.columns {
		if column < 0 {
			continue
		}
		v, err := r.float(r.header[i], fields[i])
		if err != nil {
			return err
		}
		into[column] += v
		switch {
		case column == pidSwitches && i+1 < len(r.columns): // nvcswch/s stands next to it
			forced, err := r.float(r.header[i+1], fields[i+1])
			if err != nil {
				return err
			}
			into[column] += forced
		case column == pidRSS && server && command != "postgres": // whose processes share most of theirs
			r.rssNow += v * 1024
		}
	}
	return nil
}

// commit adds the sample that ends.
func (r *pidstatReader) commit() {
	for column := range pidColumns {
		r.server[column] += r.nowServer[column]
		r.client[column] += r.nowClient[column]
	}
	r.nowServer, r.nowClient = [pidColumns]float64{}, [pidColumns]float64{}
	if r.rssNow == 0 {
		return
	}
	if r.rss.Name == "" {
		r.rss = dbcanary.Metric{Name: metricServerRSS, Gauge: true, First: r.rssNow}
	}
	r.rss.Value, r.rss.Max, r.rssNow = r.rssNow, max(r.rss.Max, r.rssNow), 0
}
