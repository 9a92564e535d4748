package dbcanary_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/dbcanary/dbcanary"
)

func TestExitCode(t *testing.T) {
	usage := dbcanary.Errorf(dbcanary.CodeUsage, "unknown suite %q", "x")
	tests := []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("plain"), 1},
		{dbcanary.Errorf(dbcanary.CodeUnavailable, "no room"), 1},
		{usage, 2},
		{fmt.Errorf("wrapped: %w", usage), 2},
		{dbcanary.Errorf(dbcanary.CodeRegression, "slower"), 3},
		{dbcanary.Errorf(dbcanary.CodeInconclusive, "who knows"), 4},
		{dbcanary.Errorf(dbcanary.CodeInterrupted, "stopped"), 130},
	}
	for _, test := range tests {
		if got := dbcanary.ExitCode(test.err); got != test.want {
			t.Errorf("%v: exit code %d, want %d", test.err, got, test.want)
		}
	}
}

func TestError_TellsWhatWasDoneAndWhatToDo(t *testing.T) {
	cause := errors.New("permission denied")
	err := &dbcanary.Error{Code: dbcanary.CodeFailed, Op: "open x", Err: cause, Hint: "chmod it"}
	if got, want := err.Error(), "open x: permission denied (chmod it)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	if !errors.Is(dbcanary.Errorf(dbcanary.CodeFailed, "x: %w", cause), cause) {
		t.Error("Errorf loses the cause")
	}
}

func TestDidYouMean(t *testing.T) {
	names := []string{"point-query", "range-covered-pk", "range-covered-si", "scan", "update-index"}
	for text, want := range map[string]string{
		"scna":          "; did you mean scan?",
		"range-covered": "; did you mean range-covered-pk or range-covered-si?",
		"INDEX":         "; did you mean update-index?",
		"zzzzzzzzz":     "; there are point-query, range-covered-pk, range-covered-si, scan, update-index",
	} {
		if got := dbcanary.DidYouMean(text, names); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	if got := dbcanary.DidYouMean("x", nil); got != "" {
		t.Errorf("nothing to choose from gave %q", got)
	}
}
