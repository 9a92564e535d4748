package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/verdict"
)

// NewAgainst judges the trials of a run against other bases than the plan's: the
// first one takes its place, each further one makes a report of its own in
// Further. The chance of a false verdict is shared out over the bases, so that
// the whole report has no more of them than one with one base. No bases stand for
// the plan's. A base that the run does not have is an error with CodeUsage.
func NewAgainst(run dbcanary.Run, trials []dbcanary.Trial, bases []string) (*Report, error) {
	var distinct []string
	for _, base := range bases {
		if !slices.Contains(run.Plan.Targets, base) {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "run %d has no target %q%s", run.ID, base, dbcanary.DidYouMean(base, run.Plan.Targets))
		}
		if !slices.Contains(distinct, base) {
			distinct = append(distinct, base)
		}
	}
	if len(distinct) == 0 {
		return New(run, trials), nil
	}
	return newAgainst(run, trials, distinct), nil
}

func newAgainst(run dbcanary.Run, trials []dbcanary.Trial, distinct []string) *Report {
	options := verdict.Options{Bases: len(distinct)}
	whole := newReport(rebased(run, distinct[0]), trials, options)
	for _, base := range distinct[1:] {
		whole.Further = append(whole.Further, newReport(rebased(run, base), trials, options))
	}
	return whole
}

// rebased is the run with a target in the place of the base.
func rebased(run dbcanary.Run, base string) dbcanary.Run {
	toFront := func(n int, is func(int) bool) []int {
		order := make([]int, 0, n)
		for i := range n {
			if is(i) {
				order = slices.Insert(order, 0, i)
			} else {
				order = append(order, i)
			}
		}
		return order
	}
	plan, targets := run.Plan.Targets, run.Targets
	run.Plan.Targets, run.Targets = nil, nil
	for _, i := range toFront(len(plan), func(i int) bool { return plan[i] == base }) {
		run.Plan.Targets = append(run.Plan.Targets, plan[i])
	}
	for _, i := range toFront(len(targets), func(i int) bool { return targets[i].Name == base }) {
		run.Targets = append(run.Targets, targets[i])
	}
	return run
}

// views gives the report against each of its bases.
func (r *Report) views() []*Report { return append([]*Report{r}, r.Further...) }

// comparisons gives those of all bases, one after the other.
func (r *Report) comparisons() []dbcanary.Comparison {
	all := slices.Clone(r.Comparisons)
	for _, further := range r.Further {
		all = append(all, further.Comparisons...)
	}
	return all
}

// allGroups gives the groups of all bases, one after the other.
func (r *Report) allGroups() []verdict.Group {
	all := slices.Clone(r.Groups)
	for _, further := range r.Further {
		all = append(all, further.Groups...)
	}
	return all
}

// basesNote says how verdicts against several bases hold together; "" for one base.
func (r *Report) basesNote() string {
	if len(r.Further) == 0 {
		return ""
	}
	return fmt.Sprintf("The chance of a false verdict is shared out over %d bases: a verdict here may be inconclusive where a report with one base has one.", len(r.views()))
}

// perBase writes a format of one base once for each, an empty line between.
func perBase(write func(*Report, io.Writer, Options) error) func(*Report, io.Writer, Options) error {
	return func(r *Report, w io.Writer, options Options) error {
		for i, view := range r.views() {
			if i > 0 {
				if _, err := io.WriteString(w, "\n"); err != nil {
					return err
				}
			}
			if err := write(view, w, options); err != nil {
				return err
			}
		}
		return nil
	}
}

// writeSummaries writes the summary against each base, named if there are several.
func (r *Report) writeSummaries(w io.Writer, options Options) error {
	return perBase(func(view *Report, w io.Writer, options Options) error {
		if len(r.Further) > 0 {
			if _, err := fmt.Fprintf(w, "Relative to: %s\n\n", clean(view.base())); err != nil {
				return err
			}
		}
		return view.writeSummary(w, options)
	})(r, w, options)
}
