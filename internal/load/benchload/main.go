// Command benchload measures what dbcanary bench costs beside sysbench and
// pgbench: the same work on the same server, in alternating runs of whole
// processes. It prints, for each cell of server, benchmark, transport and number
// of connections, the medians and quartiles of the ratios of each pair of runs,
// and as its last line the worst of them:
//
//	worst: cpu 0.84 qps 1.01
//
// Run it as "make bench-load", one cell of it as
//
//	make bench-load ARGS="-targets mariadb@10.11 -benchmarks point-query -connections 1 -transports tcp"
//
// docs/PERFORMANCE.md has results. It is not for comparing servers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/probe"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "benchload:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	targets, benchmarks, transports []string
	connections                     []int
	pairs, tableSize, loadRows      int
	memory                          int64
	length                          time.Duration
	placement                       dbcanary.Placement
	program, sysbench, pgbench      string
}

func parse(args []string, stderr io.Writer) (options, error) {
	flags := flag.NewFlagSet("benchload", flag.ContinueOnError)
	flags.SetOutput(stderr)
	targets := flags.String("targets", "mariadb@10.11,mysql,postgres@15", "servers, as compare names them")
	benchmarks := flags.String("benchmarks", "point-query,read-only", "point-query, read-only (range 100)")
	transports := flags.String("transports", "tcp,socket", "tcp, socket")
	connections := flags.String("connections", "1,4,16,64", "numbers of connections")
	o := options{}
	flags.IntVar(&o.pairs, "pairs", 15, "pairs of runs in each cell")
	flags.IntVar(&o.tableSize, "table-size", 100_000, "rows of the table; a multiple of 100000 for pgbench -S")
	flags.IntVar(&o.loadRows, "load-rows", 0, "compare how fast a table of so many rows is loaded, instead of queries")
	memory := flags.Int64("memory", 512, "MiB that each server may use")
	flags.DurationVar(&o.length, "time", 5*time.Second, "length of a run in whole seconds")
	placement := flags.String("placement", "free", "CPUs of server and clients: free, split or same")
	flags.StringVar(&o.program, "program", "./dbcanary", "dbcanary")
	flags.StringVar(&o.sysbench, "sysbench", "sysbench", "sysbench")
	flags.StringVar(&o.pgbench, "pgbench", "", "pgbench (default: beside the PostgreSQL server, or in PATH)")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.targets, o.benchmarks, o.transports = strings.Split(*targets, ","), strings.Split(*benchmarks, ","), strings.Split(*transports, ",")
	o.placement, o.memory = dbcanary.Placement(*placement), *memory<<20
	for text := range strings.SplitSeq(*connections, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return o, fmt.Errorf("-connections %q is no number above 0", text)
		}
		o.connections = append(o.connections, n)
	}
	for _, benchmark := range o.benchmarks {
		if benchmark != pointQuery && benchmark != readOnly {
			return o, fmt.Errorf("-benchmarks %q%s", benchmark, dbcanary.DidYouMean(benchmark, []string{pointQuery, readOnly}))
		}
	}
	for _, transport := range o.transports {
		if transport != "tcp" && transport != "socket" {
			return o, fmt.Errorf("-transports %q%s", transport, dbcanary.DidYouMean(transport, []string{"tcp", "socket"}))
		}
	}
	if o.pairs < 1 || o.length < time.Second || o.length%time.Second != 0 || o.tableSize%100_000 != 0 || o.tableSize < 1 || o.loadRows < 0 || o.memory <= 0 {
		return o, errors.New("-pairs and -memory must be above 0, -time whole seconds, -table-size a multiple of 100000, -load-rows not below 0")
	}
	return o, nil
}

const (
	pointQuery = "point-query"
	readOnly   = "read-only"
)

// cell is a place in the table of results.
type cell struct {
	target, benchmark, transport string
	connections                  int
}

func run(ctx context.Context, args []string, out, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.loadRows > 0 {
		return compareLoads(ctx, o, out, stderr)
	}
	fmt.Fprintf(out, "pairs of runs of %v, placement %s; ratios are dbcanary / rival: median (quartiles)\n", o.length, o.placement)
	fmt.Fprintf(out, "%-14s %-11s %-6s %4s %-9s  %-19s  %-19s  %s\n", "target", "benchmark", "by", "conn", "rival", "cpu/query", "qps", "medians: us/query and qps, ours and theirs")
	var worst tally
	for _, target := range o.targets {
		if err := measureTarget(ctx, o, target, &worst, out, stderr); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return worst.print(out)
}

// measureTarget measures the cells of one target, on one server as long as the
// placement leaves it where it is.
func measureTarget(ctx context.Context, o options, target string, worst *tally, out, stderr io.Writer) (err error) {
	var server *subject
	var placed []int
	defer func() {
		if server != nil {
			err = errors.Join(err, server.stop())
		}
	}()
	for _, connections := range o.connections {
		serverCPUs, clientCPUs, err := probe.CPUPlan(o.placement, connections)
		if err != nil {
			return err
		}
		if server == nil || !slices.Equal(placed, serverCPUs) {
			if server != nil {
				if err := server.stop(); err != nil {
					return err
				}
			}
			if server, err = start(ctx, target, serverCPUs, o, stderr); err != nil {
				return err
			}
			placed = serverCPUs
		}
		for _, benchmark := range o.benchmarks {
			for _, transport := range o.transports {
				c := cell{target, benchmark, transport, connections}
				pairs, err := measureCell(ctx, o, server, c, clientCPUs)
				if err != nil {
					return fmt.Errorf("%s, %d connections by %s: %w", benchmark, connections, transport, err)
				}
				if err := worst.add(out, c, server.rival(), pairs); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pair is two runs next to each other in time.
type pair struct{ ours, theirs outcome }

// measureCell runs both sides once for nothing and then in pairs, of which every
// other one is in the other order.
func measureCell(ctx context.Context, o options, server *subject, c cell, cpus []int) ([]pair, error) {
	ours, err := server.ours(o, c)
	if err != nil {
		return nil, err
	}
	theirs, err := server.theirs(o, c)
	if err != nil {
		return nil, err
	}
	for _, side := range []*client{ours, theirs} {
		if err := side.learn(ctx, cpus); err != nil {
			return nil, err
		}
	}
	var pairs []pair
	for n := -1; n < o.pairs; n++ {
		var p pair
		sides := []func() error{
			func() (err error) { p.ours, err = ours.run(ctx, cpus); return err },
			func() (err error) { p.theirs, err = theirs.run(ctx, cpus); return err },
		}
		if n%2 != 0 {
			slices.Reverse(sides)
		}
		for _, side := range sides {
			if err := side(); err != nil {
				return nil, err
			}
		}
		if n >= 0 {
			pairs = append(pairs, p)
		}
	}
	return pairs, nil
}
