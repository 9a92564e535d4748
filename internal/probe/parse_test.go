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
	missing := threadStatus{-1, -1, -1, -1, -1}
	for text, want := range map[string]threadStatus{
		statusText:                              {2180, 97, 17324, 16720, 4},
		"":                                      missing,
		"voluntary_ctxt_switches:\tmany\n":      missing,
		"voluntary_ctxt_switches:\t-3\n":        missing,
		"voluntary_ctxt_switches:\t5":           {5, -1, -1, -1, -1},
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
		for _, value := range []int64{s.voluntary, s.involuntary, s.anonymousKB, s.fileKB, s.sharedMemory} {
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
