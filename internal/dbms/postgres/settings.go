package postgres

import (
	"fmt"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
)

// Defaults gives the benchmark settings for a version: equal durability
// everywhere, sized for memoryBytes, and otherwise the release's own defaults,
// since those are part of what is measured. docs/SETTINGS.md gives the reasons.
func (d *Driver) Defaults(version string, memoryBytes int64) []dbcanary.Setting {
	rules := []struct{ name, value, from string }{
		{"shared_buffers", megabytes(memoryBytes / 10 * 6), "0"},
		{"max_wal_size", megabytes(walBytes(memoryBytes)), "0"},
		{"checkpoint_timeout", "1800s", "0"},
		{"synchronous_commit", "off", "0"},
		{"full_page_writes", "on", "0"},
		{"wal_compression", "off", "0"},
		{"max_connections", "300", "0"},
		{"huge_pages", "off", "0"},
		{"max_parallel_workers_per_gather", "0", "0"},
		{"max_parallel_workers", "0", "0"},
		{"jit", "off", "11"},
		{"io_method", "sync", "18"},
		{"autovacuum_vacuum_cost_limit", "4000", "0"},
	}
	var settings []dbcanary.Setting
	for _, rule := range rules {
		if dbms.CompareVersions(version, rule.from) >= 0 {
			settings = append(settings, dbcanary.Setting{Name: rule.name, Value: rule.value})
		}
	}
	return settings
}

// walBytes keeps checkpoints out of short slices without filling the disk with
// the log of every instance.
func walBytes(memoryBytes int64) int64 {
	const least, most = 256 << 20, 2 << 30
	return min(max(memoryBytes/4, least), most)
}

// megabytes writes a size in whole MiB, at least 64.
func megabytes(bytes int64) string { return fmt.Sprintf("%dMB", max(64, bytes>>20)) }

// Overlays gives the built-in overlays; those of MySQL are named after parts that
// PostgreSQL has not got.
func (d *Driver) Overlays() map[string][]dbcanary.Setting {
	return map[string][]dbcanary.Setting{
		"jit":      {{Name: "jit", Value: "on"}},
		"parallel": {{Name: "max_parallel_workers", Value: "8"}, {Name: "max_parallel_workers_per_gather", Value: "2"}},
		"iotiming": {{Name: "track_io_timing", Value: "on"}},
		"durable":  {{Name: "synchronous_commit", Value: "on"}},
	}
}

// reserved are the settings that dbcanary chooses for each instance.
func reserved() []string {
	return []string{
		"config_file", "data_directory", "external_pid_file", "hba_file", "ident_file", "include", "include_dir", "include_if_exists", "listen_addresses",
		"log_destination", "log_directory", "log_filename", "logging_collector", "port", "unix_socket_directories", "unix_socket_group", "unix_socket_permissions",
	}
}

// quote writes a value as postgresql.conf takes it.
func quote(value string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(value, `\`, `\\`), "'", "''") + "'"
}
