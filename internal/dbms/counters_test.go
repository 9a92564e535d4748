package dbms

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCounters_Add(t *testing.T) {
	c := Counters{Values: map[string]Counter{}}
	for name, text := range map[string]string{
		"whole": "7", "negative": "-3", "fraction": "0.25", "exponent": "1e3", "large": "18446744073709551615",
		"empty": "", "word": "ON", "infinity": "infinity", "nan": "NaN", "minus": "-inf", "date": "2026-11-30 22:00:00", "version": "9.7.4", "huge": "1e999",
	} {
		c.Add(name, text, name == "fraction")
	}
	want := map[string]Counter{"whole": {7, false}, "negative": {-3, false}, "fraction": {0.25, true}, "exponent": {1000, false}, "large": {18446744073709551615, false}}
	if diff := cmp.Diff(want, c.Values); diff != "" {
		t.Error(diff)
	}
}
