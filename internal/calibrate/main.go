// Command calibrate measures what the verdicts of dbcanary are worth on this host
// and writes docs/CALIBRATION.md: targets against themselves, known effects, where
// the variance of servers comes from, how long clear verdicts take, and simulations
// on the noise that was recorded. It measures by running dbcanary as a user does,
// keeps every run in one store, and goes on after what the store has:
//
//	make calibrate
//	make calibrate ARGS="-parts aa,effects -repetitions 10 -time 110s"
//	make calibrate ARGS=-report
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
	"strings"
	"syscall"
	"time"

	"github.com/dbcanary/dbcanary"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	parts, targets []string
	repetitions    int
	time           time.Duration
	simulations    int
	report         bool
	db, page       string
	program        string
	extra          []string
}

// The parts that measure. The simulation is computed with the page.
const (
	partAA       = "aa"
	partEffects  = "effects"
	partVariance = "variance"
	partQuick    = "quick"
	partSimulate = "simulate"
)

func parse(args []string, stderr io.Writer) (options, error) {
	flags := flag.NewFlagSet("calibrate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	all := []string{partAA, partEffects, partVariance, partQuick, partSimulate}
	o := options{}
	parts := flags.String("parts", strings.Join(all, ","), "what is measured; simulate measures nothing and needs aa in the store")
	targets := flags.String("targets", strings.Join(usualTargets(), ","), "targets of aa and variance; effects and quick are left out for families that none of them has")
	flags.IntVar(&o.repetitions, "repetitions", 10, "A/A runs of each target")
	flags.DurationVar(&o.time, "time", 5*time.Minute, "time of each run of aa, effects and variance; quick has the usual time of compare")
	flags.IntVar(&o.simulations, "simulations", 1500, "simulated suites of each cell")
	flags.BoolVar(&o.report, "report", false, "measure nothing: write the page from what is stored")
	flags.StringVar(&o.db, "db", "calibration.db", "store of the runs; what belongs to which part is in a .json beside it")
	flags.StringVar(&o.page, "page", "docs/CALIBRATION.md", "page to write")
	flags.StringVar(&o.program, "program", "./dbcanary", "dbcanary")
	extra := flags.String("flags", "", "further flags of compare for every run, for trials: \"--table-size 1000\"")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	o.parts, o.targets, o.extra = strings.Split(*parts, ","), strings.Split(*targets, ","), strings.Fields(*extra)
	for _, part := range o.parts {
		if !slices.Contains(all, part) {
			return o, fmt.Errorf("-parts %q%s", part, dbcanary.DidYouMean(part, all))
		}
	}
	if o.report {
		o.parts = nil
	}
	if o.repetitions < 1 || o.time <= 0 || o.simulations < 1 {
		return o, errors.New("-repetitions, -time and -simulations must be above 0")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	journal, err := readJournal(journalPath(o.db))
	if err != nil {
		return err
	}
	planned, err := plannedRuns(o)
	if err != nil {
		return err
	}
	for i, m := range planned {
		done, err := journal.has(m)
		if err != nil {
			return err
		}
		if done {
			continue
		}
		fmt.Fprintf(out, "%d of %d: %s %s: %s\n", i+1, len(planned), m.Part, m.Name, m.command(o.program))
		if err := measure(ctx, o, journal, m, out); err != nil {
			return fmt.Errorf("%s %s: %w", m.Part, m.Name, err)
		}
	}
	results, err := readResults(ctx, o.db, journal)
	if err != nil {
		return err
	}
	text := newPage(results, o.simulations).markdown()
	if err := os.WriteFile(o.page, []byte(text), 0o666); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	fmt.Fprintf(out, "wrote %s\n", o.page)
	return nil
}
