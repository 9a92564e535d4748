package mysql

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/google/go-cmp/cmp"
)

func TestDefaults_OnlyWhatTheVersionKnows(t *testing.T) {
	for _, c := range []struct {
		family        dbcanary.Family
		version       string
		with, without []string
	}{
		{dbcanary.MySQL, "5.6.51", []string{"query_cache_type=0", "innodb_log_file_size=256M"}, []string{"innodb_redo_log_capacity"}},
		{dbcanary.MySQL, "8.0.28", []string{"innodb_log_file_size=256M"}, []string{"query_cache_type", "innodb_redo_log_capacity"}},
		{dbcanary.MySQL, "8.0.30", []string{"innodb_redo_log_capacity=512M"}, []string{"innodb_log_file_size"}},
		{dbcanary.MariaDB, "10.4.34", []string{"innodb_log_file_size=256M", "innodb_flush_method=O_DIRECT"}, nil},
		{dbcanary.MariaDB, "11.8.9", []string{"innodb_log_file_size=512M", "query_cache_type=0"}, []string{"innodb_flush_method"}},
	} {
		var have, names []string
		for _, setting := range New(c.family).Defaults(c.version, 2<<30) {
			have = append(have, setting.Name+"="+setting.Value)
			names = append(names, setting.Name)
		}
		for _, want := range append(c.with, "innodb_flush_log_at_trx_commit=2", "log_bin=OFF", "innodb_buffer_pool_size=1152M") {
			if !slices.Contains(have, want) {
				t.Errorf("%s %s has no %s: %v", c.family, c.version, want, have)
			}
		}
		for _, unwanted := range c.without {
			if slices.Contains(names, unwanted) {
				t.Errorf("%s %s has %s", c.family, c.version, unwanted)
			}
		}
	}
}

func TestOptionLine(t *testing.T) {
	for _, c := range []struct {
		setting dbcanary.Setting
		want    string
	}{
		{dbcanary.Setting{Name: "log_bin", Value: "OFF"}, "skip-log-bin"},
		{dbcanary.Setting{Name: "log-bin", Value: "1"}, "log-bin=binlog"},
		{dbcanary.Setting{Name: "log_bin", Value: "other"}, "log_bin=other"},
		{dbcanary.Setting{Name: "skip-log-bin"}, "skip-log-bin"},
		{dbcanary.Setting{Name: "init_connect", Value: "SET NAMES DEFAULT"}, `init_connect="SET NAMES DEFAULT"`},
		{dbcanary.Setting{Name: "x", Value: `a"b\c`}, `x="a\"b\\c"`},
	} {
		if got := optionLine(c.setting); got != c.want {
			t.Errorf("optionLine(%+v) = %s, want %s", c.setting, got, c.want)
		}
	}
}

func TestMerge_OverlayReplacesDefault(t *testing.T) {
	d := New(dbcanary.MySQL)
	merged := dbms.Merge(append(d.Defaults("9.7.0", 1<<30), d.Overlays()["binlog"]...), optionKey)
	var lines []string
	for _, setting := range merged {
		if optionKey(setting.Name) == "log_bin" {
			lines = append(lines, optionLine(setting))
		}
	}
	if diff := cmp.Diff([]string{"log-bin=binlog"}, lines); diff != "" {
		t.Error(diff)
	}
}

func TestIgnored_SettingThatDoesNothing(t *testing.T) {
	instance := &dbms.Instance{Log: filepath.Join(t.TempDir(), "log")}
	line := "2026-11-30 22:56:17 0 [Warning] 'innodb-thread-concurrency' was removed. It does nothing now and exists only for compatibility with old my.cnf files."
	if err := instance.WriteFile(instance.Log, line+"\n"); err != nil {
		t.Fatal(err)
	}
	l := &launch{instance: instance, settings: New(dbcanary.MariaDB).Overlays()["itc"]}
	if err := l.ignored(); dbcanary.ErrorCode(err) != dbcanary.CodeUsage || !strings.Contains(err.Error(), "was removed") {
		t.Errorf("a setting without effect gives %v", err)
	}
	l.settings = New(dbcanary.MariaDB).Overlays()["noahi"]
	if err := l.ignored(); err != nil {
		t.Error(err)
	}
}

func TestParseDSN(t *testing.T) {
	for _, c := range []struct {
		dsn  string
		want wire.Address
	}{
		{"mysql://root@127.0.0.1:3307/", wire.Address{Host: "127.0.0.1", Port: 3307, User: "root"}},
		{"mysql://me:p@ss/w:rd@db/", wire.Address{Host: "db", Port: 3306, User: "me", Password: "p@ss/w:rd"}},
		{"mariadb://me:p%40@/?socket=/run/s", wire.Address{Host: "127.0.0.1", Port: 3306, User: "me", Password: "p@", Socket: "/run/s"}},
	} {
		got, err := parseDSN(c.dsn)
		if err != nil {
			t.Errorf("parseDSN: %v", err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func FuzzParseDSN(f *testing.F) {
	f.Add("mysql://root:sesame@127.0.0.1:3306/?tls=true")
	f.Add("mysql://root:sesame@127.0.0.1:port/?tlss=true")
	f.Fuzz(func(t *testing.T, dsn string) {
		if _, err := parseDSN(dsn); err != nil && strings.Contains(dsn, "sesame@") && strings.Contains(err.Error(), "sesame") {
			t.Errorf("the password is in %q", err)
		}
	})
}
