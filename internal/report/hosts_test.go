package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/exchange"
)

// publishedHosts are the servers of the report whose tables of all benchmarks it
// shows, in their order. A fifth one has rows in the tables of hosts only.
var publishedHosts = []string{"beelink", "pn53", "socket2", "dell32"}

func publishedHostReports(t *testing.T) []*Report {
	t.Helper()
	path := filepath.Join(publishedReports, "mysql-8.0.28-to-8.0.40-sysbench-servers.txt")
	parts := strings.Split(readPublished(t, filepath.Base(path)), "Relative to: ")
	if len(parts) != 1+len(publishedHosts) {
		t.Fatalf("%d tables", len(parts)-1)
	}
	var reports []*Report
	for i, host := range publishedHosts {
		file := filepath.Join(t.TempDir(), "table.txt")
		if err := os.WriteFile(file, []byte("Relative to: "+parts[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
		files, err := exchange.ReadFiles(t.Context(), []string{file}, exchange.FileOptions{})
		if err != nil || len(files.Rejected) > 0 {
			t.Fatal(err, files.Rejected)
		}
		made, err := exchange.MakeRuns(files.Measurements, exchange.RunOptions{Host: host, Now: time.Unix(1e9, 0)})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range made {
			if strings.Contains(one.Run.Host.Name, "relative to") {
				reports = append(reports, New(one.Run, one.Trials))
			}
		}
	}
	if len(reports) != len(publishedHosts) {
		t.Fatalf("%d reports of relative QPS", len(reports))
	}
	return reports
}

// TestHosts_Published prints the tables that open the published report from those
// of its servers, to the letter but for blanks. Where the author's table of hosts
// says something else than his table of that server, the difference is listed.
func TestHosts_Published(t *testing.T) {
	text := readPublished(t, "mysql-8.0.28-to-8.0.40-sysbench-servers.txt")
	var b strings.Builder
	if err := Hosts(&b, publishedHostReports(t), HostOptions{
		Benchmarks: []string{"scan*", "update-index*"}, Targets: []string{"8.0.30", "8.0.40"},
	}); err != nil {
		t.Fatal(err)
	}
	tables := func(text string) [][]string {
		var all [][]string
		for line := range strings.SplitSeq(text, "\n") {
			line = strings.Join(strings.Fields(line), " ")
			if line == "rQPS rQPS" {
				all = append(all, nil)
			}
			if n := len(all) - 1; n >= 0 && len(strings.Fields(line)) <= 3 && line != "" {
				all[n] = append(all[n], line)
			}
		}
		return all
	}
	want, got := tables(text), tables(b.String())
	if len(want) != 2 || len(got) != 2 {
		t.Fatalf("%d tables, %d published:\n%s", len(got), len(want), b.String())
	}
	for i := range got {
		var published []string
		for _, line := range want[i][:8] {
			if !strings.HasPrefix(line, "ax162-s ") { // no table of that server was published
				published = append(published, line)
			}
		}
		if diff := cmp.Diff(published, got[i][:len(published)]); diff != "" {
			t.Errorf("table %d (-published +ours):\n%s", i+1, diff)
		}
	}
	if !strings.Contains(b.String(), "8.0.30 is\n- beelink: my8030_rel_o2nofp.z11a_bee, mysql 8.0.30\n- pn53: my8030_rel_o2nofp.z11a_c8r32") {
		t.Errorf("the configs that differ are not listed:\n%s", b.String())
	}
}

func hostReport(t *testing.T, host string, change func(*synthetic)) *Report {
	t.Helper()
	s := newSynthetic([]string{"mysql@8.0.28", "mysql@8.0.30", "mysql@8.0.40"}, quick()[:2])
	s.run.Host.Name = host
	s.ratios["mysql@8.0.30/point-query"] = 0.97
	if change != nil {
		change(s)
	}
	s.measure(4)
	return s.report()
}

// TestHosts holds the whole of the print: what differs comes first, what a host did
// not measure is NA, and a host with several runs tells them apart.
func TestHosts(t *testing.T) {
	reports := []*Report{
		hostReport(t, "small", nil),
		hostReport(t, "large", func(s *synthetic) {
			s.run.Plan.Threads, s.run.Host.CPUs = 40, 48
			s.run.Plan.Benchmarks = quick()[:1]
			s.run.Targets[2].Dropped = "out of memory"
		}),
		hostReport(t, "large", func(s *synthetic) {
			s.run.ID = 9
			s.run.Plan.Targets, s.run.Targets = s.run.Plan.Targets[:2], s.run.Targets[:2]
		}),
	}
	datadriven.RunTest(t, "testdata/hosts", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		if err := Hosts(&b, reports, HostOptions{Verbose: true, Markdown: d.Cmd == "markdown"}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	})
}

func TestHosts_Refuses(t *testing.T) {
	other := hostReport(t, "other", func(s *synthetic) {
		s.run = rebased(s.run, "mysql@8.0.30")
	})
	same := hostReport(t, "same", nil)
	for _, test := range []struct {
		reports []*Report
		options HostOptions
		want    string
	}{
		{nil, HostOptions{}, "no run"},
		{[]*Report{same, other}, HostOptions{}, "the numbers of same are relative to 8.0.28.3 and those of other to 8.0.30.3"},
		{[]*Report{same}, HostOptions{Benchmarks: []string{"point-qury"}}, "point-query"},
		{[]*Report{same}, HostOptions{Benchmarks: []string{"["}}, "no pattern"},
		{[]*Report{same}, HostOptions{Targets: []string{"8.0.41.3"}}, "8.0.40.3"},
	} {
		err := Hosts(&strings.Builder{}, test.reports, test.options)
		if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
}
