package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/verdict"
)

func against(t *testing.T, s *synthetic, bases ...string) *Report {
	t.Helper()
	r, err := NewAgainst(s.run, s.trials, bases)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestBases: against another base the ratios are the quotients, in every format
// the targets stand in the order of the run, and absent values stay absent.
func TestBases(t *testing.T) {
	s := runs()["five-targets"]()
	r := against(t, s, "mysql@9.7", "mariadb@10.6")
	for _, view := range r.views() {
		for _, c := range view.Comparisons {
			want := s.ratio(c.Target, c.Benchmark) / s.ratio(c.Base, c.Benchmark)
			if c.Base != view.base() || math.Abs(c.QPSRatio.Ratio/want-1) > 1e-3 {
				t.Errorf("%s of %s against %s: %v, want %v", c.Benchmark, c.Target, c.Base, c.QPSRatio.Ratio, want)
			}
		}
	}
	if got := strings.Join(r.Run.Plan.Targets, " "); got != "mysql@9.7 mariadb@10.5 mariadb@10.6 mariadb@10.11 mariadb@11.4 mariadb@11.8" {
		t.Errorf("targets %s", got)
	}
	if r.Run.Targets[0].Name != "mysql@9.7" || s.run.Targets[0].Name != "mariadb@10.5" {
		t.Error("the base is not first, or the run of the caller was changed")
	}
	if count := len(r.comparisons()); count != 2*len(r.Comparisons) {
		t.Errorf("%d comparisons", count)
	}
}

// TestBases_One: the base of the plan by name is the report without --base.
func TestBases_One(t *testing.T) {
	for name, make := range runs() {
		s := make()
		if len(s.run.Plan.Targets) == 0 {
			continue
		}
		for _, format := range []string{"text", "md", "json", "csv", "rqps", "summary"} {
			want := write(t, New(s.run, s.trials), format, Options{})
			if got := write(t, against(t, s, s.run.Plan.Targets[0], s.run.Plan.Targets[0]), format, Options{}); got != want {
				t.Errorf("%s: %s differs", name, format)
			}
		}
	}
}

// TestBases_ErrorIsShared: with several bases a verdict is made at a stricter level.
func TestBases_ErrorIsShared(t *testing.T) {
	s := runs()["five-targets"]()
	r := against(t, s, "mariadb@10.5", "mysql@9.7")
	want := verdict.Compare(s.run.Plan, s.trials, verdict.Options{Bases: 2})
	for i, c := range r.Comparisons {
		if c.Verdict != want[i].Verdict || c.QPSRatio != want[i].QPSRatio {
			t.Errorf("%+v, want %+v", c, want[i])
		}
	}
	if text := write(t, r, "text", Options{}); !strings.Contains(text, "shared out over 2 bases") {
		t.Error("the text does not say so")
	}
}

func TestBases_Unknown(t *testing.T) {
	s := runs()["five-targets"]()
	_, err := NewAgainst(s.run, s.trials, []string{"mariadb@10.7"})
	if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), "mariadb@10.6") {
		t.Errorf("error %v", err)
	}
}

// TestBases_Layouts: each base has its table, with all rows.
func TestBases_Layouts(t *testing.T) {
	r := against(t, runs()["five-targets"](), "mariadb@10.5", "mysql@9.7")
	tables := parsePublished(write(t, r, "rqps", Options{}))
	if len(tables) != 2 || tables[0].base != "mariadb@10.5" || tables[1].base != "mysql@9.7" || len(tables[1].rows) != 6 || len(tables[1].targets) != 5 {
		t.Errorf("%+v", tables)
	}
	summary := write(t, r, "summary", Options{})
	if strings.Count(summary, "Relative to: ") != 2 || strings.Count(summary, "\tmin\tmax\tavg\tmedian") != 10 {
		t.Errorf("summary:\n%s", summary)
	}
	sheets := openXLSX(t, r).GetSheetList()
	if !slices.Contains(sheets, "point 2") || !slices.Contains(sheets, "writes 2") {
		t.Errorf("sheets %v", sheets)
	}
}
