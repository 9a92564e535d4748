package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// outcome is what one run of a client gave.
type outcome struct {
	qps   float64
	cpuUs float64 // user and system time of the whole process, by query
}

// client is a program to be run as a whole, and how its output is read.
type client struct {
	args   []string
	env    []string // beside our own
	input  string   // what it reads from its standard input
	secret string   // the password among the arguments, that no error may show
	read   func(output []byte) (queries, qps float64, err error)
}

// run runs the client on the given CPUs, on all for nil.
func (c *client) run(ctx context.Context, cpus []int) (outcome, error) {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdin = strings.NewReader(c.input)
	var output, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &errs
	err := startOn(cmd, cpus)
	if err == nil {
		err = cmd.Wait()
	}
	fail := func(err error) (outcome, error) {
		said := errs.String() + output.String()
		if c.secret != "" {
			said = strings.ReplaceAll(said, c.secret, "…")
		}
		return outcome{}, fmt.Errorf("%s: %w\n%s", c.args[0], err, said)
	}
	if err != nil {
		return fail(err)
	}
	queries, qps, err := c.read(output.Bytes())
	if err == nil && !(queries > 0 && qps > 0) {
		err = fmt.Errorf("it did no query")
	}
	if err != nil {
		return fail(err)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return outcome{qps: qps, cpuUs: float64(used.Microseconds()) / queries}, nil
}

// startOn starts a program on CPUs of its own: a child inherits those of the
// thread that starts it.
func startOn(cmd *exec.Cmd, cpus []int) error {
	if cpus == nil {
		return cmd.Start()
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the pinned thread ends with the goroutine
		var set unix.CPUSet
		for _, cpu := range cpus {
			set.Set(cpu)
		}
		err := unix.SchedSetaffinity(0, &set)
		if err == nil {
			err = cmd.Start()
		}
		started <- err
	}()
	return <-started
}

// readOurs reads the JSON of bench.
func readOurs(output []byte) (queries, qps float64, err error) {
	var report struct {
		Results []struct {
			Statements, QPS float64
			Failure         string
		}
	}
	if err := json.Unmarshal(output, &report); err != nil {
		return 0, 0, err
	}
	if len(report.Results) != 1 || report.Results[0].Failure != "" {
		return 0, 0, fmt.Errorf("no result of one full measurement")
	}
	return report.Results[0].Statements, report.Results[0].QPS, nil
}

var (
	sysbenchTotal = regexp.MustCompile(`(?m)^\s+queries:\s+(\d+)\s+\(([\d.]+) per sec`)
	pgbenchCount  = regexp.MustCompile(`number of transactions actually processed: (\d+)`)
	pgbenchTPS    = regexp.MustCompile(`tps = ([\d.]+)`)
)

func readSysbench(output []byte) (queries, qps float64, err error) {
	match := sysbenchTotal.FindSubmatch(output)
	if match == nil {
		return 0, 0, fmt.Errorf("its report has no line of queries")
	}
	return number(match[1]), number(match[2]), nil
}

// readPgbench reads the report of a script of so many statements.
func readPgbench(statements float64) func(output []byte) (queries, qps float64, err error) {
	return func(output []byte) (queries, qps float64, err error) {
		count, tps := pgbenchCount.FindSubmatch(output), pgbenchTPS.FindSubmatch(output)
		if count == nil || tps == nil {
			return 0, 0, fmt.Errorf("its report has no number of transactions or no rate")
		}
		return number(count[1]) * statements, number(tps[1]) * statements, nil
	}
}

// number reads digits that a pattern has matched; what is too long for it is 0.
func number(text []byte) float64 {
	value, _ := strconv.ParseFloat(string(text), 64)
	return value
}
