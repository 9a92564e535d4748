// Command accuracy measures package changepoint on annotated series and on
// simulated ones, and prints a report that ends with one line:
//
//	F1 0.872 clean-flagged 1/30 false-alarms-max 0.010
//
// Run it as "make accuracy DATA=../shared/changepoint"; any folder of the same
// form will do. docs/CHANGEPOINT.md explains the numbers.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("accuracy", flag.ContinueOnError)
	data := flags.String("data", "", "folder with sap/*.json and, if there are any, sapsmall/*.json")
	repeats := flags.Int("series", 2000, "simulated series of each kind")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *data == "" {
		return errors.New("no data: say make accuracy DATA=FOLDER")
	}
	if *repeats < 1 {
		return fmt.Errorf("%d simulated series are too few", *repeats)
	}
	annotated, err := readFolder(*data, "sap")
	if err != nil {
		return err
	}
	small, err := readFolder(*data, "sapsmall")
	if err != nil && !errors.Is(err, errNoSeries) {
		return err
	}
	five := withFiveAnnotators(annotated)
	if len(five) == 0 {
		return fmt.Errorf("%s: no series has five annotators", *data)
	}
	w := &report{w: out}
	total := w.annotated(five)
	w.crossValidated(five)
	w.labelled(small)
	worst := w.falseAlarms(*repeats)
	w.power(*repeats)
	w.intervals(*repeats)
	w.ladders(*repeats)
	w.speed()
	w.printf("F1 %.3f clean-flagged %d/%d false-alarms-max %.3f\n", total.f1, total.flagged, total.clean, worst)
	return w.err
}

// report prints and keeps the first error.
type report struct {
	w   io.Writer
	err error
}

func (r *report) printf(format string, args ...any) {
	if r.err == nil {
		_, r.err = fmt.Fprintf(r.w, format, args...)
	}
}
