package mysql

import "testing"

func TestBefore(t *testing.T) {
	for _, test := range []struct {
		a, b   string
		before bool
	}{
		{"binlog.000001:99", "binlog.000001:100", true},
		{"binlog.000001:100", "binlog.000001:100", false},
		{"binlog.000002:4", "binlog.000001:100", false},
		{"binlog.000009:400", "binlog.000010:4", true},
		{":", "binlog.000001:4", true}, // nothing has arrived
	} {
		if got := before(test.a, test.b); got != test.before {
			t.Errorf("before(%q, %q) is %v", test.a, test.b, got)
		}
	}
}
