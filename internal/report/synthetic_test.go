package report

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/verdict"
)

// synthetic makes runs whose truth is known: each benchmark of each target has a
// ratio to the base. Their comparisons are made here from the truth, so that
// golden files show the print and not the method behind the verdicts.
type synthetic struct {
	run      dbcanary.Run
	ratios   map[string]float64 // by target + "/" + benchmark; 1 if not named
	warnings map[string][]string
	trials   []dbcanary.Trial
	noCPU    bool
	voidOne  int // every so manieth slice is void
}

var started = time.Date(2026, 11, 30, 22, 0, 0, 0, time.UTC)

func newSynthetic(targets []string, benchmarks []dbcanary.PlannedBenchmark) *synthetic {
	s := &synthetic{ratios: map[string]float64{}, warnings: map[string][]string{}}
	s.run = dbcanary.Run{
		ID: 7, UID: "abcdefgh", State: dbcanary.RunDone, Started: started, Ended: started.Add(10 * time.Minute), Program: "v0.1.0",
		Plan: dbcanary.Plan{
			Targets: targets, Suite: "quick", Benchmarks: benchmarks, Tables: 1, TableSize: 100_000, Threads: 1, PSMode: "prepared",
			SliceNs: 5e8, Blocks: 2, Instances: 10, MinEffect: 0.02, Placement: dbcanary.PlacementSame, Seed: 42,
		},
		Host: dbcanary.Host{
			Name: "beelink", CPU: "AMD Ryzen 7 7840HS", CPUs: 8, MemoryBytes: 32 << 30, Kernel: "6.12.48", OS: "Debian GNU/Linux 13",
			Governor: "performance", Filesystem: "ext4", Device: "nvme0n1",
		},
	}
	for i, target := range targets {
		spec, err := dbcanary.ParseTargetSpec(target)
		if err != nil {
			spec = dbcanary.TargetSpec{Family: dbcanary.MariaDB, Version: "1"}
		}
		s.run.Targets = append(s.run.Targets, dbcanary.Target{
			Name: target,
			Build: dbcanary.Build{
				Family: spec.Family, Version: cmp.Or(spec.Version, "3.50") + ".3", Provider: "debian", Origin: "server-core of trixie",
				Checksum: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(target))),
			},
			Settings: []dbcanary.Setting{
				{Name: "buffer_pool", Value: "1073741824"},
				{Name: "datadir", Value: fmt.Sprintf("/tmp/%d", i)},
				{Name: "port", Value: fmt.Sprint(3306 + i)},
			},
		})
	}
	return s
}

// measure makes the trials of so many instances.
func (s *synthetic) measure(instances int) {
	count := 0
	for instance := range instances {
		for _, benchmark := range s.run.Plan.Benchmarks {
			for block := range s.run.Plan.Blocks {
				for position, target := range s.run.Plan.Targets {
					qps := 20_000 * s.ratio(target, benchmark.Label)
					trial := dbcanary.Trial{
						Benchmark: benchmark.Label, Target: target, Instance: instance, Block: block, Position: position,
						Started: started, ElapsedNs: 5e8, Operations: int64(qps / 2), Events: int64(qps / 2),
						ServerCPUNs: 4e8, ClientCPUNs: 1e8,
					}
					if s.noCPU {
						trial.ServerCPUNs, trial.ClientCPUNs = -1, -1
					}
					if count++; s.voidOne > 0 && count%s.voidOne == 0 {
						trial.Void = fmt.Sprintf("foreign CPU %d %% of the slice", count%30)
					}
					s.trials = append(s.trials, trial)
				}
			}
		}
	}
}

func (s *synthetic) ratio(target, benchmark string) float64 {
	if ratio, ok := s.ratios[target+"/"+benchmark]; ok {
		return ratio
	}
	return 1
}

// report is the report of the run with the true comparisons.
func (s *synthetic) report() *Report {
	r := New(s.run, s.trials)
	for i := range r.Comparisons {
		r.Comparisons[i] = s.truth(r.Comparisons[i])
	}
	r.Groups = verdict.Groups(r.Comparisons)
	return r
}

func (s *synthetic) truth(measured dbcanary.Comparison) dbcanary.Comparison {
	nan, inf := math.NaN(), math.Inf(1)
	none := dbcanary.Estimate{Ratio: nan, Low: nan, High: nan}
	c := dbcanary.Comparison{
		Benchmark: measured.Benchmark, Group: measured.Group, Target: measured.Target, Base: measured.Base,
		QPSRatio: none, CPURatio: none, QPS: nan, BaseQPS: nan, CPUUs: nan, BaseCPU: nan, MinDetectable: nan,
		Level: 0.95, MinEffect: s.run.Plan.MinEffect, Verdict: dbcanary.Inconclusive, Reason: "nothing was measured",
		Instances: measured.Instances, Blocks: measured.Blocks, VoidSlices: measured.VoidSlices,
		Warnings: s.warnings[measured.Target+"/"+measured.Benchmark],
	}
	if c.Instances == 0 {
		return c
	}
	ratio := s.ratio(c.Target, c.Benchmark)
	c.QPSRatio = dbcanary.Estimate{Ratio: ratio, Low: ratio * 0.992, High: ratio * 1.01}
	c.QPS, c.BaseQPS, c.MinDetectable = 20_000*ratio, 20_000, 0.0215
	if !s.noCPU {
		c.CPURatio = dbcanary.Estimate{Ratio: 1 / ratio, Low: 0.99 / ratio, High: 1.01 / ratio}
		c.CPUUs, c.BaseCPU = 40/ratio, 40
	}
	switch {
	case c.Instances == 1:
		c.QPSRatio.Low, c.QPSRatio.High, c.MinDetectable = 0, inf, nan
		c.Reason = "one instance, so this is provisional"
	case ratio <= 0.97:
		c.Verdict, c.Reason = dbcanary.Slower, "beyond the 2 % that matters"
	case ratio >= 1.03:
		c.Verdict, c.Reason = dbcanary.Faster, "beyond the 2 % that matters"
	case ratio >= 0.99 && ratio <= 1.01:
		c.Verdict, c.Reason = dbcanary.Same, "within the 2 % that matters"
	default:
		c.Reason = "could be the same or not; about 4 more instances would settle it"
	}
	return c
}

func quick() []dbcanary.PlannedBenchmark {
	return []dbcanary.PlannedBenchmark{
		{Label: "point-query", Group: "point"},
		{Label: "update-index", Group: "writes"},
		{Label: "random-points range=100", Group: "point"},
		{Label: "scan", Group: "range-1"},
		{Label: "read-only range=100", Group: "range-2"},
		{Label: "insert", Group: "writes"},
	}
}

// runs are the synthetic runs by name.
func runs() map[string]func() *synthetic {
	return map[string]func() *synthetic{
		"one-target": func() *synthetic {
			s := newSynthetic([]string{"mariadb@10.5", "mariadb@11.8+noahi"}, quick())
			s.ratios["mariadb@11.8+noahi/update-index"] = 0.85
			s.ratios["mariadb@11.8+noahi/scan"] = 1.31
			s.ratios["mariadb@11.8+noahi/point-query"] = 0.98
			s.ratios["mariadb@11.8+noahi/insert"] = 0.95
			s.warnings["mariadb@11.8+noahi/insert"] = []string{"only 4 instances", "throughput of mariadb@10.5 falls by 7 %"}
			s.warnings["mariadb@11.8+noahi/scan"] = []string{"only 4 instances"}
			chooseSettings(s)
			s.measure(10)
			return s
		},
		"five-targets": func() *synthetic {
			s := newSynthetic([]string{"mariadb@10.5", "mariadb@10.6", "mariadb@10.11", "mariadb@11.4", "mariadb@11.8", "mysql@9.7"}, quick())
			s.ratios["mysql@9.7/scan"] = 0.61
			s.ratios["mysql@9.7/random-points range=100"] = 2.2
			s.ratios["mariadb@11.8/insert"] = 0.93
			for i := range s.run.Targets {
				value := "fsync"
				if i > 2 {
					value = "O_DIRECT"
				}
				t := &s.run.Targets[i]
				t.Settings = append(t.Settings, dbcanary.Setting{Name: "innodb_flush_method", Value: value})
			}
			s.measure(8)
			return s
		},
		"dropped": func() *synthetic {
			s := newSynthetic([]string{"postgres@15", "postgres@18", "postgres@17"}, quick()[:2])
			s.measure(5)
			s.run.State = dbcanary.RunInterrupted
			s.run.Targets[2].Dropped = "start postgres@17: the server ended: out of memory"
			s.run.Targets[2].Settings = nil
			s.run.Problems = []string{"postgres@17 could not be started"}
			kept := s.trials[:0]
			for _, trial := range s.trials {
				if trial.Target != "postgres@17" {
					kept = append(kept, trial)
				}
			}
			s.trials = kept
			return s
		},
		"void": func() *synthetic {
			s := newSynthetic([]string{"mysql@8.0", "mysql@9.7"}, quick()[:3])
			s.voidOne = 3
			s.measure(6)
			return s
		},
		"failed-base": func() *synthetic {
			s := newSynthetic([]string{"postgres@15", "postgres@17", "postgres@18"}, quick())
			s.ratios["postgres@18/scan"] = 0.9
			s.measure(5)
			s.run.Targets[0].Dropped = "start postgres@15: the server ended: out of memory"
			s.run.Targets[0].Settings = nil
			s.trials = slices.DeleteFunc(s.trials, func(trial dbcanary.Trial) bool { return trial.Target == "postgres@15" })
			return s
		},
		"half-failed-base": func() *synthetic {
			s := newSynthetic([]string{"postgres@15", "postgres@17", "postgres@18"}, quick())
			s.ratios["postgres@18/scan"] = 0.9
			s.measure(5)
			for i := range s.trials {
				if one := &s.trials[i]; one.Target == "postgres@15" && (one.Benchmark == "scan" || one.Benchmark == "insert") {
					one.Void = "server error 53200: out of memory"
				}
			}
			return s
		},
		"no-trials": func() *synthetic {
			s := newSynthetic([]string{"mysql@8.0", "mysql@9.7"}, quick()[:2])
			s.run.State, s.run.Ended = dbcanary.RunRunning, time.Time{}
			s.run.Targets[0].Settings, s.run.Targets[1].Settings = nil, nil
			return s
		},
		"no-plan": func() *synthetic { return &synthetic{} },
		"one-instance": func() *synthetic {
			s := newSynthetic([]string{"sqlite", "sqlite+journal_mode=delete"}, quick()[:3])
			s.ratios["sqlite+journal_mode=delete/update-index"] = 0.4
			s.noCPU = true
			s.run.Targets[1].Config = dbcanary.Config{Name: "+journal_mode=delete", Settings: []dbcanary.Setting{{Name: "journal_mode", Value: "delete"}}}
			for i := range s.run.Targets {
				s.run.Targets[i].Settings = append(s.run.Targets[i].Settings, dbcanary.Setting{Name: "journal_mode", Value: "delete"})
			}
			s.measure(1)
			return s
		},
		"names": func() *synthetic {
			long := "mysql:/opt/builds/mysql-8.0.40-a-very-long-folder-name-of-a-custom-build/usr+innodb_adaptive_hash_index=0"
			s := newSynthetic([]string{"mariadb@データベース|10.5", long}, []dbcanary.PlannedBenchmark{
				{Label: "a benchmark of another tool with a name of sixty-odd letters", Group: "外部"},
				{Label: "pipe|star*\x1b[31m", Group: "外部"},
			})
			s.measure(4)
			return s
		},
	}
}

// chooseSettings makes settings that differ in every way that there is.
func chooseSettings(s *synthetic) {
	base, target := &s.run.Targets[0], &s.run.Targets[1]
	target.Config = dbcanary.Config{Name: "+noahi", Settings: []dbcanary.Setting{{Name: "innodb-adaptive-hash-index", Value: "0"}}}
	set := func(t *dbcanary.Target, name, value string) {
		t.Settings = append(t.Settings, dbcanary.Setting{Name: name, Value: value})
	}
	set(base, "innodb_adaptive_hash_index", "ON")
	set(target, "innodb_adaptive_hash_index", "OFF")
	set(base, "optimizer_switch", "mrr=on,hash=off,batch=on")
	set(target, "optimizer_switch", "mrr=on,hash=on,batch=on,new=off")
	set(base, "long_query_time", "10.000000")
	set(target, "long_query_time", "10")
	set(base, "innodb_change_buffering", "all")
	set(target, "ssl_ca", "/a")
	for i := range 30 {
		set(base, fmt.Sprintf("tuning_%02d", i), "1")
		set(target, fmt.Sprintf("tuning_%02d", i), "2")
	}
}

func TestReports(t *testing.T) {
	datadriven.Walk(t, "testdata/reports", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var format string
			options := Options{}
			d.ScanArgs(t, "format", &format)
			d.MaybeScanArgs(t, "width", &options.Width)
			options.Color, options.Verbose, options.Compact = d.HasArg("color"), d.HasArg("verbose"), d.HasArg("compact")
			make, ok := runs()[d.Cmd]
			if !ok {
				d.Fatalf(t, "unknown run %q", d.Cmd)
			}
			return render(t, make(), format, options)
		})
	})
}
