package probe

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// threadStatus is what is read of /proc/PID/task/TID/status; -1 where a line is missing.
type threadStatus struct {
	voluntary, involuntary            int64 // context switches
	anonymousKB, fileKB, sharedMemory int64 // resident memory in kB
	threads                           int64 // of the process
}

// parseThreadStatus reads a status file. Lines that it doesn't know or can't read count as missing.
func parseThreadStatus(text []byte) threadStatus {
	s := threadStatus{-1, -1, -1, -1, -1, -1}
	for line := range bytes.Lines(text) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue
		}
		var field *int64
		switch string(name) {
		case "voluntary_ctxt_switches":
			field = &s.voluntary
		case "nonvoluntary_ctxt_switches":
			field = &s.involuntary
		case "RssAnon":
			field = &s.anonymousKB
		case "RssFile":
			field = &s.fileKB
		case "RssShmem":
			field = &s.sharedMemory
		case "Threads":
			field = &s.threads
		default:
			continue
		}
		number, err := strconv.ParseInt(strings.TrimSuffix(string(bytes.TrimSpace(value)), " kB"), 10, 64)
		if err == nil && number >= 0 {
			*field = number
		}
	}
	return s
}

// parsePIDs reads process numbers separated by blanks, as in /proc/PID/task/TID/children.
func parsePIDs(text []byte) ([]int, error) {
	var pids []int
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil || pid <= 0 {
			return nil, fmt.Errorf("%q is no process number", field)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// maxCPUs bounds what a damaged list may ask for; Linux supports 8192 CPUs.
const maxCPUs = 1 << 16

// parseCPUList reads a list of CPUs as in /sys, "0-3,8", in the order of the text.
func parseCPUList(text string) ([]int, error) {
	var cpus []int
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(item, "-")
		low, err := strconv.Atoi(first)
		high := low
		if err == nil && isRange {
			high, err = strconv.Atoi(last)
		}
		if err != nil || low < 0 || high < low || high >= maxCPUs || len(cpus)+high-low >= maxCPUs {
			return nil, fmt.Errorf("%q is no list of CPUs", text)
		}
		for cpu := low; cpu <= high; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
