package exchange

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"github.com/dbcanary/dbcanary"
)

const sysbenchRunText = "Number of threads: %d\nSQL statistics:\n queries: %d (%d.00 per sec.)\nGeneral statistics:\n total time: 1.0000s\n execution time (avg/stddev): 1/0\n"

// writeFiles writes files below a new folder and goes there.
func writeFiles(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readAll gives "target benchmark threads QPS" of each measurement, then what was
// rejected and noted.
func readAll(t *testing.T, opts FileOptions, args ...string) []string {
	t.Helper()
	files, err := ReadFiles(context.Background(), args, opts)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range files.Measurements {
		list = append(list, fmt.Sprintf("%s | %s | %d | %.0f", m.Target, m.Benchmark, m.Threads, float64(m.Operations)/(float64(m.ElapsedNs)/1e9)))
	}
	for _, rejected := range files.Rejected {
		list = append(list, "rejected "+rejected.Error())
	}
	for _, note := range files.Notes {
		list = append(list, "note "+note)
	}
	return list
}

func TestReadFiles_Published(t *testing.T) {
	run := func(threads, qps int) string { return fmt.Sprintf(sysbenchRunText, threads, qps, qps) }
	writeFiles(t, map[string]string{
		// Two numbers of connections, both as output and as rates.
		"res/x.a_rel.z1.pk1/sb.o.point-query.range100.pk1.dop8":  run(8, 800),
		"res/x.a_rel.z1.pk1/sb.o.point-query.range100.pk1.dop40": run(40, 4000),
		"res/x.a_rel.z1.pk1/sb.r.qps.point-query.range100.pk1":   "8\t40\tinnodb point-query range=100\n",
		"res/x.a_rel.z1.pk1/sb.o.scan.range100.pk1.dop8":         run(8, 1),
		"res/x.a_rel.z1.pk1/sb.o.scan.range100.pk1.dop40":        run(40, 1),
		"res/x.a_rel.z1.pk1/sb.r.qps.scan.range100.pk1":          "50\t90\tinnodb scan range=100\n",
		// Columns that nothing tells apart; a scan without its rates.
		"res/x.b_rel.z1.pk1/sb.r.qps.delete.range100.pk1":  "8\t40\tinnodb delete range=100\n",
		"res/x.b_rel.z1.pk1/sb.o.scan.range100.pk1.dop8":   run(8, 1),
		"res/x.b_rel.z1.pk1/sb.r.qps.insert.range100.pk1":  "900\tinnodb insert range=100\n",
		"res/x.b_rel.z1.pk1/sb.o.update-one.range100.pk1":  run(8, 700),
		"res/x.b_rel.z1.pk1/sb.met.update-one.range10.pk1": "never read",
	})
	want := []string{
		"x.a_rel.z1.pk1 | scan_range=100 | 8 | 50", "x.a_rel.z1.pk1 | scan_range=100 | 40 | 90",
		"x.a_rel.z1.pk1 | point-query_range=100 | 40 | 4000", "x.a_rel.z1.pk1 | point-query_range=100 | 8 | 800",
		"x.b_rel.z1.pk1 | update-one_range=100 | 8 | 700", "x.b_rel.z1.pk1 | insert_range=100 | 0 | 900",
		"rejected res/x.b_rel.z1.pk1/sb.o.scan.range100.pk1.dop8: scans are counted in rows, which only an sb.r.qps file tells; there is none beside it",
		"rejected res/x.b_rel.z1.pk1/sb.r.qps.delete.range100.pk1:1: 2 columns of QPS, but there are sb.o files of 0 numbers of connections: cannot tell which is which",
		"note res/x.b_rel.z1.pk1: 1 other files of the published scripts were left out (warm-ups, status, settings)",
	}
	if diff := cmp.Diff(want, readAll(t, FileOptions{}, "res")); diff != "" {
		t.Error(diff)
	}
	// One file of a folder is named by it too.
	want = []string{"x.a_rel.z1.pk1 | point-query_range=100 | 8 | 800"}
	if diff := cmp.Diff(want, readAll(t, FileOptions{}, "res/x.a_rel.z1.pk1/sb.o.point-query.range100.pk1.dop8")); diff != "" {
		t.Error(diff)
	}
}

func TestReadFiles_Names(t *testing.T) {
	run := fmt.Sprintf(sysbenchRunText, 4, 100, 100)
	named := "sysbench oltp_read_only --threads=4 run\n" + run
	writeFiles(t, map[string]string{
		"8.0.28/read-only.txt": named, "8.0.28/deep/.hidden": "never read", "8.0.40/read-only.txt": named,
		"other/8.0.28/read-only.txt": run, "before.txt": named, "slap.csv": ",mixed,1.000,1.000,1.000,2,100\n,key,1.000,1.000,1.000,2,100\n",
		"a=b.txt": run,
	})
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"8.0.28", "8.0.40/"}, []string{"8.0.28 | read-only | 4 | 100", "8.0.40 | read-only | 4 | 100"}},
		{[]string{"8.0.28/read-only.txt", "8.0.40/read-only.txt"}, []string{"8.0.28 | read-only | 4 | 100", "8.0.40 | read-only | 4 | 100"}},
		{[]string{"before.txt"}, []string{"before | oltp_read_only | 4 | 100"}},
		{[]string{"old=before.txt", "a=b.txt"}, []string{"old | oltp_read_only | 4 | 100", "a=b | sysbench | 4 | 100"}},
		{[]string{"slap=slap.csv"}, []string{"slap | mysqlslap mixed | 2 | 200", "slap | mysqlslap key | 2 | 200"}},
		{[]string{"8.0.28", "other"}, []string{
			"8.0.28 | read-only | 4 | 100", "8.0.28 | read-only | 4 | 100",
			"note 8.0.28 and other/8.0.28 are taken as repeats of one target, 8.0.28; TARGET=PATH tells them apart",
		}},
		{[]string{"old=8.0.28", "new=other"}, []string{"old | read-only | 4 | 100", "new | read-only | 4 | 100"}},
		{[]string{"missing", "before.txt"}, []string{"before | oltp_read_only | 4 | 100", "rejected missing: no such file or directory"}},
	} {
		if diff := cmp.Diff(test.want, readAll(t, FileOptions{}, test.args...)); diff != "" {
			t.Errorf("%v: %s", test.args, diff)
		}
	}
	want := []string{"stdin | scan | 4 | 100"}
	if diff := cmp.Diff(want, readAll(t, FileOptions{Benchmark: "scan", Stdin: strings.NewReader(run)}, "-")); diff != "" {
		t.Error(diff)
	}
}

// A read ends when its context does, also within a file.
func TestReadFiles_Stops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	line := []byte("progress: 1.0 s, 100.0 tps, lat 2.401 ms stddev 1.958\n")
	lines := 0
	endless := &repeated{left: 1 << 62, line: func(int) []byte {
		if lines++; lines == 100_000 {
			cancel()
		}
		return line
	}}
	_, err := ReadFiles(ctx, []string{"-"}, FileOptions{Stdin: endless})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// MakeRuns keeps apart what must not be compared.
func TestMakeRuns(t *testing.T) {
	at := func(target, benchmark string, threads int, unit, relative string, step float64) Measurement {
		return Measurement{
			File: target, Line: 1, Tool: "t", Target: target, Benchmark: benchmark, Threads: threads, Unit: unit, Relative: relative,
			Operations: 100, ElapsedNs: 1e9, RateStep: step,
		}
	}
	runs, err := MakeRuns([]Measurement{
		at("a", "read-only_range=10", 4, "", "", 0.001), at("b", "read-only range=10", 8, "", "", 0.001), at("b", "own", 8, "", "", 0.03),
		at("c", "own", 8, "krows", "", 0.001), at("d", "scan", 0, "", "e", 0.001), at("e", "scan", 0, "", "e", 0.001),
	}, RunOptions{Base: "b", Now: time.Unix(1e9, 0)})
	if err != nil || runs[0].Run.Plan.Targets[0] != "b" || runs[1].Run.Plan.Targets[0] != "e" {
		t.Errorf("a base that one of the runs has: %v", err)
	}
	runs, err = MakeRuns([]Measurement{
		at("a", "read-only_range=10", 4, "", "", 0.001), at("b", "read-only range=10", 8, "", "", 0.001), at("b", "own", 8, "", "", 0.03),
		at("c", "own", 8, "krows", "", 0.001), at("d", "scan", 0, "", "e", 0.001), at("e", "scan", 0, "", "e", 0.001),
	}, RunOptions{Now: time.Unix(1e9, 0)})
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	rates, ratios := runs[0], runs[1]
	wantBenchmarks := []dbcanary.PlannedBenchmark{
		{Label: "read-only range=10 threads=4", Group: "range-2", Resolution: 0.001},
		{Label: "read-only range=10 threads=8", Group: "range-2", Resolution: 0.001},
		{Label: "own threads=8", Resolution: 0.03},
	}
	if diff := cmp.Diff(wantBenchmarks, rates.Run.Plan.Benchmarks); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, rates.Run.Plan.Targets); diff != "" {
		t.Error(diff)
	}
	if len(rates.Rejected) != 1 || !strings.Contains(rates.Rejected[0].Error(), "c:1: benchmark \"own threads=8\" is counted in krows here, but in statements in b:1") {
		t.Errorf("other units: %v", rates.Rejected)
	}
	if diff := cmp.Diff([]string{"e", "d"}, ratios.Run.Plan.Targets); diff != "" {
		t.Errorf("the base of a table comes first: %s", diff)
	}
	if rates.Run.Host.Name == ratios.Run.Host.Name {
		t.Error("ratios and rates would make one series")
	}
}

// Recordings go to the result that they lie beside, without its warm-up; alone they
// are told how to be used.
func TestReadFiles_Recordings(t *testing.T) {
	vm := "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
	row := func(cs, us int) string { return fmt.Sprintf(" 1  0 0 1 1 1 0 0 0 0 1 %d %d 10 0 0 0\n", cs, us) }
	run := "48 CPUs\nWarmup time: 1s\n" + fmt.Sprintf(sysbenchRunText, 8, 100, 100)
	met := "samp\tcs/s\tcpu/s\tcs/o\tcpu/o\n665\t1399492\t82.0\t2.805\t0.000164\n"
	writeFiles(t, map[string]string{
		// The first row counts since boot, the second is warm-up.
		"res/x.a_rel.z1.pk1/sb.o.delete.range100.pk1.dop8":   run,
		"res/x.a_rel.z1.pk1/sb.vm.delete.range100.pk1.dop8":  vm + row(9, 9) + row(7, 7) + row(200, 40) + row(400, 50),
		"res/x.a_rel.z1.pk1/sb.vm.delete.range100.pk1.dop16": vm + row(1, 1) + row(1, 1) + row(1, 1),
		"res/x.a_rel.z1.pk1/sb.met.delete.range100.pk1.dop8": met,
		"res/x.a_rel.z1.pk1/sb.r.qps.insert.range100.pk1":    "100\\n",
		"res/x.b_rel.z1.pk1/sb.o.delete.range100.pk1.dop8":   run,
		"res/x.b_rel.z1.pk1/sb.met.delete.range100.pk1.dop8": met,
		"flat/8.0.28/run.txt":                                run, "flat/8.0.28/vmstat.txt": vm + row(9, 9) + row(7, 7) + row(300, 40),
		"flat/8.0.40/run.txt": run, "flat/8.0.40/run2.txt": run, "flat/8.0.40/vmstat.txt": vm + row(9, 9) + row(7, 7) + row(300, 40),
		"vm.txt": vm + row(9, 9) + row(7, 7) + row(300, 40), "bad.txt": vm + row(9, 9) + "1 2 3\n" + row(1, 1),
	})
	read := func(args ...string) (Files, []string) {
		t.Helper()
		files, err := ReadFiles(context.Background(), args, FileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, m := range files.Measurements {
			trial := m.trial(m.Benchmark, m.Target, 0)
			for _, metric := range trial.Metrics {
				if metric.Value != 0 && metric.Name != "host.interrupts" {
					list = append(list, fmt.Sprintf("%s %s %s %.4g", m.Target, m.Benchmark, metric.Name, metric.Value))
				}
			}
		}
		for _, rejected := range files.Rejected {
			list = append(list, "rejected "+rejected.Error())
		}
		return files, list
	}
	a := func(name string) string { return "x.a_rel.z1.pk1 delete_range=100 " + name }
	for _, test := range []struct {
		args  []string
		want  []string
		notes string
	}{
		{[]string{"res/x.a_rel.z1.pk1"}, []string{
			a("host.context_switches 300"), a("host.cpu_percent_s 55"), a("host.system_ns 4.8e+09"), a("host.user_ns 2.16e+10"),
		}, "recordings (1 of vmstat) were added"},
		{[]string{"x=res/x.b_rel.z1.pk1"}, []string{
			"x delete_range=100 host.context_switches 280.5", "x delete_range=100 host.cpu_percent_s 0.0164",
		}, "recordings (1 of published scripts) were added"},
		{[]string{"flat/8.0.28"}, []string{
			"8.0.28 run host.context_switches 300", "8.0.28 run host.cpu_percent_s 50", "8.0.28 run host.system_ns 4.8e+09", "8.0.28 run host.user_ns 1.92e+10",
		}, "recordings (1 of vmstat) were added"},
		{[]string{"flat/8.0.40"}, nil, "2 results lie beside it, so nobody knows whose it is; give it with its result: dbcanary import TARGET=result.txt TARGET=flat/8.0.40/vmstat.txt"},
		{[]string{"a=flat/8.0.40/run.txt", "b=flat/8.0.40/run2.txt", "b=vm.txt"}, []string{
			"b sysbench host.context_switches 300", "b sysbench host.cpu_percent_s 50", "b sysbench host.system_ns 4.8e+09", "b sysbench host.user_ns 1.92e+10",
		}, "recordings (1 of vmstat) were added"},
		{[]string{"vm.txt"}, nil, "vm.txt: a recording, which says what a machine or server did but not what work was done, and no result lies beside it"},
		{[]string{"a=flat/8.0.40/run.txt", "bad.txt"}, []string{"rejected bad.txt:4: expected 17 numbers as the header names columns, found 3: was the line cut?"}, ""},
	} {
		files, got := read(test.args...)
		if test.args[0] == "res/x.a_rel.z1.pk1" {
			got = slices.DeleteFunc(got, func(line string) bool { return strings.HasPrefix(line, "rejected") }) // the rates without a name
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v: %s", test.args, diff)
		}
		if notes := strings.Join(files.Notes, "\n"); !strings.Contains(notes, test.notes) {
			t.Errorf("%v: notes %q", test.args, notes)
		}
	}
}

// Stacks become a profile of the result that they lie beside.
func TestReadFiles_Stacks(t *testing.T) {
	writeFiles(t, map[string]string{
		"8.0.28/run.txt":  fmt.Sprintf(sysbenchRunText, 8, 100, 100),
		"8.0.28/pmp.txt":  "    3 poll(libc.so.6),do_command,main(main.cc:25)\n    2 do_command,main(main.cc:25)\n",
		"8.0.28/perf.txt": "mysqld  1234  1000.123:     250000 cycles: \n\t7f00 ut_delay(unsigned long)+0x1f (/usr/sbin/mysqld)\n\n",
	})
	files, err := ReadFiles(context.Background(), []string{"8.0.28"}, FileOptions{})
	if err != nil || len(files.Rejected) > 0 {
		t.Fatal(err, files.Rejected)
	}
	runs, err := MakeRuns(files.Measurements, RunOptions{Now: time.Unix(1e9, 0)})
	if err != nil || len(runs) != 1 || len(runs[0].Profiles) != 1 {
		t.Fatal(runs, err)
	}
	p := runs[0].Profiles[0]
	if p.Benchmark != "run" || p.Target != "8.0.28" || p.Operations != 100 || len(p.Stacks) != 2 || p.Stacks[0].Sampler != "perf cycles" || p.Stacks[1].Sampler != "gdb" {
		t.Errorf("%+v", p)
	}
	decoded, err := profile.ParseData(p.Stacks[1].Pprof)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, sample := range decoded.Sample {
		names := []string{}
		for _, location := range sample.Location {
			names = append(names, location.Line[0].Function.Name)
		}
		got = append(got, fmt.Sprint(sample.Value[0], " ", strings.Join(names, "<")))
	}
	if diff := cmp.Diff([]string{"2 do_command<main", "3 poll<do_command<main"}, got); diff != "" {
		t.Error(diff)
	}
}
