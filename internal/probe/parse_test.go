package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const statusText = `Name:	mariadbd
State:	S (sleeping)
Pid:	4711
VmRSS:	   34048 kB
RssAnon:	   17324 kB
RssFile:	   16720 kB
RssShmem:	       4 kB
Threads:	9
voluntary_ctxt_switches:	2180
nonvoluntary_ctxt_switches:	97
`

func TestParseThreadStatus(t *testing.T) {
	missing := threadStatus{-1, -1, -1, -1, -1, -1}
	for text, want := range map[string]threadStatus{
		statusText:                              {2180, 97, 17324, 16720, 4, 9},
		"":                                      missing,
		"voluntary_ctxt_switches:\tmany\n":      missing,
		"voluntary_ctxt_switches:\t-3\n":        missing,
		"voluntary_ctxt_switches:\t5":           {5, -1, -1, -1, -1, -1},
		"Name:\tvoluntary_ctxt_switches:\t5\n":  missing,
		"RssAnon:\t99999999999999999999 kB\n\n": missing,
	} {
		if got := parseThreadStatus([]byte(text)); got != want {
			t.Errorf("%q gives %+v, want %+v", text, got, want)
		}
	}
}

func FuzzParseThreadStatus(f *testing.F) {
	f.Add([]byte(statusText))
	f.Add([]byte("RssAnon:"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := parseThreadStatus(text)
		for _, value := range []int64{s.voluntary, s.involuntary, s.anonymousKB, s.fileKB, s.sharedMemory, s.threads} {
			if value < unknown {
				t.Errorf("%q gives %+v", text, s)
			}
		}
	})
}

func TestParsePIDs(t *testing.T) {
	for text, want := range map[string][]int{"": nil, "12 7 \n": {12, 7}, "1": {1}, "1 x": nil, "0": nil, "-4": nil} {
		got, err := parsePIDs([]byte(text))
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (text == "1 x" || text == "0" || text == "-4") {
			t.Errorf("%q: error %v %s", text, err, diff)
		}
	}
}

func FuzzParsePIDs(f *testing.F) {
	f.Add([]byte("12 7 "))
	f.Fuzz(func(t *testing.T, text []byte) {
		pids, err := parsePIDs(text)
		for _, pid := range pids {
			if err != nil || pid <= 0 {
				t.Errorf("%q gives %v, %v", text, pids, err)
			}
		}
	})
}

func TestParseCPUList(t *testing.T) {
	for text, want := range map[string][]int{
		"": nil, "\n": nil, "0\n": {0}, "0-3,8": {0, 1, 2, 3, 8}, "4,0": {4, 0},
	} {
		got, err := parseCPUList(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: error %v %s", text, err, diff)
		}
	}
	for _, text := range []string{"a", "1-", "-1", "3-1", "0-99999999999", "0,,1", "0-65535,0-65535"} {
		if got, err := parseCPUList(text); err == nil {
			t.Errorf("%q gives %v, want an error", text, got)
		}
	}
}

func FuzzParseCPUList(f *testing.F) {
	f.Add("0-3,8")
	f.Add("0-65535")
	f.Fuzz(func(t *testing.T, text string) {
		cpus, err := parseCPUList(text)
		if len(cpus) > maxCPUs || err != nil && cpus != nil {
			t.Errorf("%q gives %d CPUs, %v", text, len(cpus), err)
		}
	})
}

const diskstatsText = ` 259       0 nvme0n1 100 3 2048 50 200 5 4096 70 1 90 120 4 0 99 5 6 7
 259       1 nvme0n1p1 90 3 1024 40 150 5 2048 60 0 80 100 0 0 0 0
   9       2 md2 10 0 80 0 20 0 160 0 0 0 0
   8      16 sdb 1 0 8 2 2 0 16 3 0 4 5 0 0 0 0 6 7
   8      32 sdc 10 0 80 20 20 0 160 30 2 40 50 0 0 0 0 60 70
   8      48 sdd none of these
   8      64 sde -1 0 80 20 20 0 160 30 2 40 50
`

func TestParseDiskStats(t *testing.T) {
	want := []diskStats{
		{"259:0", "nvme0n1", 100, 2048, 50, 200, 4096, 70, 1, 90, 120, 6, 7},
		{"259:1", "nvme0n1p1", 90, 1024, 40, 150, 2048, 60, 0, 80, 100, -1, -1},
		{"9:2", "md2", 10, 80, 0, 20, 160, 0, 0, 0, 0, -1, -1},
		{"8:16", "sdb", 1, 8, 2, 2, 16, 3, 0, 4, 5, 6, 7},
		{"8:32", "sdc", 10, 80, 20, 20, 160, 30, 2, 40, 50, 60, 70},
	}
	got := parseDiskStats([]byte(diskstatsText))
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(diskStats{})); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseDiskStats(f *testing.F) {
	f.Add([]byte(diskstatsText))
	f.Fuzz(func(t *testing.T, text []byte) {
		all := parseDiskStats(text)
		for i := range all {
			if all[i].reads < 0 || all[i].queueMs < 0 || all[i].flushes < unknown {
				t.Errorf("%q gives %+v", text, all[i])
			}
		}
	})
}

func TestParseRunnable(t *testing.T) {
	for text, want := range map[string]int64{"0.10 0.20 0.30 3/345 678": 2, "1 2 3 1/9 9\n": 0, "1 2 3 0/9": 0} {
		if got, err := parseRunnable(text); got != want || err != nil {
			t.Errorf("%q gives %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1 2 3", "1 2 3 x/9", "1 2 3 -2/9", "1 2 3 4"} {
		if got, err := parseRunnable(text); err == nil {
			t.Errorf("%q gives %d, want an error", text, got)
		}
	}
}
