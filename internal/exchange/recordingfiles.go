package exchange

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// publishedRecording is a file of the published scripts beside a result.
type publishedRecording struct {
	path    string
	kind    string // "vm", "io", "met"
	threads int
}

// addPublished adds the recordings of the published scripts to the results that were
// read of one job. A met file counts where there is neither vmstat nor iostat: its
// means take in header rows of vmstat, which is some percent.
func (f *Files) addPublished(ctx context.Context, job fileJob, measurements []Measurement) {
	for i := range measurements {
		m := &measurements[i]
		var beside []publishedRecording
		raw := false
		for _, rec := range job.recordings {
			if rec.threads == m.Threads || rec.threads == 0 || m.Threads == 0 {
				beside = append(beside, rec)
				raw = raw || rec.kind != "met"
			}
		}
		slices.SortStableFunc(beside, func(a, b publishedRecording) int { return -cmp.Compare(a.kind, b.kind) }) // vmstat first
		for _, rec := range beside {
			if raw && rec.kind == "met" {
				continue
			}
			// The scripts call iostat -y; they give scans no warm-up that the rates tell of.
			f.attach(ctx, fileJob{path: rec.path}, m, recordingOptions{warmupS: float64(m.WarmupNs) / 1e9})
		}
	}
}

// attach reads a recording and adds it to its result.
func (f *Files) attach(ctx context.Context, job fileJob, m *Measurement, options recordingOptions) {
	results, err := readJob(ctx, job, nil, options)
	f.Rejected = append(f.Rejected, results.Rejected...)
	f.Notes = append(f.Notes, results.Notes...)
	if err == nil && len(results.Recordings) == 0 {
		err = seriesError(job.path, 1, 0, "expected a recording of vmstat or iostat, found %s", cmp.Or(results.Format, "something else"))
	}
	if err != nil {
		f.Rejected = append(f.Rejected, err)
		return
	}
	for _, rec := range results.Recordings {
		m.attach(rec)
		kind := &f.recording
		if len(rec.Stacks) > 0 {
			kind = &f.sampled
		}
		if *kind == nil {
			*kind = map[string]int{}
		}
		(*kind)[rec.Tool]++
	}
}

// addRecordings adds the recordings that were found among files to the result that
// they lie beside, and says of what became of them.
func (f *Files) addRecordings(ctx context.Context) {
	for _, job := range f.recorded {
		m, problem := f.resultOf(job)
		if m == nil {
			f.Notes = append(f.Notes, fmt.Sprintf("%s: a recording, which says what a machine or server did but not what work was done, and %s; give it with its result: dbcanary import TARGET=result.txt TARGET=%s",
				displayPath(job.path), problem, displayPath(job.path)))
			continue
		}
		if job.path == "-" {
			f.Notes = append(f.Notes, "stdin: a recording is read from files only")
			continue
		}
		f.attach(ctx, job, m, recordingOptions{warmupS: float64(m.WarmupNs) / 1e9, sinceBoot: true})
	}
	f.noteRecordings()
}

// noteRecordings says what was added to results, and which report shows it.
func (f *Files) noteRecordings() {
	note := func(what string, counts map[string]int, format string) {
		var parts []string
		for _, tool := range sortedKeys(counts) {
			parts = append(parts, fmt.Sprintf("%d of %s", counts[tool], tool))
		}
		if len(parts) > 0 {
			f.Notes = append(f.Notes, fmt.Sprintf("%s (%s) were added to their results; report --format %s shows them", what, strings.Join(parts, ", "), format))
		}
	}
	note("recordings", f.recording, "metrics")
	note("stacks", f.sampled, "stacks or html")
}

func displayPath(path string) string {
	if path == "-" {
		return "stdin"
	}
	return path
}

// resultOf is the one result that a recording can belong to: of its target and, in a
// folder, beside it; of files alone also the only one that there is.
func (f *Files) resultOf(job fileJob) (*Measurement, string) {
	var beside []int
	folder := filepath.Dir(job.path)
	for i, m := range f.Measurements {
		if m.Target == job.target && (job.benchmark == "" || filepath.Dir(m.File) == folder) {
			beside = append(beside, i)
		}
	}
	if kind, benchmark, threads, ok := PublishedFile(job.path); ok && kind != "o" {
		beside = slices.DeleteFunc(beside, func(i int) bool {
			m := f.Measurements[i]
			return m.Benchmark != benchmark || threads > 0 && m.Threads > 0 && threads != m.Threads
		})
	} else if len(beside) == 0 && job.benchmark == "" && len(f.Measurements) == 1 {
		beside = []int{0}
	}
	switch len(beside) {
	case 0:
		return nil, "no result lies beside it"
	case 1:
		return &f.Measurements[beside[0]], ""
	}
	return nil, fmt.Sprintf("%d results lie beside it, so nobody knows whose it is", len(beside))
}
