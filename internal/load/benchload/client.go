package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
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
	cpuUs float64 // user and system time of the process without its start, by query
}

// client is a program to be run as a whole, and how its output is read.
type client struct {
	args   []string
	brief  []string // the same with one event for each connection: what it costs to start
	env    []string // beside our own
	input  string   // what it reads from its standard input
	secret string   // the password among the arguments, that no error may show
	read   func(output []byte) (queries, qps float64, err error)

	startUs float64 // CPU time that learn found
}

// run runs the client on the given CPUs, on all for nil.
func (c *client) run(ctx context.Context, cpus []int) (outcome, error) {
	done, err := c.measure(ctx, c.args, cpus)
	if err != nil {
		return outcome{}, err
	}
	return outcome{qps: done.qps, cpuUs: max(0, done.cpuUs-c.startUs) / done.queries}, nil
}

// learn finds out what the start of the client and its logins cost: the least of
// a few runs that do next to nothing else.
func (c *client) learn(ctx context.Context, cpus []int) error {
	c.startUs = math.Inf(1)
	for range 3 {
		done, err := c.measure(ctx, c.brief, cpus)
		if err != nil {
			return err
		}
		c.startUs = min(c.startUs, done.cpuUs)
	}
	return nil
}

// usage is what a whole process did.
type usage struct{ queries, qps, cpuUs float64 }

func (c *client) measure(ctx context.Context, args []string, cpus []int) (usage, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdin = strings.NewReader(c.input)
	var output, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &errs
	err := startOn(cmd, cpus)
	if err == nil {
		err = cmd.Wait()
	}
	fail := func(err error) (usage, error) {
		said := errs.String() + output.String()
		if c.secret != "" {
			said = strings.ReplaceAll(said, c.secret, "…")
		}
		return usage{}, fmt.Errorf("%s: %w\n%s", args[0], err, said)
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
	return usage{queries: queries, qps: qps, cpuUs: float64(used.Microseconds())}, nil
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
