package bench

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload"
)

func TestFind(t *testing.T) {
	n := func(n int) *int { return &n }
	off := false
	for _, test := range []struct {
		name   string
		mix    Mix
		label  string
		size   int // statements
		writes bool
		unused string
		err    string
	}{
		{name: "oltp_point_select", label: "point-query", size: 1},
		{name: "read-only range=10", label: "read-only range=10", size: 16},
		{name: "/usr/share/sysbench/oltp_read_only.lua", mix: Mix{RangeSize: n(50)}, label: "read-only range=50", size: 16},
		{name: "oltp_read_only", mix: Mix{RangeSelects: &off, SkipTrx: true}, label: "read-only range=100", size: 10},
		{name: "oltp_read_write", mix: Mix{PointSelects: n(0), DeleteInserts: n(3)}, label: "read-write range=100", size: 4 + 2 + 6 + 2, writes: true},
		{name: "oltp_read_write", mix: Mix{IndexUpdates: n(0), NonIndexUpdates: n(0), DeleteInserts: n(0)}, label: "read-write range=100", size: 16},
		{name: "oltp_write_only", mix: Mix{SumRanges: n(2), IndexUpdates: n(5)}, label: "write-only", size: 10, writes: true, unused: "--sum-ranges"},
		{name: "oltp_update_index", mix: Mix{RangeSize: n(10)}, label: "update-index", size: 1, writes: true, unused: "--range-size"},
		{name: "oltp_update_non_index", mix: Mix{RandType: "zipfian"}, label: "update-nonindex", size: 1, writes: true},
		{name: "select_random_points", mix: Mix{RandomPoints: n(20)}, label: "select_random_points", size: 1},
		{name: "oltp_read_only", mix: Mix{RandType: "special"}, label: "read-only range=100", size: 16},
		{name: "oltp_delete", mix: Mix{RandType: "special"}, err: "makes no sense"},
		{name: "oltp_read_only", mix: Mix{RandType: "paretto"}, err: "did you mean"},
		{name: "oltp_read_only", mix: Mix{PointSelects: n(0), RangeSelects: &off}, err: "no statement is left"},
		{name: "oltp_read_only", mix: Mix{SumRanges: n(-1)}, err: "--sum-ranges -1"},
		{name: "oltp_raed_only", err: "oltp_read_only"},
		{name: "fileio", err: "no counterpart"},
	} {
		b, unused, err := Find(test.name, test.mix)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) || dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
				t.Errorf("%s %+v: error %v, want one of usage with %q", test.name, test.mix, err, test.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := strings.Join(unused, " "); b.Label != test.label || b.Statements() != test.size || b.Writes != test.writes || got != test.unused {
			t.Errorf("%s: %s, %d statements, writes %v, unused %q; want %s, %d, %v, %q", test.name, b.Label, b.Statements(), b.Writes, got, test.label, test.size, test.writes, test.unused)
		}
	}
}

// The kinds of statements are told by their place in the catalogue's benchmarks.
func TestPartsAreInThePlacesOfTheCatalogue(t *testing.T) {
	b, err := workload.Find("read-write")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"--point-selects": "WHERE id=?", "--simple-ranges": "SELECT c FROM", "--sum-ranges": "SUM(k)", "--order-ranges": "ORDER BY c",
		"--distinct-ranges": "DISTINCT c", "--index-updates": "SET k=k+1", "--non-index-updates": "SET c=?", "--delete-inserts": "DELETE",
	}
	at := 0
	for _, p := range (Mix{}).parts(&b) {
		if sql := b.Steps[at].SQL; !strings.Contains(sql, want[p.option]) {
			t.Errorf("%s is %q", p.option, sql)
		}
		at += p.steps
	}
	if at != len(b.Steps) {
		t.Errorf("%d of %d steps have an option", at, len(b.Steps))
	}
}

func TestLoginDSN(t *testing.T) {
	for want, login := range map[string]Login{
		"mysql://sbtest:@127.0.0.1:3307/sbtest":                                            {Port: "3307"},
		"mysql://me:p%40s%2Fs@[::1]:3306/db?tls=skip-verify":                               {Host: "::1", User: "me", Password: "p@s/s", Database: "db", SSL: "on"},
		"mysql://root:@127.0.0.1:3306/sbtest?socket=%2Ftmp%2Fm.sock":                       {Socket: "/tmp/m.sock", User: "root", SSL: "off"},
		"postgres://sbtest:@localhost:5432/sbtest":                                         {Driver: "pgsql"},
		"postgres://sbtest:@/sbtest?host=%2Frun%2Fpostgresql&port=5433":                    {Driver: "pgsql", Host: "/run/postgresql", Port: "5433"},
		"usage: a list of servers, a,b: bench takes one":                                   {Host: "a,b"},
		"usage: --mysql-ssl maybe is not to be had; there are off, on and verify_identity": {SSL: "maybe", Port: "1"},
	} {
		got, err := login.DSN()
		if err != nil {
			got = string(dbcanary.ErrorCode(err)) + ": " + err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
