package dbcanary_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
)

func TestParseTargetSpec(t *testing.T) {
	tests := []struct {
		text string
		want dbcanary.TargetSpec
	}{
		{"mariadb@10.11", dbcanary.TargetSpec{Family: dbcanary.MariaDB, Version: "10.11"}},
		{"pg@18", dbcanary.TargetSpec{Family: dbcanary.Postgres, Version: "18"}},
		{"sqlite", dbcanary.TargetSpec{Family: dbcanary.SQLite}},
		{"mysql@9.7+noahi+innodb_io_capacity=2000", dbcanary.TargetSpec{
			Family: dbcanary.MySQL, Version: "9.7", Overlays: []string{"noahi", "innodb_io_capacity=2000"},
		}},
		{"mysql:/opt/mysql-8.0.40+itc", dbcanary.TargetSpec{
			Family: dbcanary.MySQL, Path: "/opt/mysql-8.0.40", Overlays: []string{"itc"},
		}},
		{"mysql:/opt/my@sql", dbcanary.TargetSpec{Family: dbcanary.MySQL, Path: "/opt/my@sql"}},
	}
	for _, test := range tests {
		got, err := dbcanary.ParseTargetSpec(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		test.want.Name = test.text
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.text, diff)
		}
	}
}

func TestParseTargetSpec_HidesThePassword(t *testing.T) {
	for _, test := range []struct{ text, name string }{
		{"mysql://root:se+cr@et@127.0.0.1:3306/db", "mysql://root@127.0.0.1:3306/db"},
		{"postgresql://me:secret@/db?host=/tmp", "postgresql://me@/db?host=/tmp"},
		{"postgres://h/db?user=me&password=secret&sslmode=disable", "postgres://h/db?user=me&sslmode=disable"},
		{"mariadb://localhost/db", "mariadb://localhost/db"},
	} {
		spec, err := dbcanary.ParseTargetSpec(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if strings.Contains(spec.Name, "cr@et") || strings.Contains(spec.Name, "secret") {
			t.Errorf("the name %q holds the password", spec.Name)
		}
		if spec.DSN != test.text || len(spec.Overlays) > 0 {
			t.Errorf("%s: DSN changed or got overlays %q", test.name, spec.Overlays)
		}
		if spec.Name != test.name {
			t.Errorf("got name %q, want %q", spec.Name, test.name)
		}
	}
}

func TestParseTargetSpec_Refuses(t *testing.T) {
	for text, message := range map[string]string{
		"mysqll@8.0":               `unknown DBMS "mysqll"; did you mean mysql?`,
		"":                         "unknown DBMS",
		"mysql@":                   `the version after "@" is empty`,
		"mysql:":                   `the path after ":" is empty`,
		"mysql@8.0+":               `an overlay after "+" is empty`,
		"oracle://scott:tiger@/x":  "a DSN starts with mysql://, mariadb:// or postgres://",
		"sqlite://a:secret@b/file": "a DSN starts with mysql://, mariadb:// or postgres://",
	} {
		_, err := dbcanary.ParseTargetSpec(text)
		if dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: got %v, want %q", text, err, message)
			continue
		}
		if strings.Contains(err.Error(), "tiger") || strings.Contains(err.Error(), "secret") {
			t.Errorf("the error holds the password: %v", err)
		}
	}
}

func FuzzParseTargetSpec(f *testing.F) {
	for _, seed := range []string{"mysql@9.7+noahi", "mysql:/opt/x+a=b", "pg://u:p@h/d", "+", "@", ":", "://", "mysql://@@"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := dbcanary.ParseTargetSpec(text)
		if err == nil && spec.Family == "" {
			t.Errorf("%q gave no family: %+v", text, spec)
		}
	})
}
