package cli_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build/buildtest"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
	"github.com/dbcanary/dbcanary/internal/store"
)

// program runs dbcanary as a process of its own, in a directory of its own.
type program struct {
	t    *testing.T
	path string
	dir  string // store and data directories
}

func newProgram(t *testing.T) *program {
	t.Helper()
	dir := t.TempDir()
	// Servers run as an unprivileged user when the test is root.
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// testscript's Main runs the command that the name of the binary says.
	path := filepath.Join(dir, "dbcanary")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, path: path, dir: dir}
	t.Cleanup(p.checkNothingIsLeft)
	return p
}

func (p *program) workDir() string { return filepath.Join(p.dir, "work") }

func (p *program) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	return cmd
}

// measure is a command line that measures, quick and small.
func measure(args ...string) []string {
	return append(args, "--data-dir", "work", "--table-size", "2000", "--slice", "150ms", "--blocks", "1", "--seed", "1")
}

// run runs to the end and gives what was printed.
func (p *program) run(exitCode int, args ...string) (stdout, stderr string) {
	p.t.Helper()
	var out, errs bytes.Buffer
	cmd := p.command(p.t.Context(), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != exitCode {
		p.t.Fatalf("dbcanary %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, exitCode, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// servers gives the processes that have a data directory of this test.
func (p *program) servers() []int {
	var pids []int
	entries, err := os.ReadDir("/proc")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, entry := range entries {
		var pid int
		if _, err := fmt.Sscan(entry.Name(), &pid); err != nil {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		cwd, _ := os.Readlink(filepath.Join("/proc", entry.Name(), "cwd"))
		if bytes.Contains(cmdline, []byte(p.workDir())) || strings.HasPrefix(cwd, p.workDir()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (p *program) checkNothingIsLeft() {
	if pids := p.servers(); len(pids) > 0 {
		p.t.Errorf("servers are left: %v", pids)
	}
	if entries, _ := os.ReadDir(p.workDir()); len(entries) > 0 {
		p.t.Errorf("data directories are left: %v", entries)
	}
}

// fetch has the builds there before a test waits for what is measured with them.
func fetch(t *testing.T, targets ...string) {
	t.Helper()
	for _, target := range targets {
		buildtest.Get(t, target)
	}
}

// eventually polls until ok, for at most a minute.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !ok() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("%s did not happen within a minute", what)
		}
	}
}

func (p *program) trials() []dbcanary.Trial {
	st, err := store.OpenExisting(p.t.Context(), filepath.Join(p.dir, "dbcanary.db"))
	if err != nil {
		return nil
	}
	defer st.Close()
	trials, err := st.Trials(p.t.Context(), 1)
	if err != nil {
		return nil
	}
	return trials
}

type reportJSON struct {
	Run     struct{ State string }
	Targets []struct {
		Name, Dropped, Version, Provider, Checksum string
	}
	Comparisons []struct {
		Benchmark, Target, Base, Verdict string
		Ratio, QPS                       *float64
		BaseQPS                          *float64 `json:"base_qps"`
		Instances, Blocks                int
	}
}

func parseReport(t *testing.T, text string) reportJSON {
	t.Helper()
	var report reportJSON
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return report
}

// The main job: four builds of the MySQL family are fetched, started, loaded and
// measured, and the table can be printed again from the store.
func TestCompare_MySQLFamily(t *testing.T) {
	p := newProgram(t)
	out, _ := p.run(0, measure("compare", "mariadb@10.5", "mariadb@10.11", "mariadb@11.8", "mysql@9.7",
		"--benchmarks", "point-query,scan,update-index", "--instances", "2", "--format", "json")...)
	report := parseReport(t, out)
	if len(report.Targets) != 4 || len(report.Comparisons) != 9 || report.Run.State != "done" {
		t.Fatalf("%d targets, %d comparisons, state %s", len(report.Targets), len(report.Comparisons), report.Run.State)
	}
	for _, target := range report.Targets {
		_, version, _ := strings.Cut(target.Name, "@")
		if target.Dropped != "" || !strings.HasPrefix(target.Version, version+".") || target.Checksum == "" {
			t.Errorf("%+v", target)
		}
	}
	for _, c := range report.Comparisons {
		if c.Ratio == nil || *c.Ratio <= 0 || c.QPS == nil || *c.QPS <= 0 || c.Instances < 1 || c.Blocks < 1 || c.Base != "mariadb@10.5" {
			t.Errorf("%+v", c)
		}
	}
	again, _ := p.run(0, "report", "last", "--format", "json")
	if again != out {
		t.Error("the report from the store differs from the one of the run")
	}
	rqps, _ := p.run(0, "report", "--format", "rqps")
	if !strings.HasPrefix(rqps, "Relative to: mariadb@10.5\n") || !strings.Contains(rqps, "point-query") {
		t.Errorf("rqps: %s", rqps)
	}
	text, _ := p.run(0, "report")
	for _, want := range []string{"mysql@9.7", "mariadb@11.8", "scan", "update-index"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if runs, _ := p.run(0, "runs"); !strings.Contains(runs, "done") {
		t.Errorf("runs: %s", runs)
	}
}

// A gate over a real effect: PostgreSQL without its index scans reads the whole
// table for each row, so point-query is hundreds of times slower.
func TestCompare_GateFindsARealRegression(t *testing.T) {
	p := newProgram(t)
	out, errs := p.run(3, append(measure("compare", "postgres@18", "postgres@18+enable_indexscan=off+enable_bitmapscan=off+enable_indexonlyscan=off",
		"--benchmarks", "point-query", "--instances", "5", "--gate", "--format", "json"), "--table-size", "50000")...)
	report := parseReport(t, out)
	if len(report.Comparisons) != 1 || report.Comparisons[0].Verdict != "slower" || *report.Comparisons[0].Ratio > 0.5 {
		t.Errorf("%+v", report.Comparisons)
	}
	if !strings.Contains(errs, "gate: 1 of 1 comparisons are slower") {
		t.Errorf("stderr: %s", errs)
	}
}

// A base that can't start is no end: the others are measured, no number is put against
// it, and the report that is offered compares them.
func TestCompare_GoesOnWithoutABaseThatCannotStart(t *testing.T) {
	const base = "postgres@18+shared_buffers=100000GB"
	p := newProgram(t)
	out, errs := p.run(4, measure("compare", base, "postgres@18", "postgres@18+work_mem=8MB", "--benchmarks", "point-query", "--instances", "2", "--gate")...)
	for _, want := range []string{"The base " + base + " failed, so nothing is compared with it: ", "invalid value for parameter", "dbcanary report 1 --base postgres@18`"} {
		if joined := strings.Join(strings.Fields(out), " "); !strings.Contains(joined, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	if !strings.Contains(errs, "gate: 2 of 2 comparisons are inconclusive; "+base+" was dropped: ") {
		t.Errorf("stderr: %s", errs)
	}
	rqps, errs := p.run(0, "report", "1", "--format", "rqps")
	if !strings.Contains(rqps, "NA\tNA\tpoint-query") || !strings.Contains(errs, "note: The base "+base+" failed") {
		t.Errorf("rqps: %s%s", rqps, errs)
	}
	for _, c := range parseReport(t, first(p.run(0, "report", "1", "--format", "json"))).Comparisons {
		if c.Ratio != nil || c.Verdict != "inconclusive" {
			t.Errorf("against a base that failed: %+v", c)
		}
	}
	offered := parseReport(t, first(p.run(0, "report", "1", "--base", "postgres@18", "--format", "json")))
	ratios := 0
	for _, c := range offered.Comparisons {
		if c.Ratio != nil {
			ratios++
		}
	}
	if ratios != 1 {
		t.Errorf("the report that is offered has %d ratios: %+v", ratios, offered.Comparisons)
	}
}

func first(text, _ string) string { return text }

// kill -9 in the middle of a slice loses at most that slice and leaves no server;
// resume goes on with the run.
func TestCompare_KilledAndResumed(t *testing.T) {
	fetch(t, "postgres@15", "postgres@18")
	p := newProgram(t)
	cmd := p.command(t.Context(), measure("compare", "postgres@15", "postgres@18", "--benchmarks", "point-query,update-index", "--instances", "3")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "three stored trials", func() bool { return len(p.trials()) >= 3 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "the end of the servers", func() bool { return len(p.servers()) == 0 })
	before := p.trials()
	if runs, _ := p.run(0, "runs"); !strings.Contains(runs, "interrupted") && !strings.Contains(runs, "killed") {
		t.Errorf("runs does not tell that the run was killed: %s", runs)
	}
	out, _ := p.run(0, "resume", "last", "--data-dir", "work", "--format", "json")
	after := p.trials()
	if len(after) <= len(before) {
		t.Errorf("%d trials before, %d after", len(before), len(after))
	}
	for i := range before {
		if before[i].Started != after[i].Started || before[i].Operations != after[i].Operations {
			t.Errorf("trial %d changed: %+v, %+v", i, before[i], after[i])
		}
	}
	if report := parseReport(t, out); report.Run.State != "done" || len(report.Comparisons) != 2 {
		t.Errorf("%+v", report)
	}
}

// Ctrl-C ends after the slice under way with a report; twice, at once. Either way
// no server is left.
func TestCompare_Interrupted(t *testing.T) {
	fetch(t, "postgres@15", "postgres@18")
	// A signal that this test handles is not ignored in the program, as it would be
	// below nohup.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	for name, signals := range map[string][]os.Signal{
		"once": {os.Interrupt}, "twice": {os.Interrupt, os.Interrupt}, "by a terminal that closes": {syscall.SIGHUP},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t)
			var out, errs bytes.Buffer
			cmd := p.command(t.Context(), measure("compare", "postgres@15", "postgres@18", "--benchmarks", "point-query", "--instances", "50")...)
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "two stored trials", func() bool { return len(p.trials()) >= 2 })
			for _, signal := range signals {
				if err := cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != 130 {
				t.Errorf("exit code %d\n%s%s", got, out.String(), errs.String())
			}
			if !strings.Contains(out.String(), "point-query") || !strings.Contains(errs.String(), "go on with: dbcanary resume 1") {
				t.Errorf("stdout %s\nstderr %s", out.String(), errs.String())
			}
		})
	}
}

// A server that is killed drops its target with the end of its log, and the
// others are measured to the end.
func TestCompare_ServerDies(t *testing.T) {
	fetch(t, "postgres@15", "mariadb@10.11", "postgres@18")
	p := newProgram(t)
	var out, errs bytes.Buffer
	cmd := p.command(t.Context(), measure("compare", "postgres@15", "mariadb@10.11", "postgres@18",
		"--benchmarks", "point-query,update-index", "--instances", "2", "--format", "json")...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a stored trial", func() bool { return len(p.trials()) >= 1 })
	for _, pid := range p.servers() {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if strings.HasPrefix(string(name), "mariadbd") || strings.HasPrefix(string(name), "mysqld") {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), errs.String())
	}
	report := parseReport(t, out.String())
	if report.Targets[1].Dropped == "" || report.Targets[0].Dropped != "" || report.Targets[2].Dropped != "" {
		t.Errorf("%+v", report.Targets)
	}
	for _, c := range report.Comparisons {
		if c.Target == "postgres@18" && c.Instances < 1 {
			t.Errorf("%+v", c)
		}
	}
}

func TestCompare_BadInput(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"unknown DBMS":        {[]string{"compare", "mysql@9.7", "mariabd@10.11"}, 2, `unknown DBMS "mariabd"; did you mean mariadb?`},
		"unknown version":     {[]string{"compare", "postgres@18", "postgres@99"}, 2, "postgres@99"},
		"unknown benchmark":   {[]string{"compare", "sqlite", "sqlite", "--benchmarks", "point-qeury"}, 2, "did you mean point-query"},
		"unknown suite":       {[]string{"compare", "sqlite", "sqlite", "--suite", "quik"}, 2, "did you mean quick"},
		"unknown overlay":     {[]string{"compare", "mariadb@10.11", "mariadb@10.11+noahl"}, 2, "did you mean noahi"},
		"unknown flag":        {[]string{"compare", "sqlite", "sqlite", "--tme", "1m"}, 2, "did you mean --time"},
		"unknown placement":   {[]string{"compare", "sqlite", "sqlite", "--placement", "splt"}, 2, "did you mean split"},
		"one target":          {[]string{"compare", "sqlite"}, 2, "at least one more target"},
		"no time":             {[]string{"compare", "sqlite", "sqlite", "--time", "0"}, 2, "--time must be above 0"},
		"no benchmarks":       {[]string{"compare", "sqlite", "sqlite", "--benchmarks", ""}, 2, "--benchmarks names no benchmark"},
		"two JSONs":           {[]string{"compare", "sqlite", "sqlite", "--json", "--format", "csv"}, 2, "exclude each other"},
		"JSON to a file":      {[]string{"compare", "sqlite", "sqlite", "--json", "-o", "report.json"}, 2, "exclude each other"},
		"no such folder":      {[]string{"compare", "sqlite", "sqlite", "-o", "nowhere/report.txt"}, 2, "there is no folder nowhere"},
		"no such run":         {[]string{"report", "7"}, 2, "open store dbcanary.db: there is no such file"},
		"a path without DBMS": {[]string{"compare", "sqlite", "mysql:/nonexistent"}, 2, "no build at /nonexistent"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t)
			out, errs := p.run(test.code, test.args...)
			lines := strings.Split(strings.TrimSpace(errs), "\n")
			last := lines[len(lines)-1]
			if out != "" || !strings.HasPrefix(last, "dbcanary: ") || !strings.Contains(last, test.stderr) {
				t.Errorf("stdout %q, stderr %q; want a last line with %q", out, errs, test.stderr)
			}
		})
	}
}

// A setting that the server does not know is a mistake of the user's: nothing is
// measured, and the nearest name is told.
func TestCompare_UnknownSetting(t *testing.T) {
	for target, nearest := range map[string]string{
		"mariadb@10.11+innodb_io_capacty=2000": "unknown setting innodb_io_capacty; did you mean innodb_io_capacity",
		"postgres@18+work_mme=4MB":             "unknown setting work_mme; did you mean work_mem",
		"sqlite+cache_sise=100":                "did you mean cache_size",
	} {
		t.Run(target, func(t *testing.T) {
			p := newProgram(t)
			base, _, _ := strings.Cut(target, "+")
			out, errs := p.run(2, measure("compare", base, target, "--instances", "1")...)
			if out != "" || !strings.Contains(errs, nearest) {
				t.Errorf("stdout %q, stderr %s; want %q", out, errs, nearest)
			}
		})
	}
}

// A setting that the server refuses is told in the server's own words.
func TestCompare_RefusedSetting(t *testing.T) {
	p := newProgram(t)
	_, errs := p.run(1, measure("compare", "postgres@18", "postgres@18+work_mem=lots", "--instances", "1")...)
	if !strings.Contains(errs, `invalid value for parameter "work_mem"`) {
		t.Errorf("stderr: %s", errs)
	}
}

// A server that somebody else runs is measured in a database of our own, which is
// gone afterwards; its password is in no output and not in the store. It can't be
// restarted, so there is one instance and no verdict.
func TestCompare_DSN(t *testing.T) {
	p := newProgram(t)
	dir := filepath.Join(p.dir, "theirs")
	if err := dbms.Claim(dir); err != nil {
		t.Fatal(err)
	}
	server, err := drivers.For(dbcanary.Postgres).Start(t.Context(), dbms.StartOptions{Build: buildtest.Get(t, "postgres@18"), Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(server.Stop(context.Background()), dbms.Remove(dir)); err != nil {
			t.Error(err)
		}
	}()
	// As on their server, a guest may log in with a password from this host.
	if err := os.WriteFile(filepath.Join(dir, "data", "pg_hba.conf"), []byte("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"SELECT pg_reload_conf()", "CREATE ROLE guest LOGIN SUPERUSER PASSWORD 'sesame'"} {
		if _, err := server.Admin().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	// The driver's own database must not be there on their server.
	if err := server.Admin().Close(); err != nil {
		t.Fatal(err)
	}
	dsn := fmt.Sprintf("postgres://guest:sesame@127.0.0.1:%d/postgres", server.Address().Port)
	theirs, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if _, err := theirs.ExecContext(t.Context(), "DROP DATABASE dbcanary"); err != nil {
		t.Fatal(err)
	}
	out, errs := p.run(0, measure("compare", "postgres@18", dsn, "--benchmarks", "point-query", "--time", "12s", "--format", "json")...)
	report := parseReport(t, out)
	if len(report.Comparisons) != 1 || report.Comparisons[0].Instances != 1 || report.Comparisons[0].Verdict != "inconclusive" {
		t.Errorf("%+v", report.Comparisons)
	}
	stored, err := os.ReadFile(filepath.Join(p.dir, "dbcanary.db"))
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"stdout": out, "stderr": errs, "the store": string(stored)} {
		if strings.Contains(text, "sesame") {
			t.Errorf("the password is in %s", what)
		}
	}
	var left int
	if err := theirs.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_database WHERE datname = 'dbcanary'").Scan(&left); err != nil || left > 0 {
		t.Errorf("our database is left: %v", err)
	}
}

// A plan of examples, and so the page that says how published reports are rebuilt,
// works on real servers and gives the published layout.
func TestRun_Example(t *testing.T) {
	plan, err := filepath.Abs("../../examples/servers-small.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := newProgram(t)
	out, _ := p.run(0, measure("run", plan, "--instances", "1", "--format", "rqps")...)
	for _, want := range []string{"Relative to: postgres@16\n", "col-2 : postgres@18\n", "scan_range=100\n", "update-index_range=100\n", "random-points_range=1000\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
	out, _ = p.run(0, "report", "last", "--format", "metrics")
	if !strings.Contains(out, "cpu/o") {
		t.Errorf("no hardware cost:\n%s", out)
	}
}

// What is clear is measured no further, what is in doubt goes on; a report of the
// stored run counts the looks.
func TestCompare_Adaptive(t *testing.T) {
	p := newProgram(t)
	out, _ := p.run(0, append(measure("compare", "postgres@18", "postgres@18+enable_indexscan=off+enable_bitmapscan=off+enable_indexonlyscan=off",
		"--benchmarks", "point-query,scan", "--min-effect", "2,scan=0.001", "--instances", "6", "--format", "json"), "--table-size", "50000")...)
	report := parseReport(t, out)
	if len(report.Comparisons) != 2 {
		t.Fatalf("%+v", report.Comparisons)
	}
	clear, doubt := report.Comparisons[0], report.Comparisons[1]
	if clear.Verdict != "slower" || clear.Instances != 3 || doubt.Instances != 6 {
		t.Errorf("%s has %d instances and is %s, %s has %d", clear.Benchmark, clear.Instances, clear.Verdict, doubt.Benchmark, doubt.Instances)
	}
	if !strings.Contains(out, `"looks":`) {
		t.Error("the plan keeps no looks")
	}
	text, _ := p.run(0, "report", "last")
	if !strings.Contains(text, "what was clear after 3 or 5 starts was measured no further") {
		t.Errorf("the report does not say so:\n%s", text)
	}
}
