package mysql

import (
	"fmt"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
)

// rule is a default setting with the versions that know it; docs/SETTINGS.md
// gives the reason for each.
type rule struct {
	name    string
	value   string
	mysql   span
	mariadb span
}

// span is a range of versions: from is the first that has the setting, "0" for
// all; before is the first that has it no more, "" for none. A span without
// from is empty.
type span struct{ from, before string }

func (s span) has(version string) bool {
	return s.from != "" && dbms.CompareVersions(version, s.from) >= 0 &&
		(s.before == "" || dbms.CompareVersions(version, s.before) < 0)
}

// Defaults gives the benchmark settings for a version: equal durability
// everywhere, sized for memoryBytes, and otherwise the release's own defaults,
// since those are part of what is measured.
func (d *Driver) Defaults(version string, memoryBytes int64) []dbcanary.Setting {
	all, none := span{from: "0"}, span{}
	redo := redoBytes(memoryBytes)
	rules := []rule{
		{"innodb_buffer_pool_size", megabytes(poolBytes(memoryBytes)), all, all},
		{"innodb_redo_log_capacity", megabytes(redo), span{from: "8.0.30"}, none},
		// Two files before the releases that keep the redo log in one.
		{"innodb_log_file_size", megabytes(redo / 2), span{"0", "8.0.30"}, span{"0", "10.5"}},
		{"innodb_log_file_size", megabytes(redo), none, span{from: "10.5"}},
		{"innodb_flush_log_at_trx_commit", "2", all, all},
		{"log_bin", "OFF", all, all},
		{"sync_binlog", "0", all, all},
		{"innodb_doublewrite", "ON", all, all},
		{"innodb_flush_method", "O_DIRECT", all, span{"0", "10.6"}},
		{"innodb_io_capacity", "10000", all, all},
		{"innodb_io_capacity_max", "20000", all, all},
		{"innodb_buffer_pool_dump_at_shutdown", "OFF", all, all},
		{"innodb_buffer_pool_load_at_startup", "OFF", all, all},
		{"max_connections", "1000", all, all},
		{"local_infile", "ON", all, all},
		{"character_set_server", "latin1", all, all},
		{"collation_server", "latin1_swedish_ci", all, all},
		{"init_connect", "SET NAMES DEFAULT", all, all},
		{"performance_schema", "OFF", all, all},
		{"query_cache_type", "0", span{"0", "8.0"}, all},
		{"query_cache_size", "0", span{"0", "8.0"}, all},
	}
	var settings []dbcanary.Setting
	for _, rule := range rules {
		known := rule.mysql
		if d.mariadb() {
			known = rule.mariadb
		}
		if known.has(version) {
			settings = append(settings, dbcanary.Setting{Name: rule.name, Value: rule.value})
		}
	}
	return settings
}

// redoBytes keeps checkpoints out of short slices without filling the disk with
// the log of every instance.
func redoBytes(memoryBytes int64) int64 {
	const least, most = 256 << 20, 2 << 30
	return min(max(memoryBytes/4, least), most)
}

// poolBytes is the size of the buffer pool: 60 % of the memory in whole chunks of
// 128 MiB. Releases that have chunks round up to them, the others don't, and the
// targets of a run must have pools of one size.
func poolBytes(memoryBytes int64) int64 {
	const chunk = 128 << 20
	return max(chunk, memoryBytes/10*6/chunk*chunk)
}

// megabytes writes a size in whole MiB, at least 64, as an option file takes it.
func megabytes(bytes int64) string { return fmt.Sprintf("%dM", max(64, bytes>>20)) }

// Overlays gives the built-in overlays.
func (d *Driver) Overlays() map[string][]dbcanary.Setting {
	return map[string][]dbcanary.Setting{
		"noahi":   {{Name: "innodb_adaptive_hash_index", Value: "OFF"}},
		"ahi":     {{Name: "innodb_adaptive_hash_index", Value: "ON"}},
		"ps":      {{Name: "performance_schema", Value: "ON"}},
		"itc":     {{Name: "innodb_thread_concurrency", Value: "32"}},
		"binlog":  {{Name: "log_bin", Value: "ON"}, {Name: "server_id", Value: "1"}, {Name: "loose_binlog_format", Value: "ROW"}},
		"durable": {{Name: "innodb_flush_log_at_trx_commit", Value: "1"}, {Name: "sync_binlog", Value: "1"}},
		"utf8mb4": {{Name: "character_set_server", Value: "utf8mb4"}, {Name: "collation_server", Value: "utf8mb4_general_ci"}},
	}
}

// reserved are the options that dbcanary sets for each instance.
func reserved() []string {
	return []string{
		"basedir", "bind_address", "character_sets_dir", "datadir", "init_file", "lc_messages_dir", "log_error", "mysqlx", "pid_file",
		"plugin_dir", "port", "secure_file_priv", "skip_grant_tables", "skip_networking", "socket", "tmpdir", "user",
	}
}

// optionKey makes equal what the server takes for the same option.
func optionKey(name string) string {
	name = strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(name, "-", "_")), "loose_")
	if name == "skip_log_bin" || name == "disable_log_bin" {
		return "log_bin"
	}
	return name
}

// optionLine writes a setting as the option file takes it. log_bin is a file
// name there, so that on and off have to be written otherwise.
func optionLine(setting dbcanary.Setting) string {
	if optionKey(setting.Name) == "log_bin" {
		switch strings.ToUpper(setting.Value) {
		case "OFF", "0", "FALSE":
			return "skip-log-bin"
		case "ON", "1", "TRUE", "":
			if strings.Contains(setting.Name, "skip") || strings.Contains(setting.Name, "disable") {
				return "skip-log-bin"
			}
			return "log-bin=binlog"
		}
	}
	if setting.Value == "" {
		return setting.Name
	}
	return setting.Name + "=" + quote(setting.Value)
}

// quote protects what an option file would cut off or interpret.
func quote(value string) string {
	if !strings.ContainsAny(value, "#'\"\\ \t") {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
