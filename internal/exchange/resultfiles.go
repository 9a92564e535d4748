package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload"
)

// FileOptions say how files are named.
type FileOptions struct {
	Benchmark string // of every result; "" for what file and folder tell
	Stdin     io.Reader
}

// Files is what was read of many files.
type Files struct {
	Measurements []Measurement // with benchmark and target
	Read         int           // files that gave a measurement
	Rejected     []error       // files, or results in them, that must not be used
	Notes        []string

	recorded  []fileJob      // files that turned out to be recordings
	recording map[string]int // recordings of counters by tool
	sampled   map[string]int // and of stacks
}

// fileJob is one file to read.
type fileJob struct {
	path      string
	target    string
	benchmark string // "" for what the content tells
	threads   []int  // of the columns of an sb.r.qps file
	published bool
	step      bool // benchmark is a step of the Insert Benchmark
	// recordings are the files of the published scripts beside it.
	recordings []publishedRecording
}

// ReadFiles reads the results in files and folders, each "PATH", "TARGET=PATH" or
// "-". A file names the target, unless it lies in a folder that was given, or
// has the name of another: then the folder names the target and the file the
// benchmark. One that cannot be used is rejected and the others are read all the same; the error is of
// the context alone.
func ReadFiles(ctx context.Context, args []string, opts FileOptions) (Files, error) {
	var files Files
	jobs := files.plan(args)
	files.noteFolders(jobs)
	for _, job := range jobs {
		if err := ctx.Err(); err != nil {
			return files, err
		}
		files.read(ctx, job, opts)
	}
	files.addRecordings(ctx)
	return files, ctx.Err()
}

// plan finds the files that the arguments stand for.
func (f *Files) plan(args []string) []fileJob {
	var jobs []fileJob
	stems := map[string]map[string]bool{}
	for _, arg := range args {
		path, _ := splitArgument(arg)
		if stems[stem(path)] == nil {
			stems[stem(path)] = map[string]bool{}
		}
		stems[stem(path)][filepath.Clean(path)] = true
	}
	for _, arg := range args {
		path, target := splitArgument(arg)
		info, err := os.Stat(path)
		switch {
		case path == "":
			f.Rejected = append(f.Rejected, dbcanary.Errorf(dbcanary.CodeUsage, "%q names no file; a file or folder of results, or TARGET=FILE, should stand there", arg))
		case path == "-":
			jobs = append(jobs, fileJob{path: path, target: cmp.Or(target, "stdin")})
		case err != nil:
			f.Rejected = append(f.Rejected, pathError(err))
		case info.IsDir():
			jobs = append(jobs, f.folder(path, target)...)
		default:
			job := fileJob{path: path, target: cmp.Or(target, stem(path))}
			if kind, benchmark, threads, ok := PublishedFile(path); ok {
				job.benchmark, job.target, job.published = benchmark, cmp.Or(target, folderName(path)), true
				switch kind {
				case "r.qps":
					job.threads = []int{threads}
				case "vm", "io", "met":
					job.published = false
				}
			} else if isInsertFile(path) {
				folder, step := insertPlace(path)
				job.target, job.benchmark, job.step = cmp.Or(target, folder), step, true
			} else if target == "" && len(stems[stem(path)]) > 1 {
				job.target, job.benchmark = folderName(path), stem(path)
			}
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// splitArgument parts TARGET=PATH, unless there is a file of that name.
func splitArgument(arg string) (path, target string) {
	at := strings.LastIndexByte(arg, '=')
	if at <= 0 || arg == "-" {
		return arg, ""
	}
	if _, err := os.Lstat(arg); err == nil {
		return arg, ""
	}
	return arg[at+1:], arg[:at]
}

// stem is the name of a file without folder and what tells its kind.
func stem(path string) string {
	base := filepath.Base(path)
	for _, kind := range []string{".gz", ".txt", ".log", ".out", ".csv", ".tsv", ".json", ".edit"} {
		if len(base) > len(kind) {
			base = strings.TrimSuffix(base, kind)
		}
	}
	return base
}

func folderName(path string) string {
	folder := filepath.Dir(path)
	if absolute, err := filepath.Abs(folder); err == nil {
		folder = absolute
	}
	return filepath.Base(folder)
}

func pathError(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return dbcanary.Errorf(dbcanary.CodeUsage, "%s: %v", pathErr.Path, pathErr.Err)
	}
	return dbcanary.Errorf(dbcanary.CodeUsage, "%v", err)
}

// folder finds the files of a folder and those below it.
func (f *Files) folder(root, target string) []fileJob {
	byFolder := map[string][]string{}
	var folders []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			f.Rejected = append(f.Rejected, pathError(err))
			return nil
		case strings.HasPrefix(entry.Name(), ".") && path != root:
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		folder := filepath.Dir(path)
		if byFolder[folder] == nil {
			folders = append(folders, folder)
		}
		byFolder[folder] = append(byFolder[folder], path)
		return nil
	})
	if err != nil {
		f.Rejected = append(f.Rejected, pathError(err))
	}
	var jobs []fileJob
	for _, folder := range folders {
		paths := byFolder[folder]
		name := cmp.Or(target, folderName(paths[0]))
		if slices.ContainsFunc(paths, isPublished) {
			jobs = append(jobs, f.publishedFolder(paths, name)...)
			continue
		}
		steps := slices.ContainsFunc(paths, isInsertFile)
		for _, path := range paths {
			switch {
			case !steps:
				jobs = append(jobs, fileJob{path: path, target: name, benchmark: stem(path)})
			case isInsertFile(path):
				folder, step := insertPlace(path)
				jobs = append(jobs, fileJob{path: path, target: cmp.Or(target, folder), benchmark: step, step: true})
			}
		}
	}
	if len(jobs) == 0 {
		f.Rejected = append(f.Rejected, dbcanary.Errorf(dbcanary.CodeUsage, "%s: the folder holds no file of results", root))
	}
	return jobs
}

func isPublished(path string) bool {
	_, _, _, ok := PublishedFile(path)
	return ok
}

// publishedFolder chooses among the files of a result folder of the published
// scripts: sysbench's output where there is one, else the rates alone. Scans are
// taken from the rates, which count rows. Warm-ups are no results.
func (f *Files) publishedFolder(paths []string, target string) []fileJob {
	outputs, rates := map[string][]string{}, map[string]string{}
	connections := map[string][]int{}
	recordings := map[string][]publishedRecording{}
	var benchmarks []string
	other := 0
	for _, path := range paths {
		kind, benchmark, threads, ok := PublishedFile(path)
		if !ok || strings.Contains(benchmark, ".warm") {
			other++
			continue
		}
		if kind != "o" && kind != "r.qps" {
			recordings[benchmark] = append(recordings[benchmark], publishedRecording{path, kind, threads})
			continue
		}
		if !slices.Contains(benchmarks, benchmark) {
			benchmarks = append(benchmarks, benchmark)
		}
		if kind == "r.qps" {
			rates[benchmark] = path
			continue
		}
		outputs[benchmark] = append(outputs[benchmark], path)
		connections[benchmark] = append(connections[benchmark], threads)
	}
	for benchmark, beside := range recordings {
		if !slices.Contains(benchmarks, benchmark) {
			other += len(beside)
		}
	}
	sortByCatalogue(benchmarks)
	var jobs []fileJob
	for _, benchmark := range benchmarks {
		if rate := rates[benchmark]; rate != "" && (len(outputs[benchmark]) == 0 || strings.HasPrefix(benchmark, "scan")) {
			slices.Sort(connections[benchmark])
			jobs = append(jobs, fileJob{path: rate, target: target, benchmark: benchmark, published: true, threads: connections[benchmark], recordings: recordings[benchmark]})
			continue
		}
		if strings.HasPrefix(benchmark, "scan") {
			f.Rejected = append(f.Rejected, seriesError(outputs[benchmark][0], 0, 0, "scans are counted in rows, which only an sb.r.qps file tells; there is none beside it"))
			continue
		}
		for _, path := range outputs[benchmark] {
			jobs = append(jobs, fileJob{path: path, target: target, benchmark: benchmark, published: true, recordings: recordings[benchmark]})
		}
	}
	if other > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s: %d other files of the published scripts were left out (warm-ups, status, settings)", filepath.Dir(paths[0]), other))
	}
	return jobs
}

// sortByCatalogue sorts by the place in the catalogue, unknown names last.
func sortByCatalogue(benchmarks []string) {
	place := map[string]int{}
	for i, b := range workload.Catalogue() {
		place[b.Label] = i
	}
	rank := func(name string) int {
		label, _ := canonicalLabel(strings.Replace(name, ".pre", "", 1))
		if at, ok := place[label]; ok {
			return at
		}
		return len(place)
	}
	slices.SortFunc(benchmarks, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
}

// noteFolders tells where several folders are taken as one target.
func (f *Files) noteFolders(jobs []fileJob) {
	folders := map[string][]string{}
	var names []string
	for _, job := range jobs {
		if job.benchmark == "" {
			continue
		}
		folder := filepath.Dir(job.path)
		if !slices.Contains(folders[job.target], folder) {
			folders[job.target] = append(folders[job.target], folder)
		}
		if !slices.Contains(names, job.target) {
			names = append(names, job.target)
		}
	}
	for _, name := range names {
		if len(folders[name]) > 1 {
			f.Notes = append(f.Notes, fmt.Sprintf("%s are taken as repeats of one target, %s; TARGET=PATH tells them apart", strings.Join(folders[name], " and "), name))
		}
	}
}

// read reads one file and names what is in it.
func (f *Files) read(ctx context.Context, job fileJob, opts FileOptions) {
	results, err := readJob(ctx, job, opts.Stdin, recordingOptions{sinceBoot: true})
	if err == nil && len(results.Recordings) > 0 {
		f.recorded = append(f.recorded, job) // it is read when the results are known
		return
	}
	f.Rejected = append(f.Rejected, results.Rejected...)
	f.Notes = append(f.Notes, results.Notes...)
	if err != nil {
		f.Rejected = append(f.Rejected, err)
	}
	if job.published && results.Format == "sb.r.qps" {
		if err := job.nameColumns(results.Measurements); err != nil {
			f.Rejected = append(f.Rejected, err)
			return
		}
	}
	first := len(f.Measurements)
	named := map[string]bool{}
	for _, m := range results.Measurements {
		named[m.Benchmark] = true
	}
	for _, m := range results.Measurements {
		m.Target = cmp.Or(m.Target, job.target)
		switch {
		case opts.Benchmark != "":
			m.Benchmark = opts.Benchmark
		case job.step && results.Format == "Insert Benchmark":
			m.Benchmark = job.benchmark + " " + m.Benchmark
		case len(named) == 1 && job.benchmark != "" && results.Format != "sql-bench":
			m.Benchmark = job.benchmark
		case m.Benchmark == "":
			m.Benchmark = firstWord(m.Tool)
		}
		f.Measurements = append(f.Measurements, m)
	}
	if len(results.Measurements) > 0 {
		f.Read++
		f.addPublished(ctx, job, f.Measurements[first:])
	}
}

// nameColumns tells the columns of rates apart by their connections.
func (job fileJob) nameColumns(measurements []Measurement) error {
	if len(measurements) == 1 && len(job.threads) == 0 {
		return nil
	}
	if len(job.threads) != len(measurements) {
		return seriesError(job.path, 1, 0, "%d columns of QPS, but there are sb.o files of %d numbers of connections: cannot tell which is which", len(measurements), len(job.threads))
	}
	for i := range measurements {
		measurements[i].Threads = job.threads[i]
	}
	return nil
}

// stoppable ends a long read when the context does.
type stoppable struct {
	ctx    context.Context
	reader io.Reader
}

// Read implements io.Reader.
func (s stoppable) Read(into []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.reader.Read(into)
}

func readJob(ctx context.Context, job fileJob, stdin io.Reader, recording recordingOptions) (Results, error) {
	if job.path == "-" {
		return ReadResults("stdin", stoppable{ctx, stdin})
	}
	file, err := os.Open(job.path)
	if err != nil {
		return Results{}, pathError(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Results{}, pathError(err)
	}
	if !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0 {
		return Results{}, dbcanary.Errorf(dbcanary.CodeUsage, "%s: this is no regular file", job.path)
	}
	results, err := readResults(job.path, stoppable{ctx, file}, recording)
	for i := range results.Measurements {
		if m := &results.Measurements[i]; m.Started.IsZero() && info.Mode().IsRegular() {
			m.Started = info.ModTime()
		}
	}
	return results, err
}
