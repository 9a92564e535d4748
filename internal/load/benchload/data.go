package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/probe"
	"github.com/dbcanary/dbcanary/stat"
)

// fill is one load of the table: how long it took and who worked.
type fill struct{ seconds, server, client float64 }

// compareLoads fills a table of o.loadRows rows by "dbcanary bench … prepare" and by
// "sysbench … prepare" in turn on one server, index included, and prints the ratio
// of each pair of times and what bounds each side.
func compareLoads(ctx context.Context, o options, out, stderr io.Writer) error {
	fmt.Fprintf(out, "loads of 1 table of %d rows, index included; speed is the time of sysbench by that of dbcanary\n", o.loadRows)
	for _, target := range o.targets {
		s, err := start(ctx, target, nil, o, stderr)
		if err != nil {
			return err
		}
		err = s.compareLoads(ctx, o, target, out)
		if stopErr := s.stop(); err == nil {
			err = stopErr
		}
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return nil
}

func (s *subject) compareLoads(ctx context.Context, o options, target string, out io.Writer) error {
	var ratios []float64
	var ours, theirs []fill
	for n := range o.pairs {
		var pair [2]fill
		for i := range pair {
			side := (n + i) % 2 // every other pair in the other order
			args := s.fillers(o)[side]
			var err error
			if pair[side], err = s.fill(ctx, args); err != nil {
				return err
			}
		}
		ours, theirs = append(ours, pair[0]), append(theirs, pair[1])
		ratios = append(ratios, pair[1].seconds/pair[0].seconds)
		fmt.Fprintf(out, "%s pair %d: %.1f s and %.1f s, speed %.2f\n", target, n+1, pair[0].seconds, pair[1].seconds, ratios[n])
	}
	fmt.Fprintf(out, "%s dbcanary: %s\n%s sysbench: %s\n", target, describe(ours, o.loadRows), target, describe(theirs, o.loadRows))
	_, err := fmt.Fprintf(out, "%s speed: %s\n", target, spread(ratios))
	return err
}

// describe says how fast loads were and what bounded them: the CPUs of the host if
// they were nearly all at work, one of the two programs if it took a whole CPU, or
// else waiting.
func describe(fills []fill, rows int) string {
	var seconds, server, client []float64
	for _, f := range fills {
		seconds, server, client = append(seconds, f.seconds), append(server, f.server/f.seconds), append(client, f.client/f.seconds)
	}
	took, onServer, onClient := stat.Median(seconds), stat.Median(server), stat.Median(client)
	bound := "waiting: disk, locks or other work on this host"
	switch {
	case onServer+onClient > 0.9*float64(runtime.NumCPU()):
		bound = fmt.Sprintf("the host's %d CPUs", runtime.NumCPU())
	case onClient > 0.9:
		bound = "one CPU of the client"
	case onServer > 0.9:
		bound = "the server's CPU time on one connection"
	}
	return fmt.Sprintf("%.0f rows/s, %.2f CPUs of the server and %.2f of the client at work; bound by %s",
		float64(rows)/took, onServer, onClient, bound)
}

// fillers are the command lines that make and fill the table: ours and sysbench's.
func (s *subject) fillers(o options) [2][]string {
	a := s.server.Address()
	dsn := url.URL{Scheme: string(s.build.Family), User: url.UserPassword(a.User, a.Password), Path: "/" + a.Database, Host: net.JoinHostPort(a.Host, strconv.Itoa(a.Port))}
	driver, prefix := "mysql", "--mysql-"
	if s.build.Family == dbcanary.Postgres {
		dsn.RawQuery = "sslmode=disable"
		driver, prefix = "pgsql", "--pgsql-"
	}
	size := fmt.Sprintf("--table-size=%d", o.loadRows)
	return [2][]string{
		{o.program, "bench", "point-query", "prepare", "--dsn", dsn.String(), "--tables=1", size},
		{
			o.sysbench, "oltp_point_select", "--db-driver=" + driver, prefix + "host=" + a.Host, prefix + "port=" + strconv.Itoa(a.Port),
			prefix + "user=" + a.User, prefix + "password=" + a.Password, prefix + "db=" + a.Database, "--tables=1", size, "prepare",
		},
	}
}

// fill runs a command on an empty database and takes its table away again.
func (s *subject) fill(ctx context.Context, args []string) (fill, error) {
	if _, err := s.server.Admin().ExecContext(ctx, "DROP TABLE IF EXISTS sbtest1"); err != nil {
		return fill{}, err
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	sampler := probe.Sampler{Server: s.server.PID()}
	before, began := sampler.Begin(), time.Now()
	err := cmd.Run()
	took, cost := time.Since(began), probe.Between(before, sampler.End())
	if err != nil {
		return fill{}, fmt.Errorf("%s: %w\n%s", args[0], err, strings.ReplaceAll(said.String(), s.server.Address().Password, "…"))
	}
	var rows int
	if err := s.server.Admin().QueryRowContext(ctx, "SELECT COUNT(*) FROM sbtest1").Scan(&rows); err != nil {
		return fill{}, err
	}
	client := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return fill{took.Seconds(), float64(cost.ServerCPUNs) / 1e9, client.Seconds()}, nil
}
