package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build/buildtest"
	"github.com/dbcanary/dbcanary/internal/cli"
	"github.com/dbcanary/dbcanary/internal/planfile"
	"github.com/dbcanary/dbcanary/internal/workload"
	"github.com/dbcanary/dbcanary/internal/workload/own"
)

func TestMain(m *testing.M) {
	// The test binary is dbcanary, too, when it is called by that name.
	testscript.Main(m, map[string]func(){
		"dbcanary": func() { os.Exit(cli.Main(os.Args[1:])) },
	})
}

// made is a result with a known truth: the log ratios of the second target, and how
// much blocks and pairs of starts vary.
type made struct {
	part, name       string
	fixed            bool
	targets, labels  []string
	truth            map[string]float64 // log ratio of QPS by benchmark
	cpu              map[string]float64 // the same of CPU per statement
	instances        int
	sdStart, sdBlock float64
	looks            []int
	args             []string
	position         int // runs follow each other by it
}

func (m made) result() result {
	random := rand.New(rand.NewPCG(uint64(len(m.name)), uint64(m.position)))
	r := result{measurement: measurement{Part: m.part, Name: m.name, Args: m.args, FixedLayout: m.fixed}}
	began := time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC).Add(time.Duration(m.position) * 10 * time.Minute)
	now := began.Add(20 * time.Second)
	r.run = dbcanary.Run{
		ID: int64(m.position + 1), State: dbcanary.RunDone, Started: began, Program: "v0.1.0",
		Plan: dbcanary.Plan{Targets: m.targets, Looks: m.looks, MinEffect: 0.02},
		Host: dbcanary.Host{CPU: "AMD Ryzen 7 7840HS", CPUs: 2, MemoryBytes: 8 << 30, OS: "Debian GNU/Linux 13", Kernel: "6.12.48", Filesystem: "ext4", Virtual: "kvm"},
	}
	for _, target := range m.targets {
		spec, _ := dbcanary.ParseTargetSpec(target)
		r.run.Targets = append(r.run.Targets, dbcanary.Target{Name: target, Build: dbcanary.Build{Family: spec.Family, Version: spec.Version, Provider: "debian"}})
	}
	for _, label := range m.labels {
		r.run.Plan.Benchmarks = append(r.run.Plan.Benchmarks, dbcanary.PlannedBenchmark{Label: label})
	}
	for instance := range m.instances {
		now = now.Add(4 * time.Second)
		for _, label := range m.labels {
			start := m.sdStart * random.NormFloat64()
			for block := range 3 {
				for i, target := range m.targets {
					rate, cpu := m.sdBlock*random.NormFloat64(), 0.0
					if i > 0 {
						rate, cpu = rate+start+m.truth[label], m.cpu[label]-start
					}
					operations := 1e6 * math.Exp(rate)
					now = now.Add(200 * time.Millisecond)
					r.trials = append(r.trials, dbcanary.Trial{
						Benchmark: label, Target: target, Instance: instance, Block: block, Started: now,
						ElapsedNs: 15e7, Operations: int64(operations), ServerCPUNs: int64(2e4 * operations * math.Exp(cpu)),
					})
				}
			}
		}
	}
	r.run.Ended = now.Add(time.Second)
	return r
}

// self is an A/A run.
func self(target string, position int, truth map[string]float64) made {
	return made{
		part: partAA, name: fmt.Sprintf("%s %d", target, position), targets: []string{target, target + "#2"}, labels: []string{"point-query", "scan", "insert"},
		truth: truth, instances: 6, sdStart: 0.01, sdBlock: 0.003, looks: []int{3, 5}, position: position, args: []string{"compare", target, target},
	}
}

// A run with false verdicts counts once, whichever witness makes them and however
// many there are; runs without any do not count.
func TestAgainstThemselves_CountsFalseRuns(t *testing.T) {
	slow := map[string]float64{"point-query": -0.1, "scan": -0.1}
	costly := self("mysql@9.7", 4, nil)
	costly.cpu = map[string]float64{"insert": 0.2}
	results := []result{
		self("mariadb@10.11", 1, nil).result(), self("mysql@9.7", 2, slow).result(), self("mariadb@10.11", 3, nil).result(), costly.result(),
		made{part: partEffects, name: "no A/A run", targets: []string{"a", "b"}, labels: []string{"scan"}, truth: slow, instances: 5, sdStart: 0.01}.result(),
	}
	list := againstThemselves(results)
	if len(list) != 2 {
		t.Fatalf("%d targets, want 2", len(list))
	}
	for i, want := range []against{{target: "mariadb@10.11", runs: 2}, {target: "mysql@9.7", runs: 2, falseRuns: 2}} {
		if got := list[i]; got.target != want.target || got.runs != want.runs || got.falseRuns != want.falseRuns || got.verdicts != 6 {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	var got []string
	for _, f := range list[1].wrong {
		got = append(got, fmt.Sprintf("%s %s %s", f.benchmark, f.metric, f.verdict))
	}
	want := []string{"point-query QPS slower", "scan QPS slower", "insert CPU per statement slower"}
	if !slices.Equal(got, want) {
		t.Errorf("false verdicts %q, want %q", got, want)
	}
	for _, test := range []struct {
		runs, falseRuns int
		want            string
	}{{10, 0, holds}, {11, 1, holds}, {9, 0, "not shown: too few runs"}, {10, 2, fails}, {2, 2, fails}} {
		p := &page{against: []against{{runs: test.runs, falseRuns: test.falseRuns}, {runs: 10}, {runs: 10}}}
		if c := p.claimAgainst(); c.state != test.want {
			t.Errorf("%d false of %d: %q, want %q", test.falseRuns, test.runs, c.state, test.want)
		}
	}
}

// The table of effects names what there is: targets, overlays and benchmarks, each in
// one role, and all of them make sense on the target.
func TestEffects(t *testing.T) {
	names := map[string]bool{}
	for _, e := range effects() {
		if names[e.name()] {
			t.Errorf("%s is there twice", e.name())
		}
		names[e.name()] = true
		file := planfile.Default()
		file.Targets, file.Benchmarks = []planfile.Targets{{Name: e.base}, {Name: e.target}}, e.benchmarks()
		for i := 0; i+1 < len(e.flags); i += 2 {
			switch value := e.flags[i+1]; e.flags[i] {
			case "--query":
				file.Query = value
			case "--create":
				file.Create = value
			case "--delimiter":
				file.Delimiter = value
			default:
				t.Errorf("%s: the test does not know %s", e.name(), e.flags[i])
			}
		}
		plan, specs, problems := file.Plan()
		if len(problems) > 0 || len(plan.Benchmarks) != len(e.shown)+len(e.untouched) || !e.want.Differs() || len(e.shown) == 0 {
			t.Errorf("%s: %v, %v", e.name(), problems, plan.Benchmarks)
			continue
		}
		finder, err := own.NewFinder(plan.Workloads)
		if err != nil {
			t.Fatal(err)
		}
		for _, planned := range plan.Benchmarks {
			benchmark, err := finder.Find(planned.Label)
			if err != nil {
				t.Fatal(err)
			}
			if reason := benchmark.NotApplicable(specs[0].Family, workload.Data{Tables: plan.Tables, TableSize: plan.TableSize}); reason != "" {
				t.Errorf("%s: %s: %s", e.name(), planned.Label, reason)
			}
		}
	}
}

// What is planned twice is measured once, and other flags are no silent mixture.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calibration.json")
	j, err := readJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	m := measurement{Part: partAA, Name: "x 1", Args: []string{"compare", "x", "x"}}
	if done, err := j.has(m); done || err != nil {
		t.Errorf("nothing is done: %v, %v", done, err)
	}
	if err := j.add(m, 7); err != nil {
		t.Fatal(err)
	}
	if j, err = readJournal(path); err != nil || len(j.Entries) != 1 || j.Entries[0].RunID != 7 {
		t.Fatalf("read back: %+v, %v", j, err)
	}
	if done, err := j.has(m); !done || err != nil {
		t.Errorf("it is done: %v, %v", done, err)
	}
	m.Args = append(m.Args, "--time", "1m")
	if _, err := j.has(m); err == nil || !strings.Contains(err.Error(), "another -db") {
		t.Errorf("other flags: %v", err)
	}
}

// Simulated suites have the noise that was recorded, without a bias to either side.
func TestRecordedNoise(t *testing.T) {
	var results []result
	for position := range 20 {
		results = append(results, self("mysql@9.7", position, nil).result())
	}
	pool := recordedNoise(results)[0]
	if !pool.isEnough() || len(pool.instances) != 120 || math.Abs(pool.start-4.05) > 0.01 || math.Abs(pool.load-24.2) > 0.01 {
		t.Fatalf("%d instances, load %v, start %v, benchmark %v", len(pool.instances), pool.load, pool.start, pool.benchmark)
	}
	random := rand.New(rand.NewPCG(1, 1))
	sum, squares, n := 0.0, 0.0, 0.0
	for _, values := range pool.centers(400, everyFourth(0.05, 0), random)[1:4] {
		for _, value := range values {
			sum, squares, n = sum+value, squares+value*value, n+1
		}
	}
	if mean, sd := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 0.0012 || sd < 0.009 || sd > 0.012 {
		t.Errorf("mean %.4f, sd %.4f, want 0 and 0.01", mean, sd)
	}
	few := recordedNoise(results[:1])[0]
	if few.isEnough() {
		t.Error("six instances are enough")
	}
	if got := few.centers(3, everyFourth(0.05, 0), random); len(got) != suiteSize || len(got[0]) != 3 || math.IsNaN(got[5][1]) {
		t.Errorf("parametric suite %v", got)
	}
}

// synthetic has something of every part.
func synthetic() []result {
	var list []result
	add := func(m made) {
		m.position = len(list)
		list = append(list, m.result())
	}
	for n := range 3 {
		for _, target := range usualTargets() {
			var truth map[string]float64
			if n == 1 && target == "mysql@9.7" {
				truth = map[string]float64{"scan": 0.06}
			}
			m := self(target, len(list), truth)
			m.name = fmt.Sprintf("%s %d", target, n+1)
			add(m)
		}
	}
	for i, e := range effects() {
		truth := map[string]float64{}
		for _, benchmark := range e.shown {
			truth[benchmark] = -0.1
		}
		switch i {
		case 1:
			truth[e.shown[0]] = 0.1
		case 2:
			truth[e.shown[0]] = 0
		case 3:
			truth[e.untouched[0]] = 0.05
		}
		add(made{part: partEffects, name: e.name(), targets: []string{e.base, e.target}, labels: e.benchmarks(), truth: truth, instances: 12, sdStart: 0.01, sdBlock: 0.003, args: []string{"compare", e.base, e.target}})
	}
	for _, s := range setups() {
		sd := 0.02
		if s.fixed {
			sd = 0.005
		}
		for _, target := range usualTargets() {
			add(made{
				part: partVariance, name: target + " " + s.name, fixed: s.fixed, targets: []string{target, target + "#2"}, labels: varianceBenchmarks(),
				instances: 20, sdStart: sd, sdBlock: 0.004, args: []string{"noise", target, "--placement", s.placement},
			})
		}
	}
	pair := quickPair()
	add(made{
		part: partQuick, name: strings.Join(pair, " to "), targets: pair, labels: []string{"point-query", "scan", "insert"}, looks: []int{3, 5},
		truth: map[string]float64{"point-query": -0.3, "scan": 0.2, "insert": 0.001}, instances: 7, sdStart: 0.01, sdBlock: 0.003, args: append([]string{"compare"}, pair...),
	})
	return list
}

func TestPage(t *testing.T) {
	datadriven.RunTest(t, "testdata/page", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "nothing":
			return newPage(nil, 10).markdown()
		case "everything":
			return newPage(synthetic(), 10).markdown()
		}
		t.Fatalf("unknown command %s", d.Cmd)
		return ""
	})
}

// One tiny run of a real server against itself: it is stored, measured once only, and
// the page is the same from the store.
func TestRun(t *testing.T) {
	buildtest.Get(t, "postgres@18")
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // the servers of root run as another user
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "dbcanary")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	args := []string{
		"-parts", "aa", "-targets", "postgres@18", "-repetitions", "1", "-time", "1m", "-simulations", "2", "-program", program, "-db", file("calibration.db"),
		"-page", file("page.md"), "-flags", "--benchmarks point-query --table-size 1000 --instances 2 --slice 50ms --blocks 1 --data-dir " + file("work"),
	}
	var out bytes.Buffer
	if err := run(t.Context(), args, &out, os.Stderr); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "1 of 1: aa postgres@18 1: ") || !strings.Contains(out.String(), "  run 1, ") {
		t.Errorf("said %q", out.String())
	}
	page, err := os.ReadFile(file("page.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| postgres@18 | 1 |", "1 run, with dbcanary", "not shown: too few runs", "2 recorded instances, too few"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	for _, more := range [][]string{nil, {"-report"}} {
		out.Reset()
		if err := run(t.Context(), append(slices.Clone(args), more...), &out, os.Stderr); err != nil {
			t.Fatal(err)
		}
		again, err := os.ReadFile(file("page.md"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "run 2") || !bytes.Equal(again, page) {
			t.Errorf("with %q it said %q, and the page is the same: %v", more, out.String(), bytes.Equal(again, page))
		}
	}
}

func TestParse(t *testing.T) {
	for args, want := range map[string]string{
		"-parts aaa":        `-parts "aaa"; did you mean aa?`,
		"-repetitions 0":    "must be above 0",
		"-targets oracle":   `unknown DBMS "oracle"`,
		"-parts simulate x": `"x" is no flag`, // the -db behind it is not read
	} {
		err := run(t.Context(), strings.Fields(args+" -db "+filepath.Join(t.TempDir(), "c.db")), &bytes.Buffer{}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
